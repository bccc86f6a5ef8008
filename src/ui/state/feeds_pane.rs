//! The rows of the subscriptions pane, with the selected row and the sort order.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ui::scroll_list::ScrollList;
use backissue_core::history::FeedKey;

/// The subscriptions pane.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeedsPane {
    /// Rows, in order.
    pub rows: Vec<FeedsRow>,
    /// Index of the selected row.
    pub selected: usize,
    /// Index of the first row on the screen.
    pub top: usize,
    /// Sort order of the feeds.
    pub order: SortOrder,
    /// `true` if plans or counts have changed since the rows were sorted.
    pub stale: bool,
    /// Time of the last sort.
    pub ordered: Option<DateTime<Utc>>,
    /// Width of the widest name in cells, including everything to its left.
    pub name_cells: usize,
    /// Folded tags, whose descendants are hidden.
    pub folded: BTreeSet<String>,
}

/// The sort order of the feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SortOrder {
    /// Under their tags, by title.
    #[default]
    Title,
    /// Most unread entries first.
    Unread,
    /// Next poll first.
    NextPoll,
}

/// One row of the pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedsRow {
    /// All unread entries.
    AllUnread,
    /// Entries of today.
    Today,
    /// Starred entries.
    Starred,
    /// Gaps in all feeds.
    Gaps,
    /// Feeds with problems.
    Attention,
    /// A saved search, by its ID.
    Search(u32),
    /// A tag, with its feeds and the feeds of its descendants, without duplicates.
    Tag(String, Vec<FeedKey>),
    /// A feed, with its depth in the tree. A feed under a tag is one level below the tag.
    Feed(FeedKey, usize),
}

impl FeedsRow {
    /// Returns the feed of the row, if it is a feed row.
    pub const fn feed(&self) -> Option<FeedKey> {
        if let Self::Feed(key, _) = self { Some(*key) } else { None }
    }

    /// Returns the feeds of the row's tag, if it is a tag row.
    pub fn tagged_feeds(&self) -> Option<&[FeedKey]> {
        if let Self::Tag(_, feeds) = self { Some(feeds) } else { None }
    }
}

impl FeedsPane {
    /// Returns the selected row.
    pub fn selected_row(&self) -> Option<&FeedsRow> {
        self.rows.get(self.selected)
    }

    /// Adjusts `top` so that the selected row is on a screen of `height` rows, and no line stays blank while rows are hidden above.
    pub fn keep_in_sight(&mut self, height: usize) {
        let list = ScrollList { selected: self.selected, top: self.top };
        self.top = list.top_in(self.rows.len(), height);
    }
}
