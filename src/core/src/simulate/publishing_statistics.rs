//! Statistics of feeds by publishing interval, format and scheduling hint, like Figure 1 and Table II of the paper on
//! interval rules (SPEC S0.14, S0.15).

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use crate::feed::{Hints, Kind};
use crate::schedule::learning::Publications;

/// Number of weeks over which publications are counted, as in the paper on interval rules.
const WEEKS: i64 = 8;
/// Feed formats in the order of the table rows.
const FORMATS: [Kind; 5] = [Kind::Rdf, Kind::Rss, Kind::Atom, Kind::Json, Kind::None];
/// Lower limit in minutes and name of each range of publishing intervals.
const BANDS: [(f64, &str); 7] = [
    (0.0, "more than hourly"),
    (60.0, "every 1 to 6 hours"),
    (360.0, "every 6 to 12 hours"),
    (720.0, "every 12 to 24 hours"),
    (1440.0, "every 1 to 3 days"),
    (4320.0, "every 3 to 7 days"),
    (10_080.0, "less than weekly"),
];

/// The statistics printed by `feeds --stats`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statistics {
    /// Number of feeds examined.
    pub feeds: usize,
    /// Number of feeds in each range of publishing intervals, the most frequent publishers first.
    pub intervals: Vec<IntervalBand>,
    /// Number of feeds that published nothing in eight weeks or were never read.
    pub silent: usize,
    /// Median interval of the feeds that published, in minutes.
    pub median_interval_minutes: Option<f64>,
    /// Number of feeds of each format, and the scheduling hints they use.
    pub formats: Vec<FormatRow>,
    /// Number of feeds that state a polling interval in any way.
    pub with_interval: usize,
}

/// The number of feeds with similar publishing intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct IntervalBand {
    /// Name of the range of intervals.
    pub name: &'static str,
    /// Number of feeds in the range.
    pub feeds: usize,
}

/// The number of feeds with one format, and how many of them use each scheduling hint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FormatRow {
    /// Name of the format: `rdf`, `rss`, `atom` or `json`; `none` for feeds of which no document has been read yet.
    pub format: &'static str,
    pub feeds: usize,
    /// Number of feeds with interval rules by hour and day.
    pub interval: usize,
    /// Number of feeds with `sy:*` elements.
    pub sy: usize,
    pub ttl: usize,
    /// Number of feeds with `skipHours` or `skipDays`.
    pub skip: usize,
    pub refresh_rate: usize,
}

impl Statistics {
    /// Computes the statistics from the format, the hints and the publication times of each feed.
    pub fn of<'a>(
        feeds: impl IntoIterator<Item = (Kind, &'a Hints, Publications)>,
        now: DateTime<Utc>,
    ) -> Self {
        let mut formats: Vec<FormatRow> = FORMATS
            .iter()
            .map(|kind| FormatRow { format: kind.word(), ..FormatRow::default() })
            .collect();
        let (mut count, mut with_interval) = (0, 0);
        let mut known: Vec<f64> = Vec::new();
        for (format, hints, publications) in feeds {
            count += 1;
            known.extend(mean_interval(&publications, now));
            with_interval += usize::from(names_interval(hints));
            if let Some(row) = formats.iter_mut().find(|row| row.format == format.word()) {
                row.add(hints);
            }
        }
        known.sort_unstable_by(f64::total_cmp);
        let until = |place: usize| {
            let end = BANDS.get(place).map_or(f64::INFINITY, |(from, _)| *from);
            known.partition_point(|&interval| interval < end)
        };
        let intervals = BANDS.iter().enumerate().map(|(place, &(_, name))| IntervalBand {
            name,
            feeds: until(place + 1) - until(place),
        });
        Self {
            feeds: count,
            intervals: intervals.collect(),
            silent: count - known.len(),
            median_interval_minutes: known.get(known.len() / 2).copied(),
            formats,
            with_interval,
        }
    }
}

impl FormatRow {
    fn add(&mut self, hints: &Hints) {
        self.feeds += 1;
        self.interval += usize::from(!hints.intervals.is_empty());
        self.sy += usize::from(hints.sy.is_some());
        self.ttl += usize::from(hints.ttl_minutes.is_some());
        self.skip += usize::from(!hints.skip_hours.is_empty() || !hints.skip_days.is_empty());
        self.refresh_rate += usize::from(hints.refresh_rate_ms.is_some());
    }
}

fn names_interval(hints: &Hints) -> bool {
    !hints.intervals.is_empty()
        || hints.sy.is_some()
        || hints.ttl_minutes.is_some()
        || hints.refresh_rate_ms.is_some()
}

/// Returns the mean time in minutes between publications in the last eight weeks, or in a shorter period if the feed has not
/// been known for eight weeks.
fn mean_interval(publications: &Publications, now: DateTime<Utc>) -> Option<f64> {
    let minute = |at: DateTime<Utc>| at.timestamp().div_euclid(60);
    let from = minute(now - TimeDelta::weeks(WEEKS)).max(publications.since()?);
    let count = publications.minutes().filter(|&published| published >= from).count();
    let watched = u32::try_from(minute(now) - from).ok()?;
    let count = u32::try_from(count).ok().filter(|count| *count > 0)?;
    Some(f64::from(watched.max(1)) / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feeds_are_counted_by_interval_format_and_hint() {
        let now = DateTime::from_timestamp(1_772_000_000, 0).expect("a time");
        let end = now.timestamp() / 60;
        let every = |minutes: i64, count: i64| {
            Publications::of_minutes(
                (0..count).map(|n| end - n * minutes),
                end - count * minutes,
                end,
            )
        };
        let none = Hints::default();
        let hourly = Hints { ttl_minutes: Some(60), skip_hours: vec![1], ..Hints::default() };
        let feeds = [
            (Kind::Rss, &hourly, every(30, 40)),
            (Kind::Rss, &none, every(600, 20)),
            (Kind::Atom, &none, every(2000, 10)),
            // This feed published nothing in the last eight weeks.
            (Kind::None, &none, Publications::of_minutes([end - 99_999], 0, end)),
        ];
        let found = Statistics::of(feeds, now);
        let counts: Vec<usize> = found.intervals.iter().map(|band| band.feeds).collect();
        assert_eq!(counts, [1, 0, 1, 0, 1, 0, 0]);
        assert_eq!((found.feeds, found.silent, found.with_interval), (4, 1, 1));
        assert_eq!(found.median_interval_minutes, Some(600.0));
        let rss = found.formats.iter().find(|row| row.format == "rss").expect("a row");
        assert_eq!((rss.feeds, rss.ttl, rss.skip, rss.sy), (2, 1, 1, 0));
        assert_eq!(Statistics::of([], now).median_interval_minutes, None);
    }
}
