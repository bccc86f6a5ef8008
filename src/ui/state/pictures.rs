//! The pictures of the entry being read: how each stands, and the drawings that are ready.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ui::theme::graphics::{Drawing, DrawingWanted, Graphics};
use backissue_core::history::EntryKey;

/// The reader's pictures.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pictures {
    /// They are wanted.
    pub on: bool,
    /// What the terminal can show.
    pub graphics: Graphics,
    pub(in crate::ui) standings: BTreeMap<String, PictureState>,
    /// The entry they belong to.
    pub(in crate::ui) entry: Option<EntryKey>,
    /// Ready to be shown, the one wanted last behind.
    pub(in crate::ui) drawings: Vec<(DrawingWanted, Arc<Drawing>)>,
    /// Being made ready.
    pub(in crate::ui) drawing: bool,
}

/// How a picture stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PictureState {
    /// It is looked for among those that are kept.
    Sought,
    /// It waits for its site, or is being fetched.
    Asked,
    /// It is kept; its width and height in pixels.
    Kept(u32, u32),
    /// It is not shown; why, as the rest of a sentence.
    Failed(String),
}

/// Something asked about pictures.
#[derive(Debug, Clone, PartialEq)]
pub enum PictureWork {
    /// Look whether it is kept.
    Find(String),
    /// Keep it, if it is a picture that can be shown.
    Keep(String, Arc<Vec<u8>>),
    /// Make it ready for the screen.
    Draw(DrawingWanted),
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub enum PictureAnswer {
    /// Width and height of one that is kept, or why it is not shown; `None`: it is not kept.
    Found(String, Option<Result<(u32, u32), String>>),
    /// One is ready, or cannot be made ready; a fragment.
    Drawn(DrawingWanted, Result<Drawing, String>),
}

impl Pictures {
    /// How a picture stands; `None`: nobody has looked yet.
    pub fn standing(&self, url: &str) -> Option<&PictureState> {
        self.standings.get(url)
    }

    /// The drawing of a picture in a size, if it is ready.
    pub fn drawing(&self, url: &str, cells: (u16, u16)) -> Option<&Drawing> {
        let found = self.drawings.iter().find(|(made, _)| made.url == url && made.cells == cells);
        found.map(|(_, drawing)| &**drawing)
    }

    /// Everything that is ready.
    pub fn drawings(&self) -> impl Iterator<Item = &Drawing> {
        self.drawings.iter().map(|(_, drawing)| &**drawing)
    }

    /// A picture was fetched, and is to be kept; or it could not be fetched.
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

    /// A picture that waited is not asked for after all; it failed if there is a reason.
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

/// Pictures of one entry at most.
pub const OF_AN_ENTRY_MAX: usize = 30;
