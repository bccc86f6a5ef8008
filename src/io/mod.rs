//! Network, disk, terminal, processes, clock: the only module that may use tokio, reqwest, sled or `std::fs`.
//!
//! This module decides nothing: it performs the effects that the engine requests, and sends the results to the engine as
//! messages.

pub mod accounts;
pub mod answers;
pub mod clock;
mod codec;
pub mod config;
pub mod console;
pub mod devices;
pub mod downloads;
pub mod folder_site;
pub mod http;
pub mod http_server;
pub mod log;
pub mod loop_handle;
pub mod named_files;
pub mod output;
pub mod owner;
pub mod panics;
pub mod performing;
pub mod pictures;
pub mod private_files;
pub mod processes;
pub mod regular_files;
pub mod runtime;
mod screen_loop;
pub mod search;
pub mod signals;
pub mod store;
pub mod system;
pub mod terminal;
