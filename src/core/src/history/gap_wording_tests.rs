//! Tests for the text of gaps.

use chrono::{DateTime, Utc};

use crate::history::gap::*;

fn at(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap().to_utc()
}

fn gap(reason: Reason) -> Gap {
    Gap {
        edge: Edge {
            url: "https://orchard.example/notes/archive/2026-01.atom".into(),
            key: "https://orchard.example/notes/archive/2026-01.atom".into(),
            newer: Newer { oldest: Some(at("2026-02-10T08:00:00Z")), ..Newer::default() },
            ..Edge::default()
        },
        reason,
        older: None,
        first_seen: at("2026-03-02T00:00:00Z"),
        last_try: None,
        tries: 0,
        retry_at: None,
        state: GapState::Open,
    }
}

#[test]
fn each_reason_has_its_kind_and_its_line() {
    const URL: &str = "https://orchard.example/notes/archive/2026-01.atom";
    let limit = |limit, fetched| Reason::Limit { limit, fetched };
    let cases = [
        (
            Reason::Status(403),
            GapKind::Unavailable,
            format!("entries before 2026-02-10 missing: archive {URL} answered 403"),
        ),
        (
            Reason::Status(304),
            GapKind::Unavailable,
            format!("entries before 2026-02-10 missing: archive {URL} answered 304"),
        ),
        (
            Reason::Unreadable("it breaks off".into()),
            GapKind::Unreadable,
            format!(
                "entries before 2026-02-10 missing: archive {URL} could not be read: it breaks off"
            ),
        ),
        (
            limit(Limit::Documents, 20),
            GapKind::Limit,
            "older archives exist (20 fetched). Continue?".into(),
        ),
        (
            limit(Limit::Consent, 0),
            GapKind::Limit,
            "older archives exist at orchard.example. Fetch them?".into(),
        ),
        (
            Reason::Loop,
            GapKind::Loop,
            format!("older archives may exist: archive chain loops at {URL}"),
        ),
        (
            Reason::Overrun { window: 10, per_day: Some(40) },
            GapKind::Overrun,
            "entries may have been missed before 2026-02-10".into(),
        ),
        (Reason::Paged, GapKind::Paged, "older pages may exist; the list may be incomplete".into()),
        (Reason::Interrupted, GapKind::Interrupted, "history fetch paused".into()),
    ];
    for (reason, kind, text) in cases {
        let gap = gap(reason);
        assert_eq!((gap.kind(), gap.text()), (kind, text));
    }
}

#[test]
fn an_overrun_names_both_its_ends_and_what_to_do() {
    let overrun = Gap {
        older: Some(at("2026-02-01T00:00:00Z")),
        ..gap(Reason::Overrun { window: 10, per_day: Some(40) })
    };
    assert_eq!(overrun.text(), "entries may have been missed between 2026-02-01 and 2026-02-10");
    assert_eq!(
        overrun.advice().as_deref(),
        Some("the feed shows 10 entries at a time, about 40 a day: poll it more often")
    );
}

#[test]
fn a_gap_keeps_its_name_whatever_the_reason() {
    assert_eq!(GapKey::archive("https://a.example/1"), GapKey::archive("https://a.example/1"));
    assert_ne!(GapKey::archive("https://a.example/1"), GapKey::archive("https://a.example/2"));
    assert_eq!(GapKey::pages(), GapKey(5_508_200_874_407_256_282));
}
