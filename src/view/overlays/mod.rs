//! Draws the overlays.

pub(super) mod form;
pub(super) mod help;
pub(super) mod list_panel;
pub(super) mod plan;
pub(super) mod plan_week;
