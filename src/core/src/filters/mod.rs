//! Entry filters: which entries they match and what they do to them. Has no side effects; depends on `feed`, `history` and
//! `search`.
//!
//! This module does not read the store. The `io` module passes entries to it and writes the results.

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
