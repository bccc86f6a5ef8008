//! Turns a recommendation into an instant, before jitter, floors and skip windows (SPEC B.1 steps 3 and 4), and computes the
//! jitter, which keeps many installations from polling at the same time (SPEC A.7).

use std::hash::Hasher;

use chrono::{DateTime, Utc};
use siphasher::sip::SipHasher13;

use super::limits::{JITTER_CAP_SECONDS, PLACED_JITTER_SECONDS, seconds};
use super::plan::PlanKind;
use super::recommend::{Bounds, IntervalBound, IntervalSource, Recommendation, RecommendedCourse};
use super::rules::RuleTable;
use super::segments::{Rhythm, next_update};
use super::slots::next_slot;

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
    let mut walk = super::segments::IntervalWalk::start(rhythm, at);
    walk.next_change(at + enough).map_or(i64::MAX, |change| change - at)
}

/// Computes the share of the jitter `u` for the next plan of a feed, in [-1, 1). The share depends only on the installation
/// (`salt`), the feed and the last poll, so a restart does not change it.
pub fn spread_unit(salt: u128, feed_key: &[u8], last_ok: Option<DateTime<Utc>>) -> f64 {
    let mut hasher = SipHasher13::new_with_key(&salt.to_le_bytes());
    hasher.write(feed_key);
    hasher.write(&[u8::from(last_ok.is_some())]);
    hasher.write(&last_ok.map_or(0, seconds).to_le_bytes());
    let top = u32::try_from(hasher.finish() >> 32).unwrap_or(0);
    f64::from(top) / f64::from(1_u32 << 31) - 1.0
}

/// Clamps the share of the jitter `u` to the range -1 to 1 and replaces NaN with 0.
pub(super) fn usable(u: f64) -> f64 {
    if u.is_nan() { 0.0 } else { u.clamp(-1.0, 1.0) }
}

/// Multiplies a maximum shift, in half seconds, by `u` and returns the shift in whole seconds. The maximum is in half seconds
/// because half of an odd interval is not a whole number of seconds.
#[expect(clippy::cast_possible_truncation, reason = "|u| <= 1, so it is at most the width")]
#[expect(clippy::cast_precision_loss, reason = "widths stay far below 2^52")]
pub(super) fn share(u: f64, half_seconds: i64) -> i64 {
    (u * half_seconds as f64 / 2.0).round() as i64
}

/// Returns the maximum jitter shift, in half seconds. The shift is at most half of the binding interval, as in the paper on
/// interval rules, or a tenth if the user fixed the interval or nobody stated one, and never more than two hours. For a poll that a
/// learned plan places, it is at most a tenth of the time since the last poll and at most a minute, because a larger shift would
/// defeat the plan (SCHEDULING annex A.3).
pub(super) fn width(target: &TargetTime, bounds: Bounds) -> i64 {
    if is_placed(target) {
        return (target.binding / 5).min(2 * PLACED_JITTER_SECONDS);
    }
    let is_ours = matches!(target.source, IntervalSource::Learned | IntervalSource::Default);
    let width = if bounds.fixed || is_ours { target.binding / 5 } else { target.binding };
    width.min(2 * JITTER_CAP_SECONDS)
}

/// Checks whether a learned plan chose the time of the poll, as opposed to only an interval.
pub(super) fn is_placed(target: &TargetTime) -> bool {
    target.kind == PlanKind::Slot && target.source == IntervalSource::Learned
}

/// A poll time after the random shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Jittered {
    pub(super) at: i64,
    /// Maximum possible shift, in half seconds.
    pub(super) limit: i64,
    /// Whether the shift was mirrored because it would have gone past the user's maximum interval.
    pub(super) mirrored: bool,
}

/// Shifts a target by the share `u` of its maximum shift.
///
/// 1. After an interval the shift goes in either direction. A shift past the maximum interval is mirrored, so the poll is earlier
///    instead.
/// 2. At the start of a period, or at a slot, the shift goes forward only, because an early poll would miss the update. The shift
///    goes at most halfway into the period and not past the maximum interval.
/// 3. The shifted poll is never earlier than the minimum interval after the last poll.
pub(super) fn jittered(target: &TargetTime, bounds: Bounds, last: i64, u: f64) -> Jittered {
    let width = width(target, bounds);
    let latest = last + bounds.max;
    let forward = 2 * (latest - target.at).max(0);
    let (shift, limit, mirrored) = match target.kind {
        PlanKind::Boundary | PlanKind::Slot => {
            let shift = share(u.abs(), width.min(target.room));
            (shift.min(forward / 2), width.min(target.room).min(forward), false)
        }
        PlanKind::Interval | PlanKind::Now | PlanKind::Never => {
            let shift = share(u, width);
            let mirrored = !bounds.fixed && target.at + shift > latest;
            (if mirrored { -shift } else { shift }, width, mirrored)
        }
    };
    Jittered { at: (target.at + shift).max(last + bounds.min), limit, mirrored }
}

#[cfg(test)]
mod tests {
    use super::super::limits::instant;
    use super::*;

    #[test]
    fn equal_states_give_equal_jitter() {
        let last = Some(instant(1_772_445_600));
        let unit = spread_unit(7, b"feed", last);
        assert!((-1.0..1.0).contains(&unit));
        let bits = unit.to_bits();
        assert_eq!(spread_unit(7, b"feed", last).to_bits(), bits);
        assert_ne!(spread_unit(8, b"feed", last).to_bits(), bits);
        assert_ne!(spread_unit(7, b"food", last).to_bits(), bits);
        assert_ne!(spread_unit(7, b"feed", Some(instant(1_772_445_601))).to_bits(), bits);
        assert_ne!(spread_unit(7, b"feed", None).to_bits(), bits);
    }

    #[test]
    fn units_are_spread_over_the_whole_range() {
        let units: Vec<f64> =
            (0..4000_u32).map(|feed| spread_unit(1, &feed.to_le_bytes(), None)).collect();
        let mean = units.iter().sum::<f64>() / 4000.0;
        assert!(mean.abs() < 0.05, "mean {mean}");
        for quarter in [-1.0, -0.5, 0.0, 0.5] {
            let inside = units.iter().filter(|&&u| u >= quarter && u < quarter + 0.5).count();
            assert!((850..1150).contains(&inside), "{inside} from {quarter}");
        }
    }

    #[test]
    fn a_share_is_rounded_to_seconds() {
        assert_eq!(share(0.5, 1800), 450);
        assert_eq!(share(-1.0, 901), -451);
        assert_eq!(share(usable(f64::NAN), 1800), 0);
        assert_eq!(share(usable(f64::INFINITY), 1800), 900);
        assert_eq!(share(usable(-7.0), 1800), -900);
    }
}
