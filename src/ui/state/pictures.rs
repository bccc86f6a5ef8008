//! The pictures of the open entry: the state of each, and the finished drawings.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ui::theme::graphics::{Drawing, DrawingWanted, Graphics};
use backissue_core::history::EntryKey;

/// The pictures of the reader.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pictures {
    /// `true` if pictures are enabled.
    pub on: bool,
    /// Graphics support of the terminal.
    pub graphics: Graphics,
    pub(in crate::ui) standings: BTreeMap<String, PictureState>,
    /// Entry that the pictures belong to.
    pub(in crate::ui) entry: Option<EntryKey>,
    /// Finished drawings. The one requested last is at the end.
    pub(in crate::ui) drawings: Vec<(DrawingWanted, Arc<Drawing>)>,
    /// `true` if a drawing is being made.
    pub(in crate::ui) drawing: bool,
}

/// The state of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PictureState {
    /// Being looked up in the cache.
    Sought,
    /// Waiting for its site, or being fetched.
    Asked,
    /// Cached, with its width and height in pixels.
    Kept(u32, u32),
    /// Not shown, with the reason as the end of a sentence.
    Failed(String),
}

/// A job for the picture worker.
#[derive(Debug, Clone, PartialEq)]
pub enum PictureWork {
    /// Check whether the picture is cached.
    Find(String),
    /// Cache the picture, if it can be shown.
    Keep(String, Arc<Vec<u8>>),
    /// Draw the picture for the screen.
    Draw(DrawingWanted),
}

/// The result of a picture job.
#[derive(Debug, Clone, PartialEq)]
pub enum PictureAnswer {
    /// Width and height of a cached picture, or the reason why it cannot be shown. `None` if it is not cached.
    Found(String, Option<Result<(u32, u32), String>>),
    /// A finished drawing, or a sentence fragment with the reason why it failed.
    Drawn(DrawingWanted, Result<Drawing, String>),
}

impl Pictures {
    /// Returns the state of a picture, or `None` if it has not been looked up yet.
    pub fn standing(&self, url: &str) -> Option<&PictureState> {
        self.standings.get(url)
    }

    /// Returns the drawing of a picture at a size, if it is finished.
    pub fn drawing(&self, url: &str, cells: (u16, u16)) -> Option<&Drawing> {
        let found = self.drawings.iter().find(|(made, _)| made.url == url && made.cells == cells);
        found.map(|(_, drawing)| &**drawing)
    }

    /// Returns all finished drawings.
    pub fn drawings(&self) -> impl Iterator<Item = &Drawing> {
        self.drawings.iter().map(|(_, drawing)| &**drawing)
    }

    /// Handles a fetched picture: returns the job that caches it, or records the failure.
    pub(in crate::ui) fn take_fetched(
        &mut self,
        url: String,
        bytes: Result<Arc<Vec<u8>>, String>,
    ) -> Option<PictureWork> {
        match bytes {
            Ok(bytes) => Some(PictureWork::Keep(url, bytes)),
            Err(why) => {
                self.standings.insert(url, PictureState::Failed(why));
                None
            }
        }
    }

    /// Drops a waiting picture that will not be fetched. With a reason, it counts as failed.
    pub(in crate::ui) fn drop_wanted(&mut self, url: String, why: Option<String>) {
        match why {
            Some(why) => {
                self.standings.insert(url, PictureState::Failed(why));
            }
            None => {
                self.standings.remove(&url);
            }
        }
    }
}

/// Maximum number of pictures per entry.
pub const OF_AN_ENTRY_MAX: usize = 30;
