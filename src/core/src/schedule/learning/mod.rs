//! Learns when a feed publishes and places polls accordingly (SPEC B.2 rank 6).
//!
//! [`Publications`] records what each fetch found. [`learn`] computes a [`LearnedPlan`] from this record, outside the main loop.
//! The `recommend` module decides whether the plan is used.

mod clocks;
mod heat_map;
mod learned_json;
mod learned_plan;
mod peaks;
mod price_plan;
mod profile;
mod publications;
mod rectangles;
mod report;
mod stamp_times;
mod stamp_zone;
mod step_runs;
mod usual_gap;
mod week_bins;

pub use clocks::{CLOCKS, PublicationClock, Shares};
pub use heat_map::HeatMap;
pub use learned_json::learned_json;
pub use learned_plan::{
    LearnTerms, LearnedPlan, LearnedRecord, MINUTE_MAX, PRICE_MINUTES, learn, learn_for_polls,
};
pub use peaks::{Peak, PeakDays};
pub use publications::{Fetch, PUBLICATIONS_MAX, Publications, Stamp, WINDOW_MINUTES};
pub use rectangles::{Marking, Rectangle, rectangles};
pub use report::{LearnedRhythm, PaceCost, PostsWords};
pub use stamp_zone::StampZone;
pub use usual_gap::UsualGap;
