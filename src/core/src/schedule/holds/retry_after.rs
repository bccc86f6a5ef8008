//! Waits that a response requests through `Retry-After` or an announced rate limit or, without them, through its cache lifetime
//! (SPEC B.4.3).

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::cache::{CacheState, TimingHeaders, http_date, whole_number};
use crate::feed::dates::date::parse_date;
use crate::feed::hints::is_default;
use crate::schedule::limits::{RETRY_AFTER_CAP_SECONDS, seconds};

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

/// Parses a `Retry-After`: a number of seconds or an HTTP-date (RFC 9110). Returns seconds, at most a week, or `None` for a date in the
/// past.
pub fn retry_after_seconds(text: &str, received_at: DateTime<Utc>) -> Option<u32> {
    let stated = match whole_number(text.trim()) {
        Some(number) => i64::from(number),
        None => seconds(http_date(text)?) - seconds(received_at),
    };
    u32::try_from(stated.min(RETRY_AFTER_CAP_SECONDS)).ok().filter(|&wait| wait > 0)
}

/// Numbers from this one on are Unix seconds and not a duration.
const EPOCH_MIN: f64 = 1e9;
/// Numbers from this one on are Unix milliseconds.
const EPOCH_MILLIS_MIN: f64 = 1e12;

/// Headers that announce a limit in separate values: their common start without hyphens, and the header that states the end.
const SEPARATE: [(&str, WaitHeader); 2] =
    [("xratelimit", WaitHeader::XRateLimitReset), ("ratelimit", WaitHeader::RateLimitReset)];

/// Checks whether a header, given in lower case, announces a rate limit.
pub fn announces_limit(name: &str) -> bool {
    let name = name.replace('-', "");
    SEPARATE.iter().any(|(start, _)| name.starts_with(start))
}

/// Returns the number of seconds after receipt during which the server takes no request, and the header that says so. A limit that
/// is not used up is no wait, except in a 429, which shows that it is. Of several limits the longest wait counts.
fn announced_wait(
    status: u16,
    headers: &TimingHeaders<'_>,
    received_at: DateTime<Utc>,
) -> Option<(i64, WaitHeader)> {
    let limits = LimitHeaders {
        lines: headers.rate_limits?,
        is_refused: status == 429,
        sent: seconds(headers.date.and_then(http_date).unwrap_or(received_at)),
    };
    let age = headers.age.and_then(leading_number).map_or(0, whole);
    let separate =
        SEPARATE.iter().filter_map(|&(start, header)| Some((limits.separate(start)?, header)));
    let structured = limits.structured().map(|wait| (wait, WaitHeader::RateLimit));
    let longest = separate.chain(structured).max_by_key(|(wait, _)| *wait)?;
    Some((longest.0.saturating_sub(age), longest.1)).filter(|(wait, _)| *wait > 0)
}

/// The headers of a response that announce limits.
struct LimitHeaders<'a> {
    /// One header in each line, as `name: value`.
    lines: &'a str,
    /// `true` if the response is a 429.
    is_refused: bool,
    /// Time of the server's clock when it sent the response, in seconds since 1970.
    sent: i64,
}

impl<'a> LimitHeaders<'a> {
    /// Returns the value of a header, whose name is given in lower case without hyphens.
    fn value(&self, wanted: &str) -> Option<&'a str> {
        let named = |line: &'a str| {
            let (name, value) = line.split_once(':')?;
            let name = name.replace('-', "").to_ascii_lowercase();
            (name == wanted).then(|| value.trim())
        };
        self.lines.lines().find_map(named)
    }

    /// Reads the wait from headers such as `X-RateLimit-Remaining` and `X-RateLimit-Reset`.
    fn separate(&self, start: &str) -> Option<i64> {
        let value = |end: &str| self.value(&format!("{start}{end}"));
        let left = value("remaining").and_then(leading_number);
        let is_used_up = self.is_refused || left.is_some_and(|left| left < 1.0);
        let reset = value("resetafter").or_else(|| value("reset")).filter(|_| is_used_up)?;
        self.seconds_until(reset)
    }

    /// Reads the wait from `RateLimit`, in which `t` or `reset` is the wait, or else the window of the policy of the same name.
    fn structured(&self) -> Option<i64> {
        let policies = self.value("ratelimitpolicy").map(items).unwrap_or_default();
        let limits = self.value("ratelimit").map(items).unwrap_or_default();
        let window = |name: &str| {
            let windows =
                policies.iter().filter(|policy| policy.name == name || policies.len() == 1);
            windows.filter_map(|policy| policy.number(&["w"])).map(whole).max()
        };
        let waits = limits.iter().filter_map(|limit| {
            let left = limit.number(&["r", "remaining"]);
            let is_used_up = left.map_or(self.is_refused, |left| left < 1.0);
            let stated = limit.number(&["t", "reset"]).map(whole);
            stated.or_else(|| window(limit.name)).filter(|_| is_used_up)
        });
        let of_policy =
            || policies.iter().filter_map(|policy| policy.number(&["w"])).map(whole).min();
        waits.max().or_else(|| of_policy().filter(|_| self.is_refused && limits.is_empty()))
    }

    /// Reads a duration in seconds, a time in Unix seconds or milliseconds, or a date.
    fn seconds_until(&self, text: &str) -> Option<i64> {
        let until = match leading_number(text)
            .filter(|_| text.parse::<f64>().is_ok() || text.contains(", "))
        {
            Some(millis) if millis >= EPOCH_MILLIS_MIN => whole(millis / 1000.0),
            Some(instant) if instant >= EPOCH_MIN => whole(instant),
            Some(duration) => return Some(whole(duration)),
            None => seconds(http_date(text).or_else(|| parse_date(text))?),
        };
        Some(until.saturating_sub(self.sent))
    }
}

/// A member of a structured header: its name and its parameters, as written.
struct Item<'a> {
    name: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Item<'a> {
    fn read(member: &'a str) -> Self {
        let parts = member.split([',', ';']).map(str::trim);
        let name = parts.clone().next().unwrap_or_default().trim_matches('"');
        Self { name, parameters: parts.filter_map(|part| part.split_once('=')).collect() }
    }

    fn number(&self, keys: &[&str]) -> Option<f64> {
        let (_, value) = self.parameters.iter().find(|(key, _)| keys.contains(key))?;
        leading_number(value)
    }
}

/// Splits a structured header into its members. In the older form, `limit=10, remaining=0, reset=5`, all belong to one limit.
fn items(text: &str) -> Vec<Item<'_>> {
    let is_older = text.trim_start().starts_with("limit=");
    let members: Vec<&str> = if is_older { vec![text] } else { text.split(',').collect() };
    members.into_iter().map(Item::read).collect()
}

/// Reads the first number of a list.
fn leading_number(text: &str) -> Option<f64> {
    let number = text.split(',').next()?.trim().trim_matches('"').parse::<f64>().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// Rounds a duration or an instant in seconds up.
#[expect(clippy::cast_possible_truncation, reason = "larger numbers become the largest integer")]
fn whole(number: f64) -> i64 {
    number.ceil() as i64
}

/// The header that imposed a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WaitHeader {
    /// `Retry-After`: a hard limit; a manual poll requires confirmation.
    RetryAfter,
    /// The cache lifetime of a 429 or 503 without `Retry-After`: treated like any cache lifetime.
    CacheControl,
    /// No header: the response is a 429 that states no time, so an hour is assumed (SPEC D.2).
    Nothing,
    /// `X-RateLimit-Reset` or a similar header: a hard limit like `Retry-After`.
    XRateLimitReset,
    /// `RateLimit-Reset`, likewise.
    RateLimitReset,
    /// `RateLimit` or `RateLimit-Policy`, likewise.
    RateLimit,
}

impl WaitHeader {
    /// Returns the name of the header that announces a rate limit, or `None` for other waits.
    pub const fn limit_name(self) -> Option<&'static str> {
        match self {
            Self::RetryAfter | Self::CacheControl | Self::Nothing => None,
            Self::XRateLimitReset => Some("x-ratelimit-reset"),
            Self::RateLimitReset => Some("RateLimit-Reset"),
            Self::RateLimit => Some("RateLimit"),
        }
    }

    /// Checks whether the server said for how long it takes no requests.
    pub fn is_stated(self) -> bool {
        self == Self::RetryAfter || self.limit_name().is_some()
    }
}

#[cfg(test)]
mod tests {
    use crate::schedule::holds::retry_after::*;
    use crate::schedule::limits::instant;

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

#[cfg(test)]
mod rate_limits_tests {
    use super::*;
    use crate::schedule::limits::instant;

    /// 2026-03-02T10:00:00Z by the clock of the reader; the clock of the server is a minute ahead.
    const TEN: i64 = 1_772_445_600;
    const SERVER_TEN: &str = "Mon, 02 Mar 2026 10:01:00 GMT";

    fn wait(status: u16, lines: &str) -> Option<(i64, WaitHeader)> {
        let headers = TimingHeaders {
            rate_limits: Some(lines),
            date: Some(SERVER_TEN),
            ..TimingHeaders::default()
        };
        announced_wait(status, &headers, instant(TEN))
    }

    #[test]
    fn used_up_limit_is_a_wait_however_it_is_written() {
        for (lines, header) in [
            ("x-ratelimit-remaining: 0.0\nx-ratelimit-reset: 30", WaitHeader::XRateLimitReset),
            (
                "x-rate-limit-remaining: 0\nx-rate-limit-reset: 1772445690",
                WaitHeader::XRateLimitReset,
            ),
            (
                "x-ratelimit-remaining: 0\nx-ratelimit-reset: 1772445690000",
                WaitHeader::XRateLimitReset,
            ),
            (
                "x-ratelimit-remaining: 0\nx-ratelimit-reset-after: 29.4",
                WaitHeader::XRateLimitReset,
            ),
            (
                "x-ratelimit-remaining: 0\nx-ratelimit-reset: 2026-03-02T10:01:30Z",
                WaitHeader::XRateLimitReset,
            ),
            (
                "x-ratelimit-remaining: 0\nx-ratelimit-reset: 2026-03-02T11:01:30+01:00",
                WaitHeader::XRateLimitReset,
            ),
            (
                "x-ratelimit-remaining: 0\nx-ratelimit-reset: Mon, 02 Mar 2026 10:01:30 GMT",
                WaitHeader::XRateLimitReset,
            ),
            ("x-ratelimit-remaining: 0, 0\nx-ratelimit-reset: 30, 30", WaitHeader::XRateLimitReset),
            ("ratelimit-remaining: 0\nratelimit-reset: 30", WaitHeader::RateLimitReset),
            ("ratelimit: limit=10, remaining=0, reset=30", WaitHeader::RateLimit),
            ("ratelimit: \"default\";r=0;t=30", WaitHeader::RateLimit),
            ("ratelimit: \"day\";r=9;t=3000, \"burst\";r=0;t=30", WaitHeader::RateLimit),
            (
                "ratelimit-policy: \"burst\";q=1;w=30,\"day\";q=9;w=86400\nratelimit: \"burst\";r=0",
                WaitHeader::RateLimit,
            ),
        ] {
            for status in [200, 304, 403, 429, 503] {
                assert_eq!(wait(status, lines), Some((30, header)), "{status} {lines}");
            }
        }
    }

    #[test]
    fn limit_with_room_or_without_a_usable_end_is_no_wait() {
        for lines in [
            "x-ratelimit-remaining: 1\nx-ratelimit-reset: 30",
            "x-ratelimit-reset: 30",
            "ratelimit: \"default\";r=5;t=30",
            "ratelimit-policy: \"default\";q=1;w=30",
        ] {
            assert_eq!(wait(200, lines), None, "{lines}");
        }
        for end in ["0", "-5", "soon", "", "NaN", "1772445000", "2026-03-02T10:00:59Z", "1e999"] {
            let lines = format!("x-ratelimit-remaining: 0\nx-ratelimit-reset: {end}");
            assert_eq!(wait(429, &lines), None, "{end}");
        }
    }

    #[test]
    fn a_429_shows_that_the_limit_is_used_up() {
        let reset = |seconds, header| Some((seconds, header));
        for (lines, expected) in [
            ("x-ratelimit-reset: 30", reset(30, WaitHeader::XRateLimitReset)),
            ("ratelimit-policy: \"default\";q=1;w=60", reset(60, WaitHeader::RateLimit)),
            ("ratelimit-policy: 100;w=60", reset(60, WaitHeader::RateLimit)),
            (
                "x-ratelimit-reset: 30\nratelimit: \"default\";r=0;t=45",
                reset(45, WaitHeader::RateLimit),
            ),
        ] {
            assert_eq!(wait(429, lines), expected, "{lines}");
        }
        let headers = TimingHeaders {
            rate_limits: Some("ratelimit-reset: 30"),
            age: Some("20"),
            ..TimingHeaders::default()
        };
        let cached = announced_wait(429, &headers, instant(TEN));
        assert_eq!(cached, reset(10, WaitHeader::RateLimitReset), "10 s are left after the cache");
    }

    #[test]
    fn names_of_limits_are_recognised() {
        for name in ["x-ratelimit-reset", "x-rate-limit-remaining", "ratelimit", "ratelimit-policy"]
        {
            assert!(announces_limit(name), "{name}");
        }
        assert!(!announces_limit("retry-after"));
    }
}
