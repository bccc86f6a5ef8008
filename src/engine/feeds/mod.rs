//! Subscriptions: adding, changing, removing, and importing feeds.

pub mod addition;
pub mod addresses;
pub mod archive_subscription;
pub mod change_settings;
pub mod feed_moves;
pub mod feed_preview;
pub mod import;
pub mod setting_row;
pub mod setting_table;
pub mod subscribe;
pub mod subscription;
pub mod trouble;
pub mod unsubscribe;
