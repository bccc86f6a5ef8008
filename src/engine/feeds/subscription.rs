//! A subscription: the reader's tie to a feed, what the last polls taught us of it, and its plan.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::interval_rules;
use crate::engine::politeness::server_habits::ServerHabits;
use crate::engine::poll::poll_log::PollLogEntry;
use crate::engine::settings::HistoryMode;
use crate::feed::sparse::is_default;
use crate::feed::{FeedDocument, IntervalRule, Zone};
use crate::history::{Adaptor, ArchiveNode, Counters, FeedKey, HistoryRecord, Merging};
use crate::schedule::{Decision, Facts, FeedStatus, Pace, PlanKind, SettledBy};

/// One subscription as the engine holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Subscription {
    /// Its number.
    pub key: FeedKey,
    /// What the reader chose and the publisher is called.
    pub record: SubscriptionRecord,
    /// What polls taught us.
    pub state: FeedState,
    /// What is known of its history.
    pub history: HistoryRecord,
    /// Sums over its entries.
    pub counters: Counters,
    /// When it is polled next, and why then. Derived from the rest, never stored.
    pub plan: Decision,
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
    /// The reader's wishes for the schedule.
    pub wishes: FeedSettings,
    /// Addresses it had before, oldest first; the last [`FORMER_MAX`] of them (SPEC D.3).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<FormerAddress>,
    /// An address that the reader does not want it to move to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declined: Option<String>,
    /// Since when it is given up; what is kept of it goes when the program starts the next time.
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

/// Former addresses kept.
pub const FORMER_MAX: usize = 20;

/// What the reader wishes for the schedule of one feed; `None` takes the global setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that the reader sets alone")]
pub struct FeedSettings {
    /// More or less often (SPEC A.8).
    pub pace: Option<Pace>,
    /// Shortest interval, in minutes.
    pub min_minutes: Option<u32>,
    /// Longest interval, in minutes.
    pub max_minutes: Option<u32>,
    /// A fixed interval, in minutes, instead of any recommendation.
    pub fixed_minutes: Option<u32>,
    /// It may lead from https to http (SPEC D.3).
    #[serde(skip_serializing_if = "is_default")]
    pub allow_insecure: bool,
    /// It is polled although the publisher said that it has ended (SPEC G.40).
    #[serde(skip_serializing_if = "is_default")]
    pub ignore_expired: bool,
    /// Whether archives are walked.
    pub history: Option<HistoryMode>,
    /// Its rhythm is learned.
    #[serde(skip_serializing_if = "is_default")]
    pub learn: Option<bool>,
    /// The reader's own interval rules (SPEC B.2 rank 0.5).
    #[serde(skip_serializing_if = "is_default")]
    pub rules: Vec<IntervalRule>,
    /// Where older entries are looked for that the publisher does not offer; `None`: nowhere.
    #[serde(skip_serializing_if = "is_default")]
    pub archives: Option<Adaptor>,
    /// Its entries are shown with the text of the pages they link to.
    #[serde(skip_serializing_if = "is_default")]
    pub full_text: bool,
    /// The server's cache lifetimes are not believed (SPEC B.4.2).
    pub ignore_cache_lifetime: bool,
    /// The publisher's skip windows are not kept (SPEC B.5).
    pub ignore_skips: bool,
}

/// What the reader chose for a subscription; the rest of its record is the publisher's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// The reader's own title.
    pub own_title: Option<String>,
    /// Tags in the reader's order.
    pub tags: Vec<String>,
    /// The reader's wishes for the schedule.
    pub wishes: FeedSettings,
}

impl FeedSettings {
    /// Reads wishes from the settings that travel in an OPML outline; what cannot be read is left out.
    pub fn from_settings(settings: &BTreeMap<String, String>) -> Self {
        let minutes = |name: &str| {
            settings.get(name)?.parse().ok().filter(|minutes| (1..=527_040).contains(minutes))
        };
        let is_on = |name: &str| settings.get(name).is_some_and(|word| word == "on");
        Self {
            pace: settings
                .get("pace")
                .and_then(|word| Pace::ALL.into_iter().find(|pace| pace.word() == word)),
            min_minutes: minutes("min"),
            max_minutes: minutes("max"),
            fixed_minutes: minutes("every"),
            allow_insecure: is_on("allow-insecure"),
            ignore_expired: is_on("ignore-expired"),
            history: settings
                .get("history")
                .and_then(|word| HistoryMode::ALL.into_iter().find(|mode| mode.word() == word)),
            learn: settings.get("learn").and_then(|word| match word.as_str() {
                "on" => Some(true),
                "off" => Some(false),
                _ => None,
            }),
            rules: settings
                .get("rules")
                .and_then(|text| interval_rules::read_rules(text, &Zone::Utc).ok())
                .unwrap_or_default(),
            archives: settings
                .get("archives")
                .and_then(|word| Adaptor::ALL.into_iter().find(|adaptor| adaptor.word() == word)),
            full_text: is_on("full-text"),
            ignore_cache_lifetime: is_on("ignore-cache-lifetime"),
            ignore_skips: is_on("ignore-skips"),
        }
    }

    /// The settings that travel in an OPML outline.
    pub fn to_settings(&self) -> BTreeMap<String, String> {
        let on = |switch: bool| switch.then(|| "on".to_owned());
        let pairs = [
            ("pace", self.pace.map(|pace| pace.word().to_owned())),
            ("min", self.min_minutes.map(|minutes| minutes.to_string())),
            ("max", self.max_minutes.map(|minutes| minutes.to_string())),
            ("every", self.fixed_minutes.map(|minutes| minutes.to_string())),
            ("allow-insecure", on(self.allow_insecure)),
            ("ignore-expired", on(self.ignore_expired)),
            ("history", self.history.map(|mode| mode.word().to_owned())),
            ("learn", self.learn.map(|learn| if learn { "on" } else { "off" }.to_owned())),
            (
                "rules",
                Some(interval_rules::rules_text(&self.rules)).filter(|text| !text.is_empty()),
            ),
            ("archives", self.archives.map(|adaptor| adaptor.word().to_owned())),
            ("full-text", on(self.full_text)),
            ("ignore-cache-lifetime", on(self.ignore_cache_lifetime)),
            ("ignore-skips", on(self.ignore_skips)),
        ];
        pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

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
    /// Where the publisher says it moved, if that is not plain enough to follow for good (SPEC D.3).
    #[serde(skip_serializing_if = "is_default")]
    pub proposed: Option<ProposedMove>,
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
    /// It was said by a public address (SPEC D.6).
    pub public: bool,
    /// When it was first seen.
    pub since: DateTime<Utc>,
}

/// Validators exactly as received, with the address that gave them (SPEC D.4 rules 1 and 2).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Validators {
    /// The address that gave them, and the only one they are sent to.
    #[serde(skip_serializing_if = "is_default")]
    pub url: String,
    /// `ETag`, byte for byte.
    #[serde(skip_serializing_if = "is_default")]
    pub etag: Option<Vec<u8>>,
    /// `Last-Modified`, byte for byte.
    #[serde(skip_serializing_if = "is_default")]
    pub last_modified: Option<Vec<u8>>,
}

impl Validators {
    /// Whether there is anything to send to `url`.
    pub fn speak_for(&self, url: &str) -> bool {
        self.url == url && (self.etag.is_some() || self.last_modified.is_some())
    }
}

impl Subscription {
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
            state: FeedState::default(),
            history: HistoryRecord::default(),
            counters: Counters::default(),
            plan: unplanned,
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

impl SubscriptionRecord {
    /// The title shown: the reader's, else the publisher's, else the address.
    pub fn shown_title(&self) -> &str {
        let stated = self.own_title.as_deref().or(self.title.as_deref());
        stated.filter(|title| !title.is_empty()).unwrap_or(&self.url)
    }

    /// What the reader chose.
    pub fn chosen(&self) -> Chosen {
        let Self { own_title, tags, wishes, .. } = self;
        Chosen { own_title: own_title.clone(), tags: tags.clone(), wishes: wishes.clone() }
    }

    /// Takes what the reader chose.
    pub fn choose(&mut self, chosen: Chosen) {
        Chosen { own_title: self.own_title, tags: self.tags, wishes: self.wishes } = chosen;
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
    pub state: FeedState,
    /// What is known of its history.
    pub history: HistoryRecord,
    /// Sums over its entries.
    pub counters: Counters,
}

/// One atomic batch (SPEC D.2: entries and validators together): what a poll changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// The feed.
    pub feed: FeedKey,
    /// Its state afterwards.
    pub state: FeedState,
    /// Its lasting part, if it changed.
    pub record: Option<SubscriptionRecord>,
    /// The document to merge, if one came.
    pub document: Option<Box<FeedDocument>>,
    /// When the document was fetched.
    pub fetched_at: DateTime<Utc>,
    /// What is known of its history, if the document was looked at for that.
    pub history: Option<Box<HistoryRecord>>,
    /// Entries that the publisher gave new ids (SPEC C.8.1 rule 5): the new id, and the identity hash of the old one.
    pub renamed: BTreeMap<String, u64>,
    /// The document is the whole feed: what it does not hold is withdrawn (SPEC C.6).
    pub complete: bool,
    /// The line for the poll log; `new` and `edited` are filled in by the merge.
    pub log: Option<PollLogEntry>,
}

/// One atomic batch too: what an archive or a page changes, or a wish of the reader.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryCommit {
    /// The feed.
    pub feed: FeedKey,
    /// Its record afterwards.
    pub record: HistoryRecord,
    /// Archives whose record changed, by canonical address; `None`: forgotten.
    pub nodes: Vec<(String, Option<ArchiveNode>)>,
    /// The document to merge, if one came, and how.
    pub document: Option<(Box<FeedDocument>, Merging)>,
}
