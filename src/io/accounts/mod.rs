//! Accounts on servers: where they are stored, the requests to their servers, and syncs.

pub mod account_file;
pub(super) mod label_sync;
pub mod reconcile;
pub mod server;
pub mod session;
pub mod sync_clock;
