//! The plan pane: the page it shows, and the state it is in.

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
    /// First line shown.
    pub top: usize,
    /// Times are shown in UTC, not in the reader's zone.
    pub utc: bool,
    /// Every step that led to the plan is shown, and times to the second.
    pub unfolded: bool,
    /// Hours being marked for a rule.
    pub outline: Option<Outline>,
    /// What it says.
    pub page: PlanPage,
    /// When it published; `None` while that is read.
    pub publications: Option<Arc<Publications>>,
    /// What is learned of it, whether that counts or not.
    pub learned: Option<Arc<LearnedPlan>>,
    /// The last polls, newest first; `None` while they are read.
    pub polls: Option<Vec<PollLogEntry>>,
}

/// Everything the plan pane says of a feed.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanPage {
    /// When it is looked at next, why then, and how to look now.
    pub sentence: String,
    /// The plan with its explanation.
    pub plan: Plan,
    /// Something that keeps all polls away, whatever the plan says.
    pub held_up: Option<String>,
    /// What each pace would bring.
    pub paces: Vec<PaceEffect>,
    /// What can be done.
    pub advice: Vec<Advice>,
    /// Floors that have not passed.
    pub floors: Vec<Restriction>,
    /// The publisher's hours and days to skip, in words, and whether they are kept.
    pub skips: Option<String>,
    /// The interval rules, in document order.
    pub rules: Vec<RuleRow>,
    /// Its rhythm; `None` while it is being read.
    pub rhythm: Option<RhythmPicture>,
    /// The week, where it is not the same all through.
    pub week: Option<WeekPicture>,
    /// What it was made from.
    pub(in crate::ui) made_from: MadeFrom,
}

/// What a page depends on.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ui) struct MadeFrom {
    pub(in crate::ui) facts: Facts,
    pub(in crate::ui) minute: i64,
    pub(in crate::ui) zone: Tz,
    pub(in crate::ui) held_up: Option<String>,
    pub(in crate::ui) known: Known,
}

/// What is known of a feed's rhythm.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Known {
    pub(crate) publications: Option<Arc<Publications>>,
    pub(crate) learned: Option<Arc<LearnedPlan>>,
}

/// What a pace would bring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaceEffect {
    /// The pace.
    pub pace: Pace,
    /// It is the one in force.
    pub in_force: bool,
    /// The interval and the next poll then, or why nothing changes; empty where the sentence of the page says it.
    pub words: String,
}

/// One interval rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRow {
    /// The interval it states, seconds.
    pub interval_seconds: i64,
    /// When it applies.
    pub when: String,
    /// It is in force now.
    pub in_force: bool,
}

/// A week, hour by hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeekPicture {
    /// 168 hours, Monday 00:00 of the shown zone first.
    pub hours: Vec<WeekHour>,
    /// The hour it is now.
    pub now: Option<usize>,
    /// The intervals there are, the shortest first.
    pub intervals: Vec<u32>,
}

/// One hour of a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeekHour {
    /// The interval in force at its start, seconds.
    pub interval_seconds: u32,
    /// The publisher asks to be left alone.
    pub skipped: bool,
}

/// Something the reader can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The key; empty where nothing is to be pressed.
    pub key: &'static str,
    /// What it does.
    pub text: String,
    /// From when on it works; `None`: now.
    pub from: Option<DateTime<Utc>>,
}

impl Advice {
    pub(in crate::ui) fn now(key: &'static str, text: impl Into<String>) -> Self {
        Self { key, text: text.into(), from: None }
    }
}

/// Shades above the faintest.
pub const SHADES: u8 = 4;

/// What is known of a feed's rhythm.
#[derive(Debug, Clone, PartialEq)]
pub struct RhythmPicture {
    /// Publications known.
    pub publications: usize,
    /// Entries had dates, but perhaps only old ones.
    pub has_old_dates: bool,
    /// What was learned, in one sentence without its end; `None`: nothing.
    pub sentence: Option<String>,
    /// Why it does not decide when the feed is polled; `None`: it does.
    pub not_followed: Option<&'static str>,
    /// The coming polls.
    pub coming: Vec<DateTime<Utc>>,
    /// 168 hours, Monday 00:00 of the shown zone first.
    pub hours: Vec<RhythmHour>,
    /// What is shaded is expected, not only observed.
    pub foretold: bool,
    /// Publications expected in the busiest hour; without a plan those observed in it.
    pub busiest: f64,
    /// The hour it is now.
    pub now: usize,
}

/// One hour of the week.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RhythmHour {
    /// Publications observed.
    pub published: u32,
    /// Expected publications a week; without a plan those observed.
    pub expected: f64,
    /// How much is expected, from 0, next to nothing, to [`SHADES`], the most.
    pub shade: u8,
    /// It is polled in this hour in the coming week.
    pub polled: bool,
}

/// Hours being marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// Where the cursor is: day, 0 is Monday, and hour.
    pub cursor: (u8, u8),
    /// The corner the marking began at.
    pub corner: Option<(u8, u8)>,
}

impl Outline {
    /// First and last day, first and last hour.
    pub fn bounds(&self) -> ((u8, u8), (u8, u8)) {
        let (day, hour) = self.cursor;
        let (from_day, from_hour) = self.corner.unwrap_or(self.cursor);
        ((day.min(from_day), day.max(from_day)), (hour.min(from_hour), hour.max(from_hour)))
    }

    /// Whether an hour of the week is marked.
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
