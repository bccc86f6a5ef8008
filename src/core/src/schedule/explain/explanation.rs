//! Explains a plan step by step in plain sentences (SPEC section 0, A.8; UX 2).
//!
//! If a floor or the pace has no effect, the sentence says so.

use super::sources::source_sentence;
use crate::feed::text::counted_words;
use crate::schedule::bounds::{Bounds, IntervalBound};
use crate::schedule::holds::bans::Exit;
use crate::schedule::holds::floors::{Cause, DelayBy, Floor, FloorInputs};
use crate::schedule::holds::rest::Rest;
use crate::schedule::holds::retry_after::WaitHeader;
use crate::schedule::instant::instant;
use crate::schedule::interval::pace::Pace;
use crate::schedule::jitter::{Jittered, is_placed};
use crate::schedule::limits::{DEFAULT_MIN_SECONDS, HARD_MIN_SECONDS};
use crate::schedule::plan::{PlanKind, PlanStage, PlanStep, Value};
use crate::schedule::target_time::TargetTime;
use crate::words::duration_words;

/// Collects the steps of a plan if an explanation is requested, and discards them otherwise.
#[derive(Debug)]
pub(in crate::schedule) struct PlanTrace(Option<Vec<PlanStep>>);

impl PlanTrace {
    pub(in crate::schedule) const fn on() -> Self {
        Self(Some(Vec::new()))
    }

    pub(in crate::schedule) const fn off() -> Self {
        Self(None)
    }

    pub(in crate::schedule) fn note(&mut self, step: impl FnOnce() -> PlanStep) {
        if let Some(steps) = &mut self.0 {
            steps.push(step());
        }
    }

    pub(in crate::schedule) fn note_some(&mut self, step: impl FnOnce() -> Option<PlanStep>) {
        if let Some(steps) = &mut self.0 {
            steps.extend(step());
        }
    }

    pub(in crate::schedule) fn into_steps(self) -> Vec<PlanStep> {
        self.0.unwrap_or_default()
    }
}

fn interval_step(stage: PlanStage, before: Option<i64>, after: i64, reason: String) -> PlanStep {
    let (before, after) = (before.map(Value::Seconds), Some(Value::Seconds(after)));
    PlanStep { stage, before, after, reason }
}

fn time_step(stage: PlanStage, before: Option<i64>, after: i64, reason: String) -> PlanStep {
    let at = |seconds| Value::At(instant(seconds));
    PlanStep { stage, before: before.map(at), after: Some(at(after)), reason }
}

/// Explains why a feed is not polled.
pub(in crate::schedule) fn rest_step(rest: Rest) -> PlanStep {
    let sentence = match rest {
        Rest::ByServer => {
            let reason =
                "the server of your account polls it, and its entries come with each sync".into();
            return PlanStep { stage: PlanStage::Standing, before: None, after: None, reason };
        }
        Rest::Gone => "the publisher ended this feed (410)",
        Rest::Stopped => "the feed redirects to an empty address",
        Rest::Expired => "the publisher marked this feed as finished",
        Rest::Paused => "you paused this feed",
    };
    let reason = format!("{sentence}: no automatic polls until you resume it");
    PlanStep { stage: PlanStage::Standing, before: None, after: None, reason }
}

/// Explains the plan of a feed that has never been polled successfully.
pub(in crate::schedule) fn first_poll_step(at: i64, tried: bool) -> PlanStep {
    let reason = if tried {
        "never fetched successfully: counted from the last attempt"
    } else {
        "never polled before, so it is due at once"
    };
    time_step(PlanStage::NextUpdate, None, at, reason.to_owned())
}

/// Explains the recommendation, the pace, the bounds and the resulting instant.
pub(in crate::schedule) fn explain_target(
    ground: &FloorInputs<'_>,
    target: &TargetTime,
    last: i64,
    trace: &mut PlanTrace,
) {
    let bounds = ground.bounds;
    let sentence = || source_sentence(ground.facts, ground.recommendation, target);
    trace.note(|| interval_step(PlanStage::Recommendation, None, target.raw, sentence()));
    if is_placed(target) {
        trace.note_some(|| placed_pace_step(target, bounds));
        trace.note(|| next_update_step(target, last));
        return;
    }
    match (bounds.pace, target.slot) {
        (Pace::Normal, None) => trace.note_some(|| bound_step(target, bounds)),
        (Pace::Normal, Some(_)) => {}
        (Pace::More | Pace::Less, None) => trace.note(|| pace_step(target, bounds)),
        (Pace::More | Pace::Less, Some(_)) => trace.note(|| slot_pace_step(target, bounds)),
    }
    trace.note(|| next_update_step(target, last));
    trace.note_some(|| held_slot_step(target, bounds));
}

/// Explains the effect of the pace on the binding interval, and the bound that limits it.
fn pace_step(target: &TargetTime, bounds: Bounds) -> PlanStep {
    let scaled = bounds.scaled(target.raw);
    let verb = pace_verb(bounds);
    let held = bounds.holder(target.raw);
    let held = held.map(|held| format!(", limited to {}", bound_words(held, bounds)));
    let at_normal = Bounds { pace: Pace::Normal, ..bounds };
    let idle = at_normal.interval(target.raw) == target.binding;
    let effect = if idle { ": the setting has no effect" } else { "" };
    let scaled = duration_words(scaled);
    let reason = format!("{verb} to {scaled}{}{effect}", held.unwrap_or_default());
    interval_step(PlanStage::Pace, Some(target.raw), target.binding, reason)
}

fn pace_verb(bounds: Bounds) -> &'static str {
    if bounds.pace == Pace::More { "halved" } else { "doubled" }
}

/// Explains the effect of the pace on the publisher's update times. The user's minimum and maximum are applied later, to the poll
/// time itself.
fn slot_pace_step(target: &TargetTime, bounds: Bounds) -> PlanStep {
    let scaled = bounds.scaled(target.raw);
    let reason =
        format!("{} to {} between update times", pace_verb(bounds), duration_words(scaled));
    interval_step(PlanStage::Pace, Some(target.raw), scaled, reason)
}

/// Explains the effect of the pace on the polls of a learned plan. The pace changes the cost per poll with which the plan is
/// computed, and therefore the number of polls.
fn placed_pace_step(target: &TargetTime, bounds: Bounds) -> Option<PlanStep> {
    let reason = match bounds.pace {
        Pace::Normal => return None,
        Pace::More => "about twice as often, within your minimum",
        Pace::Less => "about half as often, within your maximum",
    };
    Some(interval_step(PlanStage::Pace, Some(target.raw), target.binding, reason.to_owned()))
}

fn bound_step(target: &TargetTime, bounds: Bounds) -> Option<PlanStep> {
    let held = bounds.holder(target.raw)?;
    let (stage, verb) = bound_verb(held);
    let reason = format!("{verb} {}", bound_words(held, bounds));
    Some(interval_step(stage, Some(target.raw), target.binding, reason))
}

fn bound_verb(held: IntervalBound) -> (PlanStage, &'static str) {
    match held {
        IntervalBound::Minimum => (PlanStage::Minimum, "raised to"),
        IntervalBound::Maximum => (PlanStage::Maximum, "cut to"),
    }
}

fn bound_words(held: IntervalBound, bounds: Bounds) -> String {
    match held {
        IntervalBound::Minimum if bounds.has_least_min() => {
            format!("the shortest interval allowed, {}", duration_words(bounds.min))
        }
        IntervalBound::Minimum => minimum_words(bounds.min),
        IntervalBound::Maximum => {
            let whose = if bounds.has_usual_max() { "the usual" } else { "your" };
            format!("{whose} maximum of {}", duration_words(bounds.max))
        }
    }
}

/// Describes a minimum interval as `the usual minimum` (the default) or `your minimum` (chosen by the user), with its length.
fn minimum_words(seconds: i64) -> String {
    format!("{} minimum of {}", whose_minimum(seconds), duration_words(seconds))
}

/// Returns `the usual` for the default minimum interval and `your` for one that the user chose.
fn whose_minimum(seconds: i64) -> &'static str {
    if seconds == i64::from(DEFAULT_MIN_SECONDS) { "the usual" } else { "your" }
}

fn next_update_step(target: &TargetTime, last: i64) -> PlanStep {
    let interval = duration_words(target.binding);
    let at = target.slot.unwrap_or(target.at);
    let reason = match target.kind {
        PlanKind::Boundary => {
            format!("moved earlier, to when the interval of {interval} begins")
        }
        PlanKind::Slot if is_placed(target) => {
            format!("the next poll of the learned plan, {interval} after the last one")
        }
        PlanKind::Slot => "the publisher's first update time after the last poll".to_owned(),
        PlanKind::Interval | PlanKind::Now | PlanKind::Never => {
            format!("{interval} after the last poll")
        }
    };
    time_step(PlanStage::NextUpdate, Some(last), at, reason)
}

/// Explains how the user's minimum or maximum interval moves a poll away from the publisher's update time.
fn held_slot_step(target: &TargetTime, bounds: Bounds) -> Option<PlanStep> {
    let (slot, held) = (target.slot?, target.held?);
    let (stage, direction) = match held {
        IntervalBound::Minimum => (PlanStage::Minimum, "that is too soon"),
        IntervalBound::Maximum => (PlanStage::Maximum, "that is too late"),
    };
    let bound = bound_words(held, bounds);
    let reason = format!("{direction}: {bound} after the last poll instead");
    Some(time_step(stage, Some(slot), target.at, reason))
}

/// Explains the random shift of the poll, or why there is no shift.
pub(in crate::schedule) fn explain_jitter(
    target: &TargetTime,
    jittered: &Jittered,
    bounds: Bounds,
    last: i64,
) -> PlanStep {
    let shift = jittered.at - target.at;
    let limit = duration_words(jittered.limit / 2);
    let together = "so that readers do not all poll at once";
    let mut reason = match shift {
        0 if jittered.limit == 0 => "no room for a shift".to_owned(),
        0 => format!("no shift this time (at most {limit})"),
        1.. => format!("{} later (at most {limit}), {together}", duration_words(shift)),
        _ => format!("{} earlier (at most {limit}), {together}", duration_words(-shift)),
    };
    if jittered.mirrored {
        reason += "; earlier instead of later, to stay within the maximum";
    }
    if shift != 0 && jittered.at == last + bounds.min {
        reason += "; limited by the minimum";
    }
    time_step(PlanStage::Jitter, Some(target.at), jittered.at, reason)
}

/// Explains a floor and its effect. The two minimums are mentioned only if they move the time.
pub(in crate::schedule) fn floor_step(floor: &Floor, at: i64) -> Option<PlanStep> {
    let moves = floor.at > at;
    let (stage, sentence) = match floor.cause {
        Cause::HardMinimum(_) | Cause::Minimum(_) if !moves => return None,
        Cause::Minimum(minimum) if minimum > HARD_MIN_SECONDS => {
            let (whose, least) = (whose_minimum(minimum), duration_words(minimum));
            (PlanStage::Minimum, format!("{whose} minimum interval: {least}"))
        }
        Cause::HardMinimum(minimum) | Cause::Minimum(minimum) => {
            let least = duration_words(minimum);
            (PlanStage::Minimum, format!("shortest interval allowed: {least}"))
        }
        Cause::Lifetime { stated, counted, age } => {
            (PlanStage::CacheLifetime, lifetime_sentence(stated, counted, age))
        }
        Cause::Wait { seconds, header } => wait_sentence(seconds, header),
        Cause::HostWait { seconds, header } => {
            let wait = duration_words(seconds);
            let why = match header.limit_name() {
                Some(name) => format!("the site takes no request for {wait} ({name})"),
                None => format!("the site answered 429 for one feed: a pause of {wait}"),
            };
            (PlanStage::RetryAfter, format!("{why}, for all its feeds"))
        }
        Cause::BackOff { failures, delay, spread, by } => {
            (PlanStage::BackOff, back_off_sentence(failures, delay, spread, by))
        }
        Cause::Dead => {
            (PlanStage::BackOff, "only 404 responses for 30 days: polled once a week".to_owned())
        }
    };
    let effect = if moves { "" } else { "; ends before then, no effect" };
    Some(time_step(stage, Some(at), at.max(floor.at), format!("{sentence}{effect}")))
}

fn lifetime_sentence(stated: i64, counted: i64, age: i64) -> String {
    let fresh = duration_words(stated);
    let capped =
        (stated != counted).then(|| format!(", but only {} count", duration_words(counted)));
    let aged = (age > 0).then(|| format!("; it was {} old on arrival", duration_words(age)));
    let (capped, aged) = (capped.unwrap_or_default(), aged.unwrap_or_default());
    format!("the server says that its response is fresh for {fresh}{capped}{aged}")
}

fn wait_sentence(seconds: i64, header: WaitHeader) -> (PlanStage, String) {
    let wait = duration_words(seconds);
    match header {
        WaitHeader::RetryAfter => {
            (PlanStage::RetryAfter, format!("the server asked backissue to wait {wait}"))
        }
        WaitHeader::XRateLimitReset | WaitHeader::RateLimitReset | WaitHeader::RateLimit => {
            let name = header.limit_name().unwrap_or_default();
            (PlanStage::RetryAfter, format!("the server takes no request for {wait} ({name})"))
        }
        WaitHeader::CacheControl => (
            PlanStage::CacheLifetime,
            format!("the server says that its error response is fresh for {wait}"),
        ),
        WaitHeader::Nothing => (
            PlanStage::BackOff,
            format!("the server asked for fewer requests: a wait of {wait} is assumed"),
        ),
    }
}

fn back_off_sentence(failures: u32, delay: i64, spread: i64, by: DelayBy) -> String {
    let count = counted_words(failures, "failure", "failures");
    let delay = duration_words(delay);
    let because = match by {
        DelayBy::Doubling => "",
        DelayBy::Recommendation => {
            ", as after a success: failures must not make polls more frequent"
        }
        DelayBy::Failure => ", the minimum after such a response",
    };
    let spread = (spread > 0).then(|| format!(", plus a random {}", duration_words(spread)));
    let spread = spread.unwrap_or_default();
    format!("{count} in a row: {delay} after the last attempt{because}{spread}")
}

/// Explains the move out of a skip window, or why there is no move.
pub(in crate::schedule) fn skip_step(before: i64, after: i64, exit: Exit) -> PlanStep {
    let reason = match exit {
        Exit::Days => "moved out of the days the publisher asks to skip",
        Exit::Hours => "moved out of the hours the publisher asks to skip",
        Exit::Missed => {
            "inside the hours or days to skip, but it could have been polled while you were away"
        }
    };
    time_step(PlanStage::Skip, Some(before), after, reason.to_owned())
}

/// Explains that a time has passed, so the feed is due.
pub(in crate::schedule) fn explain_due(at: i64, now: i64) -> Option<PlanStep> {
    let late = now - at;
    let reason = match late {
        ..0 => return None,
        0 => "due now".to_owned(),
        1.. => format!("due since {}, so it is polled now", duration_words(late)),
    };
    Some(time_step(PlanStage::Due, Some(at), now, reason))
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
