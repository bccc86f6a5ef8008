//! Turns a recommendation into an instant, before jitter, floors and skip windows (SPEC B.1 steps 3 and 4).

use super::bounds::{Bounds, IntervalBound};
use super::interval::next_update::next_update;
use super::interval::rules::RuleTable;
use super::interval::segments::Rhythm;
use super::interval::slots::next_slot;
use super::limits::JITTER_CAP_SECONDS;
use super::plan::PlanKind;
use super::recommend::{IntervalSource, Recommendation, RecommendedCourse};

/// The time that the publisher and the user prefer for the next poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TargetTime {
    pub(super) at: i64,
    /// `Interval`, `Boundary` or `Slot`; a learned plan yields slots.
    pub(super) kind: PlanKind,
    /// The source of the recommendation. With interval rules, the source of the binding interval: the rules, or the flat source for
    /// hours that no rule covers.
    pub(super) source: IntervalSource,
    /// Index of the interval rule that states the binding interval, counted in document order; `None` if no rule does.
    pub(super) rule: Option<usize>,
    /// The binding interval (the one that determines `at`) as its source states it, in seconds.
    pub(super) raw: i64,
    /// The binding interval after pace and bounds, in seconds.
    pub(super) binding: i64,
    /// The user's bound that limits the interval or the slot, if any.
    pub(super) held: Option<IntervalBound>,
    /// The publisher's slot, before bounds are applied.
    pub(super) slot: Option<i64>,
    /// Length of the period or slot that starts at `at`, in seconds, computed only as far as jitter needs it.
    pub(super) room: i64,
}

/// Computes the target for the poll after one at `last`.
pub(super) fn find_target(
    recommendation: &Recommendation,
    bounds: Bounds,
    last: i64,
) -> TargetTime {
    let slot = match &recommendation.course {
        RecommendedCourse::Flat => None,
        RecommendedCourse::Rules(table) => {
            return target_of_rules(recommendation, table, bounds, last);
        }
        RecommendedCourse::Slots(sy, base) => next_slot(*sy, *base, bounds.pace, last),
        RecommendedCourse::Placed(learned) => {
            match learned.next(last, bounds.pace, bounds.min, bounds.max) {
                Some(at) => return placed(recommendation, bounds, at, last),
                None => None,
            }
        }
    };
    let raw = recommendation.flat.seconds;
    let binding = bounds.interval(raw);
    let flat = TargetTime {
        at: last + binding,
        kind: PlanKind::Interval,
        source: recommendation.source,
        rule: None,
        raw,
        binding,
        held: bounds.holder(raw),
        slot: None,
        room: i64::MAX,
    };
    let Some(slot) = slot else { return flat };
    let (earliest, latest) = (last + bounds.min, last + bounds.max);
    let early = (slot.at < earliest).then_some(IntervalBound::Minimum);
    let late = (slot.at > latest).then_some(IntervalBound::Maximum);
    TargetTime {
        at: slot.at.clamp(earliest, latest),
        kind: PlanKind::Slot,
        held: early.or(late),
        slot: Some(slot.at),
        room: slot.step,
        ..flat
    }
}

/// Returns the target for a poll that a learned plan places. The plan has already applied the bounds.
fn placed(recommendation: &Recommendation, bounds: Bounds, at: i64, last: i64) -> TargetTime {
    TargetTime {
        at,
        kind: PlanKind::Slot,
        source: recommendation.source,
        rule: None,
        raw: recommendation.flat.seconds,
        binding: at - last,
        held: None,
        slot: None,
        // After the shortest gap, the poll has the jitter of the last one, and gets no more.
        room: if at == last + bounds.min { 0 } else { i64::MAX },
    }
}

fn target_of_rules(
    recommendation: &Recommendation,
    table: &RuleTable,
    bounds: Bounds,
    last: i64,
) -> TargetTime {
    let rhythm = Rhythm { table, fallback: recommendation.flat.seconds, bounds };
    let next = next_update(rhythm, last);
    let by_rule = next.binding.rule.is_some();
    let source = if by_rule { recommendation.source } else { recommendation.flat.source };
    TargetTime {
        at: next.at,
        kind: next.kind,
        source,
        rule: next.binding.rule,
        raw: next.binding.raw,
        binding: next.binding.interval,
        held: bounds.holder(next.binding.raw),
        slot: None,
        room: if next.kind == PlanKind::Boundary { room(rhythm, next.at) } else { i64::MAX },
    }
}

/// Returns the length of the period of constant interval that starts at `at`, in seconds. Jitter uses at most half of it and never
/// more than its cap, so the search for the end of the period stops at twice the cap.
fn room(rhythm: Rhythm<'_>, at: i64) -> i64 {
    let enough = 2 * JITTER_CAP_SECONDS;
    let mut walk = super::interval::segments::IntervalWalk::start(rhythm, at);
    walk.next_change(at + enough).map_or(i64::MAX, |change| change - at)
}
