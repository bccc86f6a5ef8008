//! Rate limits that a response announces, with the time at which the server takes requests again (SPEC B.4 rule 3).

use chrono::{DateTime, Utc};

use super::cache::{TimingHeaders, http_date};
use super::wait_header::WaitHeader;
use crate::feed::dates::date::parse_date;
use crate::schedule::instant::seconds;

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
pub(super) fn announced_wait(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::instant::instant;

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
