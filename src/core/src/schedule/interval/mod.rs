//! Computes intervals and update times from interval rules and the slots of a `sy` hint.

pub(super) mod rules;
pub(super) mod segments;
pub(super) mod slots;
