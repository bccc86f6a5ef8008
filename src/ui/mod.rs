//! The state of the screen: panes, overlays, keys, themes. It draws nothing.

pub mod keys;
pub mod overlays;
pub mod panes;
pub mod reader;
pub mod screen;
pub mod theme;
