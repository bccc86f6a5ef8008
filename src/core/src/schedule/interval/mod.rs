//! The interval that rules and slots give, as time goes by.

pub(super) mod next_update;
pub(super) mod pace;
pub(super) mod rules;
pub(super) mod segments;
pub(super) mod slots;
