//! Detects whether the dates of a feed contain a time of day, or only a day (SCHEDULING annex A.1).

use serde::{Deserialize, Serialize};

/// Maximum number of different times of day that are counted. If there are more, rare times of day displace each other.
const TIMES_COUNTED: usize = 4;
/// Minimum number of dates from which a common time of day is inferred.
const DATES_MIN: u32 = 8;
/// Number of dates above which old counts fade, so that the counts adapt when a publisher starts to write times.
const DATES_MAX: u32 = 400;
/// Maximum time between two fetches for an arrival to confirm its date, in minutes: six hours.
const CONFIRMED_WITHIN_MINUTES: i64 = 360;
/// Minimum age of a date, in minutes, at a fetch that did not show the entry, for its later arrival to contradict the date.
const CONTRADICTED_AFTER_MINUTES: i64 = 60;
/// Minimum number of arrivals that confirm the times in the dates. At most a quarter as many arrivals may contradict them.
const CONFIRMED_BY: u32 = 3;
const HOUR_SECONDS: u32 = 3600;
const DAY_SECONDS: u32 = 86_400;

/// Counts of the times of day in a feed's dates, and of the arrivals that confirm or contradict these times.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StampTimes {
    dates: u32,
    /// Times of day, in seconds since midnight UTC, each with the number of dates that contain it.
    counts: Vec<(u32, u32)>,
    confirmed: u32,
    contradicted: u32,
}

impl StampTimes {
    /// Counts the time of day of a date, which is given in local seconds since 1970. With a UTC offset other than zero, in seconds, only
    /// midnight and noon stand for a day; any other time was written on purpose.
    pub(super) fn note_date(&mut self, at: i64, offset: i64) {
        if self.dates >= DATES_MAX {
            self.dates /= 2;
            self.confirmed /= 2;
            self.contradicted /= 2;
            self.counts.iter_mut().for_each(|(_, count)| *count /= 2);
        }
        self.dates += 1;
        let time = u32::try_from(at.rem_euclid(i64::from(DAY_SECONDS))).unwrap_or(0);
        let room = self.counts.len() < TIMES_COUNTED;
        let is_midnight = |at: i64| at.rem_euclid(i64::from(DAY_SECONDS)) == 0;
        if offset != 0 && !time.is_multiple_of(DAY_SECONDS / 2) && !is_midnight(at - offset) {
            return;
        }
        if let Some((_, count)) = self.counts.iter_mut().find(|(other, _)| *other == time) {
            *count += 1;
        } else if room {
            self.counts.push((time, 1));
        } else {
            self.counts.iter_mut().for_each(|(_, count)| *count = count.saturating_sub(1));
        }
        self.counts.retain(|(_, count)| *count > 0);
    }

    /// Counts whether the arrival of an entry confirms or contradicts its date `stamp`. The fetch at `previous` did not contain the
    /// entry and the fetch at `now` did. All times are in minutes since 1970.
    pub(super) fn note_arrival(&mut self, stamp: i64, previous: i64, now: i64) {
        if stamp > previous {
            let soon = stamp <= now && now - previous <= CONFIRMED_WITHIN_MINUTES;
            self.confirmed += u32::from(soon);
        } else {
            self.contradicted += u32::from(previous - stamp >= CONTRADICTED_AFTER_MINUTES);
        }
    }

    /// Checks whether at least four in five dates have the same time of day, or one of two times an hour apart, like local midnight
    /// in summer and in winter.
    pub(super) fn are_one(&self) -> bool {
        let is_hour_apart = |time: u32, other: u32| {
            let apart = time.abs_diff(other);
            apart == HOUR_SECONDS || apart == DAY_SECONDS - HOUR_SECONDS
        };
        let with_summer = self.counts.iter().map(|&(time, count)| {
            let others = self.counts.iter().filter(|(other, _)| is_hour_apart(time, *other));
            count + others.map(|(_, count)| *count).max().unwrap_or(0)
        });
        let most = with_summer.max().unwrap_or(0);
        self.dates >= DATES_MIN && most * 5 >= self.dates * 4
    }

    /// Checks whether enough entries arrived soon after the times in their dates.
    pub(super) const fn are_confirmed(&self) -> bool {
        self.confirmed >= CONFIRMED_BY && self.confirmed >= 4 * self.contradicted
    }
}
