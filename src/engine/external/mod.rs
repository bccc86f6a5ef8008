//! The user's external commands: parsing, starting, and handling their results.

pub mod browsers;
pub mod external_command;
pub mod external_run;
pub mod feed_sources;
mod link_place;
pub mod open_rules;
pub mod run_external;
pub mod run_failure;
