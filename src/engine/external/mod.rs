//! The user's external commands, and how the engine starts them and handles their end.

pub mod external_command;
pub mod external_run;
mod link_place;
pub mod run_external;
