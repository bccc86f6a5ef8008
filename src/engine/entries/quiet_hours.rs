//! Hours of the day without desktop notifications.

use backissue_core::{InputFlaw, flaw};
use chrono::{DateTime, NaiveTime, Utc};
use serde::Deserialize;

/// A time of day at which quiet hours begin, and one at which they end, in the user's time zone. If the end comes before the
/// beginning, the hours last over midnight.
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
