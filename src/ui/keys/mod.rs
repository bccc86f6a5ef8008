//! Keys, mouse and commands: translates input into actions.

pub mod command_table;
pub mod key;
pub mod key_bindings;
pub mod key_input;
pub mod mouse;
pub mod newsboat_keys;
