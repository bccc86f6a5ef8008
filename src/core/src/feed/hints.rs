//! Polling hints that a publisher writes into a document (SPEC S0.5 to S0.11, A.5, H.1). Most feeds state few values, so those that
//! are not stated are omitted when records are serialised.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::flaws::Flaw;

/// Longest interval that a document or setting can state, in minutes: 366 days (SPEC S0.7, A.5.2).
pub const INTERVAL_MINUTES_MAX: u32 = 527_040;
/// Minimum `ttl`, in minutes, that is suspected to be a number of seconds (SPEC G.3).
const SUSPICIOUS_TTL_MINUTES: u32 = 600;

/// All polling hints of one subscription document. A hint is absent if the publisher did not state it or if it was unreadable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hints {
    /// RSS `ttl` in minutes, 1 to 527 040 (SPEC S0.7).
    #[serde(skip_serializing_if = "is_default")]
    pub ttl_minutes: Option<u32>,
    /// UTC hours in which the feed must not be polled, 0 to 23, ascending, without duplicates (SPEC S0.8).
    #[serde(skip_serializing_if = "is_default")]
    pub skip_hours: Vec<u8>,
    /// UTC days on which the feed must not be polled, ascending, without duplicates (SPEC S0.8).
    #[serde(skip_serializing_if = "is_default")]
    pub skip_days: Vec<DayOfWeek>,
    /// Update period, frequency and base time from the `sy:*` elements (SPEC S0.5).
    #[serde(skip_serializing_if = "is_default")]
    pub sy: Option<SyHint>,
    /// `refreshRate` in milliseconds, at least 1 000 (SPEC S0.10).
    #[serde(skip_serializing_if = "is_default")]
    pub refresh_rate_ms: Option<u64>,
    /// Interval rules in document order, at most `RULES_MAX` (SPEC A.5, H.1).
    #[serde(skip_serializing_if = "is_default")]
    pub intervals: Vec<IntervalRule>,
    /// Program that generated the document. The boilerplate rule of SPEC B.2 uses it.
    #[serde(skip_serializing_if = "is_default")]
    pub generator: Option<String>,
    /// Whether the feed offers push (`cloud`, `WebSub` hub, JSON Feed `hubs`). Push is recorded but not used (SPEC S0.11).
    #[serde(skip_serializing_if = "is_default")]
    pub offers_push: bool,
    /// JSON Feed `expired`: the feed will have no more entries (SPEC G.40).
    #[serde(skip_serializing_if = "is_default")]
    pub expired: bool,
    /// Hints that were dropped or repaired, and a `ttl` that looks like seconds (SPEC G.3). Only a few of each kind are stored
    /// with the feed. The document's flaws include them too, except the `ttl` flaw.
    #[serde(skip_serializing_if = "is_default")]
    pub flaws: Vec<Flaw>,
}

impl Hints {
    /// Checks whether `WordPress` generated the document.
    pub fn is_by_wordpress(&self) -> bool {
        let name = b"wordpress";
        self.generator.as_deref().is_some_and(|generator| {
            generator.as_bytes().windows(name.len()).any(|part| part.eq_ignore_ascii_case(name))
        })
    }

    /// Applies the hints of a delta document (RFC 3229). Existing hints that `delta` does not contain are kept (SPEC section 0).
    pub fn overlay(&mut self, delta: Self) {
        let mut kept = std::mem::take(self);
        kept.flaws.retain(|flaw| !delta.speaks_of(&flaw.element));
        let either = |new: Vec<u8>, old| if new.is_empty() { old } else { new };
        *self = Self {
            ttl_minutes: delta.ttl_minutes.or(kept.ttl_minutes),
            skip_hours: either(delta.skip_hours, kept.skip_hours),
            skip_days: if delta.skip_days.is_empty() { kept.skip_days } else { delta.skip_days },
            sy: delta.sy.or(kept.sy),
            refresh_rate_ms: delta.refresh_rate_ms.or(kept.refresh_rate_ms),
            intervals: if delta.intervals.is_empty() { kept.intervals } else { delta.intervals },
            generator: delta.generator.or(kept.generator),
            offers_push: delta.offers_push || kept.offers_push,
            expired: delta.expired || kept.expired,
            flaws: [kept.flaws, delta.flaws].concat(),
        };
    }

    /// Checks whether the document contained a hint element with this name, whether the hint was accepted or dropped.
    fn speaks_of(&self, element: &str) -> bool {
        let is_read = match element {
            "ttl" => self.ttl_minutes.is_some(),
            "skipHours" => !self.skip_hours.is_empty(),
            "skipDays" => !self.skip_days.is_empty(),
            "refreshRate" => self.refresh_rate_ms.is_some(),
            "interval" => !self.intervals.is_empty(),
            _ => element.starts_with("sy:") && self.sy.is_some(),
        };
        is_read || self.flaws.iter().any(|flaw| flaw.element == element)
    }

    /// Returns a flaw if entries arrive more than ten times as often as the `ttl` suggests, so that the publisher may have stated
    /// the `ttl` in seconds (SPEC G.3). `gap_seconds` is the mean time between entries. The `ttl` is read as minutes in any case.
    pub(crate) fn ttl_like_seconds(&self, gap_seconds: i64) -> Option<Flaw> {
        let ttl = self.ttl_minutes.filter(|ttl| *ttl >= SUSPICIOUS_TTL_MINUTES)?;
        (gap_seconds < i64::from(ttl) * 60 / 10).then(|| Flaw {
            element: "ttl".to_owned(),
            text: ttl.to_string(),
            reason: "looks like seconds, since entries come far more often: read as minutes"
                .to_owned(),
        })
    }
}

/// Update period, frequency and base time of the `mod_syndication` module (SPEC S0.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyHint {
    /// Length of the period. Daily if the publisher states none.
    pub period: Period,
    /// Number of updates per period, 1 to 99 999.
    pub frequency: u32,
    /// Time from which the update times are counted, or `None` if the publisher states none.
    pub base: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Period {
    /// 60 minutes.
    Hourly,
    /// 24 hours.
    Daily,
    /// 7 days.
    Weekly,
    /// 30 days, or a calendar month where SPEC B.6 requires it.
    Monthly,
    /// 365 days, or a calendar year where SPEC B.6 requires it.
    Yearly,
}

impl Period {
    /// Returns the value of `sy:updatePeriod` that means this period.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
            Self::Yearly => "yearly",
        }
    }
}

/// One interval rule (SPEC A.5.2), normalised: day 0 becomes 7, and hour 24 becomes 0 (start) or 23 (end).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalRule {
    /// Interval in minutes, 1 to 527 040.
    pub minutes: u32,
    /// First hour of the day in which the rule applies, 0 to 23. `None` = 0.
    pub start_hour: Option<u8>,
    /// Last hour of the day in which the rule applies, 0 to 23, inclusive. If it is before the start hour, the range continues on
    /// the next day. `None` = 23.
    pub end_hour: Option<u8>,
    /// First day of the week on which the rule applies, 1 = Monday to 7 = Sunday. `None` = 1.
    pub start_day: Option<u8>,
    /// Last day of the week on which the rule applies, 1 = Monday to 7 = Sunday. If it is before the start day, the range continues
    /// in the next week. `None` = 7.
    pub end_day: Option<u8>,
    /// Time zone of the rule's hours and days.
    pub zone: Zone,
}

/// Time zone from the `tz` attribute of an interval rule (SPEC A.5.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Zone {
    /// UTC: the attribute is absent or `UTC`, `GMT` or `Z`.
    Utc,
    /// Offset east of UTC in minutes, -840 to 840.
    Offset(i16),
    /// Valid name from the IANA time zone database.
    Named(String),
}

/// A day of the week in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DayOfWeek {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl DayOfWeek {
    /// All days, Monday first.
    pub const ALL: [Self; 7] = [
        Self::Monday,
        Self::Tuesday,
        Self::Wednesday,
        Self::Thursday,
        Self::Friday,
        Self::Saturday,
        Self::Sunday,
    ];

    /// Returns the English name of the day, as used in `skipDays`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Monday => "Monday",
            Self::Tuesday => "Tuesday",
            Self::Wednesday => "Wednesday",
            Self::Thursday => "Thursday",
            Self::Friday => "Friday",
            Self::Saturday => "Saturday",
            Self::Sunday => "Sunday",
        }
    }
}

/// Checks whether a field has its default value and can be omitted.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
