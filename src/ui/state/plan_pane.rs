//! The plan pane: its state and the page that it shows.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::engine::poll::poll_log::PollLogEntry;
use backissue_core::history::FeedKey;
use backissue_core::schedule::learning::{LearnedPlan, Publications};
use backissue_core::schedule::{Facts, Pace, Plan, Restriction};

/// The plan pane.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanPane {
    /// The feed.
    pub feed: FeedKey,
    /// First visible line.
    pub top: usize,
    /// `true` if times are in UTC instead of the user's zone.
    pub utc: bool,
    /// `true` if all steps of the plan are shown, with times to the second.
    pub unfolded: bool,
    /// Hours being marked for a rule.
    pub outline: Option<HourSelection>,
    /// Contents of the page.
    pub page: PlanPage,
    /// Publication times of the feed. `None` while they are being read.
    pub publications: Option<Arc<Publications>>,
    /// Learned plan of the feed, whether it is applied or not.
    pub learned: Option<Arc<LearnedPlan>>,
    /// Last polls, newest first. `None` while they are being read.
    pub polls: Option<Vec<PollLogEntry>>,
}

/// The contents of the plan pane for a feed.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanPage {
    /// Sentence about the next poll, its reason, and how to poll now.
    pub sentence: String,
    /// The plan with its explanation.
    pub plan: Plan,
    /// Reason that delays all polls, regardless of the plan.
    pub held_up: Option<String>,
    /// Effect of each pace.
    pub paces: Vec<PaceEffect>,
    /// Possible actions of the user.
    pub advice: Vec<Advice>,
    /// Restrictions that are still in force.
    pub floors: Vec<Restriction>,
    /// The publisher's hours and days to skip, in words, and whether they are respected.
    pub skips: Option<String>,
    /// Interval rules, in document order.
    pub rules: Vec<RuleRow>,
    /// Rhythm of the feed. `None` while it is being read.
    pub rhythm: Option<RhythmPicture>,
    /// Chart of the week. `None` if all hours are equal.
    pub week: Option<WeekPicture>,
    /// Inputs that the page was built from.
    pub(in crate::ui) made_from: MadeFrom,
}

/// The inputs of a page.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ui) struct MadeFrom {
    pub(in crate::ui) facts: Facts,
    pub(in crate::ui) minute: i64,
    pub(in crate::ui) zone: Tz,
    pub(in crate::ui) held_up: Option<String>,
    pub(in crate::ui) known: KnownPublications,
}

/// The known publication times of a feed, and the plan learned from them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct KnownPublications {
    pub(crate) publications: Option<Arc<Publications>>,
    pub(crate) learned: Option<Arc<LearnedPlan>>,
}

/// The effect of a pace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaceEffect {
    /// The pace.
    pub pace: Pace,
    /// `true` if it is the current pace.
    pub in_force: bool,
    /// Resulting interval and next poll, or the reason why nothing changes. Empty if [`PlanPage::sentence`] already states the
    /// interval.
    pub words: String,
}

/// One interval rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRow {
    /// Interval in seconds.
    pub interval_seconds: i64,
    /// Hours and days when the rule applies.
    pub when: String,
    /// `true` if the rule applies now.
    pub in_force: bool,
}

/// A week, hour by hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeekPicture {
    /// The 168 hours. The first is Monday 00:00 in the displayed zone.
    pub hours: Vec<WeekHour>,
    /// The current hour.
    pub now: Option<usize>,
    /// All distinct intervals, shortest first.
    pub intervals: Vec<u32>,
}

/// One hour of a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeekHour {
    /// Interval in force at the start of the hour, in seconds.
    pub interval_seconds: u32,
    /// `true` if the publisher requests no polls in this hour.
    pub skipped: bool,
}

/// Advice about an action of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// Key for the action. Empty if there is no key to press.
    pub key: &'static str,
    /// Effect of the action.
    pub text: String,
    /// Time from which the action is possible. `None` means now.
    pub from: Option<DateTime<Utc>>,
}

impl Advice {
    pub(in crate::ui) fn now(key: &'static str, text: impl Into<String>) -> Self {
        Self { key, text: text.into(), from: None }
    }
}

/// Number of shades, not counting shade 0 (almost nothing).
pub const SHADES: u8 = 4;

/// The rhythm of a feed.
#[derive(Debug, Clone, PartialEq)]
pub struct RhythmPicture {
    /// Number of known publications.
    pub publications: usize,
    /// `true` if entries had dates, possibly only old ones.
    pub has_old_dates: bool,
    /// Summary of the learned rhythm as one sentence without the full stop. `None` if nothing was learned.
    pub sentence: Option<String>,
    /// Reason why the rhythm does not determine the polls. `None` if it does.
    pub not_followed: Option<&'static str>,
    /// The coming polls.
    pub coming: Vec<DateTime<Utc>>,
    /// The 168 hours. The first is Monday 00:00 in the displayed zone.
    pub hours: Vec<RhythmHour>,
    /// `true` if the shades show expected publications instead of observed ones.
    pub foretold: bool,
    /// Number of publications expected in the busiest hour or, without a learned plan, observed in it.
    pub busiest: f64,
    /// The current hour.
    pub now: usize,
}

/// One hour of the week.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RhythmHour {
    /// Number of observed publications.
    pub published: u32,
    /// Number of publications expected in this hour each week or, without a learned plan, the number observed.
    pub expected: f64,
    /// Shade of the hour, from 0 (almost nothing expected) to [`SHADES`] (the maximum).
    pub shade: u8,
    /// `true` if the feed is polled in this hour within the next week.
    pub polled: bool,
}

/// Hours being marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HourSelection {
    /// Position of the cursor: day (0 is Monday) and hour.
    pub cursor: (u8, u8),
    /// Corner where the marking started.
    pub corner: Option<(u8, u8)>,
}

impl HourSelection {
    /// Returns the first and last day and the first and last hour.
    pub fn bounds(&self) -> ((u8, u8), (u8, u8)) {
        let (day, hour) = self.cursor;
        let (from_day, from_hour) = self.corner.unwrap_or(self.cursor);
        ((day.min(from_day), day.max(from_day)), (hour.min(from_hour), hour.max(from_hour)))
    }

    /// Checks whether an hour of the week is marked.
    pub fn contains(&self, hour: usize) -> bool {
        let ((first_day, last_day), (first_hour, last_hour)) = self.bounds();
        let (day, hour) = (hour / 24, hour % 24);
        (usize::from(first_day)..=usize::from(last_day)).contains(&day)
            && (usize::from(first_hour)..=usize::from(last_hour)).contains(&hour)
    }

    pub(in crate::ui) fn step(&mut self, days: i8, hours: i8) {
        let (day, hour) = self.cursor;
        let moved = |at: u8, by: i8, count: i8| {
            let at = i8::try_from(at).unwrap_or(0).saturating_add(by).rem_euclid(count);
            u8::try_from(at).unwrap_or(0)
        };
        self.cursor = (moved(day, days, 7), moved(hour, hours, 24));
    }
}
