//! The lifetime an answer was given by its cache headers, reduced to what a floor needs (SPEC B.4.2).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::feed::sparse::is_default;
use crate::schedule::instant::seconds;
use crate::schedule::limits::{CACHE_ABSURD_SECONDS, CACHE_FALLBACK_SECONDS, CACHE_FULL_SECONDS};

/// The headers of one answer that speak about time, as received. Several lines of one name are
/// joined by a comma before they come here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimingHeaders<'a> {
    /// `Cache-Control`.
    pub cache_control: Option<&'a str>,
    /// `Expires`.
    pub expires: Option<&'a str>,
    /// `Date`.
    pub date: Option<&'a str>,
    /// `Age`.
    pub age: Option<&'a str>,
    /// `Retry-After`.
    pub retry_after: Option<&'a str>,
}

/// What is kept of the cache headers of the last good answer.
///
/// The stated lifetime is kept, not the resulting instant, because a later 304 without
/// `Cache-Control` starts the same lifetime anew (SPEC D.4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheState {
    /// When the answer was received.
    pub received_at: DateTime<Utc>,
    /// How long it lives.
    pub lifetime: Lifetime,
    /// The `Date` of the answer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub date: Option<DateTime<Utc>>,
    /// How long the answer had already lain in a cache, seconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub age_seconds: u32,
}

/// A stated lifetime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lifetime {
    /// Nothing usable is stated, or caching is forbidden: no floor.
    None,
    /// `max-age`, seconds.
    MaxAge(u32),
    /// `Expires`.
    Until(DateTime<Utc>),
}

impl CacheState {
    /// What a 200 or 226 says: absent headers clear (SPEC D.4.6).
    pub fn of_document(headers: &TimingHeaders<'_>, received_at: DateTime<Utc>) -> Self {
        Self {
            received_at,
            lifetime: stated_lifetime(headers).unwrap_or(Lifetime::None),
            date: headers.date.and_then(http_date),
            age_seconds: headers.age.and_then(leading_number).unwrap_or(0),
        }
    }

    /// What a 304 makes of this state: absent headers keep what was stated (SPEC D.4.5).
    #[must_use]
    pub fn of_not_modified(self, headers: &TimingHeaders<'_>, received_at: DateTime<Utc>) -> Self {
        let fresh = Self::of_document(headers, received_at);
        Self { lifetime: stated_lifetime(headers).unwrap_or(self.lifetime), ..fresh }
    }

    /// The same statement, as if made at another time.
    #[must_use]
    pub fn repeated_at(self, received_at: DateTime<Utc>) -> Self {
        let shift = received_at.signed_duration_since(self.received_at);
        let moved = |at: DateTime<Utc>| at.checked_add_signed(shift).unwrap_or(received_at);
        let lifetime = match self.lifetime {
            Lifetime::Until(at) => Lifetime::Until(moved(at)),
            Lifetime::None | Lifetime::MaxAge(_) => self.lifetime,
        };
        Self { received_at, lifetime, date: self.date.map(moved), ..self }
    }

    /// Seconds stated, before caps and age; `None` if there is no floor.
    pub fn stated_seconds(&self) -> Option<i64> {
        let life = match self.lifetime {
            Lifetime::None => return None,
            Lifetime::MaxAge(life) => i64::from(life),
            Lifetime::Until(at) => seconds(at) - seconds(self.date.unwrap_or(self.received_at)),
        };
        (life > 0).then_some(life)
    }

    /// Seconds after receipt before which a poll would meet the same cached copy, 1 to 48 h.
    pub fn floor_seconds(&self) -> Option<i64> {
        let left = counted(self.stated_seconds()?) - i64::from(self.age_seconds);
        (left > 0).then_some(left)
    }
}

/// What a stated lifetime counts as: a year on a feed is a rule meant for pictures (SPEC G.15).
pub(in crate::schedule) fn counted(life: i64) -> i64 {
    if life > CACHE_ABSURD_SECONDS { CACHE_FALLBACK_SECONDS } else { life.min(CACHE_FULL_SECONDS) }
}

/// The lifetime the headers state; `None` if they do not speak about it at all.
fn stated_lifetime(headers: &TimingHeaders<'_>) -> Option<Lifetime> {
    let mut max_age = None;
    let mut speaks = headers.expires.is_some();
    for (name, value) in headers.cache_control.into_iter().flat_map(directives) {
        if name.eq_ignore_ascii_case("no-cache") || name.eq_ignore_ascii_case("no-store") {
            return Some(Lifetime::None);
        }
        if name.eq_ignore_ascii_case("max-age") {
            speaks = true;
            max_age = max_age.or_else(|| whole_number(value));
        }
    }
    let until = || headers.expires.and_then(http_date).map(Lifetime::Until);
    speaks.then(|| max_age.map(Lifetime::MaxAge).or_else(until).unwrap_or(Lifetime::None))
}

/// The directives of a `Cache-Control` text: name and value, quotes taken off (SPEC G.15). A comma
/// inside quotes does not end a directive.
fn directives(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut quoted = false;
    text.split(move |c| {
        quoted ^= c == '"';
        c == ',' && !quoted
    })
    .map(|directive| {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        (name.trim(), value.trim().trim_matches('"').trim())
    })
}

/// A non-negative integer, too large ones cut to the largest `u32` (RFC 9111 §1.2.2).
pub(in crate::schedule) fn whole_number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u32::MAX))
}

/// The first of several numbers (RFC 9111 §5.1 on `Age`).
fn leading_number(text: &str) -> Option<u32> {
    whole_number(text.split(',').next()?.trim())
}

/// An HTTP-date (RFC 9110 §5.6.7), always in GMT: anything else is no date (SPEC G.16).
pub(in crate::schedule) fn http_date(text: &str) -> Option<DateTime<Utc>> {
    httpdate::parse_http_date(text.trim()).ok().map(DateTime::from)
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
