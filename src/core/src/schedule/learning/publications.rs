//! Records when a feed published, as effective minutes: the minutes at which its entries are assumed to have appeared (SCHEDULING
//! annex A.1). Its dates show whether they have a time of day and in which zone the publisher is (annex A.5), and the usual time
//! between publications shows whether the feed has fallen silent.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::super::limits::seconds;
use super::week_bins::{DAY_MINUTES, WEEK_MINUTES};
use crate::feed::{Entry, Zone};

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
    /// Counts the time of day of a date. `at` is in local seconds since 1970 and `offset` is the UTC offset in seconds. If the offset is
    /// not zero, only midnight and noon can mean a date without a time; the publisher wrote any other time deliberately.
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

/// Time zones with daylight saving time, each representing all zones with the same offsets: winter and summer UTC offset in
/// minutes, and the name of the zone.
const SEASONAL: [(i16, i16, &str); 10] = [
    (-480, -420, "America/Los_Angeles"),
    (-420, -360, "America/Denver"),
    (-360, -300, "America/Chicago"),
    (-300, -240, "America/New_York"),
    (0, 60, "Europe/London"),
    (60, 120, "Europe/Berlin"),
    (120, 180, "Europe/Helsinki"),
    (570, 630, "Australia/Adelaide"),
    (600, 660, "Australia/Sydney"),
    (720, 780, "Pacific/Auckland"),
];

/// The last two distinct UTC offsets in a feed's dates, in minutes east.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StampZone {
    newest: Option<i16>,
    before: Option<i16>,
}

impl StampZone {
    /// Records the UTC offset of a date, in minutes.
    pub(super) fn note(&mut self, offset_minutes: i16) {
        if !(-840..=840).contains(&offset_minutes) || self.newest == Some(offset_minutes) {
            return;
        }
        self.before = self.newest;
        self.newest = Some(offset_minutes);
    }

    /// Returns the time zone that the recorded UTC offsets indicate. Two offsets an hour apart are winter and summer time of one
    /// zone. A single offset other than 0 is a fixed zone. An offset of 0 means nothing, because software that does not know the
    /// zone writes 0.
    pub fn zone(&self) -> Option<Zone> {
        let newest = self.newest?;
        let seasonal = self.before.and_then(|before| {
            let pair = (newest.min(before), newest.max(before));
            let named = SEASONAL.iter().find(|(winter, summer, _)| (*winter, *summer) == pair);
            named.map(|(_, _, name)| Zone::Named((*name).to_owned()))
        });
        seasonal.or_else(|| (newest != 0).then_some(Zone::Offset(newest)))
    }
}

/// Minimum number of days with publications from which the usual gap is learned.
const DAYS_MIN: usize = 6;
/// Minimum silence that counts, in days.
const SILENT_DAYS_MIN: i64 = 28;
/// A silence counts if it is at least this many times as long as a long usual gap.
const LONG_GAPS: i64 = 6;

/// The usual number of days between two days with publications, and the last publication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsualGap {
    /// Time of the last publication, in minutes since 1970.
    last: i64,
    /// Median of the gaps, in days.
    days: u16,
    /// Number of days that nine of ten gaps do not exceed.
    long: u16,
}

impl UsualGap {
    /// Learns the usual gap from the publications of a feed. Too few of them keep the gap that was known before.
    pub fn learned(before: Option<Self>, publications: &Publications) -> Option<Self> {
        let last = publications.minutes().next_back();
        let mut days: Vec<i64> =
            publications.minutes().map(|minute| minute.div_euclid(DAY_MINUTES)).collect();
        days.dedup();
        if days.len() < DAYS_MIN {
            let last_of = |before: Self| last.map_or(before.last, |last| last.max(before.last));
            return before.map(|before| Self { last: last_of(before), ..before });
        }
        let following = days.iter().skip(1);
        let mut gaps: Vec<i64> =
            days.iter().zip(following).map(|(day, next)| next.saturating_sub(*day)).collect();
        gaps.sort_unstable();
        let place = |tenths: usize| gaps.len().saturating_sub(1).saturating_mul(tenths) / 10;
        let gap = |tenths: usize| u16::try_from(*gaps.get(place(tenths))?).ok();
        Some(Self { last: last?, days: gap(5)?, long: gap(9)? })
    }

    /// Records a publication that was just seen.
    pub fn note_publication(&mut self, now: DateTime<Utc>) {
        self.last = self.last.max(minute(now));
    }

    /// Returns the time of the last publication.
    pub fn last(self) -> DateTime<Utc> {
        DateTime::from_timestamp(self.last.saturating_mul(60), 0).unwrap_or_default()
    }

    /// Returns the time from which the silence of the feed counts. `until` is the time of the last successful
    /// poll. Returns `None` if the silence was too short then.
    pub fn silent_from(self, until: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let days = i64::from(self.long).saturating_mul(LONG_GAPS).max(SILENT_DAYS_MIN);
        let from = self.last().checked_add_signed(TimeDelta::days(days))?;
        (from <= until).then_some(from)
    }

    /// Describes how often the feed usually publishes, for example "weekly".
    pub fn words(self) -> String {
        match self.days {
            0 | 1 => "daily".to_owned(),
            6..=8 => "weekly".to_owned(),
            days => format!("every {days} days"),
        }
    }
}

#[cfg(test)]
#[path = "publications_tests.rs"]
mod tests;

#[cfg(test)]
mod stamp_zone_tests {
    use super::*;

    fn zone(offsets: &[i16]) -> Option<Zone> {
        let mut seen = StampZone::default();
        for &offset in offsets {
            seen.note(offset);
        }
        seen.zone()
    }

    #[test]
    fn offsets_reveal_the_time_zone() {
        assert_eq!(zone(&[]), None);
        assert_eq!(zone(&[0, 0]), None);
        assert_eq!(zone(&[330, 330]), Some(Zone::Offset(330)));
        assert_eq!(zone(&[60, 120, 60, 60]), Some(Zone::Named("Europe/Berlin".into())));
        assert_eq!(zone(&[-300, -240]), Some(Zone::Named("America/New_York".into())));
        assert_eq!(zone(&[0, 60]), Some(Zone::Named("Europe/London".into())));
        assert_eq!(zone(&[540, -300]), Some(Zone::Offset(-300)));
        assert_eq!(zone(&[i16::MIN, i16::MAX]), None);
    }

    #[test]
    fn every_named_zone_is_in_the_database_with_these_offsets() {
        use chrono::{Offset, TimeZone};
        for (winter, summer, name) in SEASONAL {
            let zone: chrono_tz::Tz = name.parse().expect("a known zone");
            let offset = |seconds: i64| {
                let at = DateTime::from_timestamp(seconds, 0).expect("an instant");
                zone.offset_from_utc_datetime(&at.naive_utc()).fix().local_minus_utc() / 60
            };
            // The zone's UTC offsets on 2026-01-15 and 2026-07-15.
            let mut offsets = [offset(1_768_435_200), offset(1_784_073_600)];
            offsets.sort_unstable();
            assert_eq!(offsets, [i32::from(winter), i32::from(summer)], "{name}");
        }
    }
}

#[cfg(test)]
mod usual_gap_tests {
    use super::*;

    /// Returns the publications on these days after a Monday, at noon.
    fn published(days: impl IntoIterator<Item = i64> + Clone, now: i64) -> Publications {
        let at = |day: i64| (20_514 + day) * DAY_MINUTES + 720;
        Publications::of_minutes(days.into_iter().map(at), at(0), at(now))
    }

    fn day(day: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_514 + day) + TimeDelta::hours(12)
    }

    #[test]
    fn weekly_feed_is_silent_after_six_weeks() {
        let gap = UsualGap::learned(None, &published([0, 7, 14, 21, 28, 35], 40)).unwrap();
        assert_eq!((gap.words().as_str(), gap.last()), ("weekly", day(35)));
        assert_eq!(gap.silent_from(day(76)), None);
        assert_eq!(gap.silent_from(day(77)), Some(day(77)));
        assert_eq!(gap.silent_from(day(300)), Some(day(77)), "from the same time on");
    }

    #[test]
    fn weekends_and_bursts_do_not_change_the_rhythm() {
        let working = [0, 1, 2, 3, 4, 7, 8, 9, 10, 11];
        let gap = UsualGap::learned(None, &published(working, 12)).unwrap();
        assert_eq!((gap.words().as_str(), gap.silent_from(day(38))), ("daily", None));
        assert_eq!(gap.silent_from(day(39)), Some(day(39)), "28 days");
        let bursts = [0, 0, 0, 3, 3, 6, 9, 12, 12, 15];
        assert_eq!(
            UsualGap::learned(None, &published(bursts, 15)).unwrap().words(),
            "every 3 days"
        );
    }

    #[test]
    fn gap_is_kept_when_publications_are_too_few() {
        assert_eq!(UsualGap::learned(None, &published([0, 7, 14, 21, 28], 30)), None);
        let weekly = UsualGap::learned(None, &published([0, 7, 14, 21, 28, 35], 40));
        assert_eq!(UsualGap::learned(weekly, &published([], 200)), weekly);
        let again = UsualGap::learned(weekly, &published([190], 200)).unwrap();
        assert_eq!((again.words().as_str(), again.last()), ("weekly", day(190)));
        assert_eq!(again.silent_from(day(200)), None);
        let mut seen = weekly.unwrap();
        seen.note_publication(day(200));
        assert_eq!(seen.silent_from(day(210)), None);
    }
}
