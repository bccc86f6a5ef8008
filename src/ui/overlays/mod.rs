//! Overlays above the panes: help, palette, plan, timetable, dialogs.

pub mod accounts;
pub mod edit_dialog;
pub mod edit_form;
pub mod feed_choice;
pub mod filter_dialog;
pub mod filter_form;
pub mod filter_list;
pub mod form;
pub mod heat_map;
pub mod help_pane;
pub mod hour_selection;
pub mod list_panel;
pub mod outcome;
pub mod palette;
pub mod plan_advice;
pub mod plan_pane;
pub mod prompt;
pub mod prompt_input;
pub mod table;
pub mod tag_dialog;
pub mod timetable_pane;
