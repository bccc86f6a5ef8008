//! A plan: when a feed is polled next, what settled it, and the way there step by step.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::feed::Flaw;

/// When to poll next, and why then.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// When the feed is polled next; `now` if it is due; `None`: never.
    pub next_poll: Option<DateTime<Utc>>,
    /// When it falls or fell due; in the past if the reader was away. Orders the catch-up.
    pub due: Option<DateTime<Utc>>,
    /// What kind of instant it is.
    pub kind: PlanKind,
    /// The interval behind it after pace and bounds, seconds; `None` where there is none.
    pub binding_seconds: Option<u32>,
    /// What fixed the final time: the last stage that moved it, else the recommendation's source.
    /// Jitter is not counted.
    pub settled_by: SettledBy,
    /// How it came about, in order (SPEC section 0).
    pub steps: Vec<PlanStep>,
    /// Hints that could not be followed, and why.
    pub flaws: Vec<Flaw>,
}

/// A plan without its explanation: cheap, for many feeds at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// As in [`Plan`].
    pub next_poll: Option<DateTime<Utc>>,
    /// As in [`Plan`].
    pub due: Option<DateTime<Utc>>,
    /// As in [`Plan`].
    pub kind: PlanKind,
    /// As in [`Plan`].
    pub binding_seconds: Option<u32>,
    /// As in [`Plan`].
    pub settled_by: SettledBy,
}

impl Plan {
    /// The plan without its explanation.
    pub const fn decision(&self) -> Decision {
        Decision {
            next_poll: self.next_poll,
            due: self.due,
            kind: self.kind,
            binding_seconds: self.binding_seconds,
            settled_by: self.settled_by,
        }
    }

    /// A decision with its explanation.
    pub(super) fn new(decision: Decision, steps: Vec<PlanStep>, flaws: Vec<Flaw>) -> Self {
        let Decision { next_poll, due, kind, binding_seconds, settled_by } = decision;
        Self { next_poll, due, kind, binding_seconds, settled_by, steps, flaws }
    }

    /// Puts the flaws of the document in front; those of its hints are in the plan already.
    pub fn add_document_flaws(&mut self, flaws: &[Flaw]) {
        let known = std::mem::take(&mut self.flaws);
        self.flaws = flaws.to_vec();
        self.flaws.extend(known.into_iter().filter(|flaw| !flaws.contains(flaw)));
    }
}

/// The kind of instant a plan names (UX 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanKind {
    /// It is due.
    Now,
    /// So long after the last poll.
    Interval,
    /// Where a shorter interval begins.
    Boundary,
    /// At a time of the publisher's grid (SPEC B.6).
    Slot,
    /// Not polled automatically.
    Never,
}

/// What fixed a time (UX 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettledBy {
    /// The reader's fixed interval.
    Fixed,
    /// The reader's own interval rules.
    OwnRules,
    /// The publisher's interval rules.
    Rules,
    /// `sy:*`.
    Sy,
    /// RSS `ttl`.
    Ttl,
    /// `refreshRate`.
    RefreshRate,
    /// `sy:*` as `WordPress` writes it into every feed.
    BoilerplateSy,
    /// Past updates.
    Learned,
    /// The default interval.
    Default,
    /// The reader's minimum, or `HARD_MIN`.
    Minimum,
    /// The reader's maximum.
    Maximum,
    /// `Cache-Control` or `Expires`.
    CacheLifetime,
    /// `Retry-After`.
    RetryAfter,
    /// Failures in a row.
    BackOff,
    /// Nothing but 404 for 30 days.
    Dead,
    /// `skipHours`.
    SkipHours,
    /// `skipDays`.
    SkipDays,
    /// The reader was away when the feed could have been polled (SPEC A.9).
    Overdue,
    /// It was never polled.
    FirstPoll,
    /// The publisher ended the feed.
    Gone,
    /// It redirects to nothing.
    Stopped,
    /// The reader paused it.
    Paused,
    /// JSON Feed `expired`.
    Expired,
}

impl SettledBy {
    /// The word used by `plan --json` (UX 5).
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::OwnRules => "own_rules",
            Self::Rules => "rules",
            Self::Sy => "sy",
            Self::Ttl => "ttl",
            Self::RefreshRate => "refresh_rate",
            Self::BoilerplateSy => "boilerplate_sy",
            Self::Learned => "learned",
            Self::Default => "default",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::CacheLifetime => "cache_lifetime",
            Self::RetryAfter => "retry_after",
            Self::BackOff => "back_off",
            Self::Dead => "dead",
            Self::SkipHours => "skip_hours",
            Self::SkipDays => "skip_days",
            Self::Overdue => "overdue",
            Self::FirstPoll => "first_poll",
            Self::Gone => "gone",
            Self::Stopped => "stopped",
            Self::Paused => "paused",
            Self::Expired => "expired",
        }
    }
}

/// One step of an explanation: `(stage, before, after, reason)` of SPEC section 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// Where in the order of SPEC B.1 it stands.
    pub stage: PlanStage,
    /// What it started from.
    pub before: Option<Value>,
    /// What it made of it; equal to `before` if it changed nothing.
    pub after: Option<Value>,
    /// One plain sentence; durations in it, never instants (those stand in `before` and `after`,
    /// so that the view can show them in the reader's zone).
    pub reason: String,
}

/// A quantity of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// An interval, seconds.
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
    /// Which source speaks (SPEC B.2).
    Recommendation,
    /// The reader's pace, with the bound that holds it.
    Pace,
    /// A bound of the reader on the interval or on the time.
    Minimum,
    /// A bound of the reader on the interval or on the time.
    Maximum,
    /// From the interval to an instant (SPEC A.5.6, B.6).
    NextUpdate,
    /// The spread that keeps readers apart (SPEC A.7).
    Jitter,
    /// `Cache-Control`, `Expires` (SPEC B.4.2).
    CacheLifetime,
    /// `Retry-After` (SPEC B.4.3).
    RetryAfter,
    /// Failures (SPEC B.4.4).
    BackOff,
    /// `skipHours` and `skipDays` (SPEC B.5).
    Skip,
    /// Due already (SPEC A.9).
    Due,
}

impl PlanStage {
    /// The word used by `plan --json`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Standing => "standing",
            Self::Recommendation => "recommendation",
            Self::Pace => "pace",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::NextUpdate => "next_update",
            Self::Jitter => "jitter",
            Self::CacheLifetime => "cache_lifetime",
            Self::RetryAfter => "retry_after",
            Self::BackOff => "back_off",
            Self::Skip => "skip",
            Self::Due => "due",
        }
    }
}
