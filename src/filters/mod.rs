//! The reader's own rules about entries: which entries they hit, and what they do to them.
//! Pure; stands on `feed`, `history` and `search`.
//!
//! This folder reads no store: `io` hands it entries and writes what it decides.

mod judge;
mod pattern;
mod rule;
mod subject;
mod until;

pub use judge::PreparedFilters;
pub use pattern::{FilterFlaw, Pattern};
pub use rule::{Action, EntryFilter, FilterScope};
pub use subject::FilterSubject;
pub use until::{read_until, until_text};
