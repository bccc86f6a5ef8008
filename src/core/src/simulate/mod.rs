//! The experiment of the paper on interval rules: simulates polling policies on the publication times of feeds, and scores
//! them (SPEC F). The module has no side effects.
//!
//! Times are whole minutes since 1970. This module does not read files or the clock; it parses texts and computes scores and
//! statistics.

mod experiment;
#[cfg(test)]
mod figure_tests;
mod figures;
mod policies;
#[cfg(test)]
mod profile_tests;
mod publishing_statistics;
mod score;
mod source;
mod timeline_figure;
mod week_rules;

pub use experiment::{FeedOutcome, RulesHelp, Wanted, experiment, scored_by, table};
pub use figures::{Activity, DelayCurve, DelayPoint, FIGURE_MARK, FigurePage};
pub use policies::{Conditions, ExperimentInputs, PollPolicy, Poller, learned};
pub use publishing_statistics::{FormatRow, IntervalBand, Statistics};
pub use score::{Figures, MeanScore, Score, Scoring, Window, paper_table};
pub use source::{SimulatedFeed, read_budgets, read_rules, read_source};
pub use timeline_figure::{MONTHS, timeline_text, timelines_svg};
pub use week_rules::{WeekRules, sampled, stated_rules};
