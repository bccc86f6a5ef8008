//! Shared parts of the tests: worlds, servers, the binary, documents, random numbers.

pub mod answers;
pub mod binary;
pub mod broken_server;
pub mod demo_world;
pub mod dice;
pub mod documents;
pub mod greader_double;
pub mod held_site;
pub mod hostile_texts;
pub mod miniflux_double;
pub mod named_keys;
pub mod plain_http;
pub mod rss;
pub mod scripted;
pub mod site;
pub mod store_port;
#[allow(dead_code, reason = "the tests of the screen in a terminal use all of it")]
pub mod terminal_session;
pub mod world;
