//! Explains a plan step by step in plain sentences (SPEC section 0, A.8; UX 2): which source determines the interval, which other
//! sources it overrides, and whether a floor or the pace has no effect.

use super::rules::rule_words;
use crate::feed::text::counted_words;
use crate::feed::{IntervalRule, Period, SyHint};
use crate::schedule::facts::Facts;
use crate::schedule::holds::bans::{Exit, Skips};
use crate::schedule::holds::floors::{Cause, DelayBy, Floor, FloorInputs, Rest};
use crate::schedule::holds::retry_after::WaitHeader;
use crate::schedule::limits::{DEFAULT_MIN_SECONDS, HARD_MIN_SECONDS, Pace, instant};
use crate::schedule::plan::{PlanKind, PlanStage, PlanStep, Value};
use crate::schedule::recommend::{
    Bounds, IntervalBound, IntervalSource, Recommendation, RecommendedCourse, flat_sources,
};
use crate::schedule::target_time::{Jittered, TargetTime, is_placed};
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
    inputs: &FloorInputs<'_>,
    target: &TargetTime,
    last: i64,
    trace: &mut PlanTrace,
) {
    let bounds = inputs.bounds;
    let sentence = || source_sentence(inputs.facts, inputs.recommendation, target);
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

/// Describes the source of the recommendation, its interval, the sources it outranks and what was learned from the
/// feed's publications.
fn source_sentence(facts: &Facts, recommendation: &Recommendation, target: &TargetTime) -> String {
    let by_rules = matches!(recommendation.course, RecommendedCourse::Rules(_));
    let sentence = match target.rule {
        Some(rule) => binding_rule_sentence(facts, recommendation.source, rule, target.raw),
        None if by_rules => {
            let instead = flat_sentence(facts, target.source, target.raw);
            format!("no interval rule covers this hour; {instead}")
        }
        None => learned_sentence(facts, target)
            .unwrap_or_else(|| flat_sentence(facts, target.source, target.raw)),
    };
    let outranked = outranked(facts, recommendation, target);
    let outranked =
        if outranked.is_empty() { String::new() } else { format!(" (it overrides {outranked})") };
    let skips = skips_note(facts).map(|note| format!("; {note}")).unwrap_or_default();
    let learned = facts.learned.as_ref().filter(|_| target.source != IntervalSource::Learned);
    let observed = learned.map(|learned| {
        let gap = duration_words(i64::from(learned.interval_seconds));
        format!("; judging by when it posts, a poll about every {gap} would be enough")
    });
    format!("{sentence}{outranked}{skips}{}", observed.unwrap_or_default())
}

fn binding_rule_sentence(facts: &Facts, source: IntervalSource, rule: usize, raw: i64) -> String {
    let (whose, rules): (&str, &[IntervalRule]) = if source == IntervalSource::OwnRules {
        ("your", &facts.settings.own_rules)
    } else {
        ("the publisher's", &facts.hints.intervals)
    };
    let when = rules.get(rule).map(rule_words).unwrap_or_default();
    format!("{whose} interval rule {}: every {} {when}", rule + 1, duration_words(raw))
}

fn flat_sentence(facts: &Facts, source: IntervalSource, seconds: i64) -> String {
    let every = duration_words(seconds);
    match source {
        IntervalSource::Fixed => {
            format!("your fixed interval of {every} replaces every recommendation")
        }
        IntervalSource::ArchiveDocument => {
            "this is an archive document, which never changes".to_owned()
        }
        IntervalSource::Sy => facts.hints.sy.map_or_else(String::new, |sy| sy_sentence(sy, &every)),
        IntervalSource::Ttl => format!("the publisher's ttl of {every}"),
        IntervalSource::RefreshRate => format!("the publisher's refreshRate of {every}"),
        IntervalSource::BoilerplateSy => {
            format!(
                "every {every}, which WordPress writes into every feed, so it has little weight"
            )
        }
        IntervalSource::Learned => format!("learned: a poll about every {every}"),
        IntervalSource::Default | IntervalSource::OwnRules | IntervalSource::Rules => {
            format!("no interval is stated or known, so the default of {every}")
        }
    }
}

/// Describes whether a plan was learned from when or how often the feed posts; `None` if no plan was learned. Another part of the
/// view shows the details.
fn learned_sentence(facts: &Facts, target: &TargetTime) -> Option<String> {
    let learned = facts.learned.as_ref().filter(|_| target.source == IntervalSource::Learned)?;
    let placed = learned.plan.as_ref()?.is_placed();
    let what = if placed { "when it posts" } else { "how often it posts" };
    Some(format!("learned from {what}"))
}

fn sy_sentence(sy: SyHint, every: &str) -> String {
    let times = match sy.frequency {
        0 | 1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => format!("{times} times"),
    };
    let period = match sy.period {
        Period::Hourly => "an hour",
        Period::Daily => "a day",
        Period::Weekly => "a week",
        Period::Monthly => "a month",
        Period::Yearly => "a year",
    };
    let counted = if sy.base.is_some() { ", counted from the stated base" } else { "" };
    format!("the publisher updates {times} {period}: every {every}{counted}")
}

/// Lists lower-ranked sources of the publisher or the user that also state an interval.
fn outranked(facts: &Facts, recommendation: &Recommendation, target: &TargetTime) -> String {
    let above_rules =
        matches!(recommendation.source, IntervalSource::Fixed | IntervalSource::OwnRules);
    let rules = above_rules && !facts.hints.intervals.is_empty();
    let rules = rules.then(|| "the publisher's interval rules".to_owned());
    let below = flat_sources(facts).filter(|stated| stated.source != target.source);
    let below = below.filter_map(|stated| {
        let name = stated.source.settled_by().hint_name();
        (!name.is_empty()).then(|| format!("{name} {}", duration_words(stated.seconds)))
    });
    rules.into_iter().chain(below).collect::<Vec<_>>().join(", ")
}

/// Explains why the skip hours and days that the feed states do not apply; `None` if they apply or there are none.
fn skips_note(facts: &Facts) -> Option<&'static str> {
    match Skips::from_facts(facts) {
        Skips::None | Skips::Kept(_) | Skips::WholeWeek => None,
        Skips::ReplacedByRules => Some("the rules also replace skipHours and skipDays"),
        Skips::ReplacedBySy => Some("sy also replaces skipHours and skipDays"),
        Skips::SwitchedOff => Some("you switched off skipHours and skipDays"),
    }
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
