//! Reads the store: subscriptions, lists, entries, searches, texts, reading positions.

pub(super) mod caches;
pub(super) mod lists;
pub(super) mod same_links;
pub(super) mod search;
pub(super) mod small_records;
pub(super) mod subscriptions;
pub(super) mod texts;
