//! The plan pane: when a feed is polled next, why, and what the user can do about it (UX 2).
//!
//! The page of the pane is a value that is rebuilt when its inputs change. The view only draws this value and computes nothing.

use std::sync::Arc;

use backissue_core::feed::{IntervalRule, Zone};
use backissue_core::history::FeedKey;
use backissue_core::schedule::learning::{HeatMap, LearnedPlan, Publications};
use backissue_core::schedule::{self, ByHand, Decision, Facts, FeedStatus, Pace, SettledBy};
use backissue_core::words;
use chrono::{DateTime, Datelike, Days, NaiveTime, TimeDelta, TimeZone, Timelike, Utc};
use chrono_tz::Tz;

use crate::engine::entries::ahead_work::{Ahead, AheadPart};
use crate::engine::entries::page_fetches;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::politeness::host_queue::is_loopback;
use crate::engine::poll::learn;
use crate::engine::poll::poll_log::PollLogEntry;
use crate::engine::poll::poll_stage::PollStage;
use crate::engine::request::Request;
use crate::engine::settings::ONLY_BY_HAND;
use crate::engine::store_work::Job;
use crate::ui::app::{App, Cx};
use crate::ui::effect::ask_store;
use crate::ui::keys::command_table::Command;
use crate::ui::panes::attention;
use crate::ui::scroll_list::{Distance, moved};
use crate::ui::state::overlay::{
    Advice, KnownPublications, MadeFrom, Overlay, PaceEffect, PlanPage, PlanPane, RhythmHour,
    RhythmPicture, RuleRow, SHADES, WeekHour, WeekPicture,
};

/// Hours in a week.
const WEEK_HOURS: i64 = 168;

/// Opens or closes the plan pane for the selected feed.
pub fn toggle_plan(cx: &mut Cx<'_>) {
    if matches!(cx.app.ui.overlay, Some(Overlay::Plan(_))) {
        cx.app.ui.uncover();
        return;
    }
    let Some(feed) = attention::selected_feed(cx.app, cx.now) else {
        return cx.say("select a feed first: {plan} shows the plan of one feed");
    };
    open_plan(cx, feed);
}

/// Opens the plan pane for a feed and requests the feed's last polls and publications from the store.
pub fn open_plan(cx: &mut Cx<'_>, feed: FeedKey) {
    let zone = cx.app.engine.zone;
    let Some(page) = build_page(cx.app, feed, cx.now, zone, &KnownPublications::default()) else {
        return;
    };
    let ranked = cx.app.engine.feeds.get(&feed).map(|feed| feed.frequency().reason());
    let ranked = ranked.map(|reason| format!("in lists as {reason}"));
    let (outline, publications, learned) = (None, None, None);
    let opened = PlanPane {
        feed,
        top: 0,
        utc: false,
        unfolded: false,
        outline,
        page,
        publications,
        learned,
        ranked,
        polls: None,
    };
    cx.app.ui.lay_over(Overlay::Plan(Box::new(opened)));
    cx.out.push(ask_store(Job::ReadPolls(feed)));
    cx.ask(Request::Learn(feed));
}

/// Switches the times in the plan pane between UTC and the user's time zone.
pub fn switch_zone(cx: &mut Cx<'_>) {
    let Some(Overlay::Plan(pane)) = &mut cx.app.ui.overlay else {
        cx.say("{time-zone} works in a feed's plan: {plan} opens it");
        return;
    };
    pane.utc = !pane.utc;
}

/// Shows or hides the steps that led to the plan.
pub fn fold_steps(cx: &mut Cx<'_>) {
    if let Some(Overlay::Plan(pane)) = &mut cx.app.ui.overlay {
        (pane.unfolded, pane.top) = (!pane.unfolded, 0);
    } else {
        cx.say("{steps} works in a feed's plan: {plan} opens it");
    }
}

/// Shows the last polls of a feed that were read from the store, if its plan is open.
pub fn show_polls(app: &mut App, feed: FeedKey, polls: Vec<PollLogEntry>) {
    if let Some(pane) = app.ui.plan_pane_mut().filter(|pane| pane.feed == feed) {
        pane.polls = Some(polls);
    }
}

/// Shows the publication times of a feed that were read from the store, if its plan is open.
pub fn show_publications(app: &mut App, feed: FeedKey, publications: &Arc<Publications>) {
    let state = app.engine.feeds.get(&feed).map(|feed| &feed.state);
    let learned = state.and_then(|state| state.facts.learned.as_ref()?.plan.clone());
    if let Some(pane) = app.ui.plan_pane_mut().filter(|pane| pane.feed == feed) {
        (pane.publications, pane.learned) = (Some(Arc::clone(publications)), learned);
    }
}

/// Shows a newly learned plan of a feed, if its plan is open.
pub fn show_learned(app: &mut App, feed: FeedKey, plan: Option<&Arc<LearnedPlan>>) {
    if let Some(pane) = app.ui.plan_pane_mut().filter(|pane| pane.feed == feed) {
        pane.learned = plan.cloned();
    }
}

/// Rebuilds the page of the open plan pane if the inputs of the page have changed.
pub fn refresh_page(cx: &mut Cx<'_>) {
    let Some(pane) = cx.app.ui.plan_pane_mut() else { return };
    let (feed, utc) = (pane.feed, pane.utc);
    let known = KnownPublications {
        publications: pane.publications.clone(),
        learned: pane.learned.clone(),
    };
    let zone = if utc { Tz::UTC } else { cx.app.engine.zone };
    let Some(subscription) = cx.app.engine.feeds.get(&feed) else {
        // The feed is no longer subscribed.
        cx.app.ui.close_plan();
        return;
    };
    let wanted = made_from(cx.app, subscription, cx.now, zone, &known);
    let current = cx.app.ui.plan_pane_mut().is_some_and(|pane| pane.page.made_from == wanted);
    if !current
        && let Some(page) = build_page(cx.app, feed, cx.now, zone, &known)
        && let Some(pane) = cx.app.ui.plan_pane_mut()
    {
        pane.page = page;
    }
}

/// Scrolls the plan pane.
pub fn scroll_plan(app: &mut App, down: bool, distance: Distance) -> bool {
    let viewport = app.ui.viewport;
    let lines = usize::from(viewport.plan_lines.saturating_sub(viewport.overlay_rows));
    if let Some(Overlay::Plan(pane)) = &mut app.ui.overlay {
        let steps = distance.steps(viewport.overlay_rows);
        pane.top = moved(pane.top, lines.saturating_add(1), down, steps);
    }
    true
}

/// Does not run a command that only works in the panes, and explains this in the status line.
pub fn refuse_command(cx: &mut Cx<'_>, command: Command) -> Option<()> {
    if command.works_over_panes() {
        return None;
    }
    cx.say("that does not work here: {back} returns to the panes");
    Some(())
}

fn made_from(
    app: &App,
    subscription: &Subscription,
    now: DateTime<Utc>,
    zone: Tz,
    known: &KnownPublications,
) -> MadeFrom {
    MadeFrom {
        facts: subscription.state.facts.clone(),
        minute: now.timestamp().div_euclid(60),
        zone,
        held_up: why_held_up(app, subscription.key),
        known: known.clone(),
    }
}

/// Builds the page of the plan pane for a feed.
fn build_page(
    app: &App,
    feed: FeedKey,
    now: DateTime<Utc>,
    zone: Tz,
    known: &KnownPublications,
) -> Option<PlanPage> {
    let subscription = app.engine.feeds.get(&feed)?;
    let plan = learn::explained(&app.engine, feed, now)?;
    let facts = &subscription.state.facts;
    let made_from = made_from(app, subscription, now, zone, known);
    let sentence = page_sentence(app, subscription, &plan.decision(), (now, zone));
    Some(PlanPage {
        held_up: made_from.held_up.clone(),
        paces: list_paces(app, subscription, &sentence, (now, zone)),
        sentence,
        advice: list_advice(app, subscription, now),
        floors: learn::restrictions(subscription, app.engine.salt, now),
        skips: describe_skips(facts),
        rules: list_rules(facts, now),
        rhythm: build_picture(app, subscription, known, (now, zone)),
        week: build_week(facts, now, zone),
        plan,
        made_from,
    })
}

fn list_paces(
    app: &App,
    subscription: &Subscription,
    sentence: &str,
    (now, zone): (DateTime<Utc>, Tz),
) -> Vec<PaceEffect> {
    let facts = &subscription.state.facts;
    let current = learn::at_pace(subscription, app.engine.salt, facts.settings.pace, now);
    let current = current.decision();
    let interval = current.binding_seconds.filter(|_| !schedule::places_polls(facts));
    let interval = interval.map(|seconds| words::about_interval_words(i64::from(seconds)));
    let effect = |pace| {
        let in_force = pace == facts.settings.pace;
        let words = if in_force {
            interval.clone().filter(|words| !sentence.contains(words)).unwrap_or_default()
        } else {
            let other = learn::at_pace(subscription, app.engine.salt, pace, now).decision();
            schedule::pace_sentence(facts, &current, &other, now, zone)
        };
        PaceEffect { pace, in_force, words }
    };
    Pace::ALL.map(effect).into()
}

fn list_rules(facts: &Facts, now: DateTime<Utc>) -> Vec<RuleRow> {
    let own = &facts.settings.own_rules;
    let rules: &[IntervalRule] = if own.is_empty() { &facts.hints.intervals } else { own };
    let in_force = schedule::rule_in_force(facts, now);
    let row = |(place, rule): (usize, &IntervalRule)| RuleRow {
        interval_seconds: i64::from(rule.minutes).saturating_mul(60),
        when: when_words(rule),
        in_force: in_force == Some(place),
    };
    (0_usize..).zip(rules).map(row).collect()
}

/// Describes when an interval rule applies, with `(UTC)` if its hours or days are in UTC.
fn when_words(rule: &IntervalRule) -> String {
    let words = schedule::rule_words(rule);
    let stated = [rule.start_hour, rule.end_hour, rule.start_day, rule.end_day];
    let in_utc = rule.zone == Zone::Utc && stated.iter().any(Option::is_some);
    if in_utc { format!("{words} (UTC)") } else { words }
}

/// Describes the hours and days in which the publisher requests no polls, such as `hours 6 to 11 and Sunday (UTC)`, and whether the
/// plan respects this request.
fn describe_skips(facts: &Facts) -> Option<String> {
    let hints = &facts.hints;
    let hours =
        (!hints.skip_hours.is_empty()).then(|| format!("hours {}", join_runs(&hints.skip_hours)));
    let days = (!hints.skip_days.is_empty())
        .then(|| hints.skip_days.iter().map(|day| day.name()).collect::<Vec<_>>().join(", "));
    let stated = [hours, days].into_iter().flatten().collect::<Vec<_>>().join(" and ");
    if stated.is_empty() {
        return None;
    }
    let kept = schedule::skips_in_words(facts);
    Some(format!("the publisher asks to skip {stated} (UTC): {kept}"))
}

/// Builds the chart of the current week. Returns `None` if all hours have the same interval and the publisher excludes no hour from
/// polling.
fn build_week(facts: &Facts, now: DateTime<Utc>, zone: Tz) -> Option<WeekPicture> {
    let skipped = schedule::skipped_hours(facts);
    let intervals_of = schedule::week_of_intervals(facts, now);
    let flat = intervals_of.iter().all(|seconds| Some(seconds) == intervals_of.first());
    if flat && skipped.is_none() {
        return None;
    }
    let hour_at = |at: DateTime<Utc>| {
        let place = hour_of_week(at, Tz::UTC);
        WeekHour {
            interval_seconds: schedule::interval_in_force(facts, at).0,
            skipped: skipped.is_some_and(|week| week.get(place).copied().unwrap_or(false)),
        }
    };
    let hours: Vec<WeekHour> = week_hours(now, zone)?.into_iter().map(hour_at).collect();
    let mut intervals: Vec<u32> = hours.iter().map(|hour| hour.interval_seconds).collect();
    intervals.sort_unstable();
    intervals.dedup();
    Some(WeekPicture { hours, now: Some(hour_of_week(now, zone)), intervals })
}

/// Returns the start of each of the 168 hours of the current week. Hour 0 is Monday 00:00 in the zone.
pub(crate) fn week_hours(now: DateTime<Utc>, zone: Tz) -> Option<Vec<DateTime<Utc>>> {
    let today = now.with_timezone(&zone).date_naive();
    let monday = today
        .checked_sub_days(Days::new(u64::from(today.weekday().num_days_from_monday())))?
        .and_time(NaiveTime::MIN);
    let hour_at = |hour: i64| {
        let local = monday.checked_add_signed(TimeDelta::hours(hour))?;
        let at = zone.from_local_datetime(&local).earliest();
        // An hour that does not exist because of a clock change is drawn like the hour before it.
        Some(at.map_or_else(|| local.and_utc(), |at| at.with_timezone(&Utc)))
    };
    (0..WEEK_HOURS).map(hour_at).collect()
}

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
    let used = page_fetches::used_words(&app.engine, subscription.key, now);
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

/// Hours in a week.
const HOURS: usize = 168;
/// An hour has no shade if it has fewer expected publications than this fraction of the number in the busiest hour.
const FAINT: f64 = 0.02;
/// Maximum number of coming polls that the plan pane lists.
const POLLS_NAMED: usize = 5;

/// Builds the chart of a feed's publication rhythm in a time zone. Returns `None` while the publication times have not been read
/// from the store.
fn build_picture(
    app: &App,
    subscription: &Subscription,
    known: &KnownPublications,
    (now, zone): (DateTime<Utc>, Tz),
) -> Option<RhythmPicture> {
    let publications = known.publications.as_deref()?;
    let plan = known.learned.as_deref();
    // A learned plan only has reliable expectations for each hour if it places polls at specific times. Without such a plan, the
    // chart shows the observed publications, because a few publications say nothing about the other hours.
    let placed = plan.filter(|plan| plan.is_placed());
    let map = HeatMap::new(publications, placed, &learn::zone_of(zone), now);
    let observed = || map.published.iter().map(|&count| f64::from(count)).collect();
    let expected: Vec<f64> =
        if map.expected.is_empty() { observed() } else { map.expected.clone() };
    let busiest = expected.iter().copied().fold(0.0, f64::max);
    let mut hours: Vec<RhythmHour> = map
        .published
        .iter()
        .zip(&expected)
        .map(|(&published, &expected)| RhythmHour {
            published,
            expected,
            shade: choose_shade(expected, busiest),
            polled: false,
        })
        .collect();
    let week = now.checked_add_signed(TimeDelta::weeks(1)).unwrap_or(now);
    let polls = learn::polls_until(subscription, app.engine.salt, now, week);
    for poll in &polls {
        if let Some(hour) = hours.get_mut(hour_of_week(*poll, zone)) {
            hour.polled = true;
        }
    }
    Some(RhythmPicture {
        publications: publications.len(),
        unknown: if subscription.record.feed_settings.is_polled_by_server() {
            "unknown: the server of its account polls it, and says only when entries are dated"
        } else if publications.has_dates() {
            "unknown: it has no entries from the last twelve weeks"
        } else {
            "unknown so far: no entry had a usable date"
        },
        sentence: plan.filter(|_| !publications.is_empty()).map(|plan| plan.rhythm.sentence()),
        not_followed: plan
            .and_then(|plan| learn::why_not_followed(&app.engine, subscription.key, plan)),
        coming: polls.into_iter().take(POLLS_NAMED).collect(),
        hours,
        foretold: placed.is_some(),
        busiest,
        now: hour_of_week(now, zone),
    })
}

/// Returns the shade for the expected number of publications in an hour. Shades depend on the square root of this number, so that
/// quiet hours also have different shades.
fn choose_shade(expected: f64, busiest: f64) -> u8 {
    if busiest <= 0.0 || expected < busiest * FAINT {
        return 0;
    }
    let part = (expected / busiest).clamp(0.0, 1.0).sqrt();
    let over = (1..SHADES).filter(|step| part > f64::from(*step) / f64::from(SHADES));
    u8::try_from(over.count()).unwrap_or(0).saturating_add(1)
}

/// Returns the hour of the week in a time zone. Hour 0 is Monday 00:00.
pub fn hour_of_week(at: DateTime<Utc>, zone: Tz) -> usize {
    let local = at.with_timezone(&zone);
    let day = local.weekday().num_days_from_monday().saturating_mul(24);
    usize::try_from(day.saturating_add(local.hour())).unwrap_or(0) % HOURS
}

#[cfg(test)]
mod tests {
    use crate::ui::overlays::plan_pane::*;

    #[test]
    fn consecutive_hours_are_joined_into_ranges() {
        assert_eq!(join_runs(&[]), "");
        assert_eq!(join_runs(&[3]), "3");
        assert_eq!(join_runs(&[0, 1, 2, 6, 22, 23]), "0 to 2, 6, 22 to 23");
    }
}

#[cfg(test)]
mod heat_map_tests {
    use crate::ui::overlays::plan_pane::*;

    #[test]
    fn shades_rise_with_the_expected_count() {
        let shades =
            [0.0, 0.1, 0.3, 1.0, 2.0, 4.0, 5.0].map(|expected| choose_shade(expected, 5.0));
        assert_eq!(shades, [0, 1, 1, 2, 3, 4, 4]);
        assert_eq!(choose_shade(0.0, 0.0), 0);
        assert_eq!(choose_shade(f64::NAN, 1.0), 1, "drawn, and no panic");
    }

    #[test]
    fn hours_are_counted_in_the_zone_shown() {
        let monday = DateTime::from_timestamp(1_772_445_600, 0).unwrap();
        assert_eq!(hour_of_week(monday, Tz::UTC), 10);
        assert_eq!(hour_of_week(monday, Tz::America__New_York), 5);
        assert_eq!(hour_of_week(monday, Tz::Pacific__Auckland), 23);
    }
}
