//! The usual time between the days on which a feed publishes, to notice that a feed has fallen silent.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::publications::{Publications, minute};
use super::week_bins::DAY_MINUTES;

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
mod tests {
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
