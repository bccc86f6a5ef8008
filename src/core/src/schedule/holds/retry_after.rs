//! Waits that a response requests through `Retry-After` or an announced rate limit or, without them, through its cache lifetime
//! (SPEC B.4.3).

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::cache::{CacheState, TimingHeaders, http_date, whole_number};
use super::rate_limits::announced_wait;
pub use super::wait_header::WaitHeader;
use crate::feed::sparse::is_default;
use crate::schedule::instant::seconds;
use crate::schedule::limits::RETRY_AFTER_CAP_SECONDS;

/// A wait imposed by a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// Time at which the response was received.
    pub received_at: DateTime<Utc>,
    /// Length of the wait from `received_at` in seconds, at most 7 days.
    pub seconds: u32,
    /// The header that stated the wait.
    pub stated_by: WaitHeader,
    /// Number of 429s in a row from the host that came after the end of an earlier wait.
    #[serde(default, skip_serializing_if = "is_default")]
    pub refusals: u8,
}

impl Wait {
    /// Reads the wait from a response with this status. 2xx responses impose no wait, unless they announce a used-up rate limit. Of
    /// `Retry-After` and a rate limit, the later end counts.
    pub fn of_answer(
        status: u16,
        headers: &TimingHeaders<'_>,
        received_at: DateTime<Utc>,
    ) -> Option<Self> {
        let is_success = (200..300).contains(&status);
        let wait = |seconds, stated_by| Self { stated_by, ..Self::requested(received_at, seconds) };
        let requested = headers.retry_after.filter(|_| !is_success);
        let requested = requested.and_then(|text| retry_after_seconds(text, received_at));
        let requested = requested.map(|seconds| Self::requested(received_at, seconds));
        let announced =
            announced_wait(status, headers, received_at).and_then(|(stated, header)| {
                Some(wait(u32::try_from(stated.min(RETRY_AFTER_CAP_SECONDS)).ok()?, header))
            });
        let stated = match (requested, announced) {
            (Some(requested), Some(announced)) if announced.seconds > requested.seconds => {
                Some(announced)
            }
            (requested, announced) => requested.or(announced),
        };
        if stated.is_some() || is_success {
            return stated;
        }
        let cached = matches!(status, 429 | 503)
            .then(|| CacheState::of_document(headers, received_at).floor_seconds())
            .flatten()?;
        let seconds = u32::try_from(cached).ok()?;
        Some(wait(seconds, WaitHeader::CacheControl))
    }

    /// Returns the wait that a 429 imposes on all feeds of its host (SPEC B.4.3, D.2): the one that it states,
    /// otherwise an hour, or its cache lifetime if that is longer.
    pub fn of_host(headers: &TimingHeaders<'_>, received_at: DateTime<Utc>) -> Self {
        let assumed = Self::assumed(received_at);
        let stated = Self::of_answer(429, headers, received_at);
        let usable = |wait: &Self| wait.stated_by.is_stated() || wait.seconds > assumed.seconds;
        stated.filter(usable).unwrap_or(assumed)
    }

    /// Returns this wait, or the earlier one if that one ends later. The earlier wait can be the longer one if the server responds
    /// to a manual poll with a shorter wait (SPEC B.4.3). A wait received in the future, because the clock was set back since, does
    /// not count as earlier.
    #[must_use]
    pub fn or_longer(self, earlier: Option<Self>) -> Self {
        let earlier = earlier.filter(|earlier| earlier.received_at <= self.received_at);
        earlier.filter(|earlier| earlier.end() > self.end()).unwrap_or(self)
    }

    /// Returns the end of the wait.
    pub fn end(&self) -> Option<DateTime<Utc>> {
        self.received_at.checked_add_signed(TimeDelta::seconds(i64::from(self.seconds)))
    }

    /// Checks whether the wait only says when the host takes the next request. Archives then wait in the queue, because they would never
    /// be requested if every answer says so.
    pub fn is_turn(&self) -> bool {
        self.stated_by.limit_name().is_some() && self.refusals == 0
    }

    /// Lengthens the wait of a 429 that came although `earlier`, the last wait of the host, was obeyed: to at least a minute, then
    /// two, up to an hour (SPEC B.4.3).
    #[must_use]
    pub fn after_refusal(self, earlier: Option<Self>) -> Self {
        let refusals = earlier.map_or(0, |earlier| {
            let is_obeyed = earlier.end() <= Some(self.received_at);
            earlier.refusals.saturating_add(u8::from(is_obeyed))
        });
        let doubled = refusals.checked_sub(1).map_or(0, |times| 60 << times.min(6));
        Self { seconds: self.seconds.max(doubled.min(3600)), refusals, ..self }
    }

    /// Returns the wait that a `Retry-After` requests.
    pub const fn requested(received_at: DateTime<Utc>, seconds: u32) -> Self {
        Self { received_at, seconds, stated_by: WaitHeader::RetryAfter, refusals: 0 }
    }

    /// Returns the wait assumed for a 429 that states no time: an hour.
    pub const fn assumed(received_at: DateTime<Utc>) -> Self {
        Self { received_at, seconds: 3600, stated_by: WaitHeader::Nothing, refusals: 0 }
    }
}

/// Parses a wait in seconds, stated as an integer or an HTTP-date. Returns `None` for a date in the past.
fn retry_after_seconds(text: &str, received_at: DateTime<Utc>) -> Option<u32> {
    let stated = match whole_number(text.trim()) {
        Some(number) => i64::from(number),
        None => seconds(http_date(text)?) - seconds(received_at),
    };
    u32::try_from(stated.min(RETRY_AFTER_CAP_SECONDS)).ok().filter(|&wait| wait > 0)
}

#[cfg(test)]
mod tests {
    use crate::schedule::holds::retry_after::*;
    use crate::schedule::instant::instant;

    /// 2026-03-02T10:00:00Z.
    const TEN: i64 = 1_772_445_600;

    fn check(status: u16, retry_after: &str, cache_control: &str, expected: Option<u32>) {
        let headers = TimingHeaders {
            retry_after: Some(retry_after).filter(|text| !text.is_empty()),
            cache_control: Some(cache_control).filter(|text| !text.is_empty()),
            ..TimingHeaders::default()
        };
        let wait = Wait::of_answer(status, &headers, instant(TEN));
        let got = wait.map(|wait| wait.seconds);
        assert_eq!(got, expected, "{status} {retry_after:?} {cache_control:?}");
    }

    #[test]
    fn a_wait_is_read_from_seconds_and_from_dates() {
        check(503, "7200", "", Some(7200));
        check(503, " 7200 ", "", Some(7200));
        check(404, "60", "", Some(60));
        check(302, "60", "", Some(60));
        check(503, "Mon, 02 Mar 2026 12:00:00 GMT", "", Some(7200));
        check(503, "Monday, 02-Mar-26 12:00:00 GMT", "", Some(7200));
    }

    #[test]
    fn success_past_date_or_garbage_imposes_no_wait() {
        check(200, "7200", "", None);
        check(226, "7200", "", None);
        check(503, "Mon, 02 Mar 2026 09:00:00 GMT", "", None);
        for nonsense in ["", "0", "-5", "soon", "1.5", "2 h", "2026-03-02T12:00:00Z"] {
            check(503, nonsense, "", None);
        }
    }

    #[test]
    fn retry_after_is_capped_at_a_week() {
        check(503, "99999999999999999999", "", Some(7 * 86_400));
        check(503, "Sun, 02 Mar 2036 12:00:00 GMT", "", Some(7 * 86_400));
    }

    #[test]
    fn max_age_replaces_retry_after_on_429_and_503_only() {
        check(429, "", "max-age=172800", Some(172_800));
        check(503, "soon", "max-age=3600", Some(3600));
        check(429, "60", "max-age=172800", Some(60));
        check(404, "", "max-age=172800", None);
    }
}
