//! The three panes: subscriptions, entries, reader.

pub mod attention;
pub mod browsing;
pub mod counts;
pub mod entry_list;
#[cfg(test)]
mod entry_list_tests;
pub mod feeds_pane;
pub mod gap_list;
pub mod list_query;
pub mod load_rows;
pub mod mark_entries;
pub mod navigation;
pub mod saved_searches;
pub mod search_pane;
pub mod selected_feed;
pub mod shown_marks;
pub mod tag_folds;
pub mod tag_tree;
pub mod tour;
