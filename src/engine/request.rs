//! Requests of a user as plain data, with the same form for a key, the palette, a subcommand, and another process.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::backfill::history_actions::HistoryAction;
use super::change::MarkChange;
use super::effect::Effect;
use super::entries::full_text::FullText;
use super::entries::loaded_entry::ReadingPosition;
use super::entries::rows::RowsWanted;
use super::feeds::addition::Subscribe;
use super::feeds::chosen_settings::Chosen;
use super::poll::manual_poll::PollRequest;
use super::saved_searches::SavedSearch;
use super::store_work::Job;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, GapKey};
use backissue_core::schedule::Pace;
use backissue_core::search::Matching;

/// A request of a user.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Poll feeds.
    Poll(PollRequest),
    /// Stop the polls of these feeds: cancel waiting polls and walks through archives, and let polls under way end.
    StopPolls(Vec<FeedKey>),
    /// Subscribe to an address.
    Subscribe(Box<Subscribe>),
    /// Subscribe to many addresses without requesting them.
    Import(Vec<Subscribe>),
    /// Subscribe to all feeds in an OPML file.
    ImportFile(String),
    /// Preview one of the feeds that a page names.
    Preview {
        /// Number of the subscription being added.
        addition: u32,
        /// Address of the feed.
        url: String,
    },
    /// Choose one of the feeds that a page names; `None` cancels the subscription.
    Choose {
        /// Number of the subscription being added.
        addition: u32,
        /// Address of the feed.
        url: Option<String>,
    },
    /// Choose the first readable feed that a page names. Contains the number of the subscription being added.
    TakeFirstFeed(u32),
    /// Unsubscribe from a feed.
    Unsubscribe(FeedKey),
    /// Restore a subscription that was removed within the last week.
    SubscribeAgain(FeedKey),
    /// Change the pace of a feed's polls.
    SetPace(FeedKey, Pace),
    /// Change the user's settings for a feed.
    Set(FeedKey, Box<Chosen>),
    /// Rename a tag and its nested tags.
    RenameTag {
        /// Tag to rename.
        tag: String,
        /// New name.
        name: String,
    },
    /// Answer a problem of a feed.
    Trouble(FeedKey, TroubleAnswer),
    /// Load more of a feed's history.
    History(FeedKey, HistoryAction),
    /// Load more of a feed's history at one gap or at all gaps; stops a walk under way.
    MoreHistory(FeedKey, Option<GapKey>),
    /// Hide a gap.
    DismissGap(FeedKey, GapKey),
    /// Set or clear a mark on entries.
    Mark(MarkChange),
    /// Mark all entries read in the list with this number.
    MarkListRead(u64),
    /// Save a filter and apply it. A filter without a number is new.
    SaveFilter(Box<EntryFilter>),
    /// Remove a filter and show the entries it hid.
    RemoveFilter(u32),
    /// Replace the saved searches.
    SaveSearches(Vec<SavedSearch>),
    /// Fetch the page that an entry links to.
    FetchPage {
        /// Entry that links to the page.
        key: EntryKey,
        /// Address of the page.
        url: String,
        /// Stored copy of the page.
        kept: Option<Box<FullText>>,
    },
    /// Fetch a picture of an entry.
    FetchPicture {
        /// Entry with the picture.
        key: EntryKey,
        /// Address of the picture.
        url: String,
    },
    /// Cancel the picture requests that are still waiting.
    DropPictures,
    /// Learn when a feed posts, if that is due, so that its plan can be shown.
    Learn(FeedKey),
    /// Open an address in the browser, or an attached file in its program.
    Open {
        /// Address to open.
        link: String,
        /// `true` for an attached file.
        attached: bool,
    },
    /// Make several changes that one undo reverts.
    Together(Vec<Self>),
    /// Undo the last change.
    Undo,
    /// Redo the last change that was undone.
    Redo,
    /// End the program.
    Stop,
}

/// A request of a screen to the store, to read data to show or to save the screen's state. It does not change the engine.
#[derive(Debug, Clone, PartialEq)]
pub enum ScreenRequest {
    /// Read rows of a list.
    Rows(RowsWanted),
    /// Read an entry with its text.
    Entry(EntryKey),
    /// Read the last polls of a feed.
    Polls(FeedKey),
    /// Count the unread entries that lists show under a date since this instant.
    TodayCount(DateTime<Utc>),
    /// Count the unread entries that saved searches match.
    SearchCounts(Vec<(u32, Matching)>),
    /// Count the entries that the filters match.
    FilterCounts,
    /// Save the reading position in an entry; `None` means the beginning or the end.
    SaveReadingPosition(EntryKey, Option<ReadingPosition>),
    /// Save the set of folded tags.
    SaveFolded(BTreeSet<String>),
}

impl From<ScreenRequest> for Effect {
    fn from(wanted: ScreenRequest) -> Self {
        Self::store(match wanted {
            ScreenRequest::Rows(wanted) => Job::ReadRows(wanted),
            ScreenRequest::Entry(key) => Job::ReadEntry(key),
            ScreenRequest::Polls(feed) => Job::ReadPolls(feed),
            ScreenRequest::TodayCount(since) => Job::CountToday(since),
            ScreenRequest::SearchCounts(searches) => Job::CountSearches(searches),
            ScreenRequest::FilterCounts => Job::CountFilters,
            ScreenRequest::SaveReadingPosition(key, place) => Job::SaveReadingPosition(key, place),
            ScreenRequest::SaveFolded(tags) => Job::SaveFolded(tags),
        })
    }
}

/// The user's answer to a problem of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TroubleAnswer {
    /// Use the proposed address.
    AcceptMove,
    /// Keep the present address.
    DeclineMove,
    /// Return to the former address.
    UndoMove,
    /// Resume scheduled polls of a feed that ended.
    Resume,
    /// Follow the redirect from https to http.
    AllowInsecure,
    /// Retry now.
    Retry,
    /// Dismiss the problem until it changes.
    Note,
}
