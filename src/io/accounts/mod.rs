//! Accounts on servers: where they are stored, the requests to their servers, and syncs.

pub mod account_file;
pub mod connection;
mod greader_api;
pub(super) mod label_sync;
pub mod login;
mod miniflux_api;
mod pull_changes;
mod pull_lists;
pub mod reconcile;
pub mod server;
pub mod session;
pub mod sync_account;
pub mod sync_clock;
pub mod sync_words;
