//! Polls of feeds: when to poll, what a response means, and the resulting changes.

pub mod apply_response;
pub mod classify_response;
pub mod current_document;
pub mod fetch;
pub mod learn;
pub mod learn_queue;
mod login_challenge;
pub mod manual_poll;
pub mod plans;
pub mod poll_log;
pub mod poll_queue;
pub mod poll_request;
pub mod poll_results;
pub mod poll_stage;
pub mod poll_times;
pub mod polling;
pub mod redirects;
pub mod start_fetches;
pub mod stop_polls;
