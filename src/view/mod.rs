//! The screen, drawn from the model. Pure; stands on `app` and below.
//!
//! Nothing here changes the model or computes what it does not already say. Drawing answers with the sizes it
//! measured ([`crate::app::screen::Viewport`]), which the loop puts back into the model.

pub mod html;
pub mod link_list;

mod attention;
mod cells;
mod choice;
mod draw;
mod entries;
mod feeds;
mod help;
mod pane;
mod reader;
mod status;
mod theme;
mod welcome;
mod when;

pub use draw::draw;
pub use when::{relative, span_words};
