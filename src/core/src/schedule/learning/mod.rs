//! Learning a feed's rhythm from its publications, and placing polls by it (SPEC B.2 rank 6).
//!
//! [`Publications`] remembers what fetches showed; [`learn`] makes a [`LearnedPlan`] of it, off the loop, at most daily.
//! This folder decides nothing: whether a learned plan counts is the business of `recommend`.

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
