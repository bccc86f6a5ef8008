//! Requests of a user as plain data. A request has the same form whether it comes from a key, the palette, a subcommand, or another
//! process.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::backfill::history_actions::HistoryAction;
use super::change::{ChangeId, MarkChange};
use super::downloads::record::DownloadRequest;
use super::effect::Effect;
use super::entries::account_state::{AccountStatus, FeedSync, SyncProgress};
use super::entries::full_text::FullText;
use super::entries::loaded_entry::ReadingPosition;
use super::entries::rows::{ListPart, RowsWanted};
use super::feeds::addition::{MoveIn, Subscribe};
use super::feeds::chosen_settings::Chosen;
use super::poll::poll_request::PollRequest;
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
    /// Stop the polls of these feeds: cancel waiting polls and archive walks, and let polls under way end.
    StopPolls(Vec<FeedKey>),
    /// Subscribe to an address.
    Subscribe(Box<Subscribe>),
    /// Subscribe to many addresses without requesting them first.
    Import(Vec<Subscribe>),
    /// Take over everything from another reader, as one change.
    MoveIn(Box<MoveIn>),
    /// Write what a sync with a server brings.
    Sync(Vec<FeedSync>),
    /// Show how far a sync is; `None` when it ended.
    SyncProgress(Option<SyncProgress>),
    /// Let the servers of accounts lose these feeds, which were removed here.
    LetLeave(Vec<FeedKey>),
    /// Take over which accounts there are.
    AccountsSeen(Vec<AccountStatus>),
    /// Sync the accounts now.
    SyncAccounts,
    /// Label entries as a server has them, or remove the label.
    SyncLabel {
        /// Name of the label.
        name: String,
        /// The entries.
        keys: Vec<EntryKey>,
        /// `true` to set the label, `false` to remove it.
        set: bool,
    },
    /// Subscribe to all feeds in the OPML file at this path.
    ImportFile(String),
    /// Preview one of the feeds that a page names, while a subscription is being added.
    Preview {
        /// Number of the subscription being added.
        addition: u32,
        /// Address of the feed.
        url: String,
    },
    /// Subscribe to one of the feeds that a page names, or cancel the subscription being added.
    Choose {
        /// Number of the subscription being added.
        addition: u32,
        /// Address of the chosen feed; `None` cancels.
        url: Option<String>,
    },
    /// Subscribe to the first readable feed that a page names. Contains the number of the subscription being added.
    TakeFirstFeed(u32),
    /// Unsubscribe from a feed.
    Unsubscribe(FeedKey),
    /// Restore a subscription that was removed within the last week.
    SubscribeAgain(FeedKey),
    /// Change the address of a feed of an account, because the server has another one now. An address that the user chose stays.
    FollowAccount(FeedKey, String),
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
    /// Apply the user's answer to a problem of a feed.
    Trouble(FeedKey, TroubleAnswer),
    /// Start an action on a feed's history.
    History(FeedKey, HistoryAction),
    /// Request older entries of a feed at this gap, or at all gaps for `None`. With `None`, a walk under way is stopped instead.
    MoreHistory(FeedKey, Option<GapKey>),
    /// Restore the entries that the feed withdrew last.
    RestoreWithdrawn(FeedKey),
    /// Hide a gap.
    DismissGap(FeedKey, GapKey),
    /// Set or clear a mark on entries.
    Mark(MarkChange),
    /// Mark entries of the list with this number as read.
    MarkListRead(u64, ListPart),
    /// Save a filter and apply it. A filter without a number is new.
    SaveFilter(Box<EntryFilter>),
    /// Set a label on entries by hand, or remove it.
    Label {
        /// Name of the label.
        name: String,
        /// The entries.
        keys: Vec<EntryKey>,
        /// `true` to set the label, `false` to remove it.
        set: bool,
    },
    /// Remove the filter with this number and show the entries that it hid.
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
    /// Learn when a feed publishes, so that the learned plan can be shown.
    Learn(FeedKey),
    /// Open an address in the browser, or an attached file in its program.
    Open {
        /// Address to open.
        link: String,
        /// Media type of an attached file, which may be empty; `None` for other addresses.
        attached: Option<String>,
    },
    /// Do something with downloads.
    Download(DownloadRequest),
    /// Carry out several requests as one change, so that one undo reverts all of them.
    Together(Vec<Self>),
    /// Carry out what a server changed. It is no change of the user, so undo leaves it alone.
    Arrived(Box<Self>),
    /// Carry out a request about which the user was asked and said yes. If it undoes a change, with the id of that change.
    Answered(Box<Self>, Option<ChangeId>),
    /// Undo the last change.
    Undo,
    /// Redo the last change that was undone.
    Redo,
    /// End the program.
    Stop,
}

/// A request of a screen to the store, to read data that the screen shows or to save the state of the screen. Such a request does
/// not change the engine.
#[derive(Debug, Clone, PartialEq)]
pub enum ScreenRequest {
    /// Read rows of a list.
    Rows(RowsWanted),
    /// Read an entry with its text.
    Entry(EntryKey),
    /// Read the last polls of a feed.
    Polls(FeedKey),
    /// Count the unread entries that are listed under a date since this instant.
    TodayCount(DateTime<Utc>),
    /// Count the unread entries that each saved search matches.
    SearchCounts(Vec<(u32, Matching)>),
    /// Count the entries that each filter matches.
    FilterCounts,
    /// Save the reading position in an entry. `None` removes a saved position: the entry is at its
    /// beginning or its end.
    SaveReadingPosition(EntryKey, Option<ReadingPosition>),
    /// Save the set of tags that are folded in the feed list.
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
    /// Poll the feed again now.
    Retry,
    /// Dismiss the problem until it changes.
    Note,
}
