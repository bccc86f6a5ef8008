//! The screen, drawn from the app. Pure; stands on `app` and below.
//!
//! Nothing here changes the app or computes what it does not already say. Drawing answers with the sizes it
//! measured ([`crate::ui::state::layout::Viewport`]), which the loop puts back into the app.

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
