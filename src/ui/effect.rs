//! All side effects that the screen can request: the engine's effects, and further effects that only a screen needs.

use super::reader::lines::Rendered;
use super::state::pictures::PictureWork;
use super::state::reader::TextSource;
use crate::engine::effect::Effect;
use crate::engine::request::ScreenRequest;
use backissue_core::feed::Enclosure;
use backissue_core::filters::EntryFilter;
use backissue_core::history::EntryKey;

/// A side effect to perform.
#[derive(Debug, Clone, PartialEq)]
pub enum ScreenEffect {
    /// An effect requested by the engine.
    Engine(Effect),
    /// Lay out an entry's text as lines.
    Render(RenderWork),
    /// Look up a picture in the cache, store one, or prepare one for the screen.
    Picture(Box<PictureWork>),
    /// Find the entries that a filter matches, for the preview with this number.
    PreviewFilter(u64, Box<EntryFilter>),
    /// Write pending entries to the search index now, because the user is searching. The screen does not wait for the update to
    /// finish.
    HurryIndex,
    /// Copy a text to the clipboard.
    Copy(String),
    /// Complete the path that is being typed.
    CompletePath(String),
    /// Write a list of subscriptions to a file.
    Export {
        /// The path as typed.
        path: String,
        /// The contents of the file.
        text: String,
    },
    /// Restore the terminal and stop until the shell resumes the program.
    Suspend,
    /// Switch to the demo.
    OpenDemo,
    /// Leave the screen: return from the demo to the place where it was opened, or end the program.
    Quit,
}

impl From<Effect> for ScreenEffect {
    fn from(effect: Effect) -> Self {
        Self::Engine(effect)
    }
}

/// Returns the effect that reads something from the store.
pub fn ask_store(wanted: ScreenRequest) -> ScreenEffect {
    Effect::from(wanted).into()
}

/// A text to lay out as lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderWork {
    /// The entry.
    pub key: EntryKey,
    /// Source of the text to lay out.
    pub source: TextSource,
    /// The HTML of the text.
    pub html: String,
    /// Base URL for relative addresses in the text.
    pub base: Option<String>,
    /// Files attached to the entry.
    pub enclosures: Vec<Enclosure>,
    /// Available width in columns.
    pub width: u16,
    /// `true` if tables and code that are too wide scroll sideways. Otherwise they are wrapped.
    pub slides: bool,
}

/// A text laid out as lines.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedEntry {
    /// The entry.
    pub key: EntryKey,
    /// Source of the text that was laid out.
    pub source: TextSource,
    /// Width in columns that the text was laid out for.
    pub width: u16,
    /// The lines.
    pub rendered: Rendered,
}
