//! Accounts on servers: where they are stored, the requests to their servers, and syncs.

pub mod account_file;
mod pull_changes;
pub(super) mod pull_lists;
pub mod reconcile;
pub mod server;
mod server_apis;
pub mod session;
pub mod sync_clock;
