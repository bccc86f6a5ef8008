//! When a feed published: what its fetches showed, as effective minutes (SCHEDULING annex A.1).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::super::instant::seconds;
use super::stamp_times::StampTimes;
use super::stamp_zone::StampZone;
use super::week_bins::{DAY_MINUTES, WEEK_MINUTES};

/// Publications older than this are forgotten, minutes: twelve weeks.
pub const WINDOW_MINUTES: i64 = 12 * WEEK_MINUTES;
/// At most so many publications are kept, the youngest.
pub const PUBLICATIONS_MAX: usize = 2000;
/// New entries of one fetch beyond this many are not looked at: a document has at most 10,000 (SPEC section 0).
const STAMPS_MAX: usize = 10_000;
/// An entry that a fetch did not show, although its stamp is older, appeared at most so many minutes after that
/// fetch, as far as anybody can tell.
const LATE_MINUTES: i64 = 10;

/// The date of an entry as its document wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The instant.
    pub at: DateTime<Utc>,
    /// The offset from UTC it was written with, minutes east, where one was.
    pub offset_minutes: Option<i16>,
}

/// What one good poll showed.
#[derive(Debug, Clone, Copy)]
pub struct Fetch<'a> {
    /// The good poll before; `None`: this is the first document of the subscription.
    pub previous: Option<DateTime<Utc>>,
    /// When it was made.
    pub at: DateTime<Utc>,
    /// The dates of its new and changed entries; `None`: the entry has none.
    pub stamps: &'a [Option<Stamp>],
    /// How many entries the document has in all.
    pub document_entries: usize,
}

/// The publications of a feed in the last twelve weeks: minutes since 1970, UTC, ascending, each once.
///
/// A few kilobytes at most. All of it is what fetches showed, so it does not depend on when the reader ran, but for
/// entries without a date.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Publications {
    minutes: Vec<u32>,
    /// From when on nothing was missed, minutes since 1970.
    since: Option<u32>,
    /// The first fetch, minutes since 1970: what is younger was seen to arrive, what is older only has dates.
    watched_since: Option<u32>,
    /// The zone of the stamps, as far as they betray it.
    zone: StampZone,
    /// Entries with a date, and those of them at exactly midnight.
    dated: u32,
    at_midnight: u32,
    /// What times of the day the dates name.
    times: StampTimes,
    /// Entries in the newest document.
    document_entries: u32,
}

impl Publications {
    /// Takes in what a fetch showed. The same fetches in the same order give the same state.
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
                // Two fetches in one minute: what the second adds appeared in it.
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

    /// Publications that were seen to arrive elsewhere, as minutes since 1970 in any order; nothing was missed since
    /// `since`.
    pub fn of_minutes(minutes: impl IntoIterator<Item = i64>, since: i64, now: i64) -> Self {
        let whole = |minute: i64| u32::try_from(minute).ok();
        let minutes = minutes.into_iter().filter(|&minute| minute <= now).filter_map(whole);
        let (minutes, since) = (minutes.collect(), whole(since));
        let mut publications = Self { minutes, since, watched_since: since, ..Self::default() };
        publications.forget(now);
        publications
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.minutes.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.minutes.is_empty()
    }

    /// Whether an entry with a date was seen, however old.
    pub const fn has_dates(&self) -> bool {
        self.dated > 0
    }

    /// Minutes since 1970, UTC, ascending.
    pub fn minutes(&self) -> impl DoubleEndedIterator<Item = i64> + Clone {
        self.minutes.iter().map(|&minute| i64::from(minute))
    }

    /// From when on nothing was missed, minutes since 1970; `None`: never fetched.
    pub fn since(&self) -> Option<i64> {
        self.since.map(i64::from)
    }

    /// Entries in the newest document; 0: unknown.
    pub const fn document_entries(&self) -> u32 {
        self.document_entries
    }

    /// The zone of the stamps, as far as they betray it.
    pub const fn zone(&self) -> &StampZone {
        &self.zone
    }

    /// The dates are days and not times (annex A.1): more than a fifth stand at exactly midnight, or nearly all at one
    /// time of the day; and entries were not seen to appear then.
    pub fn has_whole_days_only(&self) -> bool {
        self.has_one_time() && !self.times.are_confirmed()
    }

    /// What was seen to arrive, and from when on: minutes since 1970.
    pub fn arrivals(&self) -> (i64, impl Iterator<Item = i64>) {
        let since = self.watched_since.map_or(i64::MAX, i64::from);
        (since, self.minutes().filter(move |&minute| minute > since))
    }

    /// The publications of which the hour is known: all, but where dates say a day only those that were seen to arrive.
    pub fn timed_minutes(&self) -> impl Iterator<Item = i64> {
        let (watched_since, _) = self.arrivals();
        let from = if self.has_one_time() { watched_since } else { 0 };
        self.minutes().filter(move |&minute| minute > from)
    }

    fn has_one_time(&self) -> bool {
        let at_midnight = u64::from(self.at_midnight) * 5 > u64::from(self.dated);
        at_midnight || self.times.are_one()
    }

    fn note_stamp(&mut self, stamp: Stamp, previous: Option<i64>, now: i64) {
        let local = seconds(stamp.at) + i64::from(stamp.offset_minutes.unwrap_or(0)) * 60;
        self.times.note_date(local);
        if let Some(previous) = previous {
            self.times.note_arrival(minute(stamp.at), previous, now);
        }
        // Old counts fade, so that a publisher who learns to write times is believed after a while.
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

    /// Sorts, drops doubles, what is too old, and what is too much.
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

/// Whole minutes since 1970, cut off downwards.
pub(super) fn minute(at: DateTime<Utc>) -> i64 {
    seconds(at).div_euclid(60)
}

/// The effective minute of an entry of the first document: its stamp, if that lies in the window.
fn first_minute(stamp: i64, now: i64) -> Option<i64> {
    (stamp > now - WINDOW_MINUTES).then_some(stamp.min(now))
}

/// The effective minute of an entry that `previous` did not show and `now` does.
///
/// 1. a stamp between the two is believed
/// 2. a stamp in the future is cut to `now`
/// 3. a stamp before `previous`, or none, means soon after `previous`: had it been there, it had been seen
/// 4. a stamp before the window is an old entry put back, which says nothing
fn later_minute(stamp: Option<i64>, previous: i64, now: i64) -> Option<i64> {
    let late = previous + ((now - previous).min(LATE_MINUTES) + 1) / 2;
    match stamp {
        Some(stamp) if stamp > now => Some(now),
        Some(stamp) if stamp > previous => Some(stamp),
        Some(stamp) if stamp <= now - WINDOW_MINUTES => None,
        Some(_) | None => Some(late),
    }
}

/// A day without a time, spread over what it may mean: the day itself, or the time between two fetches. The golden
/// ratio spreads any number of them evenly.
fn spread((from, to): (i64, i64), now: i64, place: usize) -> i64 {
    let seed = now.wrapping_add(i64::try_from(place).unwrap_or(0));
    let turn = seed.wrapping_mul(618_034).rem_euclid(1_000_000);
    from + (to - from).max(0).saturating_mul(turn) / 1_000_000
}

#[cfg(test)]
#[path = "publications_tests.rs"]
mod tests;
