//! Entries: lists, marks, filters, withdrawals, notifications, pictures, and the text of linked pages.

pub mod account_state;
pub mod account_sync;
pub mod ahead;
pub mod ahead_work;
pub mod entry_filters;
pub mod entry_view;
pub mod filter_work;
pub mod full_text;
pub mod loaded_entry;
pub mod marks;
pub mod notification_queue;
pub mod notifications;
pub mod page_fetches;
pub mod picture_fetches;
pub mod pictures_ahead;
pub mod quiet_hours;
pub mod rows;
pub mod texts_ahead;
pub mod withdrawn;
