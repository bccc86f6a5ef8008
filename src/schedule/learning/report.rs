//! What was learned and what it is worth, as figures for the screen.

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::clocks::Shares;
use super::peaks::{Peak, peaks};
use super::price_plan::{ExpectedWaiting, PricePlan};
use super::profile::Profile;
use super::week_bins::{BIN_MINUTES, BINS, DAY_MINUTES, WEEK_MINUTES, real};
use crate::feed::Zone;
use crate::schedule::explain::wording::{counted_words, duration_words};
use crate::schedule::interval::rules::ZoneClock;

/// With fewer publications than this polls are not placed, only spaced (`LEARN_MIN_UPDATES`).
pub(super) const PUBLICATIONS_MIN: usize = 8;
/// Weeks for which a plan is followed to count what it costs.
const WEEKS_FOLLOWED: usize = 4;

/// What was learned of a feed, and what its plan promises at normal pace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearnedRhythm {
    /// Publications it was learned from.
    pub publications: usize,
    /// Time over which they were observed, minutes.
    pub observed_minutes: i64,
    /// Its dates are days without times.
    pub whole_days: bool,
    /// Expected publications a week.
    pub rate_per_week: f64,
    /// How far each clock is believed, in the order of [`super::PublicationClock::ALL`].
    pub shares: Shares,
    pub polls_per_week: f64,
    /// Mean interval, seconds.
    pub interval_seconds: u32,
    /// Mean wait of a publication, minutes, if the feed goes on as it did.
    pub delay_minutes: f64,
    /// The same under a fixed interval that costs as many polls.
    pub even_delay_minutes: f64,
    /// Times at which most is published, the strongest kind first.
    pub peaks: Vec<Peak>,
    /// The zone of the plan's clock, in which peaks and hours are counted.
    pub zone: Zone,
    /// Expected publications in each hour of the week, Monday 00:00 first, on the clock of the plan.
    pub hours: Vec<f64>,
}

/// What a plan costs at one pace, and what it promises.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PaceCost {
    pub polls_per_week: f64,
    /// Mean wait of a publication, minutes, if the feed goes on as it did.
    pub delay_minutes: f64,
}

impl PaceCost {
    /// Follows a plan for some weeks.
    pub(super) fn of_plan(plan: &PricePlan, waiting: &ExpectedWaiting) -> Self {
        let end = WEEKS_FOLLOWED * BINS;
        let (mut point, mut polls) = (0, 0);
        let (mut waited, mut published) = (0.0, 0.0);
        while point < end {
            let next = plan.next(point);
            let (from, to) = (point % BINS, next - point + point % BINS);
            waited += waiting.between(from, to);
            published += waiting.published_between(from, to);
            point = next;
            polls += 1;
        }
        let weeks =
            real(i64::try_from(point).unwrap_or(1)) / real(i64::try_from(BINS).unwrap_or(1));
        let delay_minutes = if published > 0.0 { waited / published } else { 0.0 };
        Self { polls_per_week: f64::from(polls) / weeks, delay_minutes }
    }

    /// Of an even interval, seconds.
    pub(super) fn of_even_interval(seconds: i64) -> Self {
        let minutes = real(seconds.max(1)) / 60.0;
        Self { polls_per_week: real(WEEK_MINUTES) / minutes, delay_minutes: minutes / 2.0 }
    }
}

impl LearnedRhythm {
    pub(super) fn from_profile(
        profile: &Profile,
        spending: &PaceCost,
        publications: usize,
        observed_minutes: i64,
        whole_days: bool,
    ) -> Self {
        let interval = real(WEEK_MINUTES) / spending.polls_per_week.max(1e-3);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "cut to a year"
        )]
        let interval_seconds = (interval * 60.0).round().clamp(1.0, 366.0 * 86_400.0) as u32;
        Self {
            publications,
            observed_minutes,
            whole_days,
            rate_per_week: profile.rate,
            shares: profile.shares,
            polls_per_week: spending.polls_per_week,
            interval_seconds,
            delay_minutes: spending.delay_minutes,
            even_delay_minutes: interval / 2.0,
            peaks: peaks(profile),
            zone: zone_of(profile.clock),
            hours: profile.lambda.clone().scaled(real(BIN_MINUTES)).hours(),
        }
    }
}

fn zone_of(clock: ZoneClock) -> Zone {
    match clock {
        ZoneClock::Fixed(0) | ZoneClock::Named(Tz::UTC) => Zone::Utc,
        ZoneClock::Fixed(seconds) => Zone::Offset(i16::try_from(seconds / 60).unwrap_or(0)),
        ZoneClock::Named(zone) => Zone::Named(zone.name().to_owned()),
    }
}

impl LearnedRhythm {
    /// What was learned, in one sentence without its end: from what, which clocks, and what it is worth.
    pub fn sentence(&self) -> String {
        let from = format!(
            "learned from {} in {}",
            counted_words(self.publications, "publication", "publications"),
            observed_words(self.observed_minutes)
        );
        if self.publications < PUBLICATIONS_MIN {
            return format!("{from}: too few to tell the hours");
        }
        let waits = format!(
            "a publication waits about {} instead of {}",
            rough_words(self.delay_minutes),
            rough_words(self.even_delay_minutes)
        );
        let clocks = self.clocks_words();
        if clocks.is_empty() { from } else { format!("{from}: {clocks}; {waits}") }
    }

    /// The clocks that explain a twentieth of the publications or more, strongest first.
    fn clocks_words(&self) -> String {
        let [minute_of_week, time_of_week, minute_of_day, time_of_day, any_time] = self.shares;
        let near = |weekly: bool| {
            let peaks = self.peaks.iter().filter(|peak| peak.days.is_one_day() == weekly);
            let words: Vec<String> = peaks.map(Peak::words).collect();
            if words.is_empty() { String::new() } else { format!(", such as {}", words.join(", ")) }
        };
        let zone = match &self.zone {
            Zone::Utc => " (UTC)".to_owned(),
            Zone::Offset(minutes) => {
                format!(" (UTC{})", crate::schedule::explain::wording::offset_words(*minutes))
            }
            Zone::Named(name) => format!(" ({name})"),
        };
        let mut parts = vec![
            (minute_of_day + time_of_day, format!("at their time of the day{}", near(false))),
            (minute_of_week + time_of_week, format!("at their time of the week{}", near(true))),
            (any_time, "at no set time".to_owned()),
        ];
        parts.retain(|(share, _)| *share >= 0.05);
        parts.sort_by(|left, right| right.0.total_cmp(&left.0));
        let words: Vec<String> = parts
            .into_iter()
            .map(|(share, words)| format!("{:.0} % {words}", share * 100.0))
            .collect();
        let shown = self.peaks.is_empty();
        if shown { words.join("; ") } else { words.join("; ") + &zone }
    }
}

fn observed_words(minutes: i64) -> String {
    let (weeks, days) =
        ((minutes + WEEK_MINUTES / 2) / WEEK_MINUTES, (minutes + DAY_MINUTES / 2) / DAY_MINUTES);
    if weeks >= 2 {
        counted_words(weeks, "week", "weeks")
    } else {
        counted_words(days.max(1), "day", "days")
    }
}

/// Minutes in words, as exact as they deserve.
fn rough_words(minutes: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "cut to a year")]
    let minutes = minutes.clamp(0.0, 527_040.0).round() as i64;
    let step = if minutes >= 120 { 10 } else { 1 };
    duration_words((minutes + step / 2) / step * step * 60)
}
