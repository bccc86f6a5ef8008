//! Estimates a feed's weekly profile from its past: the number of publications to expect at each time (SCHEDULING annex A.2), and
//! the times at which it publishes most (annex A.6).

use serde::{Deserialize, Serialize};

use super::clocks::{self, Precision, PublicationClock, Shares, WeekSample, mixture};
use super::week_bins::{
    BIN_MINUTES, BINS, DAY_BINS, DAY_MINUTES, WEEK_MINUTES, WeekBins, bin_of, real, week_minute,
};
use crate::feed::DayOfWeek;
use crate::schedule::rules::ZoneClock;

/// Half-life of a publication's weight, in weeks.
const HALF_LIFE_WEEKS: f64 = 4.0;
/// Rate assumed before anything is known, in publications a week.
const PRIOR_RATE: f64 = 10.0;
/// Number of publications that the assumed rate counts for.
const PRIOR_PUBLICATIONS: f64 = 0.5;
/// Number of missed publications after which the clocks of a silent feed start to lose their weight. At twice this number the
/// clocks have no weight.
const SILENT_GAPS: f64 = 4.0;
/// Number of publications that the assumption of an even spread over the five minutes of a bin counts for.
const PHASE_WEIGHT: f64 = 10.0;
/// Like [`PHASE_WEIGHT`], but for feeds that publish at exact minutes.
const PHASE_WEIGHT_EXACT: f64 = 0.01;
/// Share of the publications at one minute of their bins above which a feed may be punctual.
const ONE_MINUTE_SHARE: f64 = 0.9;
/// Age in weeks above which publications are ignored; the window is twelve weeks.
const WEEKS_WEIGHED: i64 = 13;
const HALF_DAY_MINUTES: i64 = 720;

/// The publications of a feed, and the time since which none was missed, in minutes since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct PublicationHistory<'a> {
    /// Minutes of the publications, ascending, none after `now`.
    pub(super) minutes: &'a [i64],
    /// Time since which no publication was missed; earlier than `now`.
    pub(super) since: i64,
    pub(super) now: i64,
    pub(super) precision: Precision,
}

/// The publications of a feed in the local time of one zone.
struct Seen {
    /// Local minute, weight and age in weeks of each publication, in ascending order of time.
    publications: Vec<(i64, f64, usize)>,
    precision: Precision,
}

impl Seen {
    fn from_past(past: &PublicationHistory<'_>, clock: ZoneClock) -> Self {
        let weights: Vec<f64> = (0..=WEEKS_WEIGHED).map(weight).collect();
        let mut offsets = Offsets { clock, known: None };
        let seen = past.minutes.iter().map(|&minute| {
            let age = usize::try_from(age(past, minute).max(0)).unwrap_or(0);
            let weight = weights.get(age).copied().unwrap_or(0.0);
            (minute + offsets.minutes(minute), weight, age)
        });
        Self { publications: seen.collect(), precision: past.precision }
    }

    /// Returns the minute of a bin, 0 to 4, at which most publications are dated. The bins are then shifted to begin at this
    /// minute.
    fn round_minute(&self) -> i64 {
        let shares = (0_i64..).zip(self.phases(0, PHASE_WEIGHT));
        let most =
            shares.fold((0, 0.0), |most, next| if next.1 > most.1 + 1e-9 { next } else { most });
        most.0
    }

    /// Returns the share of publications in each of the five minutes of a bin. The shares differ because publishers prefer round
    /// minutes.
    fn phases(&self, round_minute: i64, even: f64) -> [f64; 5] {
        let mut phases = [even / 5.0; 5];
        for &(local, weight, _) in
            self.publications.iter().filter(|_| self.precision == Precision::Minutes)
        {
            let phase = usize::try_from((local - round_minute).rem_euclid(BIN_MINUTES));
            if let Some(cell) = phases.get_mut(phase.unwrap_or(0)) {
                *cell += weight;
            }
        }
        let sum: f64 = phases.iter().sum();
        phases.map(|cell| cell / sum)
    }

    /// Groups the publications by week, most recent first.
    fn weekly(&self, round_minute: i64) -> Vec<WeekSample> {
        let mut weeks: Vec<WeekSample> = Vec::new();
        for &(local, _, age) in self.publications.iter().rev() {
            while weeks.len() <= age {
                let weight = weight(i64::try_from(weeks.len()).unwrap_or(0));
                weeks.push(WeekSample { weight, bins: Vec::new() });
            }
            let bin = bin_of(week_minute(local - round_minute));
            if let Some(week) = weeks.get_mut(age) {
                match week.bins.last_mut().filter(|last| last.0 == bin) {
                    Some((_, count)) => *count += 1.0,
                    None => week.bins.push((bin, 1.0)),
                }
            }
        }
        weeks
    }
}

/// The UTC offsets of a zone, looked up once for each half day. No zone changes its offset twice in half a day.
struct Offsets {
    clock: ZoneClock,
    /// The half day that was looked up last, and its UTC offset in minutes if the offset is constant throughout this half day.
    known: Option<(i64, Option<i64>)>,
}

impl Offsets {
    fn minutes(&mut self, minute: i64) -> i64 {
        let half_day = minute.div_euclid(HALF_DAY_MINUTES);
        let known = self.known.filter(|(known, _)| *known == half_day);
        let (_, steady) = known.unwrap_or_else(|| {
            let at = |half_day: i64| offset_minutes(self.clock, half_day * HALF_DAY_MINUTES);
            let (first, last) = (at(half_day), at(half_day + 1));
            (half_day, (first == last).then_some(first))
        });
        self.known = Some((half_day, steady));
        steady.unwrap_or_else(|| offset_minutes(self.clock, minute))
    }
}

/// The publications expected at each time of a week.
#[derive(Debug, Clone)]
pub(super) struct Profile {
    /// Time zone to which the times of the week refer.
    pub(super) clock: ZoneClock,
    /// Number of minutes, 0 to 4, by which the start of every bin is shifted.
    pub(super) round_minute: i64,
    pub(super) shares: Shares,
    /// Expected number of publications a week.
    pub(super) rate: f64,
    /// Expected publications a minute, by bin.
    pub(super) lambda: WeekBins,
    /// Share of a bin's publications in each of its five minutes; the sum is 1.
    pub(super) phases: [f64; 5],
    /// The publications in local time, in minutes since 1970.
    pub(super) local_minutes: Vec<i64>,
}

/// Returns how well each week is predicted by the other weeks if times are counted in a time zone. A larger value means a better
/// prediction.
pub(super) fn foresight(past: &PublicationHistory<'_>, clock: ZoneClock) -> f64 {
    let seen = Seen::from_past(past, clock);
    clocks::foresight(&seen.weekly(seen.round_minute()), past.precision)
}

/// Computes the weekly profile of a feed in one time zone.
pub(super) fn profile(past: &PublicationHistory<'_>, clock: ZoneClock) -> Profile {
    let seen = Seen::from_past(past, clock);
    let round_minute = seen.round_minute();
    let local = |minute: i64| minute + offset_minutes(clock, minute) - round_minute;
    let [at_once, ..] = seen.phases(round_minute, PHASE_WEIGHT_EXACT);
    let one_minute = at_once >= ONE_MINUTE_SHARE;
    let mixture = mixture(&seen.weekly(round_minute), past.precision, one_minute);
    let rate = rate(past, &seen);
    let faded = fading(past, rate, &mixture.density, local);
    let mut density = mixture.density.scaled(1.0 - faded);
    let minutes_of_bins = WeekBins::flat(real(BIN_MINUTES) / real(WEEK_MINUTES));
    density.add_scaled(&minutes_of_bins, faded);
    let lambda = density.scaled(rate / real(BIN_MINUTES));
    let mut shares = mixture.shares.map(|share| share * (1.0 - faded));
    for (share, clock) in shares.iter_mut().zip(PublicationClock::ALL) {
        *share += if clock == PublicationClock::AnyTime { faded } else { 0.0 };
    }
    let even = if mixture.exact { PHASE_WEIGHT_EXACT } else { PHASE_WEIGHT };
    let phases = seen.phases(round_minute, even);
    let local_minutes = seen.publications.iter().map(|&(local, ..)| local).collect();
    Profile { clock, round_minute, shares, rate, lambda, phases, local_minutes }
}

/// Returns the age of a publication in whole weeks; 0 in the week before `now`.
const fn age(past: &PublicationHistory<'_>, minute: i64) -> i64 {
    (past.now - minute).div_euclid(WEEK_MINUTES)
}

/// Returns the weight of a publication of this age, in weeks.
fn weight(age: i64) -> f64 {
    (-real(age) / HALF_LIFE_WEEKS).exp2()
}

/// Returns the expected number of publications a week. Time without publications counts as observed, so a silent feed has a lower
/// rate.
fn rate(past: &PublicationHistory<'_>, seen: &Seen) -> f64 {
    let published: f64 = seen.publications.iter().map(|(_, weight, _)| weight).sum();
    let observed = (past.now - past.since).max(0);
    let (whole, rest) = (observed.div_euclid(WEEK_MINUTES), observed.rem_euclid(WEEK_MINUTES));
    let weeks: f64 = (0..whole).map(weight).sum();
    let exposure = weeks + weight(whole) * real(rest) / real(WEEK_MINUTES);
    (published + PRIOR_PUBLICATIONS) / (exposure + PRIOR_PUBLICATIONS / PRIOR_RATE)
}

/// Returns the degree to which the clocks of a silent feed have lost their weight, 0 to 1. The degree depends on the number of
/// publications expected since the last one, so a night or a weekend without publications has no effect if the feed is always
/// silent then.
fn fading(
    past: &PublicationHistory<'_>,
    rate: f64,
    density: &WeekBins,
    local: impl Fn(i64) -> i64,
) -> f64 {
    let last = past.minutes.last().copied().unwrap_or(past.since).min(past.now);
    let silence = past.now - last;
    let weeks = real(silence.div_euclid(WEEK_MINUTES));
    let from = bin_of(week_minute(local(last)));
    let bins = usize::try_from(silence.rem_euclid(WEEK_MINUTES) / BIN_MINUTES).unwrap_or(0);
    let share: f64 = (from + 1..=from + bins).map(|bin| density.at(bin)).sum();
    let expected = rate * (weeks + share);
    ((expected - SILENT_GAPS) / SILENT_GAPS).clamp(0.0, 1.0)
}

fn offset_minutes(clock: ZoneClock, minute: i64) -> i64 {
    clock.offset(minute * 60).div_euclid(60)
}

/// Maximum number of peaks of one kind (on working days, on weekends, on single days).
const PEAKS_MAX: usize = 3;
/// Minimum distance between two peaks, in bins: an hour and a half.
const APART_BINS: usize = 18;
/// Minimum expected publications at a daily peak, as a multiple of the mean.
const DAILY_TIMES_MEAN: f64 = 2.0;
/// Minimum expected publications at a weekly peak, as a multiple of the mean. The value must also be more than twice the mean at
/// the same time on working days, or on weekend days.
const WEEKLY_TIMES_MEAN: f64 = 8.0;

/// Minimum number of publications within half an hour of a peak.
const SEEN_MIN: usize = 3;
/// Minimum ratio of the publications near a peak to the number expected there if publications were spread evenly.
const SEEN_TIMES_EVEN: usize = 3;
const NEAR_MINUTES: i64 = 30;

/// Days on which a peak occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PeakDays {
    /// Monday to Friday.
    Working,
    /// Saturday and Sunday.
    Weekend,
    /// One day of the week.
    One(DayOfWeek),
}

impl PeakDays {
    /// Checks whether the peak occurs on a day of the week; 0 is Monday.
    fn includes(self, day: i64) -> bool {
        match self {
            Self::Working => day < 5,
            Self::Weekend => day >= 5,
            Self::One(one) => {
                DayOfWeek::ALL.iter().position(|other| *other == one) == usize::try_from(day).ok()
            }
        }
    }

    /// Checks whether the peak occurs on a single day of the week.
    pub(crate) const fn is_one_day(self) -> bool {
        matches!(self, Self::One(_))
    }
}

/// A time at which a feed publishes much more than on average.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// Days on which the peak occurs.
    pub days: PeakDays,
    /// Minute of the day, 0 to 1,439, in the plan's zone.
    pub minute: u16,
    /// Expected publications at that time, as a multiple of the mean.
    pub times_mean: f64,
}

impl Peak {
    /// Checks whether the feed published often enough near the peak itself, so that the peak is not only inferred from publications
    /// at other times.
    fn is_seen(&self, local_minutes: &[i64]) -> bool {
        let minute = i64::from(self.minute);
        let day = |local: i64| week_minute(local) / DAY_MINUTES;
        let on_its_days = || local_minutes.iter().filter(|&&local| self.days.includes(day(local)));
        let is_near = |local: i64| {
            let apart = (local - minute).rem_euclid(DAY_MINUTES);
            apart.min(DAY_MINUTES - apart) <= NEAR_MINUTES
        };
        let near = on_its_days().filter(|&&local| is_near(local)).count();
        let hours = usize::try_from(DAY_MINUTES / (2 * NEAR_MINUTES)).unwrap_or(1);
        near >= SEEN_MIN && near * hours >= SEEN_TIMES_EVEN * on_its_days().count()
    }

    /// Formats the peak as `working days 14:30` or `Tuesday 16:00`.
    pub fn words(&self) -> String {
        let days = match self.days {
            PeakDays::Working => "working days",
            PeakDays::Weekend => "weekends",
            PeakDays::One(day) => day.name(),
        };
        format!("{days} {:02}:{:02}", self.minute / 60, self.minute % 60)
    }
}

/// Finds the times with the most publications in a profile: on working days, on weekends and on single days.
pub(super) fn peaks(profile: &Profile) -> Vec<Peak> {
    let lambda = &profile.lambda;
    let mean = lambda.sum() / real(i64::try_from(BINS).unwrap_or(1));
    if mean <= 0.0 {
        return Vec::new();
    }
    let at = |bin: usize| {
        let minute = real(i64::try_from(bin % DAY_BINS).unwrap_or(0)) * real(BIN_MINUTES);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 1,440")]
        let minute = minute as u16;
        let round_minute = u16::try_from(profile.round_minute).unwrap_or(0);
        (minute + round_minute) % 1440
    };
    let daily = lambda.by_kind_of_day();
    let mut found = Vec::new();
    for (days, first, last) in
        [(PeakDays::Working, 0, DAY_BINS), (PeakDays::Weekend, 5 * DAY_BINS, 6 * DAY_BINS)]
    {
        let peak = |&(bin, times_mean): &(usize, f64)| Peak { days, minute: at(bin), times_mean };
        found.extend(highest(&daily, first..last, mean, DAILY_TIMES_MEAN).iter().map(peak));
    }
    let mut weekly = highest(lambda, 0..BINS, mean, WEEKLY_TIMES_MEAN);
    weekly.retain(|&(bin, times_mean)| times_mean > 2.0 * daily.at(bin) / mean);
    found.extend(weekly.iter().filter_map(|&(bin, times_mean)| {
        let days = PeakDays::One(*DayOfWeek::ALL.get(bin / DAY_BINS)?);
        Some(Peak { days, minute: at(bin), times_mean })
    }));
    found.retain(|peak| peak.is_seen(&profile.local_minutes));
    found
}

/// Returns the bins in a range with the most expected publications that are far enough apart, in order of time. Each bin comes with
/// its value as a multiple of the mean.
fn highest(
    week: &WeekBins,
    range: std::ops::Range<usize>,
    mean: f64,
    least: f64,
) -> Vec<(usize, f64)> {
    let mut bins: Vec<(usize, f64)> = range.map(|bin| (bin, week.at(bin) / mean)).collect();
    bins.retain(|&(_, times)| times >= least);
    bins.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    let mut found: Vec<(usize, f64)> = Vec::new();
    for (bin, times) in bins {
        let apart = found.iter().all(|&(other, _)| bin.abs_diff(other) >= APART_BINS);
        if apart && found.len() < PEAKS_MAX {
            found.push((bin, times));
        }
    }
    found.sort_by_key(|&(bin, _)| bin);
    found
}
