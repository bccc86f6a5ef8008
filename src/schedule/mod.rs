//! When to poll next, and why then. Pure; stands on `feed`.
//!
//! [`decide()`] turns [`Facts`], a time and a share of jitter into a [`Plan`] that explains itself;
//! [`decide_time`] gives the same answer without the explanation. This folder does not know the
//! time, draws no random numbers, polls nothing and remembers nothing: a plan is computed anew
//! whenever something changed.
//!
//! The order of precedence is SPEC B.1 and stands in `decide`; the sources of an interval are a
//! table in `recommend`, the floors a table in `floors`.

mod answers;
mod bans;
mod bounds;
mod cache;
mod decide;
mod explain;
mod facts;
mod facts_json;
mod flaws;
mod floors;
mod following;
mod in_force;
mod instant;
mod jitter;
pub mod learning;
pub mod limits;
mod manual;
mod next_update;
mod plan;
mod plan_json;
mod recommend;
mod rest;
mod retry_after;
mod rules;
mod segments;
mod slots;
mod sources;
#[cfg(test)]
mod specimens;
mod spending;
mod timetable;
mod week;
mod week_picture;
mod wish;
mod wording;

pub use cache::{AnswerHeaders, CacheState, Lifetime};
pub use decide::{decide, decide_time};
pub use facts::{Facts, Failure, Learned, LearnedAnswer, Pace, Settings, Standing};
pub use facts_json::{StatedFacts, read_facts};
pub use following::{following, with_pace};
pub use in_force::{Restriction, floors_in_force, skipped_hours};
pub use jitter::spread_unit;
pub use manual::{ByHand, by_hand, urgency};
pub use plan::{Decision, Plan, PlanKind, SettledBy, Stage, Step, Value};
pub use plan_json::{plan_document, plan_json};
pub use recommend::leaves_room_for_learning;
pub use retry_after::{Wait, WaitHeader};
pub use spending::{Cost, cost, places_polls, polls_until};
pub use timetable::Timetable;
pub use week_picture::{interval_in_force, rule_in_force, week_of_intervals};
pub use wording::{duration_words, rule_words};
