//! Draws the panes.

pub(super) mod attention;
pub(super) mod enclosure_list;
pub(super) mod entries;
pub mod entry_lines;
mod entry_row;
pub mod entry_text;
pub(super) mod feeds;
pub(super) mod feeds_in_words;
pub(super) mod hint_line;
pub(super) mod hyperlinks;
pub(super) mod link_list;
pub(super) mod pictures;
pub(super) mod reader;
pub(super) mod status;
pub(super) mod welcome;
