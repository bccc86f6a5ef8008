//! The cache headers of a response, from which the time is computed before which the feed is not polled again (SPEC B.4.2).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::feed::hints::is_default;
use crate::schedule::limits::{
    CACHE_ABSURD_SECONDS, CACHE_FALLBACK_SECONDS, CACHE_FULL_SECONDS, seconds,
};

/// The time-related headers of one response, as received. The caller joins repeated headers with a comma.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimingHeaders<'a> {
    /// Value of the `Cache-Control` header.
    pub cache_control: Option<&'a str>,
    /// Value of the `Expires` header.
    pub expires: Option<&'a str>,
    /// Value of the `Date` header.
    pub date: Option<&'a str>,
    /// Value of the `Age` header.
    pub age: Option<&'a str>,
    /// Value of the `Retry-After` header.
    pub retry_after: Option<&'a str>,
    /// Headers that announce rate limits, each in a line of its own as `name: value`.
    pub rate_limits: Option<&'a str>,
}

/// The cache headers of the last successful response.
///
/// The struct keeps the stated lifetime, not the instant at which it ends, because a later 304 without `Cache-Control` restarts the
/// same lifetime (SPEC D.4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheState {
    /// Time at which the response was received.
    pub received_at: DateTime<Utc>,
    /// Stated lifetime of the response.
    pub lifetime: Lifetime,
    /// `Date` header of the response.
    #[serde(default, skip_serializing_if = "is_default")]
    pub date: Option<DateTime<Utc>>,
    /// Time the response had already spent in a cache, in seconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub age_seconds: u32,
}

/// A stated cache lifetime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lifetime {
    /// No usable lifetime, or caching is forbidden, so the lifetime does not delay polls.
    None,
    /// The number of seconds in `max-age`.
    MaxAge(u32),
    /// A lifetime that ends at the time in the `Expires` header.
    Until(DateTime<Utc>),
}

impl CacheState {
    /// Creates the state from a 200 or 226 response. Nothing is kept from earlier responses, even if headers are absent (SPEC
    /// D.4.6).
    pub fn of_document(headers: &TimingHeaders<'_>, received_at: DateTime<Utc>) -> Self {
        Self {
            received_at,
            lifetime: stated_lifetime(headers).unwrap_or(Lifetime::None),
            date: headers.date.and_then(http_date),
            age_seconds: headers.age.and_then(leading_number).unwrap_or(0),
        }
    }

    /// Updates the state from a 304 response. If it states no lifetime, the previous one is kept (SPEC D.4.5).
    #[must_use]
    pub(crate) fn of_not_modified(
        self,
        headers: &TimingHeaders<'_>,
        received_at: DateTime<Utc>,
    ) -> Self {
        let fresh = Self::of_document(headers, received_at);
        Self { lifetime: stated_lifetime(headers).unwrap_or(self.lifetime), ..fresh }
    }

    /// Returns the state that the same response would have if it were received at another time.
    #[must_use]
    pub(crate) fn repeated_at(self, received_at: DateTime<Utc>) -> Self {
        let shift = received_at.signed_duration_since(self.received_at);
        let moved = |at: DateTime<Utc>| at.checked_add_signed(shift).unwrap_or(received_at);
        let lifetime = match self.lifetime {
            Lifetime::Until(at) => Lifetime::Until(moved(at)),
            Lifetime::None | Lifetime::MaxAge(_) => self.lifetime,
        };
        Self { received_at, lifetime, date: self.date.map(moved), ..self }
    }

    /// Returns the stated lifetime in seconds, before it is limited and the age is subtracted; `None` if no positive lifetime is
    /// stated.
    pub(crate) fn stated_seconds(&self) -> Option<i64> {
        let life = match self.lifetime {
            Lifetime::None => return None,
            Lifetime::MaxAge(life) => i64::from(life),
            Lifetime::Until(at) => seconds(at) - seconds(self.date.unwrap_or(self.received_at)),
        };
        (life > 0).then_some(life)
    }

    /// Returns the number of seconds after receipt during which a poll would get the same cached copy, 1 second to 48 h.
    pub(crate) fn floor_seconds(&self) -> Option<i64> {
        let left = counted(self.stated_seconds()?) - i64::from(self.age_seconds);
        (left > 0).then_some(left)
    }
}

/// Limits a stated lifetime, in seconds. More than 7 days is treated as a mistake, because a lifetime of a year usually comes from
/// a server setting meant for images (SPEC G.15).
pub(crate) fn counted(life: i64) -> i64 {
    if life > CACHE_ABSURD_SECONDS { CACHE_FALLBACK_SECONDS } else { life.min(CACHE_FULL_SECONDS) }
}

/// Returns the lifetime that the headers state. `None` means that neither `Expires` nor a relevant `Cache-Control` directive is
/// present.
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

/// Splits a `Cache-Control` value into directives, each a name and a value without quotes (SPEC G.15). A comma inside
/// quotes does not end a directive.
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

/// Parses a non-negative integer. Values too large for `u32` become `u32::MAX` (RFC 9111 §1.2.2).
pub(in crate::schedule) fn whole_number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u32::MAX))
}

/// Parses the first number in a comma-separated list (RFC 9111 §5.1 on `Age`).
fn leading_number(text: &str) -> Option<u32> {
    whole_number(text.split(',').next()?.trim())
}

/// Parses an HTTP-date (RFC 9110 §5.6.7), which is always in GMT. Returns `None` for anything else (SPEC G.16).
pub(in crate::schedule) fn http_date(text: &str) -> Option<DateTime<Utc>> {
    httpdate::parse_http_date(text.trim()).ok().map(DateTime::from)
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
