//! DETERMINE-NEXT-UPDATE of the paper, corrected (SPEC A.5.6).
//!
//! Every instant s makes an offer: not before s, and I(s) after the last poll p. The best offer
//! wins: `next(p) = minimum over s >= p of max(s, p + I(s))`.
//!
//! Inside a stretch of one interval the earliest instant makes the best offer, so only the starts of
//! stretches need looking at; and only those with a shorter interval than any before, because a
//! longer one offers no more than is already promised. Each such start lies before `next` and moves
//! `next` nearer, so the walk ends: it steps forward through boundaries, of which each zone has at
//! most one an hour and one for each change of its offset, and it stops at `next`, which is never
//! later than p + I(p).

use super::segments::{InForce, IntervalWalk, Rhythm};
use crate::schedule::plan::PlanKind;

/// The answer of [`next_update`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) struct NextUpdate {
    /// When to poll, before jitter, floors and bans.
    pub(in crate::schedule) at: i64,
    /// `Boundary` if the poll sits at the start of a stretch, else `Interval`.
    pub(in crate::schedule) kind: PlanKind,
    /// The interval that fixed it.
    pub(in crate::schedule) binding: InForce,
}

/// When to poll after a poll at `last`.
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
