//! Walks through the archives of feeds.

pub mod archive_response;
pub mod gap_rows;
pub mod history_actions;
pub mod walks;
