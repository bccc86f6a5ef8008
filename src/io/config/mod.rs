//! The configuration: its file, folders and key bindings.

pub mod config_file;
pub mod config_watch;
pub mod credentials;
pub(super) mod key_bindings;
