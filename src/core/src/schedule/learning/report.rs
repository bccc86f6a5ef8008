//! Summarizes what was learned about a feed, and the benefit of its plan, as figures and sentences for the screen.

use std::collections::BTreeSet;
use std::ops::Range;

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::clocks::Shares;
use super::price_plan::{ExpectedWaiting, PricePlan};
use super::profile::{Peak, PeakDays, Profile, peaks};
use super::week_bins::{BIN_MINUTES, BINS, DAY_MINUTES, WEEK_MINUTES, real};
use crate::feed::hints::INTERVAL_MINUTES_MAX;
use crate::feed::text::counted_words;
use crate::feed::{DayOfWeek, Zone};
use crate::schedule::rules::{ZoneClock, offset_words};
use crate::words::duration_words;
use crate::words::frequency::Frequency;

/// Minimum number of publications for placing polls at specific times. With fewer, only an interval is used (`LEARN_MIN_UPDATES`).
pub(super) const PUBLICATIONS_MIN: usize = 8;
/// Minimum number of observed weeks after which a sentence describes a habit as certain.
const WEEKS_CERTAIN: i64 = 3;
/// Minimum number of publications after which a sentence describes a habit as certain.
const PUBLICATIONS_CERTAIN: usize = 30;
/// Maximum number of times of day that a sentence mentions.
const TIMES_NAMED: usize = 2;
/// Publications that are expected at a time on one of its days for the time to be usual.
const USUAL_ON_A_DAY: f64 = 0.4;
/// Maximum difference at which times on different days count as the same, in minutes.
const NEAR_MINUTES: u16 = 30;
/// Number of weeks for which a plan is simulated to measure its cost.
const WEEKS_FOLLOWED: usize = 4;

/// The rhythm learned for a feed, and the number of polls and delay to expect from its plan at normal pace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearnedRhythm {
    /// Number of publications from which the rhythm was learned.
    pub publications: usize,
    /// Time over which the publications were observed, in minutes.
    pub observed_minutes: i64,
    /// Whether the feed's dates contain only days and no times of day.
    pub whole_days: bool,
    /// Number of publications that were seen to arrive, as opposed to only being dated in the first document.
    #[serde(default)]
    pub arrivals: usize,
    /// Whether any entry had a date, even if too old to learn from.
    #[serde(default)]
    pub has_dates: bool,
    /// Expected publications a week.
    pub rate_per_week: f64,
    /// Share of each clock, in the order of [`super::PublicationClock::ALL`].
    pub shares: Shares,
    pub polls_per_week: f64,
    /// Mean interval between the planned polls, in seconds.
    pub interval_seconds: u32,
    /// Average delay of a publication, in minutes, if the feed continues as before.
    pub delay_minutes: f64,
    /// Average delay with a fixed interval and the same number of polls, in minutes.
    pub even_delay_minutes: f64,
    /// Times with the most publications, strongest kind first.
    pub peaks: Vec<Peak>,
    /// The zone of the plan, in which peaks and hours are counted.
    pub zone: Zone,
    /// Expected publications in each hour of the week, starting at Monday 00:00, in the plan's zone.
    pub hours: Vec<f64>,
}

/// The data a rhythm is learned from, with the same fields as [`LearnedRhythm`].
#[derive(Debug, Clone, Copy)]
pub(super) struct LearnedFrom {
    pub(super) publications: usize,
    pub(super) observed_minutes: i64,
    pub(super) whole_days: bool,
    pub(super) arrivals: usize,
    pub(super) has_dates: bool,
}

/// The cost and the expected delay of a plan at one pace.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PaceCost {
    pub polls_per_week: f64,
    /// Average delay of a publication, in minutes, if the feed continues as before.
    pub delay_minutes: f64,
}

impl PaceCost {
    /// Returns the cost of a plan, measured by simulating several weeks.
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

    /// Returns the cost of polling at a fixed interval, which is given in seconds.
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
            reason = "limited to one year"
        )]
        let interval_seconds = (interval * 60.0).round().clamp(1.0, 366.0 * 86_400.0) as u32;
        let LearnedFrom { publications, observed_minutes, whole_days, arrivals, has_dates } = from;
        Self {
            publications,
            observed_minutes,
            whole_days,
            arrivals,
            has_dates,
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

/// The verbs with which sentences describe a habit, depending on how certain the habit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostsWords {
    /// Verb for a rate: `posts`.
    pub plain: &'static str,
    /// Verb for a time: `usually posts`.
    pub usual: &'static str,
}

impl LearnedRhythm {
    /// Checks whether enough was observed to describe a habit as certain: three weeks and thirty publications. With less data,
    /// sentences only say what the feed seems to do.
    pub(crate) const fn is_certain(&self) -> bool {
        self.observed_minutes >= WEEKS_CERTAIN * WEEK_MINUTES
            && self.publications >= PUBLICATIONS_CERTAIN
    }

    /// Checks whether regular times explain at least half of the publications.
    pub(crate) fn has_set_times(&self) -> bool {
        let [.., any_time] = self.shares;
        any_time <= 0.5
    }

    /// Returns the verbs with which sentences describe what was learned, depending on how certain the habit is.
    pub(crate) fn posts_words(&self) -> PostsWords {
        let [.., any_time] = self.shares;
        match (self.is_certain(), any_time < 0.25) {
            (false, _) => PostsWords { plain: "seems to post", usual: "seems to post" },
            (true, true) => PostsWords { plain: "posts", usual: "usually posts" },
            (true, false) => PostsWords { plain: "posts", usual: "often posts" },
        }
    }

    /// Describes how often the feed posts: `about 3 times a week`.
    pub(crate) fn rate_words(&self) -> String {
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
            // Lists that are ordered by rarity have the same words.
            rate => Frequency::of_week(rate).words().to_owned(),
        }
    }

    /// Describes in one sentence, without the full stop, what the plan was learned from, when the feed publishes, and the delay
    /// that the plan saves. With little data the sentence only says what the feed seems to do. The saved delay appears only after
    /// entries were seen to arrive.
    pub fn sentence(&self) -> String {
        if self.publications == 0 {
            let why = if self.has_dates {
                "all its dates are more than twelve weeks old"
            } else {
                "no publication with a usable date was seen"
            };
            return format!("nothing was learned: {why}");
        }
        let watched = self.whole_days && self.arrivals >= PUBLICATIONS_MIN;
        let count = counted_words(self.publications, "publication", "publications");
        let what = if watched { format!("the arrival of {count}") } else { count };
        let from = format!("learned from {what} in {}", observed_words(self.observed_minutes));
        if self.publications < PUBLICATIONS_MIN {
            return format!("{from}: too few to see a pattern");
        }
        let PostsWords { plain, usual } = self.posts_words();
        let times = self.times_words();
        let named = real(i64::try_from(self.named_times().len().min(TIMES_NAMED)).unwrap_or(1));
        // The named times cannot be all of a feed that posts much more often.
        let is_part = self.rate_per_week / 7.0 >= named * 5.0;
        let habit = if self.whole_days && !watched {
            let often = self.rate_words();
            format!(
                "it {plain} {often}; its dates have no time of day, so its hours are learned as entries arrive"
            )
        } else if times.is_empty() {
            format!("it {plain} {}, at no set time", self.rate_words())
        } else if is_part {
            format!("it {plain} {}, most often {times}", self.rate_words())
        } else {
            format!("it {usual} {times}")
        };
        if !self.is_certain() || self.arrivals < PUBLICATIONS_MIN {
            return format!("{from}: {habit}");
        }
        let (wait, even) = (rough_words(self.delay_minutes), rough_words(self.even_delay_minutes));
        format!("{from}: {habit}; the average delay is about {wait} instead of {even}")
    }

    /// Describes at most two of the times with the most publications, with their zone. Returns an empty string if there is no
    /// regular time.
    fn times_words(&self) -> String {
        if !self.has_set_times() {
            return String::new();
        }
        let mut times = self.named_times();
        if !self.are_usual(&times) {
            return String::new();
        }
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

    /// Returns the times that sentences can mention. Single days of the week are included after three weeks of observation, and
    /// working days and weekends are distinguished after one week. The same time on both is listed once.
    fn named_times(&self) -> Vec<NamedTime> {
        let weeks = self.observed_minutes / WEEK_MINUTES;
        let mut times: Vec<NamedTime> = Vec::new();
        for peak in
            self.peaks.iter().filter(|peak| weeks >= WEEKS_CERTAIN || !peak.days.is_one_day())
        {
            let (days, on) = match peak.days {
                _ if weeks < 1 => (String::new(), 0..7),
                PeakDays::Working => ("on working days ".to_owned(), 0..5),
                PeakDays::Weekend => ("on weekends ".to_owned(), 5..7),
                PeakDays::One(day) => {
                    let place = DayOfWeek::ALL.iter().position(|other| *other == day).unwrap_or(0);
                    (format!("on {}s ", day.name()), place..place + 1)
                }
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
                        time.on = 0..7;
                    }
                }
                None => times.push(NamedTime { days, on, minute, times_mean: peak.times_mean }),
            }
        }
        times
    }

    /// Checks whether times describe when the feed posts: it posts at one of them on two in five of their days, or half of its
    /// publications are at them. Hours that merely had a few more publications than others do not.
    fn are_usual(&self, times: &[NamedTime]) -> bool {
        let all: f64 = self.hours.iter().sum();
        let mut strongest: Vec<&NamedTime> = times.iter().collect();
        strongest.sort_by(|left, right| right.times_mean.total_cmp(&left.times_mean));
        let (mut covered, mut most) = (BTreeSet::new(), 0.0_f64);
        for time in strongest.into_iter().take(TIMES_NAMED) {
            let near = [time.minute + 1440 - NEAR_MINUTES, time.minute + 1440 + NEAR_MINUTES];
            let hours = |day: usize| near.map(|minute| day * 24 + usize::from(minute % 1440 / 60));
            let expected = |places: &BTreeSet<usize>| -> f64 {
                places.iter().filter_map(|hour| self.hours.get(*hour)).sum()
            };
            for day in time.on.clone() {
                most = most.max(expected(&BTreeSet::from(hours(day))));
                covered.extend(hours(day));
            }
        }
        let covered: f64 = covered.iter().filter_map(|hour| self.hours.get(*hour)).sum();
        all <= 0.0 || most >= USUAL_ON_A_DAY || covered * 2.0 >= all
    }

    fn zone_words(&self) -> String {
        match &self.zone {
            Zone::Utc => " (UTC)".to_owned(),
            Zone::Offset(minutes) => format!(" (UTC{})", offset_words(*minutes)),
            Zone::Named(name) => format!(" ({name})"),
        }
    }
}

/// A time that a sentence mentions.
struct NamedTime {
    /// The days in words, followed by a space; empty if working days and weekends cannot be distinguished yet.
    days: String,
    /// The days as numbers; Monday is 0.
    on: Range<usize>,
    /// Minute of the day, rounded to a multiple of five.
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

/// Formats a number of minutes in words, rounded to a precision that depends on its size.
fn rough_words(minutes: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "limited to one year")]
    let minutes = minutes.clamp(0.0, f64::from(INTERVAL_MINUTES_MAX)).round() as i64;
    let step = if minutes >= 120 { 10 } else { 1 };
    duration_words((minutes + step / 2) / step * step * 60)
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
