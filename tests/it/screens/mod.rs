//! Snapshots of screens, and the pictures in the README.

pub mod coming_back;
pub mod gallery;
pub mod hostile;
pub mod pictures;
pub mod previews;
pub mod reader_pictures;
mod svg;
pub mod timelines;
pub mod views;
