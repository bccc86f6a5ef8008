//! Plans polls from a feed's past publications, and computes the next poll after any last poll (SCHEDULING section 3 and its
//! annex).
//!
//! Formats a learned plan as JSON, for `plan --json` (UX 5).

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::clocks::{Precision, PublicationClock};
use super::price_plan::{ExpectedWaiting, PricePlan, STEPS_MAX, Terms};
use super::profile::{Peak, PeakDays, Profile, PublicationHistory, foresight, profile};
use super::publications::{Publications, minute};
use super::report::{LearnedFrom, LearnedRhythm, PUBLICATIONS_MIN, PaceCost};
use super::week_bins::{BIN_MINUTES, BINS, DAY_MINUTES, WEEK_MINUTES, real};
use crate::feed::{DayOfWeek, Zone};
use crate::schedule::limits::{PLACED_JITTER_SECONDS, Pace};
use crate::schedule::rules::ZoneClock;

/// Default cost per poll: the additional minutes of waiting that are accepted for each poll saved.
pub const PRICE_MINUTES: f64 = 30.0;
/// Time zones of the regions in which most publishers live. Days, weekends and daylight saving time begin at different times in
/// them.
const OTHER_ZONES: [Tz; 2] = [Tz::America__New_York, Tz::Europe__Berlin];
/// Margin by which a zone in [`OTHER_ZONES`] must predict the past better than the expected zone to be chosen (natural logarithm).
const ZONE_MARGIN: f64 = 3.0;
/// Latest time considered, in minutes since 1970: about the year 10,000.
pub const MINUTE_MAX: i64 = 4_200_000_000;
/// Maximum time between a publication peak and a later poll that is explained by that peak, in minutes.
const PEAK_BEHIND_MINUTES: i64 = 120;
/// Distance between two points of the grid on which polls are placed, in seconds.
const STEP_SECONDS: i64 = BIN_MINUTES * 60;

/// The user's requirements for learned plans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearnTerms {
    /// See [`super::super::ScheduleSettings::min_seconds`].
    pub min_seconds: u32,
    /// See [`super::super::ScheduleSettings::max_seconds`].
    pub max_seconds: u32,
    /// Cost per poll: the additional minutes of waiting that are accepted for each poll saved; the default is [`PRICE_MINUTES`].
    pub price_minutes: f64,
    /// The user's time zone, used for feeds whose dates do not indicate a zone.
    pub zone: Zone,
}

/// A learned plan, which computes the next poll from any last poll at any pace. A plan takes at most 13 kB in memory, and 1 to 3 kB
/// in the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearnedPlan {
    /// Time at which the plan was learned.
    pub learned_at: DateTime<Utc>,
    /// The data from which the plan was learned, with the delay and number of polls to expect from it.
    pub rhythm: LearnedRhythm,
    costs: [PaceCost; 3],
    clock: ZoneClock,
    course: LearnedCourse,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum LearnedCourse {
    /// Too little data to place polls: only an interval at normal pace, in seconds.
    Spaced(u32),
    /// Polls on a grid, with plans in the order of [`Pace::ALL`].
    Placed { grid_minute: i64, plans: Box<[PricePlan; 3]> },
}

/// The stored record of a learned feed: the terms and the resulting plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearnedRecord {
    /// The terms the plan was learned for.
    pub terms: LearnTerms,
    /// The learned plan.
    pub plan: LearnedPlan,
}

/// Learns a plan from a feed's publications. Returns `None` if the feed was never fetched.
///
/// Learning takes at most a few milliseconds. Call this function outside the main loop, once a day or after an unexpected
/// publication. The same input gives the same plan.
pub fn learn(
    publications: &Publications,
    terms: &LearnTerms,
    now: DateTime<Utc>,
) -> Option<LearnedPlan> {
    let forecast = Forecast::from_publications(publications, terms, minute(now))?;
    Some(forecast.plan(terms, usable_price(terms.price_minutes), now))
}

/// Learns a plan as [`learn`] does, but with the lowest cost per poll at which the plan stays within a budget of `polls_per_week`,
/// as far as the user's bounds allow. To check the budget, the plan is replayed over the two weeks before `now`.
pub fn learn_for_polls(
    publications: &Publications,
    terms: &LearnTerms,
    now: DateTime<Utc>,
    polls_per_week: f64,
) -> Option<LearnedPlan> {
    let forecast = Forecast::from_publications(publications, terms, minute(now))?;
    let price = forecast.price_for(terms, minute(now), polls_per_week);
    Some(forecast.plan(terms, price, now))
}

fn usable_price(price: f64) -> f64 {
    if price.is_finite() { price.clamp(PRICE_LEAST, PRICE_MOST) } else { PRICE_MINUTES }
}

/// Lower limit of the search for a cost per poll, in minutes of waiting.
const PRICE_LEAST: f64 = 1e-4;
/// Upper limit of the search for a cost per poll, in minutes of waiting.
const PRICE_MOST: f64 = 1e7;
/// Precision of the search for a cost per poll (natural logarithm).
const PRICE_PRECISION: f64 = 1e-3;
/// Period before the present over which a plan is replayed to check a budget, in minutes: two weeks.
const REPLAY_MINUTES: i64 = 2 * WEEK_MINUTES;
/// Number of times that a plan is replayed, each time from a different start.
const REPLAY_STARTS: i64 = 8;
/// Time between the starts of two consecutive runs of a replay, in minutes.
const REPLAY_STEP_MINUTES: i64 = 31;
/// Number of polls a week by which a replayed plan may exceed the budget: half a poll over the two weeks.
const REPLAY_MARGIN: f64 = 0.25;

/// The expected publications of a feed, from which plans for any cost per poll are computed.
struct Forecast {
    profile: Profile,
    waiting: ExpectedWaiting,
    known: ForecastBasis,
}

/// The data on which a forecast is based.
struct ForecastBasis {
    from: LearnedFrom,
    precision: Precision,
    document_entries: u32,
}

impl Forecast {
    fn from_publications(
        publications: &Publications,
        terms: &LearnTerms,
        now: i64,
    ) -> Option<Self> {
        let oldest = now - super::publications::WINDOW_MINUTES;
        let in_window = |minute: &i64| *minute > oldest && *minute <= now;
        let (watched_since, arrivals) = publications.arrivals();
        let arrivals = arrivals.filter(in_window).count();
        let timed: Vec<i64> = publications.timed_minutes().filter(in_window).collect();
        let all: Vec<i64> = publications.minutes().filter(in_window).collect();
        let since = publications.since()?;
        // If the feed's dates contain no time of day, use the arrival times instead once there are enough arrivals.
        let (minutes, since, precision) = if timed.len() == all.len() {
            (all, since, Precision::Minutes)
        } else if timed.len() < PUBLICATIONS_MIN {
            (all, since, Precision::Days)
        } else if publications.has_whole_days_only() {
            (timed, watched_since, Precision::Hours)
        } else {
            (timed, watched_since, Precision::Minutes)
        };
        let since = since.min(now - 1).max(oldest);
        let past = PublicationHistory { minutes: &minutes, since, now, precision };
        let profile = in_best_zone(&past, publications, &terms.zone);
        let waiting = ExpectedWaiting::from_rates(&profile.lambda, profile.phases);
        let document_entries = publications.document_entries();
        let from = LearnedFrom {
            publications: minutes.len(),
            observed_minutes: now - since,
            whole_days: publications.has_whole_days_only(),
            arrivals,
            has_dates: publications.has_dates(),
        };
        let known = ForecastBasis { from, precision, document_entries };
        Some(Self { profile, waiting, known })
    }

    /// Returns the parameters of a plan, with the user's bounds in grid steps. `None` means that no whole step lies within the
    /// bounds or that there is too little data.
    fn grid(&self, terms: &LearnTerms, price: f64) -> Option<Terms> {
        let step = u32::try_from(STEP_SECONDS).unwrap_or(300);
        let steps_min = usize::try_from(terms.min_seconds.div_ceil(step)).ok()?.max(1);
        let steps_max = usize::try_from(terms.max_seconds / step).ok()?.min(STEPS_MAX);
        let known = &self.known;
        let enough = known.from.publications >= PUBLICATIONS_MIN
            && known.precision != Precision::Days
            && steps_min <= steps_max;
        let publications_max = match self.known.document_entries {
            0 => f64::INFINITY,
            entries => f64::from(entries) / 2.0,
        };
        enough.then_some(Terms { price, steps_min, steps_max, publications_max })
    }

    /// Returns the lowest cost per poll at which a plan stays within a budget. A higher cost per poll almost always means fewer
    /// polls, but not in every case. The plan for the returned cost was replayed and stayed within the budget.
    fn price_for(&self, terms: &LearnTerms, now: i64, polls_per_week: f64) -> f64 {
        let (mut low, mut high) = (PRICE_LEAST.ln(), PRICE_MOST.ln());
        while high - low > PRICE_PRECISION {
            let middle = f64::midpoint(low, high);
            let Some(grid) = self.grid(terms, middle.exp()) else {
                return self.flat_price(polls_per_week);
            };
            let plan = PricePlan::new(&self.waiting, &grid);
            if self.replayed_polls(&plan, terms, now) <= polls_per_week + REPLAY_MARGIN {
                high = middle;
            } else {
                low = middle;
            }
        }
        high.exp()
    }

    /// Returns the number of polls a week that a plan makes before `now`, in minutes since 1970, as the mean of runs with different
    /// start times. Each run begins with a poll, so on average a run contains half a poll more than its length suggests.
    fn replayed_polls(&self, plan: &PricePlan, terms: &LearnTerms, now: i64) -> f64 {
        let (min, max) = (i64::from(terms.min_seconds), i64::from(terms.max_seconds));
        let grid_minute = self.grid_minute();
        let mut polls = 0.0;
        for start in 0..REPLAY_STARTS {
            let mut last = (now - REPLAY_MINUTES + start * REPLAY_STEP_MINUTES) * 60;
            while last < now * 60 {
                polls += 1.0;
                let place = GridPlace::of(last, self.profile.clock, grid_minute);
                // Round up to a whole minute, as `next_minute` does.
                last = (place.next(plan, last, min, max) + 59).div_euclid(60) * 60;
            }
        }
        let shorter = real((REPLAY_STARTS - 1) * REPLAY_STEP_MINUTES) / 2.0;
        let weeks = (real(REPLAY_MINUTES) - shorter) / real(WEEK_MINUTES);
        (polls / real(REPLAY_STARTS) - 0.5) / weeks
    }

    /// Returns the minute within a bin at which polls are placed.
    const fn grid_minute(&self) -> i64 {
        self.profile.round_minute + 1
    }

    /// Returns the cost per poll at which evenly spaced polls make this number of polls a week.
    fn flat_price(&self, polls_per_week: f64) -> f64 {
        let interval = real(WEEK_MINUTES) / polls_per_week.max(1e-3);
        usable_price(interval * interval * self.profile.rate / real(WEEK_MINUTES) / 2.0)
    }

    fn plan(&self, terms: &LearnTerms, price: f64, now: DateTime<Utc>) -> LearnedPlan {
        let plans = Pace::ALL.map(|pace| {
            let grid = self.grid(terms, price * price_factor(pace))?;
            Some(PricePlan::new(&self.waiting, &grid))
        });
        let course = match plans {
            [Some(more), Some(normal), Some(less)] => LearnedCourse::Placed {
                grid_minute: self.grid_minute(),
                plans: Box::new([more, normal, less]),
            },
            _ => LearnedCourse::Spaced(even_seconds(self.profile.rate, price)),
        };
        let costs = match &course {
            LearnedCourse::Placed { plans, .. } => {
                plans.each_ref().map(|plan| PaceCost::of_plan(plan, &self.waiting))
            }
            LearnedCourse::Spaced(seconds) => Pace::ALL.map(|pace| {
                let (times, part) = pace.ratio();
                let seconds = i64::from(*seconds) * times / part;
                let (min, max) = (i64::from(terms.min_seconds), i64::from(terms.max_seconds));
                PaceCost::of_even_interval(seconds.max(min).min(max.max(min)))
            }),
        };
        let [_, normal, _] = costs;
        let rhythm = LearnedRhythm::from_profile(&self.profile, &normal, self.known.from);
        LearnedPlan { learned_at: now, rhythm, costs, clock: self.profile.clock, course }
    }
}

/// Returns the interval with the lowest total cost if publications are spread evenly, in seconds: `sqrt(2 price / lambda)`, where
/// the price is the cost per poll.
fn even_seconds(rate: f64, price: f64) -> u32 {
    let minutes = (2.0 * price * real(WEEK_MINUTES) / rate.max(1e-9)).sqrt();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "limited to one year"
    )]
    let seconds = (minutes * 60.0).clamp(1.0, 366.0 * 86_400.0) as u32;
    seconds
}

/// Returns the factor by which a pace multiplies the cost per poll. A quarter of the cost halves an interval, and four times the
/// cost doubles it (SCHEDULING section 3).
const fn price_factor(pace: Pace) -> f64 {
    match pace {
        Pace::More => 0.25,
        Pace::Normal => 1.0,
        Pace::Less => 4.0,
    }
}

/// Returns the profile in the zone that the feed's dates indicate, or else in the user's zone. If one of [`OTHER_ZONES`] predicts
/// the past clearly better, that one is used instead.
fn in_best_zone(
    past: &PublicationHistory<'_>,
    publications: &Publications,
    reader: &Zone,
) -> Profile {
    let stated = publications.zone().zone().unwrap_or_else(|| reader.clone());
    let stated = ZoneClock::for_zone(&stated);
    let foresight = |clock: ZoneClock| foresight(past, clock);
    let mut best = (stated, foresight(stated) + ZONE_MARGIN);
    for zone in OTHER_ZONES {
        let other = foresight(ZoneClock::Named(zone));
        if other > best.1 {
            best = (ZoneClock::Named(zone), other);
        }
    }
    profile(past, best.0)
}

impl LearnedPlan {
    /// Returns the UTC offset of the plan's time zone at an instant, in seconds.
    pub(super) fn offset(&self, at: i64) -> i64 {
        self.clock.offset(at)
    }

    /// Returns the publications expected in the clock hour of the moment half an hour before an instant, as a multiple of the
    /// hourly mean.
    pub fn times_mean(&self, at: DateTime<Utc>) -> f64 {
        let hours = &self.rhythm.hours;
        let local = minute(at) * 60 + self.clock.offset(minute(at) * 60) - 1800;
        let hour = usize::from(super::super::limits::hour_of_week(local));
        let mean = hours.iter().sum::<f64>() / real(i64::try_from(hours.len()).unwrap_or(1));
        hours.get(hour).copied().unwrap_or(0.0) / mean.max(1e-9)
    }

    /// Returns the publication peak shortly before a poll and the days on which it occurs; `None` if there is none. Working days
    /// and weekends are distinguished only after one week of observation, single days of the week only after three weeks.
    pub(crate) fn peak_before(&self, poll: DateTime<Utc>) -> Option<(DateTime<Utc>, PeakDays)> {
        let weeks = self.rhythm.observed_minutes / WEEK_MINUTES;
        let local = minute(poll) + self.clock.offset(minute(poll) * 60).div_euclid(60);
        let behind = |peak: &Peak| {
            let lag = (local - i64::from(peak.minute)).rem_euclid(DAY_MINUTES);
            let day = (local - lag + 3 * DAY_MINUTES).rem_euclid(WEEK_MINUTES) / DAY_MINUTES;
            let on_it = match peak.days {
                PeakDays::Working => day < 5,
                PeakDays::Weekend => day >= 5,
                PeakDays::One(of_week) => {
                    weeks >= 3
                        && DayOfWeek::ALL.iter().position(|other| *other == of_week)
                            == usize::try_from(day).ok()
                }
            };
            let days = if weeks < 1 { PeakDays::Working } else { peak.days };
            (on_it && lag <= PEAK_BEHIND_MINUTES).then_some((lag, days))
        };
        let nearest = self.rhythm.peaks.iter().filter_map(behind).min_by_key(|(lag, _)| *lag);
        let (lag, days) = nearest?;
        Some((poll.checked_sub_signed(TimeDelta::minutes(lag))?, days))
    }

    /// Returns the number of polls and the expected delay of the plan at a pace.
    pub const fn cost(&self, pace: Pace) -> PaceCost {
        let [more, normal, less] = self.costs;
        match pace {
            Pace::More => more,
            Pace::Normal => normal,
            Pace::Less => less,
        }
    }

    /// Returns the mean interval at normal pace, in seconds.
    pub fn interval_seconds(&self) -> u32 {
        match self.course {
            LearnedCourse::Spaced(seconds) => seconds,
            LearnedCourse::Placed { .. } => self.rhythm.interval_seconds,
        }
    }

    /// Returns the expected publications a week; 0 if too few are known, of which the last ones would weigh too much.
    pub const fn known_rate(&self) -> f64 {
        let is_enough = self.rhythm.publications >= PUBLICATIONS_MIN;
        if is_enough { self.rhythm.rate_per_week } else { 0.0 }
    }

    /// Checks whether the plan places polls at specific times, rather than only spacing them.
    pub const fn is_placed(&self) -> bool {
        matches!(self.course, LearnedCourse::Placed { .. })
    }

    /// Returns the next poll after one at `last`, in seconds since 1970, at least `min` and at most `max` seconds after `last`;
    /// `None` if the plan has only an interval.
    ///
    /// If the last poll is later, the next poll is never earlier. After the same last poll, a more frequent pace never has a later
    /// next poll. A more frequent pace therefore never polls less often.
    pub(in crate::schedule) fn next(
        &self,
        last: i64,
        pace: Pace,
        min: i64,
        max: i64,
    ) -> Option<i64> {
        let LearnedCourse::Placed { grid_minute, plans } = &self.course else { return None };
        let from = GridPlace::of(last, self.clock, *grid_minute);
        let [more, normal, less] = plans.as_ref();
        let next = |plan: &PricePlan| from.next(plan, last, min, max);
        Some(match pace {
            Pace::More => next(more).min(next(normal)),
            Pace::Normal => next(normal),
            Pace::Less => next(less).max(next(normal)),
        })
    }

    /// Returns the next poll after one at `last`, in minutes since 1970, at normal pace within the given bounds. If the plan has
    /// only an interval, the next poll is one interval later, within the bounds.
    pub fn next_minute(&self, last: i64, min: i64, max: i64) -> i64 {
        let last = last.clamp(0, MINUTE_MAX);
        let placed = self.next(last * 60, Pace::Normal, min * 60, max * 60);
        let minutes = (i64::from(self.interval_seconds()) + 59).div_euclid(60);
        let even = || last + minutes.clamp(min, max.max(min));
        placed.map_or_else(even, |seconds| (seconds + 59).div_euclid(60))
    }
}

/// Position of a poll on the weekly grid of a plan.
struct GridPlace {
    /// The grid point at the poll, or the last one before it.
    point: usize,
    /// Time of that grid point, in seconds since 1970.
    at: i64,
}

impl GridPlace {
    /// Returns the position of a poll, in seconds since 1970.
    fn of(last: i64, clock: ZoneClock, grid_minute: i64) -> Self {
        let local = last + clock.offset(last) - grid_minute * 60;
        let into_week = (local + 3 * DAY_MINUTES * 60).rem_euclid(WEEK_MINUTES * 60);
        let point = usize::try_from(into_week / STEP_SECONDS).unwrap_or(0) % BINS;
        Self { point, at: last - into_week % STEP_SECONDS }
    }

    /// Returns the next poll of a plan, in seconds since 1970, at least `min` and at most `max` seconds after the last poll.
    fn next(&self, plan: &PricePlan, last: i64, min: i64, max: i64) -> i64 {
        let steps = |from: usize| i64::try_from(plan.next(from) - self.point).unwrap_or(1);
        let next = self.at + STEP_SECONDS * steps(self.point);
        // The jitter of the last poll must not shift the next one by a whole step.
        let late_enough = next + PLACED_JITTER_SECONDS > last + min;
        let next = if late_enough { next } else { self.at + STEP_SECONDS * steps(self.point + 1) };
        next.clamp(last + min, last + max.max(min))
    }
}

/// Returns the data a plan was learned from, the shares of its clocks, and its cost and expected delay at a pace.
pub fn learned_json(plan: &LearnedPlan, pace: Pace) -> Value {
    let cost = plan.cost(pace);
    let even_delay = real(WEEK_MINUTES) / cost.polls_per_week.max(1e-3) / 2.0;
    let rhythm = &plan.rhythm;
    let shares = PublicationClock::ALL.iter().zip(rhythm.shares);
    let shares: serde_json::Map<String, Value> =
        shares.map(|(clock, share)| (clock.word().to_owned(), rounded(share))).collect();
    let peaks: Vec<String> = rhythm.peaks.iter().map(Peak::words).collect();
    json!({
        "words": rhythm.sentence(),
        "publications": rhythm.publications,
        "observed_minutes": rhythm.observed_minutes,
        "publications_per_week": rounded(rhythm.rate_per_week),
        "shares": shares,
        "peaks": peaks,
        "placed": plan.is_placed(),
        "polls_per_week": rounded(cost.polls_per_week),
        "expected_delay_minutes": rounded(cost.delay_minutes),
        "even_delay_minutes": rounded(even_delay),
        "learned_at": plan.learned_at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
    })
}

/// Rounds a value to three decimal places, because the learned values are no more precise.
fn rounded(value: f64) -> Value {
    json!((value * 1000.0).round() / 1000.0)
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
