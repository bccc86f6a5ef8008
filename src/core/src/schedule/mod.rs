//! Computes when to poll a feed next, and explains why. Pure code that depends only on `feed`.
//!
//! [`decide()`] turns [`Facts`], the current time and the feed's share of the jitter into a [`Plan`] that includes its explanation.
//! [`decide_time`] returns the same result without the explanation. The schedule does not read the clock, draw random numbers, poll
//! anything or keep any state. The caller computes a new plan whenever an input changes.
//!
//! `decide` applies the restrictions in the order of precedence that SPEC B.1 defines. `recommend` holds the table of interval
//! sources, and `floors` the table of floors (times before which a feed is not polled).

mod answers;
mod bounds;
mod decide;
pub mod explain;
mod facts;
mod flaws;
mod following;
pub mod holds;
mod instant;
pub mod interval;
mod jitter;
pub mod learning;
pub mod limits;
mod plan;
mod recommend;
#[cfg(test)]
mod specimens;
mod spending;
mod target_time;
mod timetable;
mod week;

pub use crate::schedule::explain::sentence::{
    pace_sentence, plan_lines, plan_sentence, wait_words,
};
pub use crate::schedule::explain::week_picture::{
    interval_in_force, rule_in_force, week_of_intervals,
};
pub use crate::schedule::explain::wording::rule_words;
pub(crate) use crate::schedule::holds::cache::counted;
pub use crate::schedule::holds::cache::{CacheState, Lifetime, TimingHeaders};
pub use crate::schedule::holds::in_force::{
    Restriction, floors_in_force, skipped_hours, skips_in_words,
};
pub use crate::schedule::holds::manual_poll::{ByHand, classify_manual_poll, urgency};
pub use crate::schedule::holds::rate_limits::announces_limit;
pub use crate::schedule::holds::retry_after::{Wait, WaitHeader};
pub use crate::schedule::interval::pace::Pace;
pub use decide::{decide, decide_time};
pub use facts::{Facts, FeedStatus, Learned, LearnedAnswer, PollFailure, ScheduleSettings};
pub use flaws::planning_flaws;
pub use following::{following_plans, with_pace};
pub use jitter::spread_unit;
pub use plan::{Decision, Plan, PlanKind, PlanStage, PlanStep, SettledBy, Value, plan_json};
pub use recommend::leaves_room_for_learning;
pub use spending::{Cost, cost_at_pace, places_polls, polls_until};
pub use timetable::Timetable;
