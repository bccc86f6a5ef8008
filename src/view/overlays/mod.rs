//! Draws the overlays.

pub(super) mod account;
pub(super) mod account_list;
pub(super) mod choice;
pub(super) mod downloads;
pub(super) mod edit;
pub(super) mod filters;
pub(super) mod form;
pub(super) mod help;
pub(super) mod palette;
pub(super) mod pick_list;
pub(super) mod plan;
mod plan_lines;
pub(super) mod plan_polls;
pub(super) mod plan_rhythm;
pub(super) mod plan_week;
pub(super) mod removed;
pub(super) mod share;
pub(super) mod timetable;
