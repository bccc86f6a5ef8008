//! Draws the panes.

pub(super) mod entries;
pub mod entry_lines;
mod entry_row;
pub(super) mod feeds;
pub(super) mod reader;
pub(super) mod status;
