//! The configuration: its file, folders and key bindings.

pub mod config_file;
pub mod config_watch;
pub(super) mod credentials;
pub mod credentials_file;
pub mod default_text;
mod downloads;
pub(super) mod external_commands;
pub(super) mod folder_watch;
pub(super) mod key_bindings;
mod origins;
pub(super) mod private_toml;
pub mod themes;
pub(super) mod toml_errors;
pub(super) mod unknown_names;
