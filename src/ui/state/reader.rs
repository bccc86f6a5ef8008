//! The entry in the reader pane: which of its texts is shown, as which lines, and where it stands.

use crate::engine::entries::full_text::FullText;
use crate::engine::entries::loaded_entry::{LoadedEntry, ReadingPosition};
use crate::ui::reader::lines::Rendered;
use backissue_core::history::EntryKey;

/// The reader pane.
#[derive(Debug, Clone, PartialEq)]
pub struct Reader {
    /// The entry.
    pub entry: LoadedEntry,
    /// Which of its texts is shown.
    pub source: TextSource,
    /// Its text as lines; `None` while it is being made.
    pub rendered: Option<Rendered>,
    /// Columns it was made for.
    pub width: u16,
    /// First line shown.
    pub scroll: usize,
    /// Cells by which what is wider than the pane is moved to the left.
    pub sideways: usize,
    /// Characters of the text before each line (see [`crate::ui::reader::reading_position`]).
    pub starts: Vec<u32>,
    /// Digits typed of a link's number.
    pub digits: String,
    /// Where its pictures stand, in order of the text.
    pub pictures: Vec<PicturePlace>,
}

/// Which text of an entry is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextSource {
    /// The feed's.
    #[default]
    Feed,
    /// The feed's, while the page is asked for.
    Waiting,
    /// The page's.
    Page,
}

impl Reader {
    /// The page's text, if it was read.
    pub(in crate::ui) fn page(&self) -> Option<&FullText> {
        self.entry.full.as_ref().filter(|full| full.failed.is_none())
    }

    /// The text to show, as marked up, and the address that references in it are relative to.
    pub fn markup(&self) -> (&str, Option<&str>) {
        if let Some(full) = self.page().filter(|_| self.source == TextSource::Page) {
            return (&full.html, Some(&full.url));
        }
        let text = self.entry.body.as_ref().and_then(|body| body.text());
        (text.unwrap_or_default(), self.entry.kept.link.as_deref())
    }

    /// Shows another of its texts, from the beginning.
    pub(in crate::ui) fn show(&mut self, source: TextSource) {
        if (self.source == TextSource::Page) != (source == TextSource::Page) {
            (self.rendered, self.width) = (None, 0);
            (self.scroll, self.sideways) = (0, 0);
            self.entry.place = None;
        }
        self.source = source;
    }

    /// Whether the page of an entry is waited for.
    pub(in crate::ui) fn waits_for(&self, key: EntryKey) -> bool {
        self.entry.key == key && self.source == TextSource::Waiting
    }

    /// Whether the page is older than the entry says it is.
    pub(in crate::ui) fn is_outdated(&self) -> bool {
        let changed = self.entry.kept.updated;
        self.page().is_none_or(|full| changed.is_some_and(|changed| changed > full.asked))
    }
}

/// The place of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PicturePlace {
    /// Its number in the text, from 1.
    pub image: u16,
    /// The first line that is kept for it, or where it would be.
    pub line: usize,
    /// Columns to the left of it, those of a quotation's bar or of a list.
    pub indent: u16,
    /// Columns.
    pub columns: u16,
    /// Lines kept for it.
    pub rows: u16,
}

impl Reader {
    /// Where the text stands now.
    pub fn place(&self) -> Option<ReadingPosition> {
        let of = self.starts.last().copied()?;
        let offset = self.starts.get(self.scroll).copied().unwrap_or(of);
        Some(ReadingPosition { offset, of })
    }

    /// What is kept of where it stands: nothing at the beginning, and nothing at the end, where it was read.
    pub(in crate::ui) fn kept(&self, rows: u16) -> Option<ReadingPosition> {
        let lines = self.rendered.as_ref()?.lines.len();
        let at_end = self.scroll.saturating_add(usize::from(rows)) >= lines;
        if self.scroll == 0 || at_end { None } else { self.place() }
    }
}
