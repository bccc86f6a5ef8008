//! Other programs: the browser, the user's commands, desktop notifications, job control.

pub mod desktop;
pub(super) mod feed_sources;
pub(super) mod job_control;
pub mod run_command;
