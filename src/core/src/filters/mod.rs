//! The reader's filters on entries: which entries they hit, and what they do to them.
//! Pure; stands on `feed`, `history` and `search`.
//!
//! This folder reads no store: `io` hands it entries and writes what it decides.

mod entry_filter;
mod pattern;
mod prepared;
mod subject;
mod until;

pub use entry_filter::{Action, EntryFilter, FilterScope};
pub use pattern::{FilterFlaw, Pattern};
pub use prepared::PreparedFilters;
pub use subject::FilterSubject;
pub use until::{read_until, until_text};
