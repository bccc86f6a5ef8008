//! Feeds that are never polled automatically (SPEC B.1 step 0).

use crate::schedule::facts::{Facts, FeedStatus};
use crate::schedule::plan::{Decision, PlanKind, SettledBy};

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
