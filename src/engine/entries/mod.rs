//! Entries: marks, filters, withdrawn ones, and the full text of their pages.

pub mod entry_filters;
pub mod entry_json;
pub mod full_text;
pub mod marks;
pub mod withdrawn;
