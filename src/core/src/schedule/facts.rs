//! All that a plan may look at.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::holds::cache::CacheState;
use super::holds::retry_after::Wait;
use super::instant::seconds;
use super::interval::pace::Pace;
use super::learning::LearnedPlan;
use super::limits::{DEFAULT_INTERVAL_SECONDS, DEFAULT_MAX_SECONDS, DEFAULT_MIN_SECONDS};
use crate::feed::sparse::is_default;
use crate::feed::{Hints, IntervalRule};

/// Everything the schedule of one feed depends on, besides `now` and `u` (SPEC section 0).
///
/// Kept as a whole in the store, so that a restart forgets neither the last poll nor a floor
/// (SPEC G.20). [`Facts::record_success`] and [`Facts::record_failure`] move it on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// What the subscription document asks.
    #[serde(skip_serializing_if = "is_default")]
    pub hints: Hints,
    /// What the reader asks: the settings of the feed, global ones filled in. Never stored: made anew for each plan.
    #[serde(skip)]
    pub settings: ScheduleSettings,
    /// Whether automatic polls happen at all.
    #[serde(skip_serializing_if = "is_default")]
    pub standing: FeedStatus,
    /// Start of the last poll that ended in 200, 226 or 304 and was processed.
    #[serde(skip_serializing_if = "is_default")]
    pub last_ok: Option<DateTime<Utc>>,
    /// Start of the last attempt, whatever its end. Without one, `last_ok` counts.
    #[serde(skip_serializing_if = "is_default")]
    pub last_try: Option<DateTime<Utc>>,
    /// Failures in a row since `last_ok`.
    #[serde(skip_serializing_if = "is_default")]
    pub failures: u32,
    /// How the last attempt failed; only looked at while `failures` is not 0.
    #[serde(skip_serializing_if = "is_default")]
    pub failure: Option<PollFailure>,
    /// The lifetime that the last good answer was given (SPEC B.4.2).
    #[serde(skip_serializing_if = "is_default")]
    pub cache: Option<CacheState>,
    /// What a refusing answer asked for (SPEC B.4.3).
    #[serde(skip_serializing_if = "is_default")]
    pub retry_after: Option<Wait>,
    /// What a 429 to another feed of the same host asked for (SPEC B.4.3).
    #[serde(skip_serializing_if = "is_default")]
    pub host_wait: Option<Wait>,
    /// The host is this machine: `HARD_MIN` does not apply.
    #[serde(skip_serializing_if = "is_default")]
    pub loopback: bool,
    /// What past updates suggest, if the reader allows learning and enough is known (SPEC B.2).
    #[serde(skip_serializing_if = "is_default")]
    pub learned: Option<Learned>,
}

/// The reader's settings for one feed (SPEC A.8).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScheduleSettings {
    /// More often, normal, less often.
    pub pace: Pace,
    /// Never more often than this, seconds. Values below `HARD_MIN` count as `HARD_MIN`.
    pub min_seconds: u32,
    /// Never less often than this, seconds. A value below the minimum counts as the minimum.
    pub max_seconds: u32,
    /// The interval where nobody says anything, seconds.
    pub default_seconds: u32,
    /// An interval that replaces every recommendation, seconds.
    pub fixed_seconds: Option<u32>,
    /// Interval rules of the reader, above the publisher's (SPEC B.2 rank 0.5). The publisher's
    /// skip windows still hold beside them.
    pub own_rules: Vec<IntervalRule>,
    /// The cache lifetimes of this server are not to be believed.
    pub ignore_cache_lifetime: bool,
    /// The skip windows of this feed are not to be kept.
    pub ignore_skips: bool,
    /// Polls go on although the publisher said the feed has ended (SPEC G.40).
    pub ignore_expired: bool,
}

impl Default for ScheduleSettings {
    fn default() -> Self {
        Self {
            pace: Pace::Normal,
            min_seconds: DEFAULT_MIN_SECONDS,
            max_seconds: DEFAULT_MAX_SECONDS,
            default_seconds: DEFAULT_INTERVAL_SECONDS,
            fixed_seconds: None,
            own_rules: Vec::new(),
            ignore_cache_lifetime: false,
            ignore_skips: false,
            ignore_expired: false,
        }
    }
}

/// Whether a feed is polled automatically (SPEC B.1 step 0).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedStatus {
    /// Polled by plan.
    #[default]
    Active,
    /// Nothing but 404 for 30 days: polled weekly (SPEC D.2).
    Dead,
    /// An archive document was subscribed to and names no current one: it will not change, so it is
    /// polled at the maximum (SPEC C.2).
    Archive,
    /// The reader paused it.
    Paused,
    /// The publisher ended it with 410 or an empty `newLocation`.
    Gone,
    /// It redirects to nothing (SPEC D.5).
    Stopped,
}

/// How an attempt failed, as far as the schedule cares (SPEC D.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PollFailure {
    /// An answer with a status that is not a success.
    Status(u16),
    /// No answer: time-out, DNS, TLS, connection reset.
    Unanswered,
    /// A good status, but no feed in the body.
    Unreadable,
    /// The body went over a limit.
    TooLarge,
}

/// What past updates suggest (SPEC B.2 rank 6).
///
/// Only the mean interval and the last answer are stored; the plan itself is learned anew, off the loop. Until it is,
/// the stored answer holds for the poll it was given for, so that a restart moves nothing, and the mean interval for
/// any other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Learned {
    /// Mean interval at normal pace, seconds, at least 1.
    pub interval_seconds: u32,
    /// What the plan answered for the last poll, while there was one.
    pub answered: Option<LearnedAnswer>,
    /// The plan, with its own next poll for any last one.
    #[serde(skip)]
    pub plan: Option<Arc<LearnedPlan>>,
}

/// The next polls after one last poll, at the three paces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedAnswer {
    /// The last poll, seconds since 1970.
    pub last: i64,
    /// The next ones, seconds since 1970, in the order of [`Pace::ALL`].
    pub next: [i64; 3],
}

impl Learned {
    /// A flat interval, seconds.
    pub fn every(interval_seconds: u32) -> Self {
        Self { interval_seconds, ..Self::default() }
    }

    /// What a plan says; `last_ok` and the settings are those of the feed it was learned for.
    pub fn by_plan(
        plan: Arc<LearnedPlan>,
        last_ok: Option<DateTime<Utc>>,
        settings: &ScheduleSettings,
    ) -> Self {
        let interval_seconds = plan.interval_seconds();
        let learned = Self { interval_seconds, answered: None, plan: Some(plan) };
        learned.after_poll(last_ok, settings)
    }

    /// The same after another poll: the answer to be stored is that for it.
    #[must_use]
    pub fn after_poll(
        mut self,
        last_ok: Option<DateTime<Utc>>,
        settings: &ScheduleSettings,
    ) -> Self {
        let (min, max) = (i64::from(settings.min_seconds), i64::from(settings.max_seconds));
        if let Some((plan, last)) = self.plan.as_deref().zip(last_ok.map(seconds)) {
            let [more, normal, less] = Pace::ALL.map(|pace| plan.next(last, pace, min, max));
            let next = more.zip(normal).zip(less);
            self.answered = next
                .map(|((more, normal), less)| LearnedAnswer { last, next: [more, normal, less] });
        }
        self
    }

    /// The next poll after one at `last`, seconds since 1970, not sooner than `min` and not later than `max` seconds
    /// after it; `None`: only the interval is known.
    pub(super) fn next(&self, last: i64, pace: Pace, min: i64, max: i64) -> Option<i64> {
        // The answer given for this poll stands, although the plan may have been learned anew since.
        let Some(answer) = self.answered.filter(|answer| answer.last == last) else {
            return self.plan.as_ref()?.next(last, pace, min, max);
        };
        let [more, normal, less] = answer.next;
        let next = match pace {
            Pace::More => more,
            Pace::Normal => normal,
            Pace::Less => less,
        };
        Some(next.clamp(last + min, last + max))
    }
}
