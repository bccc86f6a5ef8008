//! Decides when to poll a feed next, in the order of precedence of SPEC B.1, and finds hints that cannot be followed or look like
//! mistakes.
//!
//! The first stages compute the preferred time: the recommendation, the user's pace and bounds, the resulting instant
//! and the jitter. The next stage applies the floors that the server imposes. The last one applies the skip windows
//! that the publisher states. A later stage can only move the time later, so no stage breaks an earlier restriction.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::explanation::{
    PlanTrace, explain_due, explain_jitter, explain_target, first_poll_step, floor_step, rest_step,
    skip_step,
};
use super::facts::Facts;
use super::holds::bans::{Exit, SkipWindows, Skips};
use super::holds::floors::{FloorInputs, at_rest, floors, never};
use super::limits::{RULES_MAX, instant, not_later, seconds};
use super::plan::{Decision, Plan, PlanKind, SettledBy};
use super::recommend::{Bounds, IntervalBound, recommend};
use super::rules::{rule_mask, rule_words};
use super::target_time::{TargetTime, find_target, jittered, share, usable, width};
use crate::feed::{Flaw, Zone};
use crate::words::duration_words;

/// Computes the plan for one feed, with its explanation.
///
/// `u`, in [-1, 1), is the feed's share of the jitter; see [`super::spread_unit`].
pub fn decide(facts: &Facts, now: DateTime<Utc>, u: f64) -> Plan {
    let mut trace = PlanTrace::on();
    let decision = decide_with_trace(facts, now, u, &mut trace);
    Plan::new(decision, trace.into_steps(), planning_flaws(facts))
}

/// Computes the same plan as [`decide()`], but without the explanation. Takes a microsecond or two.
pub fn decide_time(facts: &Facts, now: DateTime<Utc>, u: f64) -> Decision {
    decide_with_trace(facts, now, u, &mut PlanTrace::off())
}

/// Intermediate state of a plan between two stages.
#[derive(Debug, Clone, Copy)]
struct Draft {
    at: i64,
    kind: PlanKind,
    binding: Option<i64>,
    settled_by: SettledBy,
    /// Maximum random delay added when the poll is moved out of a skip window, in half seconds.
    spread: i64,
}

fn decide_with_trace(facts: &Facts, now: DateTime<Utc>, u: f64, trace: &mut PlanTrace) -> Decision {
    if let Some(rest) = at_rest(facts) {
        trace.note(|| rest_step(rest));
        return never(rest);
    }
    let clock = seconds(now);
    let last_ok = not_later(facts.last_ok, clock);
    let last_try = not_later(facts.last_try, clock).max(last_ok);
    let recommendation = recommend(facts);
    let bounds = Bounds::from_facts(facts);
    let u = usable(u);
    let inputs = FloorInputs { facts, recommendation: &recommendation, bounds, now, last_try, u };
    let draft = match last_ok {
        Some(last) => draft_target(&inputs, last, trace),
        None => first_poll(&inputs, trace),
    };
    let draft = above_floors(draft, &inputs, trace);
    let draft = match Skips::from_facts(facts).kept().filter(|_| last_ok.is_some()) {
        Some(windows) => out_of_windows(draft, &windows, clock, u, trace),
        None => draft,
    };
    trace.note_some(|| explain_due(draft.at, clock));
    decision(draft, clock)
}

/// Step 1: a feed that was never polled successfully is due at once, without jitter. If only failed attempts were made, only the
/// floors determine the time.
fn first_poll(inputs: &FloorInputs<'_>, trace: &mut PlanTrace) -> Draft {
    let at = inputs.last_try.unwrap_or(seconds(inputs.now));
    trace.note(|| first_poll_step(at, inputs.last_try.is_some()));
    let flat = inputs.bounds.interval(inputs.recommendation.flat.seconds);
    let binding = inputs.last_try.map(|_| flat);
    let settled_by = SettledBy::FirstPoll;
    Draft { at, kind: PlanKind::Interval, binding, settled_by, spread: 0 }
}

/// Steps 2 to 5: computes the target time from the recommended interval, the user's pace and bounds, and jitter.
fn draft_target(inputs: &FloorInputs<'_>, last: i64, trace: &mut PlanTrace) -> Draft {
    let bounds = inputs.bounds;
    let target = find_target(inputs.recommendation, bounds, last);
    explain_target(inputs, &target, last, trace);
    let jittered = jittered(&target, bounds, last, inputs.u);
    trace.note(|| explain_jitter(&target, &jittered, bounds, last));
    Draft {
        at: jittered.at,
        kind: target.kind,
        binding: Some(target.binding),
        settled_by: settled_by(&target),
        spread: width(&target, bounds),
    }
}

/// Returns what determined the target time: the user's minimum or maximum if it changed the interval or the slot, otherwise the
/// source of the interval. At a boundary it is always the source.
fn settled_by(target: &TargetTime) -> SettledBy {
    let held = target.held.filter(|_| target.kind != PlanKind::Boundary);
    held.map_or(target.source.settled_by(), IntervalBound::settled_by)
}

/// Step 6: moves the time past every floor.
fn above_floors(mut draft: Draft, inputs: &FloorInputs<'_>, trace: &mut PlanTrace) -> Draft {
    for floor in floors(inputs) {
        trace.note_some(|| floor_step(&floor, draft.at));
        if floor.at > draft.at {
            draft.at = floor.at;
            draft.settled_by = floor.settled_by;
        }
    }
    draft
}

/// Step 7: moves the time out of the skip windows, and applies the rule for users who were away (SPEC A.9). A feed
/// that could have been polled since it fell due is polled now, even inside a window.
///
/// 1. If now is inside a window, but there was an open instant since the feed fell due, poll now.
/// 2. If the planned time is outside all windows, keep it.
/// 3. If the planned time is inside a window, move it to the end of the window, plus a random delay. If the window has already
///    ended, the feed is due.
fn out_of_windows(
    mut draft: Draft,
    windows: &SkipWindows,
    now: i64,
    u: f64,
    trace: &mut PlanTrace,
) -> Draft {
    let before = draft.at;
    let opening = windows.opening(before);
    let missed = opening <= now && windows.skips(now);
    if opening == before && !missed {
        return draft;
    }
    let exit = if missed { Exit::Missed } else { windows.exit(opening) };
    draft.settled_by = exit.settled_by();
    if !missed {
        let open = windows.closing(opening) - opening;
        let spread = share(u.abs(), draft.spread.min(open));
        draft.at = if opening <= now { opening } else { opening + spread };
    }
    trace.note(|| skip_step(before, draft.at, exit));
    draft
}

/// Step 8: turns the draft into a decision. If its time has passed, the feed is due now.
fn decision(draft: Draft, now: i64) -> Decision {
    let due = draft.at <= now;
    Decision {
        next_poll: Some(instant(draft.at.max(now))),
        due: Some(instant(draft.at)),
        kind: if due { PlanKind::Now } else { draft.kind },
        binding_seconds: draft.binding.and_then(|binding| u32::try_from(binding).ok()),
        settled_by: draft.settled_by,
    }
}

/// Returns the flaws in a feed's hints: those found when the document was read, and those found while planning. A hint with a flaw
/// is ignored, followed only in part, or followed although it looks like a mistake.
pub fn planning_flaws(facts: &Facts) -> Vec<Flaw> {
    let mut flaws: Vec<Flaw> = facts.hints.flaws.clone();
    flaws.extend(offered_push(facts));
    flaws.extend(whole_week_skipped(facts));
    flaws.extend(ttl_in_seconds(facts));
    flaws.extend(too_many_rules(facts));
    flaws.extend(crossed_bounds(facts));
    for rule in facts.hints.intervals.iter().take(RULES_MAX) {
        if rule_mask(rule).is_none() {
            flaws.push(flaw(
                "interval",
                rule.minutes.to_string(),
                "a number is out of range: rule dropped",
            ));
        }
        if let Zone::Named(name) = &rule.zone
            && name.parse::<Tz>().is_err()
        {
            flaws.push(flaw("interval", name.clone(), "unknown time zone: read as UTC"));
        }
    }
    flaws
}

fn flaw(element: &str, text: String, reason: &str) -> Flaw {
    Flaw { element: element.to_owned(), text, reason: reason.to_owned() }
}

/// Reports an offer of push updates, which is not used (SPEC S0.11).
fn offered_push(facts: &Facts) -> Option<Flaw> {
    let reason = "offers push, which needs a public address: polled instead";
    facts.hints.offers_push.then(|| flaw("push", "cloud or hub".to_owned(), reason))
}

/// Reports skip hints that cover the whole week (SPEC G.2).
fn whole_week_skipped(facts: &Facts) -> Option<Flaw> {
    let Skips::WholeWeek = Skips::from_facts(facts) else { return None };
    let hints = &facts.hints;
    let element = if hints.skip_hours.len() >= 24 { "skipHours" } else { "skipDays" };
    let text = format!("{} hours, {} days", hints.skip_hours.len(), hints.skip_days.len());
    Some(flaw(element, text, "covers the whole week: ignored"))
}

/// Reports a ttl that looks like seconds. The value is never corrected silently (SPEC G.3).
fn ttl_in_seconds(facts: &Facts) -> Option<Flaw> {
    let hints = &facts.hints;
    if hints.flaws.iter().any(|flaw| flaw.element == "ttl") {
        return None;
    }
    hints.ttl_like_seconds(i64::from(facts.learned.as_ref()?.interval_seconds))
}

/// Reports a maximum below the minimum. The settings screen rejects such a maximum, but it can come from another source (SPEC A.8).
fn crossed_bounds(facts: &Facts) -> Option<Flaw> {
    let bounds = Bounds::from_facts(facts);
    let maximum = i64::from(facts.settings.max_seconds);
    let crossed = !bounds.fixed && maximum < bounds.min;
    crossed.then(|| {
        flaw("maximum", duration_words(maximum), "less than the minimum: the minimum applies")
    })
}

fn too_many_rules(facts: &Facts) -> Option<Flaw> {
    let first_ignored = facts.hints.intervals.get(RULES_MAX)?;
    let reason = format!("only the first {RULES_MAX} rules are used; the others are ignored");
    Some(flaw("interval", rule_words(first_ignored), &reason))
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod order_tests;

#[cfg(test)]
#[path = "part_time_tests.rs"]
mod part_time_tests;

#[cfg(test)]
#[path = "property_tests.rs"]
mod property_tests;
