//! Computes when to poll a feed next, and explains why. Pure code that depends only on `feed`.
//!
//! [`decide()`] turns [`Facts`], the current time and the feed's share of the jitter into a [`Plan`] that includes its explanation.
//! [`decide_time`] returns the same result without the explanation. The schedule does not read the clock, draw random numbers, poll
//! anything or keep any state. The caller computes a new plan whenever an input changes.
//!
//! `decide` applies the restrictions in the order of precedence that SPEC B.1 defines. `recommend` holds the table of interval
//! sources, and `floors` the table of floors (times before which a feed is not polled).

mod decide;
mod explanation;
mod facts;
mod following;
pub mod holds;
pub mod learning;
pub mod limits;
mod plan;
mod recommend;
mod rules;
mod segments;
mod sentence;
mod slots;
#[cfg(test)]
mod specimens;
mod target_time;
mod timetable;

pub(crate) use crate::schedule::holds::cache::counted;
pub use crate::schedule::holds::cache::{CacheState, Lifetime, TimingHeaders};
pub use crate::schedule::holds::in_force::{
    Restriction, floors_in_force, skipped_hours, skips_in_words,
};
pub use crate::schedule::holds::retry_after::{Wait, WaitHeader};
pub use crate::schedule::sentence::{pace_sentence, plan_lines, plan_sentence, wait_words};
pub use decide::{decide, decide_time, planning_flaws};
pub use facts::{Facts, FeedStatus, Learned, LearnedAnswer, PollFailure, ScheduleSettings};
pub use following::{Cost, cost_at_pace, following_plans, places_polls, polls_until, with_pace};
pub use holds::floors::{ByHand, classify_manual_poll, urgency};
pub use holds::retry_after::{announces_limit, retry_after_seconds};
pub use limits::Pace;
pub use plan::{Decision, Plan, PlanKind, PlanStage, PlanStep, SettledBy, Value, plan_json};
pub use recommend::leaves_room_for_learning;
pub use rules::rule_words;
pub use segments::{interval_in_force, rule_in_force, week_of_intervals};
pub use target_time::spread_unit;
pub use timetable::Timetable;
