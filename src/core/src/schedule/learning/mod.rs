//! Learns when a feed publishes and places polls accordingly (SPEC B.2 rank 6).
//!
//! [`Publications`] records what each fetch found. [`learn`] computes a [`LearnedPlan`] from this record, outside the main loop.
//! The `recommend` module decides whether the plan is used.

mod clocks;
mod heat_map;
mod learned_plan;
mod price_plan;
mod profile;
mod publications;
mod report;
mod week_bins;

pub use clocks::{CLOCKS, PublicationClock, Shares};
pub use heat_map::{HeatMap, Marking, Rectangle, rectangles};
pub use learned_plan::{
    LearnTerms, LearnedPlan, LearnedRecord, MINUTE_MAX, PRICE_MINUTES, learn, learn_for_polls,
    learned_json,
};
pub use profile::{Peak, PeakDays};
pub use publications::{
    Fetch, PUBLICATIONS_MAX, Publications, Stamp, StampZone, UsualGap, WINDOW_MINUTES,
};
pub use report::{LearnedRhythm, PaceCost, PostsWords};
