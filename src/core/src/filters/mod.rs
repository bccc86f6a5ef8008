//! Entry filters: which entries they match and what they do to them. Has no side effects; depends on `feed`, `history` and
//! `search`.
//!
//! This module does not read the store. The `io` module passes entries to it and writes the results.

mod entry_filter;
mod filter_flaw;
mod old_pattern;
mod prepared;
mod until;

pub use entry_filter::{Action, EntryFilter, FilterScope};
pub use filter_flaw::FilterFlaw;
pub use old_pattern::pattern_query;
pub use prepared::PreparedFilters;
pub use until::{read_until, until_text};
