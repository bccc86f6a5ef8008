//! Computes the next poll with the algorithm DETERMINE-NEXT-UPDATE of the paper on interval rules, corrected (SPEC A.5.6).
//!
//! If I(s) is the interval in force at an instant s, every s from the last poll p on offers a candidate for the next poll: I(s)
//! after p, but not before s. The earliest candidate is chosen: `next(p) = minimum over s >= p of max(s, p + I(s))`.
//!
//! Within a period of constant interval, the earliest instant is the best candidate, so only the starts of periods matter. Of
//! those, only periods with a shorter interval than every earlier one matter, because a longer interval cannot improve the result.
//! Each such start lies before `next` and moves `next` earlier, so the search ends. The search steps from boundary to boundary and
//! stops at `next`, which is never later than p + I(p). Each zone has at most one boundary an hour and one for each change of its
//! UTC offset.

use super::segments::{InForce, IntervalWalk, Rhythm};
use crate::schedule::plan::PlanKind;

/// The next poll that [`next_update`] computes from the interval rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) struct NextUpdate {
    /// Time of the poll, before jitter, floors and skip windows.
    pub(in crate::schedule) at: i64,
    /// `Boundary` if the poll is at the start of a period, otherwise `Interval`.
    pub(in crate::schedule) kind: PlanKind,
    /// The interval that determined the time.
    pub(in crate::schedule) binding: InForce,
}

/// Computes the next poll after a poll at `last`, in seconds since 1970.
pub(in crate::schedule) fn next_update(rhythm: Rhythm<'_>, last: i64) -> NextUpdate {
    let mut walk = IntervalWalk::start(rhythm, last);
    let binding = walk.in_force();
    let mut best = NextUpdate { at: last + binding.interval, kind: PlanKind::Interval, binding };
    while let Some(start) = walk.next_change(best.at) {
        let binding = walk.in_force();
        if binding.interval < best.binding.interval {
            let full = last + binding.interval;
            let kind = if full <= start { PlanKind::Boundary } else { PlanKind::Interval };
            best = NextUpdate { at: full.max(start), kind, binding };
        }
    }
    best
}

#[cfg(test)]
#[path = "next_update_tests.rs"]
mod tests;
