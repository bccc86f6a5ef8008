//! Polling hints that a publisher writes into a document (SPEC S0.5 to S0.11, A.5, H.1).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::flaws::Flaw;
use super::sparse::is_default;

/// Smallest ttl, in minutes, that may have been meant as seconds (SPEC G.3).
const SUSPICIOUS_TTL_MINUTES: u32 = 600;

/// All hints of one subscription document. An absent hint was not stated or was unreadable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hints {
    /// RSS `ttl` in minutes, 1 to 527 040 (SPEC S0.7).
    #[serde(skip_serializing_if = "is_default")]
    pub ttl_minutes: Option<u32>,
    /// UTC hours without polls, 0 to 23, ascending, without duplicates (SPEC S0.8).
    #[serde(skip_serializing_if = "is_default")]
    pub skip_hours: Vec<u8>,
    /// UTC days without polls, ascending, without duplicates (SPEC S0.8).
    #[serde(skip_serializing_if = "is_default")]
    pub skip_days: Vec<DayOfWeek>,
    /// `sy:*` (SPEC S0.5).
    #[serde(skip_serializing_if = "is_default")]
    pub sy: Option<SyHint>,
    /// `refreshRate` in milliseconds, at least 1 000 (SPEC S0.10).
    #[serde(skip_serializing_if = "is_default")]
    pub refresh_rate_ms: Option<u64>,
    /// Interval rules in document order, at most `RULES_MAX` (SPEC A.5, H.1).
    #[serde(skip_serializing_if = "is_default")]
    pub intervals: Vec<IntervalRule>,
    /// Program that generated the document, for the boilerplate rule of SPEC B.2.
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
    /// Applies the hints of a delta (RFC 3229). Hints that the delta does not contain are kept (SPEC section 0).
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

    /// Checks whether an element with this name was present, either read or dropped.
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

    /// Returns a flaw if entries arrive more than ten times as often as the `ttl` suggests, so that it may have been meant as
    /// seconds (SPEC G.3). `gap_seconds` is the mean time between entries. The `ttl` is still read as minutes.
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

/// The `mod_syndication` hint (SPEC S0.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyHint {
    /// Period, daily by default.
    pub period: Period,
    /// Updates per period, 1 to 99 999.
    pub frequency: u32,
    /// Base time from which slots are counted, or `None` if the publisher states none.
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
    /// Returns the word used in documents.
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
    /// First hour, 0 to 23, inclusive. `None` = 0.
    pub start_hour: Option<u8>,
    /// Last hour, 0 to 23, inclusive. If it is before the start, the range wraps into the next day. `None` = 23.
    pub end_hour: Option<u8>,
    /// First day, 1 = Monday to 7 = Sunday. `None` = 1.
    pub start_day: Option<u8>,
    /// Last day, 1 = Monday to 7 = Sunday. If it is before the start, the range wraps over the weekend. `None` = 7.
    pub end_day: Option<u8>,
    /// Time zone of the hours and days.
    pub zone: Zone,
}

/// The `tz` attribute of an interval rule (SPEC A.5.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Zone {
    /// Absent, `UTC`, `GMT`, `Z`.
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

    /// Returns the English name used in documents.
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
