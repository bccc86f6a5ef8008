//! Queue of new entries that await notification, and hours of the day without desktop notifications.

use std::collections::BTreeMap;
use std::ops::Range;

use backissue_core::history::FeedKey;
use backissue_core::{InputFlaw, flaw};
use chrono::{DateTime, NaiveTime, Utc};
use serde::Deserialize;

/// New entries that await notification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notifications {
    /// Ranges of entry numbers with their feeds, in order of arrival.
    pub(super) waiting: Vec<(FeedKey, Range<u32>)>,
    /// Time at which the first waiting entry arrived, or at which the last batch of entries was sent.
    pub(super) since: Option<DateTime<Utc>>,
    /// `true` while entries are being loaded from the store or the user's command is running.
    pub(super) under_way: bool,
    /// Error of the last run of the user's command.
    pub failure: Option<String>,
    /// Number of new entries by feed for the next desktop notification. `last_title` is the title of the newest of these entries.
    pub(super) noted: BTreeMap<FeedKey, u32>,
    pub(super) last_title: String,
    /// Time of the last desktop notification.
    pub(super) noted_at: Option<DateTime<Utc>>,
}

impl Notifications {
    /// Checks whether no entry waits for the user's command and the command is not running.
    pub const fn is_at_rest(&self) -> bool {
        self.waiting.is_empty() && !self.under_way
    }
}

/// Quiet hours: the times of day when they begin and end, in the user's time zone. If the end is before the beginning, they last
/// past midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct QuietHours {
    from: NaiveTime,
    to: NaiveTime,
}

impl TryFrom<String> for QuietHours {
    type Error = InputFlaw;

    fn try_from(text: String) -> Result<Self, InputFlaw> {
        let time = |text: &str| NaiveTime::parse_from_str(text.trim(), "%H:%M").ok();
        let hours = text.split_once('-').and_then(|(from, to)| {
            Some(Self { from: time(from)?, to: time(to)? }).filter(|hours| hours.from != hours.to)
        });
        hours.ok_or_else(|| flaw!("'{text}' is not a span of hours; write it like \"22:00-07:00\""))
    }
}

impl QuietHours {
    /// Checks whether a time is within the hours.
    pub fn contain(self, now: DateTime<Utc>, zone: chrono_tz::Tz) -> bool {
        let time = now.with_timezone(&zone).time();
        if self.from < self.to {
            (self.from..self.to).contains(&time)
        } else {
            time >= self.from || time < self.to
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_counted_in_the_zone_and_over_midnight() {
        let at = |hour: u32| DateTime::UNIX_EPOCH + chrono::TimeDelta::hours(i64::from(hour));
        let berlin = chrono_tz::Tz::Europe__Berlin;
        let night = QuietHours::try_from("22:00 - 07:00".to_owned()).unwrap();
        for (hour, is_quiet) in [(20, false), (21, true), (0, true), (5, true), (6, false)] {
            assert_eq!(night.contain(at(hour), berlin), is_quiet, "{hour} UTC");
        }
        let day = QuietHours::try_from("09:00-17:30".to_owned()).unwrap();
        assert!(day.contain(at(9), chrono_tz::Tz::UTC) && !day.contain(at(18), chrono_tz::Tz::UTC));
    }

    #[test]
    fn wrong_hours_are_refused_with_an_example() {
        for text in ["", "22:00", "22-7", "22:00-25:00", "07:00-07:00", "a-b"] {
            let why = QuietHours::try_from(text.to_owned()).unwrap_err();
            assert!(why.contains("write it like \"22:00-07:00\""), "{why}");
        }
    }
}
