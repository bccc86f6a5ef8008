//! A subscription: the user's settings for a feed, the state after the last polls, and the time of the next poll.

use std::sync::Arc;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::setting_row::{Chosen, FeedSettings};
use crate::engine::entries::ahead_work::AheadToday;
use crate::engine::politeness::server_habits::ServerHabits;
use crate::engine::poll::fetch::Validators;
use crate::engine::poll::poll_log::PollLogEntry;
use backissue_core::accounts::HistoryThere;
use backissue_core::accounts::subscriptions::Leaving;
use backissue_core::feed::hints::is_default;
use backissue_core::feed::outgoing::outgoing_title;
use backissue_core::feed::text::{NAME_MAX, one_line};
use backissue_core::feed::{FeedDocument, FeedHead, Kind};
use backissue_core::history::{ArchiveNode, Counters, FeedKey, GapKey, HistoryRecord, Merging};
use backissue_core::schedule::learning::UsualGap;
use backissue_core::schedule::{Decision, Facts, FeedStatus, PlanKind, SettledBy};
use backissue_core::search::QueriedFeed;
use backissue_core::words::frequency::Frequency;

/// Maximum length of a stored subtitle, in bytes. A longer one is not stored, because cutting markup would break it.
const SUBTITLE_BYTES_MAX: usize = 4_000;

/// One subscription in the engine.
#[derive(Debug, Clone, PartialEq)]
pub struct Subscription {
    /// Number of the feed.
    pub key: FeedKey,
    /// The user's settings and the publisher's title.
    pub record: SubscriptionRecord,
    /// State of the feed after its last poll. Boxed, because the state is large and subscriptions are often moved in memory.
    pub state: Box<FeedState>,
    /// State of the feed's history.
    pub history: Arc<HistoryRecord>,
    /// The history that the store has. If a write of the history fails, it is the history again.
    pub stored_history: Arc<HistoryRecord>,
    /// Number of failed writes of the history that the store reported.
    pub failures: u32,
    /// Counters of the feed's entries.
    pub counters: Counters,
    /// Time of the next poll and the reason for it. Derived from the other fields, never stored.
    pub plan: Decision,
    /// Gaps already reported to observers, with the addresses of the missing documents; never stored.
    pub told_gaps: BTreeMap<GapKey, String>,
}

/// Stored part of a subscription that rarely changes: when the user edits it, the feed moves, or the publisher changes the title.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SubscriptionRecord {
    /// Address of the subscription document.
    pub url: String,
    /// The user's own title.
    pub own_title: Option<String>,
    /// The publisher's title, plain text.
    pub title: Option<String>,
    /// Address of the website of the feed.
    pub site: Option<String>,
    /// Tags in the user's order; nested tags contain `/`.
    pub tags: Vec<String>,
    /// Time at which the user subscribed to the feed.
    pub added: DateTime<Utc>,
    /// The user's settings for the feed.
    #[serde(rename = "wishes")]
    pub feed_settings: FeedSettings,
    /// Former addresses, oldest first; at most the last [`FORMER_MAX`] (SPEC D.3).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<FormerAddress>,
    /// Document that named the subscribed address; `None` if [`GivenBy`] tells who did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named_by: Option<NamedBy>,
    /// Who gave the subscribed address; `None` in records of earlier versions until [`Subscription::saved`].
    pub given_by: Option<GivenBy>,
    /// Proposed address that the user declined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declined: Option<String>,
    /// Time at which the user unsubscribed. The stored data is deleted a week later.
    pub ended: Option<DateTime<Utc>>,
    /// Whether a sync may remove the subscription from the server of its account.
    #[serde(skip_serializing_if = "is_default")]
    pub leaving: Leaving,
}

/// An address that a feed had before it moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerAddress {
    /// Former address.
    pub url: String,
    /// Time of the move to the next address.
    pub until: DateTime<Utc>,
    /// `true` if a response from a public address named the next address (SPEC D.6).
    pub public: bool,
    /// `true` if the user chose the next address.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by_user: bool,
}

/// A page or response that names an address. The named address has the same restrictions as the page or response (SPEC D.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedBy {
    /// Address of the page or response.
    pub url: String,
    /// `true` if the page or response came from a public address.
    pub public: bool,
}

/// Who gave the address of a subscription. It decides whether the address may contain a login and lead to private servers (SPEC D.6).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GivenBy {
    /// The user typed it, or the page that led to it.
    #[default]
    User,
    /// A file that the user imported.
    File,
    /// The server of an account listed it.
    Account,
    /// A device that syncs with this store sent it.
    Device,
}

impl GivenBy {
    /// Checks whether it came over the network, from a server or a device: then it contains no login, and leads to no private server.
    pub const fn is_supplied(self) -> bool {
        matches!(self, Self::Account | Self::Device)
    }
}

/// Maximum number of former addresses kept.
pub const FORMER_MAX: usize = 20;

/// State of a feed after its last poll.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FeedState {
    /// Validators of the last successful response.
    #[serde(skip_serializing_if = "is_default")]
    pub validators: Validators,
    /// Input for the schedule. The settings in it are copied from the record when the plan is computed.
    #[serde(skip_serializing_if = "is_default")]
    pub facts: Facts,
    /// Time of the first of the consecutive failed polls; `None` if the last poll succeeded.
    #[serde(skip_serializing_if = "is_default")]
    pub failing_since: Option<DateTime<Utc>>,
    /// Status of the last response; `None` if there was none.
    #[serde(skip_serializing_if = "is_default")]
    pub status: Option<u16>,
    /// What the server of its account says of its history.
    #[serde(skip_serializing_if = "is_default")]
    pub history_there: Option<Box<HistoryThere>>,
    /// Error of the last poll, as a sentence fragment; `None` if the poll succeeded.
    #[serde(skip_serializing_if = "is_default")]
    pub trouble: Option<String>,
    /// Kind of error, if the user has a specific remedy.
    #[serde(skip_serializing_if = "is_default")]
    pub obstacle: Option<Obstacle>,
    /// Habits of the server as observed by polls.
    #[serde(skip_serializing_if = "is_default")]
    pub habits: ServerHabits,
    /// The publisher's own identifier of the feed (Atom `id`, JSON `feed_url`).
    #[serde(skip_serializing_if = "is_default")]
    pub feed_id: Option<String>,
    /// What the publisher states about the feed and only a published copy needs.
    #[serde(skip_serializing_if = "is_default")]
    pub stated: StatedHead,
    /// Format of the last document.
    #[serde(skip_serializing_if = "is_default")]
    pub format: Kind,
    /// Address that the feed may have moved to, until the user accepts or declines it (SPEC D.3).
    #[serde(skip_serializing_if = "is_default")]
    pub proposed: Option<ProposedMove>,
    /// Set if the subscribed address is an archive document whose current document was not adopted (SPEC C.2 rule 3).
    #[serde(skip_serializing_if = "is_default")]
    pub archive: Option<ArchiveAddress>,
    /// Address of the current document that the subscription document names although it is not an archive; set after that address
    /// was requested.
    #[serde(skip_serializing_if = "is_default")]
    pub followed: Option<String>,
    /// Time at which the user dismissed the feed from the Attention list.
    #[serde(skip_serializing_if = "is_default")]
    pub noted: Option<DateTime<Utc>>,
    /// Usual time between publications, and the last publication; `None` if too little is known.
    #[serde(skip_serializing_if = "is_default")]
    pub usual_gap: Option<UsualGap>,
    /// What was fetched ahead today.
    #[serde(skip_serializing_if = "is_default")]
    pub ahead: AheadToday,
    /// Time at which an old entry became unread last.
    #[serde(skip_serializing_if = "is_default")]
    pub dripped: Option<DateTime<Utc>>,
    /// Number of polls so far, which determines the position of the next line in the poll log.
    #[serde(skip_serializing_if = "is_default")]
    pub polls: u32,
    /// Number of bytes that the polls so far received.
    #[serde(skip_serializing_if = "is_default")]
    pub polled_bytes: u64,
}

/// An error with a specific remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Obstacle {
    /// The feed redirects from https to http; the user may allow it.
    Insecure,
    /// The feed redirects to an address that SPEC D.6 forbids.
    Blocked,
    /// A login page responds instead of the feed.
    LoginPage,
    /// A service that keeps programs away from the site responds instead of the feed.
    BotWall,
}

/// A move that the user must confirm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedMove {
    /// Proposed address.
    pub to: String,
    /// Reason for the proposal.
    #[serde(default)]
    pub because: ProposedFor,
    /// `true` if a response from a public address proposed the move (SPEC D.6).
    pub public: bool,
    /// Time of the first proposal.
    pub since: DateTime<Utc>,
}

/// Reason for a proposed address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProposedFor {
    /// The publisher reports that the feed moved to the proposed address.
    #[default]
    Move,
    /// The stored address is temporarily redirected to the proposed address.
    Redirect,
    /// The stored address is an archive; the proposed address is the subscription document of its feed.
    Archive,
    /// The stored address is a later page of a paged feed; the proposed address is the first page.
    LaterPage,
}

/// Reason that a subscription stays at the address of an archive document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveAddress {
    /// Subscription document that the archive names, if any.
    pub current: Option<String>,
    /// Reason that the current document was not adopted, as a sentence fragment.
    pub why: String,
    /// `true` if the address of the current document redirects from https to http, which the user may allow.
    #[serde(default)]
    pub insecure: bool,
    /// Time of the first poll with this result.
    pub since: DateTime<Utc>,
}

impl Subscription {
    /// Returns how often the feed publishes.
    pub fn frequency(&self) -> Frequency {
        self.state.facts.frequency(self.counters.counted)
    }

    /// Returns what queries can ask of the feed.
    pub fn queried(&self) -> QueriedFeed<'_> {
        self.record.queried(self.key, self.frequency())
    }

    /// Creates a subscription from the store, without a plan.
    pub fn saved(saved: SavedSubscription) -> Self {
        let SavedSubscription { key, mut record, state, history, counters } = saved;
        let is_remote = record.feed_settings.account.is_some() && record.named_by.is_none();
        let usual = if is_remote { GivenBy::Account } else { GivenBy::User };
        record.given_by.get_or_insert(usual);
        let told_gaps = missing_in(&history);
        let stored_history = Arc::clone(&history);
        Self { state, history, stored_history, counters, told_gaps, ..Self::new(key, record) }
    }

    /// Creates a subscription that was never polled, without a plan.
    pub fn new(key: FeedKey, record: SubscriptionRecord) -> Self {
        let unplanned = Decision {
            next_poll: None,
            due: None,
            kind: PlanKind::Never,
            binding_seconds: None,
            settled_by: SettledBy::FirstPoll,
        };
        Self {
            key,
            record,
            state: Box::default(),
            history: Arc::default(),
            stored_history: Arc::default(),
            failures: 0,
            counters: Counters::default(),
            plan: unplanned,
            told_gaps: BTreeMap::new(),
        }
    }

    /// Changes the history in the way in which the store changed the one that it wrote last.
    pub fn change_both(&mut self, change: impl Fn(&mut HistoryRecord)) {
        change(Arc::make_mut(&mut self.history));
        change(Arc::make_mut(&mut self.stored_history));
    }

    /// Checks whether the publisher ended the feed (SPEC S1.13).
    pub fn is_gone(&self) -> bool {
        matches!(self.state.facts.standing, FeedStatus::Gone | FeedStatus::Stopped)
    }

    /// Returns how many requests and bytes its polls took a week since it was added.
    pub fn cost_a_week(&self, now: DateTime<Utc>) -> (u64, u64) {
        let days = now.signed_duration_since(self.record.added).num_days().max(7);
        let a_week = |sum: u64| sum.saturating_mul(7).div_ceil(days.unsigned_abs());
        (a_week(self.state.polls.into()), a_week(self.state.polled_bytes))
    }

    /// Checks whether the last poll failed.
    pub const fn is_failing(&self) -> bool {
        self.state.facts.failures > 0
    }
}

/// Returns the gaps of a history that count as missing, with the addresses of the missing documents.
pub fn missing_in(history: &HistoryRecord) -> BTreeMap<GapKey, String> {
    let missing = history.gaps.iter().filter(|(_, gap)| gap.counts());
    missing.map(|(key, gap)| (*key, gap.edge.url.clone())).collect()
}

/// Returns the number of unread entries in the feeds that are quiet, or in those that are not. The feeds are whether each is quiet,
/// and its number.
pub fn unread_of(feeds: impl Iterator<Item = (bool, u32)>, quiet: bool) -> u64 {
    feeds.filter(|(is_quiet, _)| *is_quiet == quiet).map(|(_, unread)| u64::from(unread)).sum()
}

impl SubscriptionRecord {
    /// Returns the title to show: the user's, or else the publisher's, or else the address.
    pub fn shown_title(&self) -> &str {
        let stated = self.own_title.as_deref().or(self.title.as_deref());
        stated.filter(|title| !title.is_empty()).unwrap_or(&self.url)
    }

    /// Returns the shown title as it may leave this machine.
    pub fn outgoing_title(&self) -> String {
        outgoing_title(Some(self.shown_title()), &self.url)
    }

    /// Returns what queries can ask of the feed, whose number is `key` and which publishes this often.
    pub fn queried(&self, key: FeedKey, frequency: Frequency) -> QueriedFeed<'_> {
        let title = self.shown_title();
        QueriedFeed { key, title, address: &self.url, tags: &self.tags, frequency }
    }

    /// Returns the title, tags, and settings that the user chose.
    pub fn chosen(&self) -> Chosen {
        let Self { own_title, tags, feed_settings, .. } = self;
        Chosen {
            own_title: own_title.clone(),
            tags: tags.clone(),
            feed_settings: feed_settings.clone(),
        }
    }

    /// Replaces the title, tags, and settings that the user chose.
    pub fn choose(&mut self, chosen: Chosen) {
        if self.title.is_none() && self.feed_settings.account.is_some() {
            // Nothing else tells the title of a feed that only its server polls.
            self.title.clone_from(&self.own_title);
        }
        Chosen { own_title: self.own_title, tags: self.tags, feed_settings: self.feed_settings } =
            chosen;
    }

    /// Copies the publisher's title and site from a document to the record. Returns whether the record changed.
    pub fn take_head(&mut self, document: &FeedDocument) -> bool {
        let before = (self.own_title.clone(), self.title.clone(), self.site.clone());
        if document.head.title.is_some() {
            self.title.clone_from(&document.head.title);
        }
        // An imported title that equals the publisher's title is not the user's own.
        if self.own_title == self.title {
            self.own_title = None;
        }
        if document.head.link.is_some() {
            self.site.clone_from(&document.head.link);
        }
        before != (self.own_title.clone(), self.title.clone(), self.site.clone())
    }
}

/// A subscription as loaded from the store.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedSubscription {
    /// Number of the feed.
    pub key: FeedKey,
    /// Record of the subscription.
    pub record: SubscriptionRecord,
    /// State of the feed after its last poll.
    pub state: Box<FeedState>,
    /// State of the feed's history.
    pub history: Arc<HistoryRecord>,
    /// Counters of the feed's entries.
    pub counters: Counters,
}

/// Changes of a poll, written as one atomic batch (SPEC D.2: entries and validators together).
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// Feed that was polled.
    pub feed: FeedKey,
    /// State of the feed after the poll.
    pub state: Box<FeedState>,
    /// Record of the subscription, if the poll changed it.
    pub record: Option<SubscriptionRecord>,
    /// Document whose entries are merged into the feed, if the poll returned a document.
    pub document: Option<Box<FeedDocument>>,
    /// Time of the fetch.
    pub fetched_at: DateTime<Utc>,
    /// State of the feed's history after the poll, if the poll returned a document.
    pub history: Option<Arc<HistoryRecord>>,
    /// `true` if the document contains the whole feed. Stored entries that are not in the document are then withdrawn (SPEC C.6).
    pub complete: bool,
    /// Line for the poll log. The store sets `new`, `edited` and `withdrawn` when it merges the document.
    pub log: Option<PollLogEntry>,
}

/// Changes of a feed's history by an archive, a page, or a user's action, written as one atomic batch.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryCommit {
    /// Feed of the history.
    pub feed: FeedKey,
    /// New record of the history.
    pub record: Arc<HistoryRecord>,
    /// Changed archives by canonical address; `None` deletes an archive.
    pub nodes: Vec<(String, Option<ArchiveNode>)>,
    /// Document whose entries are merged into the feed, and the way to merge them; `None` if there is no document.
    pub document: Option<(Box<FeedDocument>, Merging)>,
}

/// What a publisher states about its feed and only a published copy needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatedHead {
    /// Description, including the publisher's markup.
    #[serde(skip_serializing_if = "is_default")]
    pub subtitle: Option<String>,
    /// Language tag.
    #[serde(skip_serializing_if = "is_default")]
    pub language: Option<String>,
    /// Rights statement as plain text.
    #[serde(skip_serializing_if = "is_default")]
    pub rights: Option<String>,
    /// Name of the first author.
    #[serde(skip_serializing_if = "is_default")]
    pub author: Option<String>,
}

impl StatedHead {
    /// Takes the statements from the head section of a document.
    pub fn of(head: &FeedHead) -> Self {
        let line = |text: &Option<String>| text.as_deref().map(|text| one_line(text, NAME_MAX));
        let subtitle = head.subtitle.clone().filter(|text| text.len() <= SUBTITLE_BYTES_MAX);
        Self {
            subtitle,
            language: line(&head.language),
            rights: line(&head.rights),
            author: line(&head.author),
        }
    }
}
