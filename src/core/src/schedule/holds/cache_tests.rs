//! Table-driven tests for cache headers.

use super::*;
use crate::schedule::limits::instant;

/// 2026-03-02T10:00:00Z.
const TEN: i64 = 1_772_445_600;

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn headers<'a>(cache_control: &'a str, expires: &'a str, age: &'a str) -> TimingHeaders<'a> {
    TimingHeaders {
        cache_control: some(cache_control),
        expires: some(expires),
        age: some(age),
        ..TimingHeaders::default()
    }
}

fn check_cache_control(text: &str, expected: Option<i64>) {
    let state = CacheState::of_document(&headers(text, "", ""), instant(TEN));
    assert_eq!(state.floor_seconds(), expected, "{text}");
}

#[test]
fn max_age_is_read_in_all_spellings() {
    check_cache_control("max-age=3600", Some(3600));
    check_cache_control("public, max-age=3600, must-revalidate", Some(3600));
    check_cache_control("Max-Age=\"3600\"", Some(3600));
    check_cache_control("private,max-age=003600", Some(3600));
    check_cache_control("max-age=1800, max-age=1", Some(1800));
    check_cache_control("max-age=abc, max-age=60", Some(60));
    check_cache_control("extension=\"max-age=3600, x\", max-age=60", Some(60));
}

#[test]
fn forbidden_or_unreadable_lifetime_sets_no_floor() {
    for text in [
        "",
        "public",
        "s-maxage=3600",
        "max-age=0",
        "max-age=-3600",
        "max-age=",
        "max-age",
        "max-age=1.5",
        "max-age=a3600",
        "no-cache, max-age=3600",
        "max-age=3600, No-Store",
    ] {
        check_cache_control(text, None);
    }
}

#[test]
fn long_lifetimes_are_capped_at_two_days_or_six_hours() {
    check_cache_control("max-age=172800", Some(172_800));
    check_cache_control("max-age=172801", Some(172_800));
    check_cache_control("max-age=604800", Some(172_800));
    check_cache_control("max-age=604801", Some(21_600));
    check_cache_control("max-age=31536000", Some(21_600));
    check_cache_control("max-age=99999999999999999999999", Some(21_600));
}

#[test]
fn the_age_of_the_answer_counts_against_its_lifetime() {
    for (age, expected) in [
        ("1800", Some(1800)),
        ("3600", None),
        ("7200", None),
        ("0, 7200", Some(3600)),
        ("-5", Some(3600)),
        ("old", Some(3600)),
        ("99999999999999999999", None),
    ] {
        let state = CacheState::of_document(&headers("max-age=3600", "", age), instant(TEN));
        assert_eq!(state.floor_seconds(), expected, "{age}");
    }
    let week = CacheState::of_document(&headers("max-age=604800", "", "86400"), instant(TEN));
    assert_eq!(
        week.floor_seconds(),
        Some(86_400),
        "the lifetime is cut before the age is taken off"
    );
}

#[test]
fn expires_counts_from_the_date_of_the_answer() {
    let eleven = "Mon, 02 Mar 2026 11:00:00 GMT";
    let check = |cache_control, expires, date: &str, expected: Option<i64>| {
        let headers = TimingHeaders { date: some(date), ..headers(cache_control, expires, "") };
        let state = CacheState::of_document(&headers, instant(TEN));
        assert_eq!(state.floor_seconds(), expected, "{cache_control} {expires} {date}");
    };
    check("", eleven, "", Some(3600));
    check("", eleven, "Mon, 02 Mar 2026 10:30:00 GMT", Some(1800));
    check("", eleven, "foo", Some(3600));
    check("public", eleven, "", Some(3600));
    check("max-age=60", eleven, "", Some(60));
    check("max-age=0", eleven, "", None);
    check("no-cache", eleven, "", None);
    check("max-age=60", "0", "", Some(60));
    check("", eleven, eleven, None);
    check("", eleven, "Mon, 02 Mar 2026 12:00:00 GMT", None);
    for bad in ["0", "-1", "Mon, 02 Mar 2026 11:00:00", "Thu, 18 Aug 2050 02:01:18 AEST", "never"] {
        check("", bad, "", None);
    }
}

#[test]
fn a_304_restarts_the_stated_lifetime() {
    let state = CacheState::of_document(&headers("max-age=3600", "", "1800"), instant(TEN));
    let later = instant(TEN + 7200);
    let silent = state.of_not_modified(&TimingHeaders::default(), later);
    assert_eq!((silent.received_at, silent.floor_seconds()), (later, Some(3600)));
    let shorter = state.of_not_modified(&headers("max-age=60", "", ""), later);
    assert_eq!(shorter.floor_seconds(), Some(60));
    let none = state.of_not_modified(&headers("no-cache", "", ""), later);
    assert_eq!(none.floor_seconds(), None);
}

#[test]
fn repeated_directive_keeps_its_length() {
    let expires = headers("", "Mon, 02 Mar 2026 11:00:00 GMT", "");
    let state = CacheState::of_document(&expires, instant(TEN));
    let repeated = state.repeated_at(instant(TEN + 86_400));
    assert_eq!(repeated.floor_seconds(), Some(3600));
    assert_eq!(repeated.received_at, instant(TEN + 86_400));
}
