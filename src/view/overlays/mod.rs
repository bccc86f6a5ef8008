//! Draws the overlays.

pub(super) mod account;
mod account_list;
mod choice;
pub(super) mod edit;
pub(super) mod filters;
pub(super) mod form;
pub(super) mod help;
pub(super) mod list_panel;
pub(super) mod pick_list;
pub(super) mod plan;
mod plan_lines;
pub(super) mod plan_polls;
pub(super) mod plan_rhythm;
pub(super) mod plan_week;
pub(super) mod timetable;
