//! Polling without a screen, and the events that scripts see of it.

pub(super) mod events;
pub(super) mod service;
pub(super) mod watch;
