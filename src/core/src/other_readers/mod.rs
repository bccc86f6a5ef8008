//! Reads the files of other feed readers: subscriptions, and which entries were read or starred there.

mod build;
pub mod elsewhere;
mod json_files;
pub mod library;
mod liferea;
mod news_flash;
pub mod newsboat;
pub mod newsboat_config;
mod newsraft;
pub mod recognise;
mod rssguard;
pub mod sqlite;
pub mod state_file;
