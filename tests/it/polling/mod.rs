//! Polls: politeness, timing, rhythms, and months of simulated days.

mod events;
pub mod politeness;
pub mod rhythms;
pub mod simulation;
pub mod timing;
