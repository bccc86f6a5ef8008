//! Reads the files of other feed readers and of video players: subscriptions, and which entries were read or starred there.

pub mod databases;
pub mod elsewhere;
mod json_files;
pub mod library;
pub mod newsboat_config;
pub mod sqlite;
pub mod state_file;
