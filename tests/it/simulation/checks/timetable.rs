//! No feed is forgotten: each active feed has a next poll time within its bounds, and is polled when that time comes.

use backissue::engine::feeds::subscription::Subscription;
use backissue_core::history::FeedKey;
use backissue_core::schedule::FeedStatus;
use chrono::{DateTime, TimeDelta, Utc};

use crate::simulation::machine::Machine;

/// Maximum delay of a due poll that other requests to its site, slow answers and network probes may cause.
const PATIENCE: TimeDelta = TimeDelta::minutes(45);
/// No next poll may be further away: the longest requested wait (a week), the longest interval (a day), skipped days and random
/// delay together.
const LATEST: TimeDelta = TimeDelta::days(17);
/// True time between two runs of this check.
const EVERY: TimeDelta = TimeDelta::minutes(15);

/// `since`: the time from which the program has been running with a network and without sleep.
pub struct Attendance {
    since: DateTime<Utc>,
    checked: DateTime<Utc>,
}

impl Attendance {
    pub const fn since(real: DateTime<Utc>) -> Self {
        Self { since: real, checked: real }
    }
}

/// Checks the next poll time of every feed, if enough time has passed since the last check.
pub fn check(machine: &mut Machine) {
    let real = machine.real;
    let attendance = &mut machine.checks.attendance;
    if real - attendance.checked < EVERY {
        return;
    }
    attendance.checked = real;
    if !machine.is_online() || machine.disk_full || machine.engine().room_awaited.is_some() {
        machine.checks.attendance.since = real;
        return;
    }
    let attended = real - machine.checks.attendance.since;
    let now = machine.now();
    let feeds = &machine.engine().feeds;
    let wrong = feeds.values().find_map(|feed| judge(machine, feed, now, attended));
    if let Some(why) = wrong {
        machine.fail(why);
    }
}

fn judge(
    machine: &Machine,
    feed: &Subscription,
    now: DateTime<Utc>,
    attended: TimeDelta,
) -> Option<String> {
    let engine = machine.engine();
    let key: FeedKey = feed.key;
    if engine.polls.contains_key(&key) {
        let stuck = attended > PATIENCE
            && feed.plan.next_poll.is_some_and(|at| now - at > PATIENCE)
            && machine.fetches_under_way() == 0
            && machine.keeper.is_idle()
            && engine.reachability.offline_since.is_none();
        return stuck.then(|| format!("the poll of feed {key} never ends"));
    }
    let Some(next) = feed.plan.next_poll else {
        let ended = feed.is_gone()
            || feed.state.facts.hints.expired
            || feed.state.facts.standing != FeedStatus::Active;
        return (!ended).then(|| format!("feed {key} has no time although it lives"));
    };
    let due = feed.plan.due.unwrap_or(next);
    if engine.timetable.deadline(&key) != Some(due) {
        return Some(format!(
            "feed {key} is planned for {due} but the timetable has {:?}",
            engine.timetable.deadline(&key)
        ));
    }
    if next - now > LATEST {
        return Some(format!("feed {key} is planned for {next}: that is never"));
    }
    let late = attended > PATIENCE && now - next > PATIENCE;
    late.then(|| format!("feed {key} was due at {next} and is forgotten"))
}
