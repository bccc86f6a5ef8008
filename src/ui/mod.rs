//! The state of the screen: panes, overlays, keys, themes.
//!
//! Pure: it draws nothing and asks nobody but the engine. A key becomes a [`crate::engine::request::Request`] or a change
//! of the screen alone; what the engine tells is followed in [`follow`].
//!
//! Files use each other one way, from the bottom: [`state`] is plain data, [`screen`] and [`app`] hold it together; what
//! shows lists and texts changes it; [`follow`] asks the engine; what a key does in panes and overlays asks through that;
//! [`keys`], the table of overlays and [`update`] stand at the top.

pub mod actions;
pub mod app;
pub mod come_back;
pub mod effect;
pub mod follow;
pub mod input;
pub mod keys;
pub mod overlays;
pub mod panes;
pub mod reader;
pub mod reconfigure;
#[cfg(test)]
mod sample_app;
pub mod screen;
pub mod scroll_list;
pub mod settings;
pub mod state;
pub mod theme;
pub mod update;
