//! Limits on requests: a queue for each site, pauses, waits that servers ask for, and the observed habits of servers.

pub mod address_net;
pub mod host_queue;
pub mod rate_limits;
pub mod server_habits;
