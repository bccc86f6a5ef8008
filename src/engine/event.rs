//! Events that the engine emits for its observers.

use chrono::{DateTime, Utc};

use super::change::MarkChange;
use super::change::change_id::ChangeId;
use super::entries::full_text::FullText;
use super::poll::poll_results::PollResult;
use super::request::Request;
use backissue_core::InputFlaw;
use backissue_core::history::{EntryKey, FeedKey, GapKey};

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
    PictureFetched(String, Result<std::sync::Arc<Vec<u8>>, InputFlaw>),
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
    /// `true` if the rows stay in the open list even if they no longer match it.
    pub stays: bool,
    /// `true` if the change is an undo or a redo.
    pub undone: bool,
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
