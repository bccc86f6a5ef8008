//! Advice about the polling plan of a feed, and reasons that delay the polls of the feed.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::engine::entries::ahead;
use crate::engine::entries::ahead_work::{Ahead, AheadPart};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::politeness::host_queue::is_loopback;
use crate::engine::poll::poll_stage::PollStage;
use crate::engine::settings::ONLY_BY_HAND;
use crate::ui::app::App;
use crate::ui::state::plan_pane::Advice;
use backissue_core::history::FeedKey;
use backissue_core::schedule::{self, ByHand, Decision, FeedStatus, SettledBy};

/// Explains why polls of a feed are delayed regardless of its plan, or that a poll is already running. Returns `None` if neither is
/// the case.
pub fn why_held_up(app: &App, feed: FeedKey) -> Option<String> {
    let stage = app.engine.polls.get(&feed).map(|poll| poll.stage);
    let text = match stage {
        Some(PollStage::Waiting) => "waiting for its turn: each site gets one request at a time",
        Some(PollStage::Asking) => "it is being polled now",
        Some(PollStage::Writing) => "it was just polled; the result is being saved",
        None if app.engine.offline => "backissue was started with --offline: nothing is polled",
        None if !app.engine.polls_by_itself => "feeds are polled only when you request it here",
        None if !app.engine.settings.poll.automatic => ONLY_BY_HAND,
        None => return None,
    };
    Some(text.to_owned())
}

/// Describes the next poll of a feed and its reason in one sentence. If polling now is allowed and useful, also names the key that
/// polls now.
pub fn page_sentence(
    app: &App,
    subscription: &Subscription,
    plan: &Decision,
    (now, zone): (DateTime<Utc>, Tz),
) -> String {
    let told = schedule::plan_sentence(&subscription.state.facts, plan, now, zone);
    let due = plan.next_poll.is_some_and(|at| at <= now);
    let idle = !due && why_held_up(app, subscription.key).is_none();
    let now = match classify_by_hand(app, subscription, now) {
        ByHand::Allowed if !idle => String::new(),
        ByHand::Allowed if subscription.is_failing() => app.ui.words("; {poll} tries again now"),
        ByHand::Allowed => app.ui.words("; {poll} polls now"),
        ByHand::CoolDown(_) | ByHand::Confirm(_) | ByHand::AtRest => String::new(),
    };
    format!("{told}{now}.")
}

/// Lists what the user can do to change the polling plan of a feed.
pub fn list_advice(app: &App, subscription: &Subscription, now: DateTime<Utc>) -> Vec<Advice> {
    let mut advice: Vec<Advice> = by_hand(app, subscription, now).into_iter().collect();
    let facts = &subscription.state.facts;
    if matches!(facts.standing, FeedStatus::Gone | FeedStatus::Stopped) {
        advice.push(Advice::now(
            "unsubscribe",
            "unsubscribes (in the feed list); its entries stay until then",
        ));
        return advice;
    }
    advice.extend(ahead_advice(app, subscription, now));
    advice.extend(find_remedy(subscription.plan.settled_by).map(|text| Advice::now("edit", text)));
    if facts.settings.fixed_seconds.is_some() && subscription.plan.settled_by != SettledBy::Fixed {
        advice.extend(find_remedy(SettledBy::Fixed).map(|text| Advice::now("edit", text)));
    }
    advice
}

/// Lists what the user can do to stop fetching ahead, with what was fetched today.
fn ahead_advice(app: &App, subscription: &Subscription, now: DateTime<Utc>) -> Vec<Advice> {
    let settings = &subscription.record.feed_settings;
    let used = ahead::used_words(&app.engine, subscription.key, now);
    let is_by_key =
        |(part, _): &(_, _)| *part == AheadPart::Texts && settings.ahead != Some(Ahead::All);
    let (by_key, edited): (Vec<_>, Vec<_>) = used.into_iter().partition(is_by_key);
    let stops = |(_, used)| {
        Advice::now("full-text-always", format!("stops fetching full texts ahead ({used})"))
    };
    let mut advice: Vec<Advice> = by_key.into_iter().map(stops).collect();
    let edited: Vec<String> = edited.into_iter().map(|(_, used)| used).collect();
    if !edited.is_empty() {
        let used = edited.join("; ");
        advice.push(Advice::now("edit", format!("edits what is fetched ahead ({used})")));
    }
    advice
}

fn classify_by_hand(app: &App, subscription: &Subscription, now: DateTime<Utc>) -> ByHand {
    let spared =
        app.engine.settings.network.space_loopback || !is_loopback(&subscription.record.url);
    schedule::classify_manual_poll(&subscription.state.facts, now, spared)
}

/// Returns advice about polling now with a key, unless [`page_sentence`] already contains this advice.
fn by_hand(app: &App, subscription: &Subscription, now: DateTime<Utc>) -> Option<Advice> {
    match classify_by_hand(app, subscription, now) {
        ByHand::Allowed => None,
        ByHand::CoolDown(until) => {
            let text = "can poll again";
            Some(Advice { command: "poll", text: text.into(), from: Some(until) })
        }
        ByHand::Confirm(until) => {
            let text = "must be pressed twice to poll now, because the server asks to wait; once is enough";
            Some(Advice { command: "poll", text: text.into(), from: Some(until) })
        }
        ByHand::AtRest if subscription.state.noted.is_none() => Some(Advice::now(
            "",
            app.ui.words(
                "{poll} does nothing now; you can resume the feed in Attention ({attention}).",
            ),
        )),
        ByHand::AtRest => Some(Advice::now("", app.ui.words("{poll} does nothing now."))),
    }
}

/// Returns the setting that changes the deciding factor of a plan. Returns `None` if the user cannot change this factor.
const fn find_remedy(settled: SettledBy) -> Option<&'static str> {
    match settled {
        SettledBy::Fixed => Some("edits: clear 'fixed interval' to follow the publisher again"),
        SettledBy::Minimum => Some("edits: lower 'shortest interval' to poll sooner"),
        SettledBy::Maximum => Some("edits: raise 'longest interval' to poll later"),
        SettledBy::CacheLifetime => {
            Some("edits: set 'ignore cache lifetime' if the server's is wrong")
        }
        SettledBy::SkipHours | SettledBy::SkipDays => {
            Some("edits: set 'ignore skip hours and days' if they are out of date")
        }
        SettledBy::OwnRules
        | SettledBy::Rules
        | SettledBy::Sy
        | SettledBy::Ttl
        | SettledBy::RefreshRate
        | SettledBy::BoilerplateSy
        | SettledBy::Learned
        | SettledBy::Default => Some("edits: set 'fixed interval' to choose your own"),
        SettledBy::RetryAfter
        | SettledBy::BackOff
        | SettledBy::Dead
        | SettledBy::Overdue
        | SettledBy::FirstPoll
        | SettledBy::Gone
        | SettledBy::Stopped
        | SettledBy::ByServer
        | SettledBy::Paused
        | SettledBy::Expired => None,
    }
}

/// Formats sorted numbers and joins consecutive ones: `0 to 6, 12, 22 to 23`.
pub fn join_runs(numbers: &[u8]) -> String {
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            Some(_) | None => runs.push((number, number)),
        }
    }
    let words = runs.into_iter().map(|(first, last)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use crate::ui::overlays::plan_advice::*;

    #[test]
    fn consecutive_hours_are_joined_into_ranges() {
        assert_eq!(join_runs(&[]), "");
        assert_eq!(join_runs(&[3]), "3");
        assert_eq!(join_runs(&[0, 1, 2, 6, 22, 23]), "0 to 2, 6, 22 to 23");
    }
}
