//! Polite requests: queues by host, pauses, and the observed habits of servers.

pub mod address_net;
pub mod drop_fetches;
pub mod host_queue;
pub mod rate_limits;
pub mod reachability;
pub mod server_habits;
