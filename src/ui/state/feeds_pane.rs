//! The rows of the subscriptions pane, with the selected row and the sort order.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ui::scroll_list::ScrollList;
use backissue_core::history::FeedKey;

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
    /// Starred entries.
    Starred,
    /// Gaps in the history of all feeds.
    Gaps,
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
