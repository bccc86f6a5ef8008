//! The list, entry and layout that were open when the program was closed, saved to be restored at the next start.

use serde::{Deserialize, Serialize};

use super::feeds_pane::{FeedsRow, SortOrder};
use super::layout::Pane;
use crate::engine::entries::rows::{RowOrder, Show};
use crate::ui::settings::LayoutChoice;
use backissue_core::history::{EntryKey, FeedKey};

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
            FeedsRow::Search(id) => Self::Search(*id),
            FeedsRow::Tag(tag, _) => Self::Tag(tag.clone()),
            FeedsRow::Feed(key, _) => Self::Feed(*key),
        }
    }
}
