//! The three panes: subscriptions, entries, reader.

pub mod attention;
pub mod browsing;
pub mod entry_list;
#[cfg(test)]
mod entry_list_tests;
pub mod feeds_pane;
pub mod gap_rows;
pub mod navigation;
pub mod saved_searches;
pub mod search_pane;
pub mod tag_tree;
pub mod tour;
