//! The open entry in the reader pane: which of its texts is shown, the laid-out lines, and the reading position.

use crate::engine::entries::loaded_entry::{LoadedEntry, ReadingPosition};
use crate::ui::reader::lines::Rendered;
use backissue_core::history::EntryKey;

/// The state of the reader pane.
#[derive(Debug, Clone, PartialEq)]
pub struct Reader {
    /// The open entry.
    pub entry: LoadedEntry,
    /// Which text of the entry is shown.
    pub source: TextSource,
    /// Markup of the changes of an edited entry, while they are shown.
    pub changes: String,
    /// The laid-out lines of the text. `None` while they are being laid out.
    pub rendered: Option<Rendered>,
    /// Width in columns for which the text was laid out.
    pub width: u16,
    /// Index of the first visible line.
    pub scroll: usize,
    /// Number of cells by which wide blocks are scrolled sideways.
    pub sideways: usize,
    /// Number of characters of the text before each line (see [`crate::ui::reader::reading_position`]).
    pub starts: Vec<u32>,
    /// Digits typed so far of the number of a link to open.
    pub digits: String,
    /// The first visible line before a link led to a place in the text, and the one after that.
    pub came_from: Option<(usize, usize)>,
    /// Places of the pictures, in text order.
    pub pictures: Vec<PicturePlace>,
}

/// Which text of an entry is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextSource {
    /// The text from the feed.
    #[default]
    Feed,
    /// The text from the feed, until the entry's page has been fetched.
    Waiting,
    /// The text of the entry's page.
    Page,
    /// What the publisher changed in the text from the feed.
    Changes,
}

impl TextSource {
    /// Checks whether two sources show the same text.
    pub(in crate::ui) const fn is_same_text(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Feed | Self::Waiting, Self::Feed | Self::Waiting)
                | (Self::Page, Self::Page)
                | (Self::Changes, Self::Changes)
        )
    }
}

impl Reader {
    /// Returns from the place in the text that a link led to. Returns `false` if there is none, or if one has moved on since.
    pub fn return_from_place(&mut self) -> bool {
        let from = self.came_from.take().filter(|(_, to)| *to == self.scroll);
        if let Some((from, _)) = from {
            self.scroll = from;
        }
        from.is_some()
    }

    /// Returns the HTML of the shown text, and the base URL for relative references in it.
    pub fn markup(&self) -> (&str, Option<&str>) {
        if let Some(full) = self.entry.page().filter(|_| self.source == TextSource::Page) {
            return (&full.html, Some(&full.url));
        }
        let text = match self.source {
            TextSource::Changes => Some(self.changes.as_str()),
            TextSource::Feed | TextSource::Waiting | TextSource::Page => self.entry.feed_text(),
        };
        (text.unwrap_or_default(), self.entry.kept.link.as_deref())
    }

    /// Shows another text of the entry from the beginning.
    pub(in crate::ui) fn show(&mut self, source: TextSource) {
        if !self.source.is_same_text(source) {
            (self.rendered, self.width) = (None, 0);
            (self.scroll, self.sideways) = (0, 0);
            self.entry.place = None;
        }
        self.source = source;
    }

    /// Checks whether the reader pane waits for the page of an entry.
    pub(in crate::ui) fn waits_for(&self, key: EntryKey) -> bool {
        self.entry.key == key && self.source == TextSource::Waiting
    }

    /// Checks whether the entry's page must be fetched, because the entry was updated after its page was fetched, or the page was
    /// never fetched.
    pub(in crate::ui) fn is_outdated(&self) -> bool {
        let changed = self.entry.kept.updated;
        self.entry.page().is_none_or(|full| changed.is_some_and(|changed| changed > full.asked))
    }
}

/// The place of a picture within the lines of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PicturePlace {
    /// Number of the picture in the text, from 1.
    pub image: u16,
    /// First of the lines that were added for the picture, or the line above which they would be added.
    pub line: usize,
    /// Number of columns to the left of the picture, such as for a quotation bar or a list.
    pub indent: u16,
    /// Width of the picture in columns.
    pub columns: u16,
    /// Number of lines that were added for the picture.
    pub rows: u16,
}

impl Reader {
    /// Returns the reading position at the first visible line.
    pub fn place(&self) -> Option<ReadingPosition> {
        let of = self.starts.last().copied()?;
        let offset = self.starts.get(self.scroll).copied().unwrap_or(of);
        Some(ReadingPosition { offset, of })
    }

    /// Returns the reading position to save. Returns `None` at the beginning of the text, and at its end because everything has
    /// been read.
    pub(in crate::ui) fn kept(&self, rows: u16) -> Option<ReadingPosition> {
        let lines = self.rendered.as_ref()?.lines.len();
        let at_end = self.scroll.saturating_add(usize::from(rows)) >= lines;
        if self.scroll == 0 || at_end { None } else { self.place() }
    }
}
