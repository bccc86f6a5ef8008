//! The world: network, disk, terminal, clock. The only floor that may name tokio, reqwest, sled, tantivy or `std::fs`.
//!
//! Nothing here decides. An effect is performed, and what came of it is told in a message.

pub mod clock;
mod codec;
pub mod config;
pub mod console;
pub mod http;
mod panics;
pub mod performing;
pub mod pictures;
pub mod processes;
pub mod publisher;
pub mod runtime;
pub mod search;
pub mod store;
pub mod terminal;
