//! Manual polls, and the order of polls when many feeds are due (SPEC A.9, B.8).

use chrono::{DateTime, Utc};

use super::floors::end_of;
use super::retry_after::Wait;
use crate::schedule::facts::{Facts, FeedStatus};
use crate::schedule::instant::{instant, not_later, seconds};
use crate::schedule::limits::COOL_DOWN_SECONDS;
use crate::schedule::plan::Decision;

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

#[cfg(test)]
mod tests {
    use crate::schedule::holds::manual_poll::*;
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
