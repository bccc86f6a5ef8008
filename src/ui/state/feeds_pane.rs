//! The rows of the subscriptions pane, the selected one, and their order.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ui::scroll_list::ScrollList;
use backissue_core::history::FeedKey;

/// The subscriptions pane.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeedsPane {
    /// Its rows, in order.
    pub rows: Vec<FeedsRow>,
    /// Place of the selected row.
    pub selected: usize,
    /// Place of the first row on the screen.
    pub top: usize,
    /// How the feeds are ordered.
    pub order: SortOrder,
    /// Plans or sums have changed since the rows were ordered.
    pub stale: bool,
    /// When they were ordered.
    pub ordered: Option<DateTime<Utc>>,
    /// Cells of the widest name, with what stands to its left.
    pub name_cells: usize,
    /// Tags of which what stands below them is not shown.
    pub folded: BTreeSet<String>,
}

/// How the feeds are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SortOrder {
    /// Under their tags, by title.
    #[default]
    Title,
    /// The most unread first.
    Unread,
    /// The next to be polled first.
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
    /// What is missing of all feeds.
    Gaps,
    /// Feeds in trouble.
    Attention,
    /// A saved search, by its number.
    Search(u32),
    /// A tag, with its feeds and those of the tags below it, each once.
    Tag(String, Vec<FeedKey>),
    /// A feed, so many steps below the top: as a part of its tag, one more than that.
    Feed(FeedKey, usize),
}

impl FeedsRow {
    /// The feed that it stands for.
    pub const fn feed(&self) -> Option<FeedKey> {
        if let Self::Feed(key, _) = self { Some(*key) } else { None }
    }

    /// The feeds of the tag that it stands for.
    pub fn tagged_feeds(&self) -> Option<&[FeedKey]> {
        if let Self::Tag(_, feeds) = self { Some(feeds) } else { None }
    }
}

impl FeedsPane {
    /// The selected row.
    pub fn selected_row(&self) -> Option<&FeedsRow> {
        self.rows.get(self.selected)
    }

    /// Moves `top` so that the selected row is on a screen of `height` rows, and no row is left out for want of
    /// room that there is.
    pub fn keep_in_sight(&mut self, height: usize) {
        let list = ScrollList { selected: self.selected, top: self.top };
        self.top = list.top_in(self.rows.len(), height);
    }
}
