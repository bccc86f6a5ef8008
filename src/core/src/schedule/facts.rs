//! The inputs of a plan, and how polls change them (SPEC section 0, D.2).

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::holds::cache::{CacheState, TimingHeaders};
use super::holds::retry_after::Wait;
use super::learning::LearnedPlan;
use super::limits::{
    DEFAULT_INTERVAL_SECONDS, DEFAULT_MAX_SECONDS, DEFAULT_MIN_SECONDS, Pace, seconds,
};
use crate::feed::hints::is_default;
use crate::feed::{Hints, IntervalRule};

/// Everything the schedule of one feed depends on, besides `now` and `u` (SPEC section 0).
///
/// The store keeps the whole value, so that the last poll and the floors survive a restart (SPEC G.20).
/// [`Facts::record_success`] and [`Facts::record_failure`] update it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Scheduling hints from the feed document.
    #[serde(skip_serializing_if = "is_default")]
    pub hints: Hints,
    /// The user's settings for the feed, with global settings where the feed has none. Not stored, but set for each plan.
    #[serde(skip)]
    pub settings: ScheduleSettings,
    /// Polling status of the feed.
    #[serde(skip_serializing_if = "is_default")]
    pub standing: FeedStatus,
    /// Start of the last poll that returned 200, 226 or 304 and was processed.
    #[serde(skip_serializing_if = "is_default")]
    pub last_ok: Option<DateTime<Utc>>,
    /// Start of the last attempt, whether it succeeded or failed. If absent, `last_ok` is used.
    #[serde(skip_serializing_if = "is_default")]
    pub last_try: Option<DateTime<Utc>>,
    /// Number of consecutive failures since `last_ok`.
    #[serde(skip_serializing_if = "is_default")]
    pub failures: u32,
    /// Kind of the last failure; used only while `failures` is not 0.
    #[serde(skip_serializing_if = "is_default")]
    pub failure: Option<PollFailure>,
    /// Cache lifetime of the last successful response (SPEC B.4.2).
    #[serde(skip_serializing_if = "is_default")]
    pub cache: Option<CacheState>,
    /// Wait requested by an error response (SPEC B.4.3).
    #[serde(skip_serializing_if = "is_default")]
    pub retry_after: Option<Wait>,
    /// Wait requested by a 429 response to another feed on the same host (SPEC B.4.3).
    #[serde(skip_serializing_if = "is_default")]
    pub host_wait: Option<Wait>,
    /// Whether the feed is served by this machine, so that `HARD_MIN` does not apply.
    #[serde(skip_serializing_if = "is_default")]
    pub loopback: bool,
    /// Schedule learned from past updates, if the user allows learning and enough is known (SPEC B.2).
    #[serde(skip_serializing_if = "is_default")]
    pub learned: Option<Learned>,
}

/// The user's settings for one feed (SPEC A.8).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct ScheduleSettings {
    /// How often to poll: more, normal or less.
    pub pace: Pace,
    /// Minimum interval, in seconds. Values below `HARD_MIN` count as `HARD_MIN`.
    pub min_seconds: u32,
    /// Maximum interval, in seconds. A value below the minimum counts as the minimum.
    pub max_seconds: u32,
    /// Interval used when no source recommends one, in seconds.
    pub default_seconds: u32,
    /// Fixed interval that replaces every recommendation, in seconds.
    pub fixed_seconds: Option<u32>,
    /// The user's interval rules, which override the publisher's (SPEC B.2 rank 0.5). The publisher's skip windows still apply.
    pub own_rules: Vec<IntervalRule>,
    /// Ignore the cache lifetimes of this server.
    pub ignore_cache_lifetime: bool,
    /// Ignore the skip windows of this feed.
    pub ignore_skips: bool,
    /// Keep polling although the publisher marked the feed as ended (SPEC G.40).
    pub ignore_expired: bool,
    /// The server of an account polls the feed, and its entries come from there.
    #[serde(skip_serializing_if = "is_default")]
    pub by_server: bool,
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
            by_server: false,
        }
    }
}

/// Polling status of a feed (SPEC B.1 step 0).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedStatus {
    /// Polled as planned.
    #[default]
    Active,
    /// Returned only 404 for 30 days; polled weekly (SPEC D.2).
    Dead,
    /// The subscribed address is an archive document, and no current document was adopted. An archive does not change, so it is
    /// polled at the maximum interval (SPEC C.2).
    Archive,
    /// Paused by the user.
    Paused,
    /// Ended by the publisher with 410 or an empty `newLocation`.
    Gone,
    /// Redirects to an empty address (SPEC D.5).
    Stopped,
}

/// Kind of failure of an attempt, as far as the schedule needs it (SPEC D.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PollFailure {
    /// A response with an error status.
    Status(u16),
    /// No response: timeout, DNS, TLS, connection reset.
    Unanswered,
    /// A success status, but no feed in the body.
    Unreadable,
    /// The body exceeded a limit.
    TooLarge,
}

/// Schedule learned from past updates (SPEC B.2 rank 6).
///
/// Only the mean interval and the next poll times computed after the last poll are stored; a background task learns the plan again
/// after a restart. Until the plan is available, the stored times apply to the next poll, so a restart does not move it, and the
/// mean interval applies to all later polls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Learned {
    /// Mean interval at normal pace, in seconds, at least 1.
    pub interval_seconds: u32,
    /// Expected publications a week; 0 if too few are known.
    pub per_week: f64,
    /// The next poll times that the plan computed after the last poll; `None` if there was no plan.
    pub answered: Option<LearnedAnswer>,
    /// The learned plan, which computes the next poll from any last poll.
    #[serde(skip)]
    pub plan: Option<Arc<LearnedPlan>>,
}

/// The next poll times that a learned plan computed after a given last poll, one for each of the three paces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedAnswer {
    /// Time of the last poll, in seconds since 1970.
    pub last: i64,
    /// Time of the next poll at each pace, in seconds since 1970, in the order of [`Pace::ALL`].
    pub next: [i64; 3],
}

impl Learned {
    /// Creates a learned schedule that polls at a fixed interval, in seconds.
    pub fn every(interval_seconds: u32) -> Self {
        Self { interval_seconds, ..Self::default() }
    }

    /// Creates a learned schedule from a plan. `last_ok` and `settings` are those of the feed for which the plan was learned.
    pub fn by_plan(
        plan: Arc<LearnedPlan>,
        last_ok: Option<DateTime<Utc>>,
        settings: &ScheduleSettings,
    ) -> Self {
        let (interval_seconds, per_week) = (plan.interval_seconds(), plan.known_rate());
        let learned = Self { interval_seconds, per_week, answered: None, plan: Some(plan) };
        learned.after_poll(last_ok, settings)
    }

    /// Returns the schedule with its stored next poll times recomputed after a poll at `last_ok`.
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

    /// Returns the next poll after one at `last`, in seconds since 1970, at least `min` and at most `max` seconds after `last`.
    /// `None` means that only the mean interval is known.
    pub(super) fn next(&self, last: i64, pace: Pace, min: i64, max: i64) -> Option<i64> {
        // If next poll times are stored for this last poll, they take precedence, even if a new plan has been learned since.
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

impl Facts {
    /// Records a poll that returned 200, 203, 226 or 304 and was processed. The caller updates the hints: a 200
    /// replaces them, a 226 replaces those it contains, and a 304 keeps them.
    pub fn record_success(
        &mut self,
        status: u16,
        headers: &TimingHeaders<'_>,
        started: DateTime<Utc>,
        received_at: DateTime<Utc>,
    ) {
        let kept = self.cache.filter(|_| status == 304);
        let cache = match kept {
            Some(cache) => cache.of_not_modified(headers, received_at),
            None => CacheState::of_document(headers, received_at),
        };
        self.cache = Some(cache);
        self.retry_after = Wait::of_answer(status, headers, received_at);
        // A successful poll that started after the host requested the wait shows that the host accepts requests again (SPEC B.4
        // rule 3).
        self.host_wait = self.host_wait.filter(|wait| started < wait.received_at);
        self.succeeded_at(started);
    }

    /// Records a failed attempt. Attempts without any network connection do not count and are not recorded (SPEC B.4.4).
    pub fn record_failure(
        &mut self,
        failure: PollFailure,
        headers: &TimingHeaders<'_>,
        started: DateTime<Utc>,
        received_at: DateTime<Utc>,
    ) {
        self.last_try = Some(started);
        self.failures = self.failures.saturating_add(1);
        self.failure = Some(failure);
        match failure {
            PollFailure::Status(410) => self.standing = FeedStatus::Gone,
            PollFailure::Status(status) => {
                let wait = Wait::of_answer(status, headers, received_at);
                let wait = wait.map(|wait| wait.or_longer(self.retry_after));
                self.retry_after = wait.or(self.retry_after);
            }
            PollFailure::Unanswered | PollFailure::Unreadable | PollFailure::TooLarge => {}
        }
    }

    /// Updates the facts as if a poll at `at` received the same response as the last successful poll. Used to predict polls.
    pub(super) fn repeat_success(&mut self, at: DateTime<Utc>) {
        self.cache = self.cache.map(|cache| cache.repeated_at(at));
        self.retry_after = None;
        self.host_wait = None;
        self.succeeded_at(at);
    }

    fn succeeded_at(&mut self, started: DateTime<Utc>) {
        self.last_ok = Some(started);
        self.last_try = Some(started);
        self.failures = 0;
        self.failure = None;
        if self.standing == FeedStatus::Dead {
            self.standing = FeedStatus::Active;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::instant;
    use super::*;

    #[test]
    fn failures_are_counted_until_a_success() {
        let (early, late) = (instant(1000), instant(2000));
        let mut facts = Facts::default();
        let none = TimingHeaders::default();
        let retry = TimingHeaders { retry_after: Some("60"), ..none };
        facts.record_failure(PollFailure::Status(503), &retry, early, early);
        facts.record_failure(PollFailure::Unanswered, &none, late, late);
        assert_eq!((facts.failures, facts.last_ok, facts.last_try), (2, None, Some(late)));
        assert_eq!(facts.retry_after.map(|wait| wait.seconds), Some(60));
        facts.standing = FeedStatus::Dead;
        facts.record_success(200, &none, late, late);
        assert_eq!((facts.failures, facts.failure, facts.retry_after), (0, None, None));
        assert_eq!((facts.standing, facts.last_ok), (FeedStatus::Active, Some(late)));
    }

    #[test]
    fn shorter_wait_keeps_a_longer_one_unless_clock_was_wrong() {
        let headers = |seconds: &'static str| TimingHeaders {
            retry_after: Some(seconds),
            ..TimingHeaders::default()
        };
        for (first, seconds, kept) in
            [(1000, "300", 90_000), (1000, "200000", 200_000), (9000, "300", 300)]
        {
            let mut facts = Facts::default();
            let (asked, again) = (instant(first), instant(5000));
            facts.record_failure(PollFailure::Status(429), &headers("90000"), asked, asked);
            facts.record_failure(PollFailure::Status(503), &headers(seconds), again, again);
            assert_eq!(facts.retry_after.map(|wait| wait.seconds), Some(kept), "{first} {seconds}");
        }
    }

    #[test]
    fn success_of_a_later_request_ends_the_host_wait() {
        let (none, asked) = (TimingHeaders::default(), instant(5000));
        let wait = TimingHeaders { retry_after: Some("90000"), ..none };
        for (started, waits) in [(4990, true), (5000, false), (6000, false)] {
            let host_wait = Wait::of_answer(429, &wait, asked);
            let mut facts = Facts { host_wait, ..Facts::default() };
            facts.record_success(200, &none, instant(started), instant(6000));
            assert_eq!(facts.host_wait.is_some(), waits, "{started}");
        }
    }

    #[test]
    fn a_410_ends_the_feed() {
        let mut facts = Facts::default();
        let at = instant(0);
        facts.record_failure(PollFailure::Status(410), &TimingHeaders::default(), at, at);
        assert_eq!(facts.standing, FeedStatus::Gone);
    }

    #[test]
    fn a_304_keeps_the_lifetime_and_a_200_without_one_clears_it() {
        let (none, at) = (TimingHeaders::default(), instant(5000));
        let mut facts = Facts::default();
        let fresh = TimingHeaders { cache_control: Some("max-age=600"), ..none };
        facts.record_success(200, &fresh, instant(0), instant(0));
        facts.record_success(304, &none, at, at);
        assert_eq!(facts.cache.and_then(|cache| cache.floor_seconds()), Some(600));
        facts.record_success(200, &none, at, at);
        assert_eq!(facts.cache.and_then(|cache| cache.floor_seconds()), None);
    }
}
