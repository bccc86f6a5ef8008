//! What reaches the engine and what leaves it, as closed enums of plain data: the requests of a user, which have the same form
//! whether they come from a key, the palette, a subcommand, or another process; all inputs; the events that the engine emits for
//! its observers; and the effects that it can request from the rest of the program.

use std::sync::Arc;

use backissue_core::InputFlaw;
use backissue_core::accounts::HistoryThere;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{Adaptor, EntryKey, FeedKey, GapKey};
use backissue_core::schedule::Pace;
use backissue_core::schedule::learning::LearnedPlan;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::backfill::walk_stage::HistoryAction;
use super::change::value::SavedSearch;
use super::change::{ChangeId, MarkChange, PendingChange};
use super::downloads::record::{DownloadNews, DownloadRequest, FileTransfer, PlayerNews};
use super::entries::account_state::{AccountStatus, FeedSync, SyncProgress};
use super::entries::ahead_work::{AheadPart, PictureTask, PictureTaskDone};
use super::entries::entry_view::FullText;
use super::entries::interest::Reading;
use super::entries::rows::MarkedEntries;
use super::external_run::{ExternalRun, RunFailure, RunPurpose};
use super::feeds::addition::{LoginToKeep, MoveIn, Subscribe};
use super::feeds::setting_row::Chosen;
use super::poll::fetch::{FetchId, FetchRequest, Fetched};
use super::poll::poll_log::PollResult;
use super::poll::poll_request::PollRequest;
use super::poll::poll_stage::LearnWanted;
use super::settings::{NetworkSettings, NotifySettings, Settings};
use super::store_work::{Beside, Job, JobId, StoreWork, Stored};

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
    /// Note what the servers of accounts say of the histories of feeds.
    HistoryThere(Vec<(FeedKey, HistoryThere)>),
    /// Take over which accounts there are.
    AccountsSeen(Vec<AccountStatus>),
    /// Sync the accounts now.
    SyncAccounts,
    /// Note that a device asks to unsubscribe from a feed, until the user answers.
    HoldRemoval(String, FeedKey),
    /// Apply the user's answer to what a device asks for: `true` unsubscribes from the feeds.
    AnswerDevice(String, bool),
    /// Count what was read of feeds; `None` forgets all counts.
    CountReading(Option<Vec<(FeedKey, Reading)>>),
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
    /// Choose another source of older entries for a feed, and read it.
    ReadElsewhere(FeedKey, Adaptor),
    /// Read the history of a feed that another reader published at this address.
    ReadCopy(FeedKey, String),
    /// Forget such a copy, with the entries that it brought.
    ForgetCopy(FeedKey, String),
    /// Restore the entries that the feed withdrew last.
    RestoreWithdrawn(FeedKey),
    /// Hide a gap.
    DismissGap(FeedKey, GapKey),
    /// Set or clear a mark on entries.
    Mark(MarkChange),
    /// Mark entries of a list, or of feeds, as read.
    MarkAllRead(MarkedEntries),
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
    /// Fetch the pages, pictures or files at these addresses once, as for a feed that fetches them ahead.
    FetchAhead(FeedKey, AheadPart, Vec<(EntryKey, String)>),
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

/// An input of the engine.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Time has passed: something may be due.
    Tick,
    /// The machine was asleep, or its clock was set.
    Woke,
    /// The time zone changed.
    ZoneChanged(Tz),
    /// A client made a request.
    Request(Request),
    /// A fetch ended.
    Fetched(FetchId, Box<Fetched>),
    /// A report about the download with this number.
    Download(u32, DownloadNews),
    /// A report of the player of the download with this number.
    Playing(u32, PlayerNews),
    /// The store finished or failed a job.
    Stored(Box<Stored>),
    /// A learning run for a feed ended with a learned plan, or with `None` if there was too little data.
    Learned(FeedKey, Option<Arc<LearnedPlan>>),
    /// The search for entries that match the filter with this number ended: with the entries, or with an error as a sentence.
    FilterHits(u32, Result<Vec<EntryKey>, String>),
    /// Work on the picture cache ended.
    PictureTaskDone(PictureTaskDone),
    /// A user's external command ended, with what it printed.
    Ran(RunPurpose, Result<Option<String>, RunFailure>),
    /// A command failed at once, and this one is to be tried in its place.
    TryNext(Box<ExternalRun>),
    /// A login was written to the credentials file. If the write failed, the error is a sentence.
    LoginKept(Box<LoginToKeep>, Result<(), String>),
    /// The configuration was reloaded.
    Reconfigured(Box<Settings>),
    /// The search index has more entries than before.
    Indexed {
        /// Number of entries not indexed yet.
        missing: u32,
    },
    /// A problem outside the engine that only the user can fix, as a sentence.
    Trouble(String),
}

/// Something that happened and that an observer may show.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The search index has more entries than before.
    Indexed {
        /// Number of entries not indexed yet.
        missing: u32,
    },
    /// A message for the user.
    Notice {
        /// Importance of the message.
        level: NoticeLevel,
        /// Text of the message, a sentence.
        text: String,
        /// Action that the user can take. The screen adds the key for the action.
        offer: Option<NoticeOffer>,
    },
    /// A request of the user was not allowed. The text is a sentence with the reason.
    Refused(String),
    /// The user must answer a question before a request is carried out.
    Asked(Box<Request>, Question),
    /// Subscriptions were added, removed, retitled, or retagged, or the saved searches changed.
    FeedsChanged,
    /// A feed was unsubscribed or restored.
    FeedListChanged,
    /// Poll times or counters of feeds changed.
    PlansChanged,
    /// The user changed the settings of a feed.
    FeedSettingsChanged(FeedKey),
    /// A page names several feeds, and the user must choose one. Contains the number of the subscription being added.
    ChooseFeed(u32),
    /// An address that was typed without a scheme does not respond over https; the user can try it without encryption. Contains
    /// the number of the subscription being added.
    OfferPlain(u32),
    /// A subscription was added together with its first document.
    Subscribed {
        /// Feed that was added.
        feed: FeedKey,
        /// `true` if the user wants to read the feed now.
        to_read: bool,
    },
    /// The result of a poll, or of one request of an archive walk, is durable.
    Updated {
        /// Feed that was updated.
        feed: FeedKey,
        /// `true` if entries were added, changed, or removed.
        entries: bool,
        /// `true` for a poll, `false` for a request of an archive walk.
        poll: bool,
    },
    /// A poll ended and its result is durable, or the poll was skipped.
    Polled(Box<PollResult>),
    /// A poll of a feed was successful after failed polls.
    Recovered {
        /// Feed that recovered.
        feed: FeedKey,
        /// Time of the first failure.
        since: DateTime<Utc>,
    },
    /// A feed moved to another address.
    Moved {
        /// Feed that moved.
        feed: FeedKey,
        /// Old address.
        from: String,
        /// New address.
        to: String,
    },
    /// A feed may have moved to another address, and the user must decide whether to use that address.
    MoveProposed {
        /// Feed that may have moved.
        feed: FeedKey,
        /// Current address.
        from: String,
        /// Proposed address.
        to: String,
    },
    /// A gap appeared: a part of a feed's history is missing.
    GapOpened {
        /// Feed with the gap.
        feed: FeedKey,
        /// Key of the gap.
        gap: GapKey,
        /// Reason for the gap.
        text: String,
        /// Address of the missing document; may be empty.
        missing: String,
    },
    /// A gap was filled or no longer exists.
    GapClosed {
        /// Feed with the gap.
        feed: FeedKey,
        /// Key of the gap.
        gap: GapKey,
        /// Address of the document that was missing; may be empty.
        missing: String,
    },
    /// A walk through the archives of a feed ended.
    WalkEnded {
        /// Feed whose archives were walked.
        feed: FeedKey,
        /// Number of archives and pages fetched.
        archives: u32,
        /// Number of new entries.
        new: u32,
    },
    /// A subscription was added or restored.
    SubscriptionAdded(FeedKey),
    /// A subscription was removed.
    SubscriptionEnded(FeedKey),
    /// The contents of lists may have changed, because of gaps, filters, or tags.
    ListsChanged,
    /// Marks or filters changed the counters of feeds.
    CountersChanged,
    /// Marks of entries changed. The change may not be durable yet.
    MarksChanged(MarksChanged),
    /// The filters changed, or the entries that they match.
    FiltersChanged,
    /// The saved searches were reset to an earlier list, by an undo or after a failed write.
    SearchesPutBack,
    /// The request for the page of an entry ended.
    PageFetched {
        /// Entry that links to the page.
        key: EntryKey,
        /// Text of the page, to be stored.
        full: Box<FullText>,
        /// Reason that the request returned no text, as a sentence fragment; `None` if it returned a text.
        failed: Option<String>,
    },
    /// The page of an entry will not be requested; the text is a sentence fragment with the reason.
    PageDropped(EntryKey, String),
    /// The request for a picture ended. Contains the address, and the bytes of the picture or an error. Not sent to other
    /// processes.
    PictureFetched(String, Result<Arc<Vec<u8>>, InputFlaw>),
    /// A queued picture will not be requested; the text is a sentence fragment with the reason, if the user needs to know.
    PictureDropped(String, Option<String>),
}

impl Event {
    /// Creates a notice that the user can ignore.
    pub fn info(text: impl Into<String>) -> Self {
        Self::Notice { level: NoticeLevel::Info, text: text.into(), offer: None }
    }

    /// Creates a notice that the user can ignore, with an action that the user can take.
    pub fn offering(text: impl Into<String>, offer: NoticeOffer) -> Self {
        Self::Notice { level: NoticeLevel::Info, text: text.into(), offer: Some(offer) }
    }

    /// Creates a notice about a problem.
    pub fn trouble(text: impl Into<String>) -> Self {
        Self::Notice { level: NoticeLevel::Trouble, text: text.into(), offer: None }
    }
}

/// Importance of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeLevel {
    /// The user can ignore the message.
    Info,
    /// The message reports a problem.
    Trouble,
}

/// An action that the user can take after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeOffer {
    /// Undo the change that the message is about.
    Undo,
    /// Redo the change, which restores this number of subscriptions.
    Redo(usize),
    /// Request more of a feed's history.
    MoreHistory,
}

/// A change of entries' marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarksChanged {
    /// Mark with its new value.
    pub mark: MarkChange,
    /// What changed it.
    pub by: MarkedBy,
}

/// What changed marks of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkedBy {
    /// The user or a limit that the user set. The rows stay in the open list even if they no longer match it.
    User,
    /// An undo, a redo, or the reversal of a change that could not be written. The rows stay, too.
    Undo,
    /// A filter. Rows that no longer match the open list leave it when it is read again, even if the user changed them before.
    Filter,
    /// The server of an account, which need not be told. Rows that no longer match leave the list when it is read again.
    Server,
}

/// A question about a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What the request would do, a sentence without its mark.
    pub text: String,
    /// The change that the request would undo or redo.
    pub step: Option<ChangeId>,
    /// `true` if subscriptions would be removed.
    pub removes_feeds: bool,
    /// `true` if a user at the screen must answer.
    pub is_needed: bool,
}

/// An effect that the rest of the program carries out. The result, if there is one, arrives as an [`Input`].
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// One HTTP exchange.
    Fetch(FetchRequest),
    /// A job for the store.
    Store(Box<StoreWork>),
    /// Receives an attached file.
    Download(Box<FileTransfer>),
    /// Stops receiving a file.
    StopDownload {
        /// Number of the download.
        id: u32,
        /// Files to delete afterwards.
        delete: Vec<String>,
    },
    /// Learns the publication rhythm of a feed.
    Learn(Box<LearnWanted>),
    /// Searches the store for entries that match a filter.
    FindFilterHits(Box<EntryFilter>),
    /// Works on the picture cache.
    PictureTask(Box<PictureTask>),
    /// Opens an address in the user's browser.
    Open(String),
    /// Starts one of the user's external commands.
    Run(Box<ExternalRun>),
    /// Sends a desktop notification with this text in the configured way.
    Notify(String, NotifySettings),
    /// Reads the subscriptions in the OPML file at this path.
    ReadImport(String),
    /// Applies new network settings.
    Reconnect(Box<NetworkSettings>),
    /// Saves a login in the credentials file.
    KeepLogin(Box<LoginToKeep>),
    /// Ends the program.
    Stop,
}

impl Effect {
    /// Returns the effect for a store job.
    pub fn store(job: Job) -> Self {
        Self::Store(Box::new(StoreWork {
            id: JobId::default(),
            job,
            change: None,
            beside: None,
            failures: 0,
        }))
    }

    /// Returns the effect for a job that writes a change.
    pub fn store_change(job: Job, change: PendingChange) -> Self {
        let (id, change) = (JobId::default(), Some(change));
        Self::Store(Box::new(StoreWork { id, job, change, beside: None, failures: 0 }))
    }

    /// Returns the effect for a job that writes undo steps, too.
    pub fn store_beside(job: Job, beside: Beside) -> Self {
        let (id, beside) = (JobId::default(), Some(beside));
        Self::Store(Box::new(StoreWork { id, job, change: None, beside, failures: 0 }))
    }
}
