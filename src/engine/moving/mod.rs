//! Moving in from other feed readers: subscriptions, saved searches, filters, and the marks of entries.

pub mod elsewhere_marks;
pub mod entry_formats;
pub mod move_in;
