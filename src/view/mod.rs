//! Draws the screen from the app. This module is pure and depends on `app` and the layers below.
//!
//! It neither changes the app nor computes anything that the app does not provide. Drawing returns the measured sizes
//! ([`crate::ui::state::layout::Viewport`]), which the main loop stores in the app.

pub mod html;

mod bytes;
mod cells;
mod clusters;
mod draw;
mod dressing;
pub mod overlays;
mod pane;
pub mod panes;
mod plain;
mod sentence;
mod theme;
mod when;

pub use draw::draw;
pub use sentence::draw_sentence;
pub use when::{minute, relative, span_words};
