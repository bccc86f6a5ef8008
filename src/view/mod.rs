//! Draws the screen from the app. This module is pure and depends on the `ui` module and the modules below it.
//!
//! It does not change the app, and displays only values that the app provides. Drawing returns the measured positions and sizes
//! ([`crate::ui::state::layout::Viewport`]), which the main loop passes to the app.

pub mod html;

mod cells;
mod draw;
pub mod overlays;
mod pane;
pub mod panes;
mod plain;
mod theme;

pub use draw::{draw, draw_sentence};
