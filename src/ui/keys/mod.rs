//! Keys, mouse and commands: translates input into actions.

pub mod command_groups;
pub mod commands;
pub mod key;
pub mod key_bindings;
pub mod key_input;
pub mod key_names;
pub mod mouse;
pub mod run_command;
