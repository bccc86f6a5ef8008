//! Subscriptions: adding, changing, removing, and importing feeds.

pub mod addition;
pub mod addresses;
pub mod archive_subscription;
pub mod chosen_settings;
pub mod discovery;
pub mod export;
pub mod feed_moves;
pub mod feed_preview;
pub mod feed_settings;
pub mod import;
pub mod interval_rules;
pub mod removals;
pub mod setting_row;
pub mod setting_table;
pub mod subscribe;
pub mod subscription;
pub mod tags;
pub mod trouble;
pub mod typed_logins;
pub mod unsubscribe;
