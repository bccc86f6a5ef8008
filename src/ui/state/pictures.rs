//! The pictures of the open entry: the state of each picture, and the finished drawings.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ui::theme::graphics::{Drawing, DrawingWanted, Graphics};
use backissue_core::InputFlaw;
use backissue_core::history::EntryKey;

/// The pictures of the open entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pictures {
    /// `true` if the user wants to see pictures.
    pub on: bool,
    /// Protocol and cell size that the terminal uses for pictures.
    pub graphics: Graphics,
    pub(in crate::ui) standings: BTreeMap<String, PictureState>,
    /// The entry whose pictures these are.
    pub(in crate::ui) entry: Option<EntryKey>,
    /// Drawings in memory. The drawing that was needed most recently is last.
    pub(in crate::ui) drawings: Vec<(DrawingWanted, Arc<Drawing>)>,
    /// `true` while the picture worker is making a drawing.
    pub(in crate::ui) drawing: bool,
}

/// The state of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PictureState {
    /// The picture is being looked up in the cache.
    Sought,
    /// The picture was requested: it waits for its site, or is being fetched.
    Asked,
    /// The picture is cached. The numbers are its width and height in pixels.
    Kept(u32, u32),
    /// The picture cannot be shown. The text is the reason, as the end of a sentence.
    Failed(String),
}

/// A job for the picture worker.
#[derive(Debug, Clone, PartialEq)]
pub enum PictureWork {
    /// Check whether the picture with this URL is cached.
    Find(String),
    /// Cache the fetched picture with this URL, if it can be shown.
    Keep(String, Arc<Vec<u8>>),
    /// Draw a cached picture for the terminal.
    Draw(DrawingWanted),
}

/// The result of a job of the picture worker.
#[derive(Debug, Clone, PartialEq)]
pub enum PictureAnswer {
    /// The picture with this URL is cached, with this width and height in pixels; or it cannot be shown, with the reason; or it is
    /// not cached (`None`).
    Found(String, Option<Result<(u32, u32), String>>),
    /// A finished drawing, or the reason why the picture could not be drawn, as the end of a sentence.
    Drawn(DrawingWanted, Result<Drawing, String>),
}

impl Pictures {
    /// Returns the state of the picture with this URL. Returns `None` if it has not been looked up yet.
    pub fn standing(&self, url: &str) -> Option<&PictureState> {
        self.standings.get(url)
    }

    /// Returns the drawing of a picture at a size in columns and rows. Returns `None` if it is not finished.
    pub fn drawing(&self, url: &str, cells: (u16, u16)) -> Option<&Drawing> {
        let found = self.drawings.iter().find(|(made, _)| made.url == url && made.cells == cells);
        found.map(|(_, drawing)| &**drawing)
    }

    /// Returns the drawings in memory.
    pub fn drawings(&self) -> impl Iterator<Item = &Drawing> {
        self.drawings.iter().map(|(_, drawing)| &**drawing)
    }

    /// Handles the result of a request for a picture: returns the job that caches a fetched picture, or records why the request
    /// failed.
    pub(in crate::ui) fn take_fetched(
        &mut self,
        url: String,
        bytes: Result<Arc<Vec<u8>>, InputFlaw>,
    ) -> Option<PictureWork> {
        match bytes {
            Ok(bytes) => Some(PictureWork::Keep(url, bytes)),
            Err(why) => {
                self.standings.insert(url, PictureState::Failed(why.into()));
                None
            }
        }
    }

    /// Stops waiting for a picture that will not be fetched. If a reason is given, the picture counts as failed; otherwise, it can
    /// be requested again.
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

/// Maximum number of pictures that are shown per entry.
pub const OF_AN_ENTRY_MAX: usize = 30;
