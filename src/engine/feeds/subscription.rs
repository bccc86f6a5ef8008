//! A subscription: the reader's tie to a feed, what the last polls taught us of it, and its plan.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::chosen_settings::{Chosen, FeedSettings};
use crate::engine::politeness::server_habits::ServerHabits;
use crate::engine::poll::fetch::Validators;
use crate::engine::poll::poll_log::PollLogEntry;
use backissue_core::feed::sparse::is_default;
use backissue_core::feed::{FeedDocument, Kind};
use backissue_core::history::{ArchiveNode, Counters, FeedKey, GapKey, HistoryRecord, Merging};
use backissue_core::schedule::{Decision, Facts, FeedStatus, PlanKind, SettledBy};

/// One subscription as the engine holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Subscription {
    /// Its number.
    pub key: FeedKey,
    /// What the reader chose and the publisher is called.
    pub record: SubscriptionRecord,
    /// What polls taught us. In a place of its own, as the history: it is large, and subscriptions are moved about.
    pub state: Box<FeedState>,
    /// What is known of its history.
    pub history: Box<HistoryRecord>,
    /// Sums over its entries.
    pub counters: Counters,
    /// When it is polled next, and why then. Derived from the rest, never stored.
    pub plan: Decision,
    /// The gaps that whoever looks on knows of, with the addresses of what is missing; never stored.
    pub told_gaps: BTreeMap<GapKey, String>,
}

/// The lasting part of a subscription: changed by the reader, or when a feed moves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SubscriptionRecord {
    /// Address of the subscription document.
    pub url: String,
    /// The reader's own title.
    pub own_title: Option<String>,
    /// The publisher's title, plain text.
    pub title: Option<String>,
    /// The site.
    pub site: Option<String>,
    /// Tags in the reader's order; nested ones are written with `/`.
    pub tags: Vec<String>,
    /// When it was subscribed to.
    pub added: DateTime<Utc>,
    /// The reader's settings for it.
    #[serde(rename = "wishes")]
    pub feed_settings: FeedSettings,
    /// Addresses it had before, oldest first; the last [`FORMER_MAX`] of them (SPEC D.3).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<FormerAddress>,
    /// The document that named the address it was subscribed to under; `None`: the reader typed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named_by: Option<NamedBy>,
    /// An address that the reader does not want it to move to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declined: Option<String>,
    /// Since when it is given up; what is kept of it goes a week later.
    pub ended: Option<DateTime<Utc>>,
}

/// An address that a feed had before it moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerAddress {
    /// The address.
    pub url: String,
    /// When the feed moved away from it.
    pub until: DateTime<Utc>,
    /// The new one was given by a public address (SPEC D.6).
    pub public: bool,
}

/// A page or an answer that names an address: it leads no further than that may (SPEC D.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedBy {
    /// Its address.
    pub url: String,
    /// It came from a public address.
    pub public: bool,
}

/// Former addresses kept.
pub const FORMER_MAX: usize = 20;

/// What polls taught us of a feed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FeedState {
    /// Validators of the last good answer.
    #[serde(skip_serializing_if = "is_default")]
    pub validators: Validators,
    /// What the schedule goes by; its settings are filled in from the record when a plan is made.
    #[serde(skip_serializing_if = "is_default")]
    pub facts: Facts,
    /// Since when attempts fail.
    #[serde(skip_serializing_if = "is_default")]
    pub failing_since: Option<DateTime<Utc>>,
    /// Status of the last answer; `None` if there was none.
    #[serde(skip_serializing_if = "is_default")]
    pub status: Option<u16>,
    /// What went wrong last, as a sentence fragment.
    #[serde(skip_serializing_if = "is_default")]
    pub trouble: Option<String>,
    /// What kind of trouble it is, where the reader can do something special about it.
    #[serde(skip_serializing_if = "is_default")]
    pub obstacle: Option<Obstacle>,
    /// What polls taught us of the server's habits.
    #[serde(skip_serializing_if = "is_default")]
    pub habits: ServerHabits,
    /// The publisher's own identity of the feed (Atom `id`, JSON `feed_url`).
    #[serde(skip_serializing_if = "is_default")]
    pub feed_id: Option<String>,
    /// The format of its last document.
    #[serde(skip_serializing_if = "is_default")]
    pub format: Kind,
    /// Where the publisher says it moved, if that is not plain enough to follow for good (SPEC D.3).
    #[serde(skip_serializing_if = "is_default")]
    pub proposed: Option<ProposedMove>,
    /// Its address is that of an archive document, and its current document was not gone over to (SPEC C.2 rule 3).
    #[serde(skip_serializing_if = "is_default")]
    pub archive: Option<ArchiveAddress>,
    /// What its document names as current although it is no archive, once that was asked for.
    #[serde(skip_serializing_if = "is_default")]
    pub followed: Option<String>,
    /// The reader has taken note of what stood in the Attention list at that time.
    #[serde(skip_serializing_if = "is_default")]
    pub noted: Option<DateTime<Utc>>,
    /// Polls made so far; places the next line of the poll log.
    #[serde(skip_serializing_if = "is_default")]
    pub polls: u32,
}

/// A trouble that has a remedy of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Obstacle {
    /// It leads from https to http; the reader may allow it.
    Insecure,
    /// It leads to an address that SPEC D.6 forbids.
    Blocked,
    /// A login page stands in the way.
    LoginPage,
}

/// A move that the reader is asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedMove {
    /// Where to.
    pub to: String,
    /// Why.
    #[serde(default)]
    pub because: ProposedFor,
    /// It was said by a public address (SPEC D.6).
    pub public: bool,
    /// When it was first seen.
    pub since: DateTime<Utc>,
}

/// Why another address is proposed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProposedFor {
    /// The publisher says that the feed moved there.
    #[default]
    Move,
    /// The address is redirected there for the time being.
    Redirect,
    /// The stored address is an archive; the proposed one is its subscription document.
    Archive,
    /// The stored address is a later page; the proposed one is the first page.
    LaterPage,
}

/// Why a subscription stays at the address of an archive document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveAddress {
    /// The subscription document that it names, if it does.
    pub current: Option<String>,
    /// Why that was not gone over to; a fragment.
    pub why: String,
    /// It leads from https to http, which the reader may allow.
    #[serde(default)]
    pub insecure: bool,
    /// When it was first seen.
    pub since: DateTime<Utc>,
}

impl Subscription {
    /// One as the store kept it; it has no plan yet.
    pub fn saved(saved: SavedSubscription) -> Self {
        let SavedSubscription { key, record, state, history, counters } = saved;
        let told_gaps = missing_in(&history);
        Self { state, history, counters, told_gaps, ..Self::new(key, record) }
    }

    /// A subscription that was never polled and has no plan yet.
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
            history: Box::default(),
            counters: Counters::default(),
            plan: unplanned,
            told_gaps: BTreeMap::new(),
        }
    }

    /// Whether the publisher ended the feed (SPEC S1.13).
    pub fn is_gone(&self) -> bool {
        matches!(self.state.facts.standing, FeedStatus::Gone | FeedStatus::Stopped)
    }

    /// Whether the last attempts failed.
    pub const fn is_failing(&self) -> bool {
        self.state.facts.failures > 0
    }
}

/// What is missing of a history, with the addresses of it.
pub fn missing_in(history: &HistoryRecord) -> BTreeMap<GapKey, String> {
    let missing = history.gaps.iter().filter(|(_, gap)| gap.counts());
    missing.map(|(key, gap)| (*key, gap.edge.url.clone())).collect()
}

impl SubscriptionRecord {
    /// The title shown: the reader's, else the publisher's, else the address.
    pub fn shown_title(&self) -> &str {
        let stated = self.own_title.as_deref().or(self.title.as_deref());
        stated.filter(|title| !title.is_empty()).unwrap_or(&self.url)
    }

    /// What the reader chose.
    pub fn chosen(&self) -> Chosen {
        let Self { own_title, tags, feed_settings, .. } = self;
        Chosen {
            own_title: own_title.clone(),
            tags: tags.clone(),
            feed_settings: feed_settings.clone(),
        }
    }

    /// Takes what the reader chose.
    pub fn choose(&mut self, chosen: Chosen) {
        Chosen { own_title: self.own_title, tags: self.tags, feed_settings: self.feed_settings } =
            chosen;
    }

    /// Takes the publisher's title and site from a document; says whether anything changed.
    pub fn take_head(&mut self, document: &FeedDocument) -> bool {
        let before = (self.own_title.clone(), self.title.clone(), self.site.clone());
        if document.head.title.is_some() {
            self.title.clone_from(&document.head.title);
        }
        // A title that came with an import and says what the publisher says is nobody's own.
        if self.own_title == self.title {
            self.own_title = None;
        }
        if document.head.link.is_some() {
            self.site.clone_from(&document.head.link);
        }
        before != (self.own_title.clone(), self.title.clone(), self.site.clone())
    }
}

/// Everything a store gives back of a subscription when it is opened.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedSubscription {
    /// Its number.
    pub key: FeedKey,
    /// Its lasting part.
    pub record: SubscriptionRecord,
    /// What polls taught us.
    pub state: Box<FeedState>,
    /// What is known of its history.
    pub history: Box<HistoryRecord>,
    /// Sums over its entries.
    pub counters: Counters,
}

/// One atomic batch (SPEC D.2: entries and validators together): what a poll changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// The feed.
    pub feed: FeedKey,
    /// Its state afterwards.
    pub state: Box<FeedState>,
    /// Its lasting part, if it changed.
    pub record: Option<SubscriptionRecord>,
    /// The document to merge, if one came.
    pub document: Option<Box<FeedDocument>>,
    /// When the document was fetched.
    pub fetched_at: DateTime<Utc>,
    /// What is known of its history, if the document was looked at for that.
    pub history: Option<Box<HistoryRecord>>,
    /// The document is the whole feed: what it does not hold is withdrawn (SPEC C.6).
    pub complete: bool,
    /// The line for the poll log; `new` and `edited` are filled in by the merge.
    pub log: Option<PollLogEntry>,
}

/// One atomic batch too: what an archive or a page changes, or an action of the reader.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryCommit {
    /// The feed.
    pub feed: FeedKey,
    /// Its record afterwards.
    pub record: Box<HistoryRecord>,
    /// Archives whose record changed, by canonical address; `None`: forgotten.
    pub nodes: Vec<(String, Option<ArchiveNode>)>,
    /// The document to merge, if one came, and how.
    pub document: Option<(Box<FeedDocument>, Merging)>,
}
