//! Polls of feeds: when to poll, what a response means, and the resulting changes.

pub mod apply_response;
pub mod classify_response;
pub mod current_document;
pub mod fetch;
pub mod learn;
pub mod manual_poll;
pub mod poll_log;
pub mod poll_request;
pub mod poll_stage;
pub mod polling;
pub mod start_fetches;
