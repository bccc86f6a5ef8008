//! Everything the screen may ask of the world: what the engine asks for, and what only a screen needs.

use super::reader::lines::Rendered;
use super::state::pictures::PictureWork;
use super::state::reader::TextSource;
use crate::engine::effect::Effect;
use crate::engine::request::ScreenRequest;
use backissue_core::feed::Enclosure;
use backissue_core::filters::EntryFilter;
use backissue_core::history::EntryKey;

/// Something asked of the world.
#[derive(Debug, Clone, PartialEq)]
pub enum ScreenEffect {
    /// What the engine asks for.
    Engine(Effect),
    /// Turn an entry's text into lines.
    Render(RenderWork),
    /// Look for a picture, keep one, or make one ready for the screen.
    Picture(Box<PictureWork>),
    /// Look through the store for what a filter would hit, for the preview with this number.
    PreviewFilter(u64, Box<EntryFilter>),
    /// Write into the search index at once what is gathered for it: somebody searches. Nobody waits for it.
    HurryIndex,
    /// Put a text on the clipboard.
    Copy(String),
    /// Complete the path that is being typed.
    CompletePath(String),
    /// Write a list of subscriptions into a file.
    Export {
        /// The path as it was typed.
        path: String,
        /// The list.
        text: String,
    },
    /// Give the terminal back and stop until the shell lets it go on.
    Suspend,
    /// Leave for the demo.
    OpenDemo,
    /// End what is on the screen: from the demo back to where it was opened, else the program.
    Quit,
}

impl From<Effect> for ScreenEffect {
    fn from(effect: Effect) -> Self {
        Self::Engine(effect)
    }
}

/// Asks the engine to read something from the store.
pub fn ask_store(wanted: ScreenRequest) -> ScreenEffect {
    Effect::from(wanted).into()
}

/// A text to turn into lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderWork {
    /// The entry.
    pub key: EntryKey,
    /// Which of its texts it is.
    pub source: TextSource,
    /// Its text as marked up.
    pub html: String,
    /// Addresses in it are relative to this.
    pub base: Option<String>,
    /// Files attached to it.
    pub enclosures: Vec<Enclosure>,
    /// Columns there are.
    pub width: u16,
    /// Tables and code that are wider are moved sideways; otherwise they are broken.
    pub slides: bool,
}

/// A text as lines.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedEntry {
    /// The entry.
    pub key: EntryKey,
    /// Which of its texts it is.
    pub source: TextSource,
    /// Columns it was made for.
    pub width: u16,
    /// The lines.
    pub rendered: Rendered,
}
