//! The plan pane: when a feed is polled next, why, and what the user can do about it (UX 2).
//!
//! The page of the pane is a value that is rebuilt when its inputs change. The view only draws this value and computes nothing.

use std::sync::Arc;

use chrono::{DateTime, Datelike, Days, NaiveTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

use super::{heat_map, plan_advice};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::poll::plans;
use crate::engine::poll::poll_log::PollLogEntry;
use crate::engine::request::{Request, ScreenRequest};
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::keys::commands::Command;
use crate::ui::panes::selected_feed;
use crate::ui::scroll_list::{Distance, moved};
use crate::ui::state::overlay::Overlay;
use crate::ui::state::plan_pane::{
    KnownPublications, MadeFrom, PaceEffect, PlanPage, PlanPane, RuleRow, WeekHour, WeekPicture,
};
use backissue_core::feed::{IntervalRule, Zone};
use backissue_core::history::FeedKey;
use backissue_core::schedule::learning::{LearnedPlan, Publications};
use backissue_core::schedule::{self, Facts, Pace};
use backissue_core::words;

/// Hours in a week.
const WEEK_HOURS: i64 = 168;

/// Opens or closes the plan pane for the selected feed.
pub fn toggle_plan(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if matches!(app.ui.overlay, Some(Overlay::Plan(_))) {
        app.ui.uncover();
        return Vec::new();
    }
    let Some(feed) = selected_feed::selected_feed(app, now) else {
        return app.ui.say_only(now, "select a feed first: {plan} shows the plan of one feed");
    };
    open_plan(app, now, feed)
}

/// Opens the plan pane for a feed and requests the feed's last polls and publications from the store.
pub fn open_plan(app: &mut App, now: DateTime<Utc>, feed: FeedKey) -> Vec<ScreenEffect> {
    let zone = app.engine.zone;
    let Some(page) = build_page(app, feed, now, zone, &KnownPublications::default()) else {
        return Vec::new();
    };
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
        polls: None,
    };
    app.ui.lay_over(Overlay::Plan(Box::new(opened)));
    let mut effects = vec![ask_store(ScreenRequest::Polls(feed))];
    effects.extend(app.ask(now, Request::Learn(feed)));
    effects
}

/// Switches the times in the plan pane between UTC and the user's time zone.
pub fn switch_zone(app: &mut App, now: DateTime<Utc>) {
    let Some(Overlay::Plan(pane)) = &mut app.ui.overlay else {
        app.ui.say(now, "{time-zone} works in a feed's plan: {plan} opens it");
        return;
    };
    pane.utc = !pane.utc;
}

/// Shows or hides the steps that led to the plan.
pub fn fold_steps(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if let Some(Overlay::Plan(pane)) = &mut app.ui.overlay {
        (pane.unfolded, pane.top) = (!pane.unfolded, 0);
    } else {
        app.ui.say(now, "{steps} works in a feed's plan: {plan} opens it");
    }
    Vec::new()
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
pub fn refresh_page(app: &mut App, now: DateTime<Utc>) {
    let Some(pane) = app.ui.plan_pane_mut() else { return };
    let (feed, utc) = (pane.feed, pane.utc);
    let known = KnownPublications {
        publications: pane.publications.clone(),
        learned: pane.learned.clone(),
    };
    let zone = if utc { Tz::UTC } else { app.engine.zone };
    let Some(subscription) = app.engine.feeds.get(&feed) else {
        // The feed is no longer subscribed.
        app.ui.close_plan();
        return;
    };
    let wanted = made_from(app, subscription, now, zone, &known);
    let current = app.ui.plan_pane_mut().is_some_and(|pane| pane.page.made_from == wanted);
    if !current
        && let Some(page) = build_page(app, feed, now, zone, &known)
        && let Some(pane) = app.ui.plan_pane_mut()
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
pub fn refuse_command(
    app: &mut App,
    now: DateTime<Utc>,
    command: Command,
) -> Option<Vec<ScreenEffect>> {
    if command.works_over_panes() {
        return None;
    }
    app.ui.say(now, "that does not work here: {back} returns to the panes");
    Some(Vec::new())
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
        held_up: plan_advice::why_held_up(app, subscription.key),
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
    let plan = plans::explained(&app.engine, feed, now)?;
    let facts = &subscription.state.facts;
    let made_from = made_from(app, subscription, now, zone, known);
    let sentence = plan_advice::page_sentence(app, subscription, &plan.decision(), (now, zone));
    Some(PlanPage {
        held_up: made_from.held_up.clone(),
        paces: list_paces(app, subscription, &sentence, (now, zone)),
        sentence,
        advice: plan_advice::list_advice(app, subscription, now),
        floors: plans::restrictions(subscription, app.engine.salt, now),
        skips: describe_skips(facts),
        rules: list_rules(facts, now),
        rhythm: heat_map::build_picture(app, subscription, known, (now, zone)),
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
    let current = plans::at_pace(subscription, app.engine.salt, facts.settings.pace, now);
    let current = current.decision();
    let interval = current.binding_seconds.filter(|_| !schedule::places_polls(facts));
    let interval = interval.map(|seconds| words::about_interval_words(i64::from(seconds)));
    let effect = |pace| {
        let in_force = pace == facts.settings.pace;
        let words = if in_force {
            interval.clone().filter(|words| !sentence.contains(words)).unwrap_or_default()
        } else {
            let other = plans::at_pace(subscription, app.engine.salt, pace, now).decision();
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
    let hours = (!hints.skip_hours.is_empty())
        .then(|| format!("hours {}", plan_advice::join_runs(&hints.skip_hours)));
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
        let place = heat_map::hour_of_week(at, Tz::UTC);
        WeekHour {
            interval_seconds: schedule::interval_in_force(facts, at).0,
            skipped: skipped.is_some_and(|week| week.get(place).copied().unwrap_or(false)),
        }
    };
    let hours: Vec<WeekHour> = week_hours(now, zone)?.into_iter().map(hour_at).collect();
    let mut intervals: Vec<u32> = hours.iter().map(|hour| hour.interval_seconds).collect();
    intervals.sort_unstable();
    intervals.dedup();
    Some(WeekPicture { hours, now: Some(heat_map::hour_of_week(now, zone)), intervals })
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
