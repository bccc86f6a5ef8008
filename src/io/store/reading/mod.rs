//! Reads the store: subscriptions, lists, entries, searches, texts, reading positions.

pub(super) mod downloads;
pub(super) mod filter_hits;
mod list_order;
pub(super) mod listed_entries;
mod lists;
pub(super) mod news;
pub(super) mod pages;
pub(super) mod publications;
pub(super) mod reading_positions;
mod same_links;
pub(super) mod search;
pub(super) mod search_hits;
pub(super) mod subscriptions;
pub(super) mod texts;
pub(super) mod to_mark;
mod verdicts;
