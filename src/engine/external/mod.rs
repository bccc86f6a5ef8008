//! Commands of the reader's own: what they are, and how the engine starts them and hears of their end.

pub mod external_command;
pub mod external_run;
mod link_place;
pub mod run_external;
