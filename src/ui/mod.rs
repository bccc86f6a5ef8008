//! The state of the screen: panes, overlays, keys, themes.
//!
//! This module is pure: it draws nothing and performs no I/O. A key either becomes a [`crate::engine::request::Request`] or changes
//! only the screen. [`follow`] handles the events of the engine.
//!
//! Dependencies between the files go in one direction. From the bottom up: [`state`] is plain data; [`app`] combines this data;
//! the code for lists and texts changes the data; [`follow`] sends requests to the engine; actions in panes and overlays send
//! their requests through [`follow`]; [`keys`], the table of overlays and [`update`] are at the top.

pub mod actions;
pub mod app;
pub mod come_back;
pub mod effect;
pub mod follow;
pub mod keys;
pub mod overlays;
pub mod panes;
pub mod reader;
#[cfg(test)]
mod sample_app;
pub mod scroll_list;
pub mod settings;
pub mod state;
pub mod theme;
pub mod update;
