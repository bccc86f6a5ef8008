//! Overlays above the panes: help, palette, plan, timetable, dialogs.

pub mod accounts;
pub mod edit_dialog;
pub mod filter_dialog;
pub mod form;
pub mod help_pane;
pub mod hour_selection;
pub mod list_panel;
pub mod plan_pane;
pub mod prompt;
pub mod table;
