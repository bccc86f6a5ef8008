//! Who may be asked now: queues by host, pauses, and what servers told us about themselves.

pub mod address_net;
pub mod drop_fetches;
pub mod host_queue;
pub mod rate_limits;
pub mod reachability;
pub mod server_habits;
