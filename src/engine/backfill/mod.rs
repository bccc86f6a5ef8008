//! Walks through the archives of feeds.

pub mod archive_response;
pub mod gap_rows;
pub mod history_actions;
pub mod history_requests;
pub mod walk_policy;
pub mod walk_stage;
pub mod walks;
