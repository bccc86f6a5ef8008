//! The user's external commands: parsing, starting, and handling their results.

pub mod external_command;
pub mod external_run;
pub mod run_external;
