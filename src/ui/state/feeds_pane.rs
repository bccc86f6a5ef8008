//! The rows of the subscriptions pane, with the selected row and the sort order; the feeds or entries that the user marked; and the
//! list, entry and layout that were open when the program was closed, saved to be restored at the next start.

use std::collections::BTreeSet;

use backissue_core::feed::text::counted_words;
use backissue_core::history::{EntryKey, FeedKey};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::layout::Pane;
use crate::engine::entries::rows::{RowOrder, Show};
use crate::ui::scroll_list::ScrollList;
use crate::ui::settings::LayoutChoice;

/// The state of the subscriptions pane.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeedsPane {
    /// The rows, from top to bottom.
    pub rows: Vec<FeedsRow>,
    /// Index of the selected row.
    pub selected: usize,
    /// Index of the first row on the screen.
    pub top: usize,
    /// Sort order of the feeds.
    pub order: SortOrder,
    /// `true` if plans or unread counts have changed since the rows were last sorted.
    pub stale: bool,
    /// Time when the rows were last sorted.
    pub ordered: Option<DateTime<Utc>>,
    /// Width that the rows need to show all names, in cells.
    pub widest: usize,
    /// Folded tags. The feeds and child tags below them are hidden.
    pub folded: BTreeSet<String>,
}

/// The sort order of the feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SortOrder {
    /// Feeds under their tags, ordered by title.
    #[default]
    Title,
    /// Feeds with the most unread entries first.
    Unread,
    /// Feeds with the earliest next poll first.
    NextPoll,
}

/// One row of the subscriptions pane, which opens a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedsRow {
    /// All unread entries.
    AllUnread,
    /// Entries of today.
    Today,
    /// The portion of unread entries for today.
    Reading,
    /// Starred entries.
    Starred,
    /// Gaps in the history of all feeds.
    Gaps,
    /// Entries that were unread for too long and ended this week.
    Ended,
    /// Feeds with problems.
    Attention,
    /// A saved search, by its ID.
    Search(u32),
    /// A tag, with the feeds that have this tag or one of its descendants, without duplicates.
    Tag(String, Vec<FeedKey>),
    /// A feed, with its level in the tag tree. A feed under a tag is one level below the tag.
    Feed(FeedKey, usize),
}

impl FeedsRow {
    /// Returns the feed of this row. Returns `None` if it is not a feed row.
    pub const fn feed(&self) -> Option<FeedKey> {
        if let Self::Feed(key, _) = self { Some(*key) } else { None }
    }

    /// Returns the feeds of the row's tag. Returns `None` if it is not a tag row.
    pub fn tagged_feeds(&self) -> Option<&[FeedKey]> {
        if let Self::Tag(_, feeds) = self { Some(feeds) } else { None }
    }
}

impl FeedsPane {
    /// Returns the selected row.
    pub fn selected_row(&self) -> Option<&FeedsRow> {
        self.rows.get(self.selected)
    }

    /// Adjusts `top` so that the selected row is visible on a screen of `height` rows, and no line is blank while rows above are
    /// hidden.
    pub fn keep_in_sight(&mut self, height: usize) {
        let list = ScrollList { selected: self.selected, top: self.top };
        self.top = list.top_in(self.rows.len(), height);
    }
}

/// The feeds and entries that the user marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkedRows {
    /// The marked feeds.
    pub feeds: BTreeSet<FeedKey>,
    /// The marked entries of the open list.
    pub entries: BTreeSet<EntryKey>,
    /// Pane and index of the row that was marked last. Marking a range starts at this row.
    pub(in crate::ui) last: Option<(Pane, usize)>,
}

impl MarkedRows {
    /// Checks whether no feed and no entry is marked.
    pub fn is_empty(&self) -> bool {
        self.feeds.is_empty() && self.entries.is_empty()
    }

    /// Marks feeds, or unmarks them if all of them are marked.
    pub(in crate::ui) fn toggle_feeds(&mut self, feeds: &[FeedKey]) {
        let all = feeds.iter().all(|feed| self.feeds.contains(feed));
        for feed in feeds {
            if all {
                self.feeds.remove(feed);
            } else {
                self.feeds.insert(*feed);
            }
        }
    }

    /// Marks or unmarks an entry.
    pub(in crate::ui) fn toggle_entry(&mut self, entry: EntryKey) {
        if !self.entries.remove(&entry) {
            self.entries.insert(entry);
        }
    }

    /// Describes how many feeds and entries are marked.
    pub fn words(&self) -> String {
        let counted = |count: usize, one: &str, more: &str| {
            (count > 0).then(|| counted_words(count, one, more))
        };
        let feeds = counted(self.feeds.len(), "feed", "feeds");
        let entries = counted(self.entries.len(), "entry", "entries");
        feeds.into_iter().chain(entries).collect::<Vec<_>>().join(" and ")
    }
}

/// The list, entry and layout to restore at the next start. Folded tags and reading positions are saved separately in the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScreenPlace {
    /// The open list.
    pub list: PlaceList,
    /// The selected entry.
    pub entry: Option<EntryKey>,
    /// `true` if the text of the selected entry was open.
    pub is_open: bool,
    /// The pane that had the focus.
    pub focus: Pane,
    /// Sort order of the feeds.
    pub order: SortOrder,
    /// Which entries of a list are shown: all, unread or starred ones.
    pub show: Show,
    /// Layout that the user chose with a key. `None` uses the configured layout.
    pub layout: Option<LayoutChoice>,
    /// Share of the entries pane that the user chose, in percent.
    pub list_share: Option<u16>,
    /// Orders that the user chose for lists.
    pub orders: Vec<(PlaceList, RowOrder)>,
    /// `true` if feeds without unread entries are hidden. `None` uses the configured setting.
    pub hides_read_feeds: Option<bool>,
    /// Theme that the user chose with a key. `None` uses the configured theme.
    pub theme: Option<String>,
    /// `true` if the reader pane filled the screen.
    pub is_zoomed: bool,
}

/// The row of the subscriptions pane whose list was open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceList {
    /// All unread entries.
    #[default]
    AllUnread,
    /// Entries of today.
    Today,
    /// Starred entries.
    Starred,
    /// Gaps in the history of all feeds.
    Gaps,
    /// Feeds with problems.
    Attention,
    /// A saved search, by its ID.
    Search(u32),
    /// A tag, by its name.
    Tag(String),
    /// A feed.
    Feed(FeedKey),
    /// Entries that ended this week.
    Ended,
    /// The portion of unread entries for today.
    Reading,
}

impl PlaceList {
    /// Returns the list that a row of the subscriptions pane opens.
    pub fn of(row: &FeedsRow) -> Self {
        match row {
            FeedsRow::AllUnread => Self::AllUnread,
            FeedsRow::Today => Self::Today,
            FeedsRow::Starred => Self::Starred,
            FeedsRow::Gaps => Self::Gaps,
            FeedsRow::Attention => Self::Attention,
            FeedsRow::Ended => Self::Ended,
            FeedsRow::Reading => Self::Reading,
            FeedsRow::Search(id) => Self::Search(*id),
            FeedsRow::Tag(tag, _) => Self::Tag(tag.clone()),
            FeedsRow::Feed(key, _) => Self::Feed(*key),
        }
    }
}
