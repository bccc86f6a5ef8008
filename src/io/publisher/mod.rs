//! A web server with feeds on the loopback address, for the demo and for tests.

pub mod folder_site;
pub mod server;
