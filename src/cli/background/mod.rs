//! Polling without a screen, and the events that it reports to scripts.

pub(super) mod events;
mod publishing;
pub(super) mod watch;
