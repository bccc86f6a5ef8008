//! What was learned and what it is worth, as figures for the screen.

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::clocks::Shares;
use super::peaks::{Peak, PeakDays, peaks};
use super::price_plan::{ExpectedWaiting, PricePlan};
use super::profile::Profile;
use super::week_bins::{BIN_MINUTES, BINS, DAY_MINUTES, WEEK_MINUTES, real};
use crate::feed::Zone;
use crate::feed::text::counted_words;
use crate::schedule::explain::wording::{duration_words, offset_words};
use crate::schedule::interval::rules::ZoneClock;

/// With fewer publications than this polls are not placed, only spaced (`LEARN_MIN_UPDATES`).
pub(super) const PUBLICATIONS_MIN: usize = 8;
/// What was seen of a feed is told as known after so many weeks and publications.
const WEEKS_CERTAIN: i64 = 3;
const PUBLICATIONS_CERTAIN: usize = 30;
/// A sentence names at most so many times.
const TIMES_NAMED: usize = 2;
/// Times of different days count as one where they are no further apart, minutes.
const NEAR_MINUTES: u16 = 30;
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
    /// Publications that were seen to arrive, and not only dated by the first document.
    #[serde(default)]
    pub arrivals: usize,
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

/// What a rhythm is learned from, with the fields of [`LearnedRhythm`].
#[derive(Debug, Clone, Copy)]
pub(super) struct LearnedFrom {
    pub(super) publications: usize,
    pub(super) observed_minutes: i64,
    pub(super) whole_days: bool,
    pub(super) arrivals: usize,
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
    pub(super) fn from_profile(profile: &Profile, spending: &PaceCost, from: LearnedFrom) -> Self {
        let interval = real(WEEK_MINUTES) / spending.polls_per_week.max(1e-3);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "cut to a year"
        )]
        let interval_seconds = (interval * 60.0).round().clamp(1.0, 366.0 * 86_400.0) as u32;
        let LearnedFrom { publications, observed_minutes, whole_days, arrivals } = from;
        Self {
            publications,
            observed_minutes,
            whole_days,
            arrivals,
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

/// How a habit is told: as something known, or as something that only looks so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostsWords {
    /// `posts`, for how often.
    pub plain: &'static str,
    /// `usually posts`, for when.
    pub usual: &'static str,
}

impl LearnedRhythm {
    /// Whether enough was seen to say what it does: three weeks and thirty publications. Of less one says what it seems
    /// to do.
    pub const fn is_certain(&self) -> bool {
        self.observed_minutes >= WEEKS_CERTAIN * WEEK_MINUTES
            && self.publications >= PUBLICATIONS_CERTAIN
    }

    /// Whether clocks explain most of what it publishes; else it does so at any time.
    pub fn has_set_times(&self) -> bool {
        let [.., any_time] = self.shares;
        any_time <= 0.5
    }

    /// The verb for what was learned.
    pub fn posts_words(&self) -> PostsWords {
        let [.., any_time] = self.shares;
        match (self.is_certain(), any_time < 0.25) {
            (false, _) => PostsWords { plain: "seems to post", usual: "seems to post" },
            (true, true) => PostsWords { plain: "posts", usual: "usually posts" },
            (true, false) => PostsWords { plain: "posts", usual: "often posts" },
        }
    }

    /// How often it posts: `about 3 times a week`.
    pub fn rate_words(&self) -> String {
        let often = |times: f64, unit: &str| {
            if times < 1.5 {
                format!("about once {unit}")
            } else if times < 2.5 {
                format!("about twice {unit}")
            } else {
                format!("about {times:.0} times {unit}")
            }
        };
        match self.rate_per_week {
            rate if rate >= 5.5 => often(rate / 7.0, "a day"),
            rate if rate >= 0.7 => often(rate, "a week"),
            rate => format!("about every {:.0} weeks", (1.0 / rate.max(1e-2)).max(2.0)),
        }
    }

    /// What was learned, in one sentence without its end: from what, when it publishes, and what it is worth. Of little
    /// no more is said than what it seems to do; what waiting it saves, only after entries were seen to arrive.
    pub fn sentence(&self) -> String {
        if self.publications == 0 {
            return "nothing was learned: no publication with a usable date was seen".to_owned();
        }
        let watched = self.whole_days && self.arrivals >= PUBLICATIONS_MIN;
        let count = counted_words(self.publications, "publication", "publications");
        let what = if watched { format!("when {count} were first seen") } else { count };
        let from = format!("learned from {what} in {}", observed_words(self.observed_minutes));
        if self.publications < PUBLICATIONS_MIN {
            return format!("{from}: too few to tell the hours");
        }
        let PostsWords { plain, usual } = self.posts_words();
        let times = self.times_words();
        let habit = if self.whole_days && !watched {
            let often = self.rate_words();
            format!(
                "it {plain} {often}; its dates say a day, so its hours are learned as entries arrive"
            )
        } else if times.is_empty() {
            format!("it {plain} {}, at no set time", self.rate_words())
        } else {
            format!("it {usual} {times}")
        };
        if !self.is_certain() || self.arrivals < PUBLICATIONS_MIN {
            return format!("{from}: {habit}");
        }
        let (wait, even) = (rough_words(self.delay_minutes), rough_words(self.even_delay_minutes));
        format!("{from}: {habit}; a publication waits about {wait} instead of {even}")
    }

    /// At most two times at which most is published, with their zone; empty where there is no set time.
    fn times_words(&self) -> String {
        if !self.has_set_times() {
            return String::new();
        }
        let mut times = self.named_times();
        times.sort_by(|left, right| right.times_mean.total_cmp(&left.times_mean));
        times.truncate(TIMES_NAMED);
        times.sort_by_key(|time| time.minute);
        let mut words: Vec<String> = Vec::new();
        let mut days_before = None;
        for time in &times {
            let clock = format!("{:02}:{:02}", time.minute / 60, time.minute % 60);
            let same = days_before == Some(&time.days);
            words.push(if same { clock } else { format!("{}around {clock}", time.days) });
            days_before = Some(&time.days);
        }
        if words.is_empty() { String::new() } else { words.join(" and ") + &self.zone_words() }
    }

    /// The times that can be told apart after the time observed: days of the week after three weeks, working days and
    /// weekends after one. A time of all days is one time.
    fn named_times(&self) -> Vec<NamedTime> {
        let weeks = self.observed_minutes / WEEK_MINUTES;
        let mut times: Vec<NamedTime> = Vec::new();
        for peak in
            self.peaks.iter().filter(|peak| weeks >= WEEKS_CERTAIN || !peak.days.is_one_day())
        {
            let days = match peak.days {
                _ if weeks < 1 => String::new(),
                PeakDays::Working => "on working days ".to_owned(),
                PeakDays::Weekend => "on weekends ".to_owned(),
                PeakDays::One(day) => format!("on {}s ", day.name()),
            };
            let minute = (peak.minute + 2) / 5 * 5 % 1440;
            let near = |time: &&mut NamedTime| time.minute.abs_diff(minute) <= NEAR_MINUTES;
            let other = times.iter_mut().find(near).filter(|_| !peak.days.is_one_day());
            match other {
                Some(time) => {
                    let every_day = time.days != days;
                    time.times_mean = time.times_mean.max(peak.times_mean);
                    if every_day {
                        "every day ".clone_into(&mut time.days);
                    }
                }
                None => times.push(NamedTime { days, minute, times_mean: peak.times_mean }),
            }
        }
        times
    }

    fn zone_words(&self) -> String {
        match &self.zone {
            Zone::Utc => " (UTC)".to_owned(),
            Zone::Offset(minutes) => format!(" (UTC{})", offset_words(*minutes)),
            Zone::Named(name) => format!(" ({name})"),
        }
    }
}

/// A time that is named in a sentence.
struct NamedTime {
    /// Its days with a blank behind them; empty where they cannot be told apart.
    days: String,
    /// Minute of the day, rounded to five.
    minute: u16,
    times_mean: f64,
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

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
