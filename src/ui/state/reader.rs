//! The open entry in the reader pane: which text is shown, its lines, and the reading position.

use crate::engine::entries::full_text::FullText;
use crate::engine::entries::loaded_entry::{LoadedEntry, ReadingPosition};
use crate::ui::reader::lines::Rendered;
use backissue_core::history::EntryKey;

/// The reader pane.
#[derive(Debug, Clone, PartialEq)]
pub struct Reader {
    /// The entry.
    pub entry: LoadedEntry,
    /// Source of the text that is shown.
    pub source: TextSource,
    /// Lines of the text. `None` while they are being laid out.
    pub rendered: Option<Rendered>,
    /// Width that the lines were laid out for, in columns.
    pub width: u16,
    /// First visible line.
    pub scroll: usize,
    /// Number of cells by which wide blocks are scrolled sideways.
    pub sideways: usize,
    /// Number of characters of the text before each line (see [`crate::ui::reader::reading_position`]).
    pub starts: Vec<u32>,
    /// Typed digits of a link number.
    pub digits: String,
    /// Places of the pictures, in text order.
    pub pictures: Vec<PicturePlace>,
}

/// The source of the shown text of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextSource {
    /// The feed's text.
    #[default]
    Feed,
    /// The feed's text, while the page is being fetched.
    Waiting,
    /// The text of the page.
    Page,
}

impl Reader {
    /// Returns the text of the page, if it was read.
    pub(in crate::ui) fn page(&self) -> Option<&FullText> {
        self.entry.full.as_ref().filter(|full| full.failed.is_none())
    }

    /// Returns the HTML of the text to show and the base URL of its relative references.
    pub fn markup(&self) -> (&str, Option<&str>) {
        if let Some(full) = self.page().filter(|_| self.source == TextSource::Page) {
            return (&full.html, Some(&full.url));
        }
        let text = self.entry.body.as_ref().and_then(|body| body.text());
        (text.unwrap_or_default(), self.entry.kept.link.as_deref())
    }

    /// Switches to another text, from its beginning.
    pub(in crate::ui) fn show(&mut self, source: TextSource) {
        if (self.source == TextSource::Page) != (source == TextSource::Page) {
            (self.rendered, self.width) = (None, 0);
            (self.scroll, self.sideways) = (0, 0);
            self.entry.place = None;
        }
        self.source = source;
    }

    /// Checks whether the reader waits for the page of an entry.
    pub(in crate::ui) fn waits_for(&self, key: EntryKey) -> bool {
        self.entry.key == key && self.source == TextSource::Waiting
    }

    /// Checks whether the entry was updated after its page was fetched.
    pub(in crate::ui) fn is_outdated(&self) -> bool {
        let changed = self.entry.kept.updated;
        self.page().is_none_or(|full| changed.is_some_and(|changed| changed > full.asked))
    }
}

/// The place of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PicturePlace {
    /// Number of the picture in the text, from 1.
    pub image: u16,
    /// First reserved line, or the line where it would be.
    pub line: usize,
    /// Columns to the left of the picture, for a quotation bar or a list.
    pub indent: u16,
    /// Number of columns.
    pub columns: u16,
    /// Number of reserved lines.
    pub rows: u16,
}

impl Reader {
    /// Returns the current reading position.
    pub fn place(&self) -> Option<ReadingPosition> {
        let of = self.starts.last().copied()?;
        let offset = self.starts.get(self.scroll).copied().unwrap_or(of);
        Some(ReadingPosition { offset, of })
    }

    /// Returns the position to save. Returns `None` at the beginning of the text, and at its end, where everything has been read.
    pub(in crate::ui) fn kept(&self, rows: u16) -> Option<ReadingPosition> {
        let lines = self.rendered.as_ref()?.lines.len();
        let at_end = self.scroll.saturating_add(usize::from(rows)) >= lines;
        if self.scroll == 0 || at_end { None } else { self.place() }
    }
}
