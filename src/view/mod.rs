//! The screen, drawn from the model. Pure; stands on `app` and below.
//!
//! Nothing here changes the model or computes what it does not already say. Drawing answers with the sizes it
//! measured ([`crate::app::screen::Viewport`]), which the loop puts back into the model.

pub mod entry_lines;
pub mod entry_text;
pub mod html;
mod hyperlinks;
mod link_list;

mod attention;
mod bytes;
mod cells;
mod choice;
mod draw;
mod dressing;
mod edit;
mod enclosure_list;
mod entries;
mod feeds;
mod feeds_in_words;
mod help;
mod mute;
mod palette;
mod pane;
mod pictures;
mod plain;
mod plan;
mod plan_polls;
mod plan_rhythm;
mod plan_week;
mod reader;
mod status;
mod svg;
mod theme;
mod timetable;
mod welcome;
mod when;

pub use draw::draw;
pub use svg::{Paper, svg};
pub use when::{minute, relative, span_words};
