//! The open entry in the reader pane: which of its texts is shown, the laid-out lines, its pictures, the reading position, and what
//! the user does with it; entries that are read from the store before they are opened; and the open search, with what was open
//! before it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use backissue_core::InputFlaw;
use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::search::{Marks, Matching};
use chrono::{DateTime, Utc};

use super::layout::Pane;
use crate::engine::entries::entry_view::{LoadedEntry, ReadingPosition};
use crate::engine::entries::interest::Reading;
use crate::ui::panes::entry_list::Listing;
use crate::ui::reader::lines::Rendered;
use crate::ui::theme::graphics::{Drawing, DrawingWanted, Graphics};

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
    /// Width in columns for which the shown lines were laid out. It differs from `width` while the text is being laid out again.
    pub lines_width: u16,
    /// Index of the first visible line.
    pub scroll: usize,
    /// Number of cells by which wide blocks are scrolled sideways.
    pub sideways: usize,
    /// Estimated time to read the text, in minutes.
    pub minutes: usize,
    /// Number of characters of the text before each line (see [`crate::ui::reader::reading_position`]).
    pub starts: Vec<u32>,
    /// Digits typed so far of the number of a link to open.
    pub digits: String,
    /// The first visible line before a link within the text was opened, and the first visible line after that.
    pub came_from: Option<(usize, usize)>,
    /// Places of the header and the pictures, in text order.
    pub pictures: Vec<PicturePlace>,
}

/// What the user has read since the program started. With these values, one look at an entry is counted only once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CountedReading {
    /// What the user has read since the last request that counted it.
    pub read: Vec<(FeedKey, Reading)>,
    /// Entries whose rows were on the screen.
    pub shown: BTreeSet<EntryKey>,
    /// The entry that was opened last.
    pub open: Option<EntryKey>,
    /// The entry whose end was visible last.
    pub finished: Option<EntryKey>,
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
    /// Scrolls back to the link whose target within the text is shown. Returns `false` if no such link was opened, or if the user
    /// has scrolled since.
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
    /// Number of the picture in the text, from 1. The header has the number 0.
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
    /// Returns the number of lines above the text that the header takes, if it scrolls away with the text.
    pub fn head_rows(&self) -> usize {
        let header = self.pictures.first().filter(|place| place.image == 0);
        header.map_or(0, |place| place.rows.into())
    }

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
        if at_end { None } else { self.place().filter(|place| place.offset > 0) }
    }
}

/// The search for a text in the open entry, and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Find {
    /// The text to find, as typed.
    pub wanted: String,
    /// Line of the selected hit, and the byte offset of the hit in this line. `None` until there is a hit.
    pub hit: Option<(usize, usize)>,
    /// First visible line when the search began, which is shown again if the search is cancelled.
    pub(in crate::ui) from: usize,
}

/// An open entry that is marked as read later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLater {
    /// The entry.
    pub key: EntryKey,
    /// Time when it was opened.
    pub since: DateTime<Utc>,
}

/// The state of the link hints.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkHints {
    /// The letters typed so far.
    pub typed: String,
    /// What happens to the chosen link.
    pub does: HintAction,
}

/// The action for the link that the user chooses by its hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HintAction {
    /// Open the link.
    #[default]
    Open,
    /// Copy the link.
    Copy,
    /// Pass the link to a command.
    Pipe,
}

/// Entries requested in advance: the next entry in the list, and the next unread entry.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadAhead {
    /// Requested entries. `None` means that the entry has not arrived yet.
    pub(in crate::ui) entries: Vec<(EntryKey, Option<Box<LoadedEntry>>)>,
}

/// Whether an entry that the user opens has been read in advance.
#[derive(Debug)]
pub enum AheadEntry {
    /// The entry has been read from the store.
    Here(Box<LoadedEntry>),
    /// The entry was requested from the store and has not arrived yet.
    OnItsWay,
    /// The entry was not requested in advance.
    Unknown,
}

impl ReadAhead {
    /// Removes an entry because the user opens it, and returns it if it has arrived.
    pub fn take(&mut self, key: EntryKey) -> AheadEntry {
        let Some(place) = self.entries.iter().position(|(asked, _)| *asked == key) else {
            return AheadEntry::Unknown;
        };
        match self.entries.remove(place).1 {
            Some(entry) => AheadEntry::Here(entry),
            None => AheadEntry::OnItsWay,
        }
    }

    /// Stores an entry that has arrived, if it was requested and is still needed.
    pub fn keep(&mut self, entry: LoadedEntry) {
        if let Some((_, kept)) = self.entries.iter_mut().find(|(asked, _)| *asked == entry.key) {
            *kept = Some(Box::new(entry));
        }
    }

    /// Drops the entries of a feed because they may be outdated. Changed flags do not require this, because flags are taken from
    /// the list rows.
    pub fn forget_feed(&mut self, feed: FeedKey) {
        self.entries.retain(|(key, _)| key.feed != feed);
    }

    /// Drops all entries because they may be outdated.
    pub fn forget(&mut self) {
        self.entries.clear();
    }

    /// Drops an entry that could not be read. If the user opens it, it is requested again.
    pub fn give_up(&mut self, key: EntryKey) {
        self.entries.retain(|(asked, _)| *asked != key);
    }
}

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
    /// The picture was requested. The request is waiting for its turn at the site, or the picture is being fetched.
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
    Found(String, Option<Result<(u32, u32), PictureFlaw>>),
    /// A finished drawing, or the reason why the picture could not be drawn.
    Drawn(DrawingWanted, Result<Drawing, PictureFlaw>),
}

/// The reason why a picture is not shown, as the end of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureFlaw {
    #[error("it is damaged")]
    Damaged,
    #[error("it is empty")]
    Empty,
    #[error("it has too many pixels")]
    TooManyPixels,
    /// Its width and height.
    #[error("{0} x {1} pixels are too many")]
    TooLarge(u32, u32),
    /// The name of its format.
    #[error("{0} cannot be shown here")]
    UnknownFormat(&'static str),
    #[error("it is too large to store")]
    NoPlace,
    /// The reason of the system.
    #[error("it cannot be stored: {0}")]
    NotStored(String),
    #[error("it is no longer stored · hide and show the pictures to fetch it again")]
    Gone,
    /// The reason of the encoder.
    #[error("it cannot be shown: {0}")]
    NotDrawn(String),
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

/// The open search.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The query as typed by the user.
    pub text: String,
    /// The parsed query. `None` until the user has typed a query.
    pub matching: Option<Matching>,
    /// Sentence that explains why the typed text is not a valid query. Until the text is valid, the list shows the results of the
    /// previous query.
    pub flaw: Option<String>,
    /// List and text to restore when the search is closed.
    pub(in crate::ui) before: ViewBeforeSearch,
}

impl Search {
    /// Returns whether only the texts of the newest entries were read, because the query is still being typed.
    pub fn is_answered_in_part(&self) -> bool {
        self.matching.as_ref().is_some_and(|matching| matching.texts_max.is_some())
    }
}

/// The list and text that were open before a search.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ui) struct ViewBeforeSearch {
    pub(in crate::ui) focus: Pane,
    pub(in crate::ui) list: Listing,
    pub(in crate::ui) reader: Option<Reader>,
    pub(in crate::ui) marks: Marks,
}
