//! Finds the times at which a feed publishes most, for descriptions and for the heat map of a week (SCHEDULING annex A.6).

use serde::{Deserialize, Serialize};

use super::profile::Profile;
use super::week_bins::{BIN_MINUTES, BINS, DAY_BINS, DAY_MINUTES, WeekBins, real, week_minute};
use crate::feed::DayOfWeek;

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
