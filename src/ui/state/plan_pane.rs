//! The state of the plan pane, and the contents of the page that it shows.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::engine::poll::poll_log::PollLogEntry;
use backissue_core::history::FeedKey;
use backissue_core::schedule::learning::{LearnedPlan, Publications};
use backissue_core::schedule::{Facts, Pace, Plan, Restriction};

/// The state of the plan pane.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanPane {
    /// The feed whose plan is shown.
    pub feed: FeedKey,
    /// Index of the first visible line.
    pub top: usize,
    /// `true` if times are in UTC instead of the user's zone.
    pub utc: bool,
    /// `true` if all steps that led to the plan are shown, with times to the second.
    pub unfolded: bool,
    /// Hours that the user is marking for an interval rule. `None` if no hours are being marked.
    pub outline: Option<HourSelection>,
    /// Contents of the page that is shown.
    pub page: PlanPage,
    /// Publication times of the feed. `None` while they are being read from the store.
    pub publications: Option<Arc<Publications>>,
    /// Plan that was learned from the publication times of the feed, even if it does not determine the polls.
    pub learned: Option<Arc<LearnedPlan>>,
    /// Last polls of the feed, newest first. `None` while they are being read from the store.
    pub polls: Option<Vec<PollLogEntry>>,
}

/// The contents of the plan pane for a feed.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanPage {
    /// Sentence that describes the next poll, its reason, and how to poll now.
    pub sentence: String,
    /// The plan of the feed, with the steps that led to it.
    pub plan: Plan,
    /// Reason that delays the polls of the feed regardless of the plan. `None` if nothing delays them.
    pub held_up: Option<String>,
    /// What would change at each pace that the user can choose.
    pub paces: Vec<PaceEffect>,
    /// What the user can do about the plan.
    pub advice: Vec<Advice>,
    /// Restrictions on polling that still apply.
    pub floors: Vec<Restriction>,
    /// The hours and days in which the publisher requests no polls, in words, and whether the plan respects them.
    pub skips: Option<String>,
    /// The interval rules of the feed, in the order in which they were defined.
    pub rules: Vec<RuleRow>,
    /// Publication rhythm of the feed. `None` while the publication times are being read from the store.
    pub rhythm: Option<RhythmPicture>,
    /// Chart of the intervals in the current week. `None` if all hours have the same interval.
    pub week: Option<WeekPicture>,
    /// Inputs that the page was built from. If they change, the page is rebuilt.
    pub(in crate::ui) made_from: MadeFrom,
}

/// The inputs that a page of the plan pane is built from.
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

/// What would change if the user chose a pace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaceEffect {
    /// The pace that the user can choose.
    pub pace: Pace,
    /// `true` if this is the current pace of the feed.
    pub in_force: bool,
    /// Resulting interval and next poll, or the reason why this pace changes nothing. Empty if [`PlanPage::sentence`] already
    /// states the interval.
    pub words: String,
}

/// One interval rule of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRow {
    /// Interval between polls in seconds.
    pub interval_seconds: i64,
    /// Hours and days when the rule applies, in words.
    pub when: String,
    /// `true` if the rule applies now.
    pub in_force: bool,
}

/// The intervals in the hours of the current week.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeekPicture {
    /// The 168 hours of the week. The first is Monday 00:00 in the displayed time zone.
    pub hours: Vec<WeekHour>,
    /// Index of the current hour.
    pub now: Option<usize>,
    /// All distinct intervals in seconds, shortest first.
    pub intervals: Vec<u32>,
}

/// One hour of a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeekHour {
    /// Interval that applies at the start of the hour, in seconds.
    pub interval_seconds: u32,
    /// `true` if the publisher requests no polls in this hour.
    pub skipped: bool,
}

/// Advice about something that the user can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// Name of the command that performs the action. Empty if none does.
    pub command: &'static str,
    /// Description of what the action does.
    pub text: String,
    /// Time from which the action is possible. `None` means that it is possible now.
    pub from: Option<DateTime<Utc>>,
}

impl Advice {
    pub(in crate::ui) fn now(command: &'static str, text: impl Into<String>) -> Self {
        Self { command, text: text.into(), from: None }
    }
}

/// Number of shades for the hours of a week, not counting shade 0, which means that almost no publications are expected.
pub const SHADES: u8 = 4;

/// The publication rhythm of a feed.
#[derive(Debug, Clone, PartialEq)]
pub struct RhythmPicture {
    /// Number of publications with known times.
    pub publications: usize,
    /// Why nothing is known if there are no publications, a sentence.
    pub unknown: &'static str,
    /// Summary of the learned rhythm as one sentence without the full stop. `None` if no rhythm was learned.
    pub sentence: Option<String>,
    /// Reason why the learned rhythm does not determine the polls. `None` if it does.
    pub not_followed: Option<&'static str>,
    /// Times of the coming polls, earliest first.
    pub coming: Vec<DateTime<Utc>>,
    /// The 168 hours of the week. The first is Monday 00:00 in the displayed time zone.
    pub hours: Vec<RhythmHour>,
    /// `true` if the shades show expected publications. `false` if they show observed publications.
    pub foretold: bool,
    /// Number of publications expected in the busiest hour of the week or, without a learned plan, observed in it.
    pub busiest: f64,
    /// Index of the current hour.
    pub now: usize,
}

/// One hour of the week in the publication rhythm.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RhythmHour {
    /// Number of publications observed in this hour.
    pub published: u32,
    /// Number of publications expected in this hour each week or, without a learned plan, the number observed.
    pub expected: f64,
    /// Shade of the hour, from 0 (almost nothing expected) to [`SHADES`] (the maximum).
    pub shade: u8,
    /// `true` if the feed is polled in this hour within the next week.
    pub polled: bool,
}

/// Hours of the week that the user is marking for an interval rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HourSelection {
    /// Position of the cursor: the day (0 is Monday) and the hour.
    pub cursor: (u8, u8),
    /// Day and hour of the corner where the marking started. `None` if it has not started yet.
    pub corner: Option<(u8, u8)>,
}

impl HourSelection {
    /// Returns the first and last marked day, and the first and last marked hour.
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
