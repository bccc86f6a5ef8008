//! Other programs: the browser, the user's commands, desktop notifications, job control.

pub mod browser;
pub(in crate::io) mod clipboard;
pub mod desktop_notes;
pub(super) mod feed_sources;
pub(super) mod job_control;
pub mod run_command;
pub mod start;
