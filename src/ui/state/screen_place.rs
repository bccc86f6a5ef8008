//! The place where the user was when the program ended, saved for the next start.

use serde::{Deserialize, Serialize};

use super::feeds_pane::{FeedsRow, SortOrder};
use super::layout::Pane;
use crate::engine::entries::rows::Show;
use crate::ui::settings::LayoutChoice;
use backissue_core::history::{EntryKey, FeedKey};

/// The place where the user was. Folded tags and reading positions are saved separately in the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScreenPlace {
    /// The open list.
    pub list: PlaceList,
    /// The selected entry.
    pub entry: Option<EntryKey>,
    /// `true` if its text was open.
    pub is_open: bool,
    /// The pane that had the focus.
    pub focus: Pane,
    /// Sort order of the feeds.
    pub order: SortOrder,
    /// Filter for the entries.
    pub show: Show,
    /// Layout chosen with a key, if any.
    pub layout: Option<LayoutChoice>,
    /// `true` if the reader was zoomed.
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
    /// Gaps.
    Gaps,
    /// Feeds with problems.
    Attention,
    /// A saved search.
    Search(u32),
    /// A tag.
    Tag(String),
    /// A feed.
    Feed(FeedKey),
}

impl PlaceList {
    /// Returns the list that a row opens.
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
