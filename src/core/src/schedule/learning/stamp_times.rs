//! Whether the dates of a feed name a time of the day, or only a day (SCHEDULING annex A.1).

use serde::{Deserialize, Serialize};

/// Times of the day that are counted at once; rarer ones push each other out.
const TIMES_COUNTED: usize = 4;
/// Fewer dates show no habit.
const DATES_MIN: u32 = 8;
/// Beyond so many dates old counts fade, so that a publisher who learns to write times is believed after a while.
const DATES_MAX: u32 = 400;
/// An arrival confirms its date only if it was seen within so many minutes: six hours.
const CONFIRMED_WITHIN_MINUTES: i64 = 360;
/// An arrival contradicts a date that was so many minutes old at the fetch before, which did not show it.
const CONTRADICTED_AFTER_MINUTES: i64 = 60;
/// So many arrivals confirm a time, if at most a quarter as many contradict it.
const CONFIRMED_BY: u32 = 3;
const HOUR_SECONDS: u32 = 3600;
const DAY_SECONDS: u32 = 86_400;

/// The times of the day that dates were written with, and what arrivals say of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StampTimes {
    dates: u32,
    /// Seconds of the day, UTC, with how many dates have them.
    counts: Vec<(u32, u32)>,
    confirmed: u32,
    contradicted: u32,
}

impl StampTimes {
    /// Takes in a date, seconds since 1970.
    pub(super) fn note_date(&mut self, at: i64) {
        if self.dates >= DATES_MAX {
            self.dates /= 2;
            self.confirmed /= 2;
            self.contradicted /= 2;
            self.counts.iter_mut().for_each(|(_, count)| *count /= 2);
        }
        self.dates += 1;
        let time = u32::try_from(at.rem_euclid(i64::from(DAY_SECONDS))).unwrap_or(0);
        let room = self.counts.len() < TIMES_COUNTED;
        if let Some((_, count)) = self.counts.iter_mut().find(|(other, _)| *other == time) {
            *count += 1;
        } else if room {
            self.counts.push((time, 1));
        } else {
            self.counts.iter_mut().for_each(|(_, count)| *count = count.saturating_sub(1));
        }
        self.counts.retain(|(_, count)| *count > 0);
    }

    /// Takes in a date that the fetch at `previous` did not show and that at `now` does, minutes since 1970.
    pub(super) fn note_arrival(&mut self, stamp: i64, previous: i64, now: i64) {
        if stamp > previous {
            let soon = stamp <= now && now - previous <= CONFIRMED_WITHIN_MINUTES;
            self.confirmed += u32::from(soon);
        } else {
            self.contradicted += u32::from(previous - stamp >= CONTRADICTED_AFTER_MINUTES);
        }
    }

    /// Four in five dates have one time of the day, or two an hour apart, as midnight has in summer and winter.
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

    /// Entries appear at the times that their dates name.
    pub(super) const fn are_confirmed(&self) -> bool {
        self.confirmed >= CONFIRMED_BY && self.confirmed >= 4 * self.contradicted
    }
}
