//! The three panes: subscriptions, entries, reader.

pub mod attention;
pub mod browsing;
pub mod counts;
pub mod entry_list;
#[cfg(test)]
mod entry_list_tests;
pub mod feeds_pane;
pub mod gap_list;
pub mod navigation;
pub mod saved_searches;
pub mod search_pane;
pub mod shown_marks;
pub mod tag_tree;
pub mod tour;
