//! The three panes: subscriptions, entries, reader.

pub mod attention;
pub mod browsing;
pub mod entry_list;
#[cfg(test)]
mod entry_list_tests;
pub mod feeds_pane;
pub mod load_rows;
pub mod navigation;
pub mod search_pane;
pub mod tour;
