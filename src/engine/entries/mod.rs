//! Entries: lists, marks, filters, withdrawals, notifications, pictures, and the text of linked pages.

pub mod account_state;
pub mod account_sync;
pub mod ahead_work;
pub mod entry_filters;
pub mod entry_view;
pub mod filter_work;
pub mod interest;
pub mod marks;
pub mod notification_queue;
pub mod notifications;
pub mod page_fetches;
pub mod rows;
pub mod todays_reading;
pub mod unread_limits;
