//! Other programs: the browser, commands of the reader, the desktop, the shell.

pub mod browser;
pub mod desktop_notes;
pub(super) mod job_control;
pub mod run_command;
