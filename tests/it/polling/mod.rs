//! Polling: politeness, timing, rhythms, and months of simulated time.

mod events;
pub mod politeness;
pub mod rhythms;
pub mod simulation;
pub mod timing;
