//! The state of the screen as plain data.

pub mod asked_polls;
pub mod counted;
pub mod feeds_pane;
pub mod imported_list;
pub mod layout;
pub mod marked;
pub mod overlay;
pub mod pane_layout;
pub mod pick_list;
pub mod pictures;
pub mod plan_pane;
pub mod read_ahead;
pub mod reader;
pub mod reading;
pub mod running;
pub mod screen_place;
pub mod search;
pub mod typed_ahead;
