//! Polling without a screen, and the events that it reports to scripts.

mod device_port;
pub(super) mod events;
pub(super) mod watch;
