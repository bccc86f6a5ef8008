//! A plan: when a feed is polled next, what determined the time, and the explanation step by step.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Number, Value as Json, json};

use crate::feed::Flaw;
use crate::words::rfc_3339;

/// The next poll of a feed and the reasons for its time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Time of the next poll; `now` if it is due; `None` if the feed is never polled.
    #[serde(serialize_with = "utc")]
    pub next_poll: Option<DateTime<Utc>>,
    /// Time at which the feed falls or fell due; in the past if the user was away. Overdue feeds are polled in an order that
    /// depends on this time.
    #[serde(serialize_with = "utc")]
    pub due: Option<DateTime<Utc>>,
    /// How the time of the next poll came about.
    pub kind: PlanKind,
    /// The interval that determined the time, after pace and bounds are applied, in seconds; `None` if no interval did.
    #[serde(rename = "binding_minutes", serialize_with = "in_minutes")]
    pub binding_seconds: Option<u32>,
    /// What determined the final time: the last stage that moved it, or else the source of the
    /// recommendation. Jitter does not count.
    pub settled_by: SettledBy,
    /// The steps of the explanation, in the order in which they changed the interval and the time (SPEC section 0).
    pub steps: Vec<PlanStep>,
    /// Hints that could not be followed, with reasons.
    pub flaws: Vec<Flaw>,
}

/// A plan without its explanation, cheap to compute for many feeds at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// See [`Plan::next_poll`].
    pub next_poll: Option<DateTime<Utc>>,
    /// See [`Plan::due`].
    pub due: Option<DateTime<Utc>>,
    /// See [`Plan::kind`].
    pub kind: PlanKind,
    /// See [`Plan::binding_seconds`].
    pub binding_seconds: Option<u32>,
    /// See [`Plan::settled_by`].
    pub settled_by: SettledBy,
}

impl Plan {
    /// Returns the plan without its explanation.
    pub const fn decision(&self) -> Decision {
        Decision {
            next_poll: self.next_poll,
            due: self.due,
            kind: self.kind,
            binding_seconds: self.binding_seconds,
            settled_by: self.settled_by,
        }
    }

    /// Creates a plan from a decision and its explanation.
    pub(super) fn new(decision: Decision, steps: Vec<PlanStep>, flaws: Vec<Flaw>) -> Self {
        let Decision { next_poll, due, kind, binding_seconds, settled_by } = decision;
        Self { next_poll, due, kind, binding_seconds, settled_by, steps, flaws }
    }

    /// Inserts the flaws of the document before the plan's own, without duplicating those already in the plan.
    pub fn add_document_flaws(&mut self, flaws: &[Flaw]) {
        let known = std::mem::take(&mut self.flaws);
        self.flaws = flaws.to_vec();
        self.flaws.extend(known.into_iter().filter(|flaw| !flaws.contains(flaw)));
    }
}

/// How the time of the next poll came about (UX 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanKind {
    /// The feed is due.
    Now,
    /// One interval after the last poll.
    Interval,
    /// At the start of a period with a shorter interval.
    Boundary,
    /// At an update time of the publisher's schedule (SPEC B.6), or at a time chosen by a learned plan.
    Slot,
    /// Never polled automatically.
    Never,
}

/// What determined the time of the next poll (UX 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettledBy {
    /// The user's fixed interval.
    Fixed,
    /// The user's own interval rules.
    OwnRules,
    /// The publisher's interval rules.
    Rules,
    /// The publisher's update frequency in `sy:*` elements.
    Sy,
    /// The publisher's `ttl` in an RSS feed.
    Ttl,
    /// The publisher's `refreshRate`.
    RefreshRate,
    /// `sy:*` as `WordPress` writes it into every feed.
    BoilerplateSy,
    /// The schedule learned from past updates.
    Learned,
    /// The default interval.
    Default,
    /// The user's minimum interval, or `HARD_MIN`.
    Minimum,
    /// The user's maximum interval.
    Maximum,
    /// The cache lifetime in `Cache-Control` or `Expires`.
    CacheLifetime,
    /// A wait that the server requested with `Retry-After`, or that is assumed for its host.
    RetryAfter,
    /// The backoff after consecutive failures.
    BackOff,
    /// Only 404 responses for 30 days.
    Dead,
    /// The hours that the publisher asks to skip (`skipHours`).
    SkipHours,
    /// The days that the publisher asks to skip (`skipDays`).
    SkipDays,
    /// The user was away when the feed could have been polled (SPEC A.9).
    Overdue,
    /// The feed was never polled.
    FirstPoll,
    /// The publisher ended the feed.
    Gone,
    /// The feed redirects to an empty address.
    Stopped,
    /// The server of an account polls the feed.
    ByServer,
    /// The user paused the feed.
    Paused,
    /// The publisher marked a JSON feed as finished (`expired`).
    Expired,
}

impl SettledBy {
    /// Returns the word in JSON, the words for people, and the name of the publisher's hint, if it is one.
    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Fixed => ("fixed", "your fixed interval", ""),
            Self::OwnRules => ("own_rules", "your own rules", ""),
            Self::Rules => ("rules", "the publisher's rules", "the interval rules"),
            Self::Sy => ("sy", "the publisher's sy schedule", "sy"),
            Self::Ttl => ("ttl", "the publisher's ttl", "ttl"),
            Self::RefreshRate => ("refresh_rate", "the publisher's refreshRate", "refreshRate"),
            Self::BoilerplateSy => ("boilerplate_sy", "the generator's default", "sy"),
            Self::Learned => ("learned", "learned from its entries", ""),
            Self::Default => ("default", "default interval", ""),
            Self::Minimum => ("minimum", "the shortest interval", ""),
            Self::Maximum => ("maximum", "the longest interval", ""),
            Self::CacheLifetime => ("cache_lifetime", "the server's cache lifetime", ""),
            Self::RetryAfter => ("retry_after", "a wait of the server", ""),
            Self::BackOff => ("back_off", "waiting after failures", ""),
            Self::Dead => ("dead", "not found for a month", ""),
            Self::SkipHours => ("skip_hours", "the publisher's skipHours", ""),
            Self::SkipDays => ("skip_days", "the publisher's skipDays", ""),
            Self::Overdue => ("overdue", "overdue", ""),
            Self::FirstPoll => ("first_poll", "first poll", ""),
            Self::Gone => ("gone", "gone", ""),
            Self::Stopped => ("stopped", "stopped", ""),
            Self::ByServer => ("by_server", "polled by your account's server", ""),
            Self::Paused => ("paused", "paused", ""),
            Self::Expired => ("expired", "finished by the publisher", ""),
        }
    }

    /// Returns the word that `plan --json` uses (UX 5).
    pub const fn word(self) -> &'static str {
        self.words().0
    }

    /// Returns a short text for what determined the time of a poll.
    pub const fn in_words(self) -> &'static str {
        self.words().1
    }

    /// Returns the name of the publisher's hint that states an interval; empty if it is none.
    pub(crate) const fn hint_name(self) -> &'static str {
        self.words().2
    }
}

/// One step of an explanation: `(stage, before, after, reason)` of SPEC section 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanStep {
    /// Stage in the order of SPEC B.1.
    pub stage: PlanStage,
    /// Value before the step.
    pub before: Option<Value>,
    /// Value after the step; equal to `before` if the step changed nothing.
    pub after: Option<Value>,
    /// One plain sentence. It can contain durations but no instants; those are in `before` and `after`, so that the
    /// view can show them in the user's time zone.
    pub reason: String,
}

/// An interval or instant before or after a step of an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// An interval, in seconds.
    Seconds(i64),
    /// An instant.
    At(DateTime<Utc>),
}

/// The stages of a plan, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStage {
    /// Whether the feed is polled at all.
    Standing,
    /// The source that states the interval (SPEC B.2).
    Recommendation,
    /// The user's pace, with the bound that limits it.
    Pace,
    /// The user's minimum interval, which limits the interval or the poll time.
    Minimum,
    /// The user's maximum interval, which limits the interval or the poll time.
    Maximum,
    /// The instant computed from the interval (SPEC A.5.6, B.6).
    NextUpdate,
    /// The random shift that spreads the polls of many installations (SPEC A.7).
    Jitter,
    /// The delay until the cache lifetime in `Cache-Control` or `Expires` ends (SPEC B.4.2).
    CacheLifetime,
    /// The wait that the server requested with `Retry-After` (SPEC B.4.3).
    RetryAfter,
    /// The backoff after failures (SPEC B.4.4).
    BackOff,
    /// The move out of the hours and days to skip (`skipHours`, `skipDays`; SPEC B.5).
    Skip,
    /// The notice that the time has passed, so the feed is due (SPEC A.9).
    Due,
}

impl PlanStage {
    /// Returns the word in JSON, and the name of the step in an explanation.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Standing => ("standing", "standing"),
            Self::Recommendation => ("recommendation", "recommended"),
            Self::Pace => ("pace", "your pace"),
            Self::Minimum => ("minimum", "minimum"),
            Self::Maximum => ("maximum", "maximum"),
            Self::NextUpdate => ("next_update", "next update"),
            Self::Jitter => ("jitter", "spread"),
            Self::CacheLifetime => ("cache_lifetime", "cache lifetime"),
            Self::RetryAfter => ("retry_after", "wait"),
            Self::BackOff => ("back_off", "back-off"),
            Self::Skip => ("skip", "skip windows"),
            Self::Due => ("due", "due"),
        }
    }

    /// Returns the word that `plan --json` uses.
    pub const fn word(self) -> &'static str {
        self.words().0
    }

    /// Returns the name of the step in an explanation.
    pub const fn in_words(self) -> &'static str {
        self.words().1
    }
}

/// Formats a plan with its explanation. Times are in UTC, intervals in minutes.
pub fn plan_json(plan: &Plan) -> Json {
    json!(plan)
}

#[expect(clippy::ref_option, reason = "the signature that serde requires")]
fn utc<S: Serializer>(at: &Option<DateTime<Utc>>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(rfc_3339).serialize(serializer)
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde requires it")]
fn in_minutes<S: Serializer>(seconds: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
    seconds.map(|seconds| minutes(i64::from(seconds))).serialize(serializer)
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Seconds(seconds) => minutes(*seconds).serialize(serializer),
            Self::At(at) => rfc_3339(*at).serialize(serializer),
        }
    }
}

/// Converts seconds to minutes: an integer for whole minutes, otherwise a number with a fraction.
fn minutes(seconds: i64) -> Number {
    let whole = Number::from(seconds / 60);
    if seconds % 60 == 0 {
        return whole;
    }
    #[expect(clippy::cast_precision_loss, reason = "intervals are far below 2^52 seconds")]
    let minutes = seconds as f64 / 60.0;
    Number::from_f64(minutes).unwrap_or(whole)
}
