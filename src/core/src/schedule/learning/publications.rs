//! Records when a feed published, as effective minutes: the minutes at which its entries are assumed to have appeared (SCHEDULING
//! annex A.1).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::super::instant::seconds;
use super::stamp_times::StampTimes;
use super::stamp_zone::StampZone;
use super::week_bins::{DAY_MINUTES, WEEK_MINUTES};
use crate::feed::Entry;

/// Age above which publications are dropped, in minutes: twelve weeks.
pub const WINDOW_MINUTES: i64 = 12 * WEEK_MINUTES;
/// Maximum number of publications kept; the oldest are dropped first.
pub const PUBLICATIONS_MAX: usize = 2000;
/// Maximum number of new entries examined in one fetch. A document has at most 10,000 (SPEC section 0).
const STAMPS_MAX: usize = 10_000;
/// Maximum delay, in minutes, assumed for an entry that a fetch did not show although its date is older. The entry is
/// assumed to have appeared within this time after that fetch.
const LATE_MINUTES: i64 = 10;

/// The date of an entry as written in its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The date as an instant.
    pub at: DateTime<Utc>,
    /// The UTC offset in the date, in minutes east, if any.
    pub offset_minutes: Option<i16>,
}

impl Stamp {
    /// Returns the date by which an entry is placed; `None` if it has none.
    pub fn of(entry: &Entry) -> Option<Self> {
        let offset_minutes = entry.offset_minutes;
        entry.published.or(entry.updated).map(|at| Self { at, offset_minutes })
    }
}

/// The result of one successful poll.
#[derive(Debug, Clone, Copy)]
pub struct Fetch<'a> {
    /// Time of the previous successful poll; `None` for the first document of the subscription.
    pub previous: Option<DateTime<Utc>>,
    /// Time of this poll.
    pub at: DateTime<Utc>,
    /// Dates of the entries that are new or changed in this poll; `None` for an entry without a date.
    pub stamps: &'a [Option<Stamp>],
    /// Total number of entries in the document.
    pub document_entries: usize,
}

/// The publications of a feed in the last twelve weeks: minutes since 1970, UTC, ascending, without duplicates.
///
/// Takes a few kilobytes at most. Except for entries without a date, the record does not depend on when the program was running.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Publications {
    minutes: Vec<u32>,
    /// Time since which no publication was missed, in minutes since 1970.
    since: Option<u32>,
    /// Time of the first fetch, in minutes since 1970. Later publications were seen to arrive; for earlier ones only
    /// the date is known.
    watched_since: Option<u32>,
    /// The UTC offsets in the dates, which indicate the publisher's time zone.
    zone: StampZone,
    /// Number of entries with a date.
    dated: u32,
    /// Number of entries with a date at exactly midnight.
    at_midnight: u32,
    /// How often the dates contain each time of day.
    times: StampTimes,
    /// Number of entries in the newest document.
    document_entries: u32,
}

impl Publications {
    /// Records the publications that a fetch found. The same fetches in the same order give the same state.
    pub fn learn_from_fetch(&mut self, fetch: &Fetch<'_>) {
        let now = minute(fetch.at);
        let previous = fetch.previous.map(minute).filter(|&previous| previous < now);
        if fetch.document_entries > 0 {
            self.document_entries = u32::try_from(fetch.document_entries).unwrap_or(u32::MAX);
        }
        let stamps = fetch.stamps.iter().take(STAMPS_MAX);
        stamps.clone().flatten().for_each(|stamp| self.note_stamp(*stamp, previous, now));
        let whole_days = self.has_whole_days_only();
        let first = fetch.previous.is_none();
        let minutes = stamps.enumerate().filter_map(|(place, stamp)| {
            let stamp = stamp.map(|stamp| minute(stamp.at));
            let (published, range) = match previous {
                Some(previous) => (later_minute(stamp, previous, now)?, (previous, now)),
                None if first => {
                    let published = first_minute(stamp?, now)?;
                    (published, (published, (published + DAY_MINUTES).min(now)))
                }
                // This fetch is the second of two in the same minute, so its new entries appeared in that minute.
                None => (now, (now, now)),
            };
            Some(if whole_days { spread(range, now, place) } else { published })
        });
        let minutes: Vec<u32> = minutes.filter_map(|minute| u32::try_from(minute).ok()).collect();
        let oldest = minutes.iter().copied().min();
        self.minutes.extend(minutes);
        if self.watched_since.is_none() {
            self.watched_since = u32::try_from(previous.unwrap_or(now)).ok();
        }
        if self.since.is_none() {
            self.since = oldest.or_else(|| u32::try_from(now).ok());
        }
        self.forget(now);
    }

    /// Creates the record from publication times that are already known, in minutes since 1970 in any order. None was missed since
    /// `since`.
    pub fn of_minutes(minutes: impl IntoIterator<Item = i64>, since: i64, now: i64) -> Self {
        let whole = |minute: i64| u32::try_from(minute).ok();
        let minutes = minutes.into_iter().filter(|&minute| minute <= now).filter_map(whole);
        let (minutes, since) = (minutes.collect(), whole(since));
        let mut publications = Self { minutes, since, watched_since: since, ..Self::default() };
        publications.forget(now);
        publications
    }

    /// Returns the number of known publications.
    pub fn len(&self) -> usize {
        self.minutes.len()
    }

    /// Checks whether no publication is known.
    pub fn is_empty(&self) -> bool {
        self.minutes.is_empty()
    }

    /// Checks whether any entry with a date was ever seen.
    pub const fn has_dates(&self) -> bool {
        self.dated > 0
    }

    /// Iterates over the publications, in minutes since 1970, UTC, ascending.
    pub fn minutes(&self) -> impl DoubleEndedIterator<Item = i64> + Clone {
        self.minutes.iter().map(|&minute| i64::from(minute))
    }

    /// Returns the time since which no publication was missed, in minutes since 1970; `None` if the feed was never fetched.
    pub fn since(&self) -> Option<i64> {
        self.since.map(i64::from)
    }

    /// Returns the number of entries in the newest document; 0 if unknown.
    pub const fn document_entries(&self) -> u32 {
        self.document_entries
    }

    /// Returns the UTC offsets in the dates, which indicate the publisher's time zone.
    pub const fn zone(&self) -> &StampZone {
        &self.zone
    }

    /// Checks whether the dates contain only days and no times of day (annex A.1): more than a fifth of the dates are at exactly
    /// midnight, or most are at the same time of day, and the arrivals of entries do not confirm that time.
    pub(crate) fn has_whole_days_only(&self) -> bool {
        self.has_one_time() && !self.times.are_confirmed()
    }

    /// Returns the start of observation and the publications that were seen to arrive after it, in minutes since 1970.
    pub fn arrivals(&self) -> (i64, impl Iterator<Item = i64>) {
        let since = self.watched_since.map_or(i64::MAX, i64::from);
        (since, self.minutes().filter(move |&minute| minute > since))
    }

    /// Iterates over the publications whose hour is known. If the dates mostly contain the same time of day, such as midnight,
    /// these are only the publications that were seen to arrive. Otherwise they are all publications.
    pub(crate) fn timed_minutes(&self) -> impl Iterator<Item = i64> {
        let (watched_since, _) = self.arrivals();
        let from = if self.has_one_time() { watched_since } else { 0 };
        self.minutes().filter(move |&minute| minute > from)
    }

    fn has_one_time(&self) -> bool {
        let at_midnight = u64::from(self.at_midnight) * 5 > u64::from(self.dated);
        at_midnight || self.times.are_one()
    }

    fn note_stamp(&mut self, stamp: Stamp, previous: Option<i64>, now: i64) {
        let offset = i64::from(stamp.offset_minutes.unwrap_or(0)) * 60;
        let local = seconds(stamp.at) + offset;
        self.times.note_date(local, offset);
        if let Some(previous) = previous {
            self.times.note_arrival(minute(stamp.at), previous, now);
        }
        // Old counts fade, so that the counts adapt when a publisher starts to write times.
        if self.dated >= 400 {
            self.dated /= 2;
            self.at_midnight /= 2;
        }
        self.dated += 1;
        self.at_midnight += u32::from(local.rem_euclid(DAY_MINUTES * 60) == 0);
        if let Some(offset) = stamp.offset_minutes {
            self.zone.note(offset);
        }
    }

    /// Sorts the publications and drops duplicates, publications before the twelve-week window, and the oldest ones above the
    /// maximum number.
    fn forget(&mut self, now: i64) {
        self.minutes.sort_unstable();
        self.minutes.dedup();
        let oldest = u32::try_from(now - WINDOW_MINUTES).unwrap_or(0);
        self.since = self.since.map(|since| since.max(oldest));
        let too_many = self.minutes.len().saturating_sub(PUBLICATIONS_MAX);
        let too_old = self.minutes.partition_point(|&minute| minute < oldest);
        self.minutes.drain(..too_many.max(too_old));
        if too_many > too_old {
            self.since = self.minutes.first().copied().max(self.since);
        }
    }
}

/// Returns whole minutes since 1970, rounded down.
pub(super) fn minute(at: DateTime<Utc>) -> i64 {
    seconds(at).div_euclid(60)
}

/// Returns the effective minute of an entry in the first document: its date, if it is within the window.
fn first_minute(stamp: i64, now: i64) -> Option<i64> {
    (stamp > now - WINDOW_MINUTES).then_some(stamp.min(now))
}

/// Returns the effective minute of an entry that the fetch at `previous` did not contain and the fetch at `now` does.
///
/// 1. A date between the two fetches is used unchanged.
/// 2. A date in the future is replaced by `now`.
/// 3. If the date is before `previous` or absent, the entry is assumed to have appeared soon after `previous`, because the fetch at
///    `previous` would otherwise have contained it.
/// 4. A date before the window belongs to an old entry that was restored, and is ignored.
fn later_minute(stamp: Option<i64>, previous: i64, now: i64) -> Option<i64> {
    let late = previous + ((now - previous).min(LATE_MINUTES) + 1) / 2;
    match stamp {
        Some(stamp) if stamp > now => Some(now),
        Some(stamp) if stamp > previous => Some(stamp),
        Some(stamp) if stamp <= now - WINDOW_MINUTES => None,
        Some(_) | None => Some(late),
    }
}

/// Returns a minute for an entry whose date contains only a day, within the range in which the entry can have appeared: that day,
/// or the time between two fetches. Multiples of the golden ratio spread any number of such entries evenly.
fn spread((from, to): (i64, i64), now: i64, place: usize) -> i64 {
    let seed = now.wrapping_add(i64::try_from(place).unwrap_or(0));
    let turn = seed.wrapping_mul(618_034).rem_euclid(1_000_000);
    from + (to - from).max(0).saturating_mul(turn) / 1_000_000
}

#[cfg(test)]
#[path = "publications_tests.rs"]
mod tests;
