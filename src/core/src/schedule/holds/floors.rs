//! Floors: times before which no automatic poll happens, whatever the preferred time is (SPEC B.4); feeds that are never polled
//! automatically (SPEC B.1 step 0); manual polls, and the order of polls when many feeds are due (SPEC A.9, B.8).

use chrono::{DateTime, Utc};

use super::cache::counted;
use super::retry_after::{Wait, WaitHeader};
use crate::schedule::facts::{Facts, FeedStatus, PollFailure};
use crate::schedule::limits::{
    BACK_OFF_BASE_SECONDS, BACK_OFF_CAP_SECONDS, COOL_DOWN_SECONDS, DAY, DEAD_SECONDS, HOUR,
    instant, not_later, seconds, seconds_up,
};
use crate::schedule::plan::{Decision, PlanKind, SettledBy};
use crate::schedule::recommend::{Bounds, Recommendation};
use crate::schedule::target_time::{find_target, share};

/// A time before which no automatic poll happens, with its cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) struct Floor {
    /// Earliest time of the next poll, in seconds since 1970.
    pub(in crate::schedule) at: i64,
    pub(in crate::schedule) settled_by: SettledBy,
    pub(in crate::schedule) cause: Cause,
}

/// The reason for a floor, with the durations, in seconds, and counts that its explanation mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) enum Cause {
    /// `HARD_MIN` after the last attempt, successful or not.
    HardMinimum(i64),
    /// The user's minimum after a successful poll.
    Minimum(i64),
    /// The cache lifetime of the last successful response.
    Lifetime { stated: i64, counted: i64, age: i64 },
    /// A wait imposed by the feed's server.
    Wait { seconds: i64, header: WaitHeader },
    /// A wait that the server requested when another feed on the same host was polled.
    HostWait { seconds: i64, header: WaitHeader },
    /// Consecutive failures.
    BackOff { failures: u32, delay: i64, spread: i64, by: DelayBy },
    /// Only 404 responses for 30 days.
    Dead,
}

/// The rule that determines the length of a backoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) enum DelayBy {
    /// Doubling, starting at 15 minutes.
    Doubling,
    /// The recommended interval: an error must not cause more frequent polls than a success would.
    Recommendation,
    /// The minimum for the kind of failure.
    Failure,
}

/// Inputs from which the floors are computed.
#[derive(Debug, Clone, Copy)]
pub(in crate::schedule) struct FloorInputs<'a> {
    pub(in crate::schedule) facts: &'a Facts,
    pub(in crate::schedule) recommendation: &'a Recommendation,
    pub(in crate::schedule) bounds: Bounds,
    pub(in crate::schedule) now: DateTime<Utc>,
    /// Start of the last attempt, not after `now`.
    pub(in crate::schedule) last_try: Option<i64>,
    pub(in crate::schedule) u: f64,
}

/// A function that returns a floor, or `None` if its condition does not apply.
type FloorRule = fn(&FloorInputs<'_>) -> Option<Floor>;

/// All floors, in the order of SPEC B.4. The latest floor determines the time. If two floors are equal, the explanation names the
/// first one.
const FLOORS: [FloorRule; 7] =
    [hard_minimum, minimum, cache_lifetime, server_wait, host_wait, back_off, dead];

/// Returns the floors in force.
pub(in crate::schedule) fn floors<'a>(inputs: &'a FloorInputs<'a>) -> impl Iterator<Item = Floor> {
    FLOORS.iter().filter_map(move |floor| floor(inputs))
}

fn hard_minimum(inputs: &FloorInputs<'_>) -> Option<Floor> {
    if has_stated_wait(inputs.facts) {
        return None;
    }
    let minimum = inputs.bounds.hard_min;
    let at = inputs.last_try? + minimum;
    Some(Floor { at, settled_by: SettledBy::Minimum, cause: Cause::HardMinimum(minimum) })
}

fn minimum(inputs: &FloorInputs<'_>) -> Option<Floor> {
    let applies = inputs.facts.failures == 0 && !inputs.bounds.fixed;
    let minimum = inputs.bounds.min;
    let at = inputs.last_try.filter(|_| applies && inputs.facts.last_ok.is_some())? + minimum;
    Some(Floor { at, settled_by: SettledBy::Minimum, cause: Cause::Minimum(minimum) })
}

fn cache_lifetime(inputs: &FloorInputs<'_>) -> Option<Floor> {
    let cache = inputs.facts.cache.filter(|_| !inputs.facts.settings.ignore_cache_lifetime)?;
    let at = since(cache.received_at, inputs.now) + cache.floor_seconds()?;
    let stated = cache.stated_seconds()?;
    let age = i64::from(cache.age_seconds);
    let cause = Cause::Lifetime { stated, counted: counted(stated), age };
    Some(Floor { at, settled_by: SettledBy::CacheLifetime, cause })
}

fn server_wait(inputs: &FloorInputs<'_>) -> Option<Floor> {
    let wait = inputs.facts.retry_after?;
    let settled_by = match wait.stated_by {
        WaitHeader::RetryAfter
        | WaitHeader::XRateLimitReset
        | WaitHeader::RateLimitReset
        | WaitHeader::RateLimit => SettledBy::RetryAfter,
        WaitHeader::CacheControl => SettledBy::CacheLifetime,
        WaitHeader::Nothing => SettledBy::BackOff,
    };
    let ignored = inputs.facts.settings.ignore_cache_lifetime;
    if ignored && wait.stated_by == WaitHeader::CacheControl {
        return None;
    }
    let (at, seconds) = end_of(wait, inputs.now);
    Some(Floor { at, settled_by, cause: Cause::Wait { seconds, header: wait.stated_by } })
}

fn host_wait(inputs: &FloorInputs<'_>) -> Option<Floor> {
    let wait = inputs.facts.host_wait?;
    let (at, seconds) = end_of(wait, inputs.now);
    let cause = Cause::HostWait { seconds, header: wait.stated_by };
    Some(Floor { at, settled_by: SettledBy::RetryAfter, cause })
}

/// Checks whether the last attempt was refused with a 429 that states when to ask again, or because of a used-up rate limit. The
/// feed then takes its turn at that time, like the other feeds of its host: neither the minimum nor the backoff applies (SPEC
/// B.4.3).
fn has_stated_wait(facts: &Facts) -> bool {
    let is_429 = facts.failure == Some(PollFailure::Status(429));
    facts.failures > 0
        && facts.retry_after.is_some_and(|wait| {
            let is_limit = wait.stated_by.limit_name().is_some();
            let is_of_host = is_limit || is_429 && wait.stated_by.is_stated();
            is_of_host && Some(wait.received_at) >= facts.last_try
        })
}

/// Returns the end of a wait, in seconds since 1970, and the length of the wait, in seconds.
fn end_of(wait: Wait, now: DateTime<Utc>) -> (i64, i64) {
    let length = i64::from(wait.seconds);
    (since(wait.received_at, now) + length, length)
}

/// Returns the time from which a duration that a response states is counted: the time of receipt, or `now` if that time is in the
/// future because the clock was set back. One far ahead is unknown, and the duration counts as over (SPEC A.9).
fn since(received_at: DateTime<Utc>, now: DateTime<Utc>) -> i64 {
    not_later(Some(received_at), seconds_up(now)).map_or(0, |_| seconds_up(received_at.min(now)))
}

/// Computes the backoff while polls fail, counted from the last attempt (SPEC B.4.4).
///
/// 1. The delay doubles: 15 min, 30 min, 1 h ... up to 24 h.
/// 2. The next poll is no earlier than it would be after a success at the last attempt, and no earlier than one
///    recommended interval after that attempt.
/// 3. The delay is at least the minimum for the kind of failure.
/// 4. A random extra of up to a quarter of the delay keeps many installations from polling again at the same time.
fn back_off(inputs: &FloorInputs<'_>) -> Option<Floor> {
    let failures = inputs.facts.failures;
    let last_try = inputs.last_try.filter(|_| failures > 0 && !has_stated_wait(inputs.facts))?;
    let doubling = doubled(failures);
    let after_success = find_target(inputs.recommendation, inputs.bounds, last_try);
    let recommended = (after_success.at - last_try).max(after_success.binding);
    let demanded = inputs.facts.failure.map_or(0, minimum_after);
    let (delay, by) = [
        (doubling, DelayBy::Doubling),
        (recommended, DelayBy::Recommendation),
        (demanded, DelayBy::Failure),
    ]
    .into_iter()
    .reduce(|longest, next| if next.0 > longest.0 { next } else { longest })?;
    let spread = share(inputs.u.abs(), delay / 2);
    let cause = Cause::BackOff { failures, delay, spread, by };
    Some(Floor { at: last_try + delay + spread, settled_by: SettledBy::BackOff, cause })
}

fn doubled(failures: u32) -> i64 {
    let doublings = failures.saturating_sub(1).min(16);
    (BACK_OFF_BASE_SECONDS << doublings).min(BACK_OFF_CAP_SECONDS)
}

/// Returns the minimum wait after a kind of failure, in seconds (SPEC B.4.4, D.2).
const fn minimum_after(failure: PollFailure) -> i64 {
    match failure {
        PollFailure::Status(429) => HOUR,
        PollFailure::Status(402 | 403 | 451) => 4 * HOUR,
        PollFailure::Status(401 | 407) | PollFailure::TooLarge => DAY,
        PollFailure::Status(_) | PollFailure::Unanswered | PollFailure::Unreadable => 0,
    }
}

fn dead(inputs: &FloorInputs<'_>) -> Option<Floor> {
    let is_dead = inputs.facts.standing == FeedStatus::Dead;
    let at = inputs.last_try.filter(|_| is_dead)? + DEAD_SECONDS;
    Some(Floor { at, settled_by: SettledBy::Dead, cause: Cause::Dead })
}

/// Whether a manual poll is allowed. A manual poll ignores the recommendation, cache lifetime, backoff and skip windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByHand {
    /// The poll can start at once.
    Allowed,
    /// The feed was polled less than a minute ago; the poll can start at this time.
    CoolDown(DateTime<Utc>),
    /// The server requested no polls before this time; the user has to confirm.
    Confirm(DateTime<Utc>),
    /// The publisher ended the feed, or it redirects to an empty address; the user has to resume it first.
    AtRest,
}

/// Checks whether a manual poll is allowed. `cool_down` is false only for hosts to which requests need no pauses (UX 4,
/// `space_loopback = false`).
pub fn classify_manual_poll(facts: &Facts, now: DateTime<Utc>, cool_down: bool) -> ByHand {
    if matches!(facts.standing, FeedStatus::Gone | FeedStatus::Stopped) {
        return ByHand::AtRest;
    }
    let clock = seconds(now);
    let last_try = not_later(facts.last_try, clock).max(not_later(facts.last_ok, clock));
    let cool = last_try.filter(|_| cool_down).map(|at| at + COOL_DOWN_SECONDS);
    if let Some(until) = cool.filter(|&until| until > clock) {
        return ByHand::CoolDown(instant(until));
    }
    let stated = |wait: &Wait| wait.stated_by.is_stated();
    let waits = [facts.retry_after, facts.host_wait].into_iter().flatten().filter(stated);
    let waits = waits.map(|wait| end_of(wait, now).0);
    match waits.max().filter(|&until| until > clock) {
        Some(until) => ByHand::Confirm(instant(until)),
        None => ByHand::Allowed,
    }
}

/// Returns how long a due feed has waited, in thousandths of its interval. Feeds with larger values are polled first. A feed
/// without an interval was never polled and has the largest value. The value is negative for a feed that is not yet due, and the
/// smallest value is returned for a feed that is never polled.
pub fn urgency(decision: &Decision, now: DateTime<Utc>) -> i64 {
    let Some(due) = decision.due else { return i64::MIN };
    let Some(interval) = decision.binding_seconds else { return i64::MAX };
    (seconds(now) - seconds(due)) * 1000 / i64::from(interval.max(1))
}

/// Reason why a feed is not polled automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) enum Rest {
    ByServer,
    Paused,
    Gone,
    Stopped,
    Expired,
}

/// Returns why a feed is not polled automatically; `None` if it is polled (SPEC B.1 step 0).
pub(in crate::schedule) fn at_rest(facts: &Facts) -> Option<Rest> {
    if facts.settings.by_server {
        return Some(Rest::ByServer);
    }
    match facts.standing {
        FeedStatus::Paused => return Some(Rest::Paused),
        FeedStatus::Gone => return Some(Rest::Gone),
        FeedStatus::Stopped => return Some(Rest::Stopped),
        FeedStatus::Active | FeedStatus::Dead | FeedStatus::Archive => {}
    }
    let ended = facts.hints.expired && !facts.settings.ignore_expired;
    ended.then_some(Rest::Expired)
}

/// Returns the decision for a feed that is not polled automatically for this reason.
pub(in crate::schedule) fn never(rest: Rest) -> Decision {
    let settled_by = match rest {
        Rest::ByServer => SettledBy::ByServer,
        Rest::Paused => SettledBy::Paused,
        Rest::Gone => SettledBy::Gone,
        Rest::Stopped => SettledBy::Stopped,
        Rest::Expired => SettledBy::Expired,
    };
    let kind = PlanKind::Never;
    Decision { next_poll: None, due: None, kind, binding_seconds: None, settled_by }
}

#[cfg(test)]
mod tests {
    use crate::schedule::holds::floors::*;

    #[test]
    fn the_doubling_ends_at_a_day() {
        let minutes = |failures| doubled(failures) / 60;
        assert_eq!([1, 2, 3, 4, 7].map(minutes), [15, 30, 60, 120, 960]);
        assert_eq!([8, 9, 1000, u32::MAX].map(minutes), [1440; 4]);
    }
}

#[cfg(test)]
mod manual_poll_tests {
    use crate::schedule::holds::floors::*;
    use crate::schedule::holds::retry_after::WaitHeader;
    use crate::schedule::plan::{PlanKind, SettledBy};

    fn at(seconds: i64) -> DateTime<Utc> {
        instant(1_772_445_600 + seconds)
    }

    #[test]
    fn manual_poll_waits_a_minute_and_respects_retry_after() {
        let wait =
            |stated_by| Some(Wait { received_at: at(0), seconds: 3600, stated_by, refusals: 0 });
        let mut facts = Facts { last_try: Some(at(0)), failures: 9, ..Facts::default() };
        assert_eq!(classify_manual_poll(&facts, at(59), true), ByHand::CoolDown(at(60)));
        assert_eq!(classify_manual_poll(&facts, at(59), false), ByHand::Allowed);
        assert_eq!(classify_manual_poll(&facts, at(60), true), ByHand::Allowed);
        facts.retry_after = wait(WaitHeader::CacheControl);
        assert_eq!(classify_manual_poll(&facts, at(60), true), ByHand::Allowed);
        facts.host_wait = wait(WaitHeader::RetryAfter);
        assert_eq!(classify_manual_poll(&facts, at(60), true), ByHand::Confirm(at(3600)));
        assert_eq!(classify_manual_poll(&facts, at(3600), true), ByHand::Allowed);
        facts.last_try = Some(at(30 * 86_400));
        assert_eq!(classify_manual_poll(&facts, at(3600), true), ByHand::Allowed, "a wrong clock");
        facts.standing = FeedStatus::Gone;
        assert_eq!(classify_manual_poll(&facts, at(3600), true), ByHand::AtRest);
    }

    #[test]
    fn longest_waiting_feed_is_polled_first() {
        let decision = |due, binding_seconds| Decision {
            next_poll: Some(at(0)),
            due: Some(at(due)),
            kind: PlanKind::Now,
            binding_seconds,
            settled_by: SettledBy::Ttl,
        };
        let waited = |due, binding| urgency(&decision(due, binding), at(0));
        assert_eq!(waited(-1800, Some(3600)), 500);
        assert!(waited(-1800, Some(900)) > waited(-3600, Some(3600)));
        assert!(waited(60, Some(900)) < 0);
        assert_eq!(waited(0, None), i64::MAX);
    }
}
