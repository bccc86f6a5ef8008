//! Everything a reader can ask for, as plain data: a key, the palette, a subcommand and another process make the same.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::backfill::history_actions::HistoryAction;
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
use backissue_core::history::{EntryKey, FeedKey, Flag, GapKey};
use backissue_core::schedule::Pace;
use backissue_core::search::Matching;

/// Something that a reader asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Poll feeds.
    Poll(PollRequest),
    /// Do not poll these feeds after all: what waits is given up, what is on its way ends, walks through archives are stopped.
    StopPolls(Vec<FeedKey>),
    /// Subscribe to an address.
    Subscribe(Box<Subscribe>),
    /// Subscribe to many addresses without asking anybody.
    Import(Vec<Subscribe>),
    /// Subscribe to everything that an OPML file names.
    ImportFile(String),
    /// Look at one of the feeds that a page names, before it is subscribed to.
    Preview {
        /// The number of the addition.
        addition: u32,
        /// The address of the feed.
        url: String,
    },
    /// Take one of the feeds that a page names; `None`: none of them.
    Choose {
        /// The number of the addition.
        addition: u32,
        /// The address of the feed.
        url: Option<String>,
    },
    /// Take the first feed of those that a page names that can be read; the number is that of the addition.
    TakeFirstFeed(u32),
    /// Give up a subscription.
    Unsubscribe(FeedKey),
    /// Subscribe again to a feed that was unsubscribed from within a week, as it was.
    SubscribeAgain(FeedKey),
    /// Poll a feed more or less often.
    SetPace(FeedKey, Pace),
    /// Change what is chosen for a feed.
    Set(FeedKey, Box<Chosen>),
    /// Give another name to a tag, and to those below it.
    RenameTag {
        /// The tag.
        tag: String,
        /// Its new name.
        name: String,
    },
    /// Answer what a feed in trouble asks.
    Trouble(FeedKey, TroubleAnswer),
    /// More of a feed's history.
    History(FeedKey, HistoryAction),
    /// More of a feed's history at one gap, or wherever something is missing; stops a walk under way.
    MoreHistory(FeedKey, Option<GapKey>),
    /// Do not show a gap any more.
    DismissGap(FeedKey, GapKey),
    /// Set or clear a mark on entries.
    Mark {
        /// The entries.
        keys: Vec<EntryKey>,
        /// Which mark.
        flag: Flag,
        /// Set or cleared.
        value: bool,
    },
    /// Mark everything read that the list with this number holds.
    MarkListRead(u64),
    /// Keep a filter, a new one if it has no number, and apply it.
    SaveFilter(Box<EntryFilter>),
    /// Give up a filter; what it hid is shown again.
    RemoveFilter(u32),
    /// Keep these searches in place of those that are saved.
    SaveSearches(Vec<SavedSearch>),
    /// Fetch the page that an entry links to.
    FetchPage {
        /// The entry.
        key: EntryKey,
        /// The address of the page.
        url: String,
        /// What was kept of it before.
        kept: Option<Box<FullText>>,
    },
    /// Fetch a picture of an entry.
    FetchPicture {
        /// The entry.
        key: EntryKey,
        /// The address of the picture.
        url: String,
    },
    /// Fetch none of the pictures that still wait.
    DropPictures,
    /// Learn the rhythm of a feed if that is due; who looks at its plan wants to see it.
    Learn(FeedKey),
    /// Open an address in the browser, or an attached file in the program for it.
    Open {
        /// The address.
        link: String,
        /// It is an attached file.
        attached: bool,
    },
    /// Do several things that one change takes back.
    Together(Vec<Self>),
    /// Take the last change back.
    Undo,
    /// Make a change again that was taken back.
    Redo,
    /// End the program.
    Stop,
}

/// What a screen asks of the store: to read what it shows, and to save its own state. It changes nothing in the engine.
#[derive(Debug, Clone, PartialEq)]
pub enum ScreenRequest {
    /// Rows of a list.
    Rows(RowsWanted),
    /// An entry with its text.
    Entry(EntryKey),
    /// The last polls of a feed.
    Polls(FeedKey),
    /// The number of unread entries listed since an instant.
    TodayCount(DateTime<Utc>),
    /// The numbers of unread entries that saved searches find.
    SearchCounts(Vec<(u32, Matching)>),
    /// The numbers of entries that the filters hit.
    FilterCounts,
    /// Save where the reader left an entry; `None`: at its beginning or its end.
    SaveReadingPosition(EntryKey, Option<ReadingPosition>),
    /// Save which tags are folded.
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

/// What the reader answers to a feed in trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TroubleAnswer {
    /// Read it from the address it proposes.
    AcceptMove,
    /// Keep it at the address it has.
    DeclineMove,
    /// Go back to the former address.
    UndoMove,
    /// Poll a feed by plan again that has ended.
    Resume,
    /// Follow it from https to http.
    AllowInsecure,
    /// Ask again now.
    Retry,
    /// Take note: it leaves the list until something changes.
    Note,
}
