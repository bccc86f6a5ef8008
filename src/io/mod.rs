//! The world: network, disk, terminal, clock. The only floor that may name tokio, reqwest, sled, tantivy or `std::fs`.
//!
//! Nothing here decides. An effect is performed, and what came of it is told in a message.

pub mod address_class;
pub mod article;
pub mod body;
pub mod browser;
pub mod clock;
mod codec;
pub mod config;
mod config_commands;
mod config_names;
pub mod config_text;
pub mod config_watch;
pub mod console;
mod credentials;
pub mod demo_server;
pub mod http;
mod job_control;
pub mod notes;
mod own_keys;
pub mod performing;
pub mod pictures;
pub mod publisher;
pub mod running;
pub mod runtime;
pub mod search;
pub mod store;
pub mod terminal;
pub mod themes;
