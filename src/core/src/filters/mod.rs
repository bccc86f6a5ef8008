//! Entry filters: which entries they match and what they do to them. Has no side effects; depends on `feed`, `history` and
//! `search`.
//!
//! This module does not read the store. The `io` module passes entries to it and writes the results.

mod entry_filter;

pub use entry_filter::{
    Action, EntryFilter, FilterFlaw, FilterScope, PreparedFilters, pattern_query, read_until,
    until_text,
};
