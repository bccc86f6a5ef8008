//! Tests of downloads: what keys do, and what a server that breaks, changes or refuses the file leads to.

mod fetched_ahead;
mod file_server;
mod keys;
mod receiving;
