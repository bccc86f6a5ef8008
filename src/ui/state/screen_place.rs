//! Where the reader was when the program ended, as it is kept for the next start.

use serde::{Deserialize, Serialize};

use super::feeds_pane::{FeedsRow, SortOrder};
use super::layout::Pane;
use crate::engine::entries::rows::Show;
use crate::ui::settings::LayoutChoice;
use backissue_core::history::{EntryKey, FeedKey};

/// Where the reader was. Tags that are folded, and the place in a text, are kept by the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScreenPlace {
    /// The open list.
    pub list: PlaceList,
    /// The selected entry.
    pub entry: Option<EntryKey>,
    /// Its text was open.
    pub is_open: bool,
    /// The pane that had the keys.
    pub focus: Pane,
    /// How the feeds were ordered.
    pub order: SortOrder,
    /// Which entries were shown.
    pub show: Show,
    /// The layout, where a key chose it.
    pub layout: Option<LayoutChoice>,
    /// The reader had the screen alone.
    pub is_zoomed: bool,
}

/// A row of the subscriptions.
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
    /// What is missing.
    Gaps,
    /// Feeds in trouble.
    Attention,
    /// A saved search.
    Search(u32),
    /// A tag.
    Tag(String),
    /// A feed.
    Feed(FeedKey),
}

impl PlaceList {
    /// The list of a row.
    pub fn of(row: &FeedsRow) -> Self {
        match row {
            FeedsRow::AllUnread => Self::AllUnread,
            FeedsRow::Today => Self::Today,
            FeedsRow::Starred => Self::Starred,
            FeedsRow::Gaps => Self::Gaps,
            FeedsRow::Attention => Self::Attention,
            FeedsRow::Search(id) => Self::Search(*id),
            FeedsRow::Tag(tag, _) => Self::Tag(tag.clone()),
            FeedsRow::Feed(key, _) => Self::Feed(*key),
        }
    }
}
