//! What the engine tells those who look on: plain data that can be sent to another process.

use chrono::{DateTime, Utc};

use super::entries::full_text::FullText;
use super::poll::poll_results::PollResult;
use backissue_core::history::{EntryKey, FeedKey, Flag, GapKey};

/// Something that whoever looks on may want to show.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The search index has more entries than before.
    Indexed {
        /// Number of entries that it still lacks.
        missing: u32,
    },
    /// A sentence for the reader.
    Notice {
        /// How much it matters.
        level: NoticeLevel,
        /// The sentence.
        text: String,
        /// What can be done about it; who shows it knows the key.
        offer: Option<NoticeOffer>,
    },
    /// A request was refused; a sentence says why.
    Refused(String),
    /// Subscriptions came, went, or have other titles or tags; or the saved searches are others.
    FeedsChanged,
    /// A feed was given up or taken back.
    FeedListChanged,
    /// Plans or sums of feeds changed.
    PlansChanged,
    /// The reader changed the settings of a feed.
    FeedSettingsChanged(FeedKey),
    /// A page names several feeds, and the reader is to choose; the number of the addition.
    ChooseFeed(u32),
    /// An address that was typed without a scheme does not answer over https: it could be asked without encryption. The
    /// number of the addition.
    OfferPlain(u32),
    /// An address was subscribed to with its first document.
    Subscribed {
        /// The feed.
        feed: FeedKey,
        /// Whoever asked wants to read it now.
        to_read: bool,
    },
    /// A poll or a step of a back-fill of a feed is durable.
    Updated {
        /// The feed.
        feed: FeedKey,
        /// Entries came, changed or went.
        entries: bool,
        /// It was a poll.
        poll: bool,
    },
    /// A poll ended, and what came of it is durable; or it was not made.
    Polled(Box<PollResult>),
    /// A feed that failed is read again.
    Recovered {
        /// The feed.
        feed: FeedKey,
        /// Since when it had failed.
        since: DateTime<Utc>,
    },
    /// A feed is read from another address.
    Moved {
        /// The feed.
        feed: FeedKey,
        /// Its address before.
        from: String,
        /// Its address now.
        to: String,
    },
    /// The publisher names another address, and the reader is asked.
    MoveProposed {
        /// The feed.
        feed: FeedKey,
        /// Its address.
        from: String,
        /// The address that is proposed.
        to: String,
    },
    /// Something of a logical feed is found to be missing.
    GapOpened {
        /// The feed.
        feed: FeedKey,
        /// Names it.
        gap: GapKey,
        /// Why it is missing.
        text: String,
        /// The address of what is missing; may be empty.
        missing: String,
    },
    /// What was missing is here, or is missing no more.
    GapClosed {
        /// The feed.
        feed: FeedKey,
        /// Names it.
        gap: GapKey,
        /// The address of what was missing; may be empty.
        missing: String,
    },
    /// A walk through the archives of a feed ended.
    WalkEnded {
        /// The feed.
        feed: FeedKey,
        /// Archives and pages that were fetched.
        archives: u32,
        /// Entries never seen before.
        new: u32,
    },
    /// A subscription was made, or had back.
    SubscriptionAdded(FeedKey),
    /// A subscription was given up.
    SubscriptionEnded(FeedKey),
    /// What lists hold may be different: gaps, filters, tags.
    ListsChanged,
    /// Sums of feeds changed by marks or filters.
    CountersChanged,
    /// Marks are to be shown, some of them before they are durable.
    MarksChanged(MarksChanged),
    /// The filters changed, or what they did to entries.
    FiltersChanged,
    /// The saved searches were put back to what they were.
    SearchesPutBack,
    /// The page of an entry was asked for, and this came of it.
    PageFetched {
        /// The entry.
        key: EntryKey,
        /// What is kept of the page.
        full: Box<FullText>,
        /// Why there is nothing new to show; a fragment.
        failed: Option<String>,
    },
    /// The page of an entry is not asked for after all; a fragment says why.
    PageDropped(EntryKey, String),
    /// A picture was fetched: its bytes, or why there are none. Not carried to other processes.
    PictureFetched(String, Result<std::sync::Arc<Vec<u8>>, String>),
    /// A picture that waited is not asked for after all; a fragment says why, if the reader is to be told.
    PictureDropped(String, Option<String>),
}

impl Event {
    /// A sentence that can be missed.
    pub fn info(text: impl Into<String>) -> Self {
        Self::Notice { level: NoticeLevel::Info, text: text.into(), offer: None }
    }

    /// A sentence that can be missed, and what can be done about it.
    pub fn offering(text: impl Into<String>, offer: NoticeOffer) -> Self {
        Self::Notice { level: NoticeLevel::Info, text: text.into(), offer: Some(offer) }
    }

    /// A sentence that tells of a trouble.
    pub fn trouble(text: impl Into<String>) -> Self {
        Self::Notice { level: NoticeLevel::Trouble, text: text.into(), offer: None }
    }
}

/// How much a sentence matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeLevel {
    /// It can be missed.
    Info,
    /// It tells of a trouble.
    Trouble,
}

/// What can be done about what a sentence tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeOffer {
    /// It can be taken back.
    Undo,
    /// What was stopped of a feed's history can go on.
    MoreHistory,
}

/// Marks of entries that are other than they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarksChanged {
    /// The entries.
    pub keys: Vec<EntryKey>,
    /// Which mark.
    pub flag: Flag,
    /// Set or cleared.
    pub value: bool,
    /// The rows stay in the open list though they may not belong to it any more.
    pub stays: bool,
    /// It is a change taken back, or made again.
    pub undone: bool,
}
