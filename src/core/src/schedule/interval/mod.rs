//! The interval over time, from rules and slots.

pub(super) mod next_update;
pub(super) mod pace;
pub(super) mod rules;
pub(super) mod segments;
pub(super) mod slots;
