//! Accounts on servers: where they are stored, the requests to their servers, and syncs.

pub mod account_file;
pub mod reconcile;
pub mod server;
pub mod session;
pub mod sync_clock;
