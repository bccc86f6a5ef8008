//! The state of the screen as plain data.

pub mod feeds_pane;
pub mod layout;
pub mod overlay;
pub mod pending;
pub mod reader;
