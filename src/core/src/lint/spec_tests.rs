//! Tests with the documents of SPEC H and the findings for them.

use super::*;
use crate::feed::Origin;

/// Checks the errors and warnings for a test document read from `url`. `$expected` lists them as `level element`, joined by
/// commas. `$next` is the expected time of the first poll.
macro_rules! check {
    ($file:literal, $url:expr, $expected:expr, $next:expr) => {{
        let bytes = include_bytes!(concat!("../../../../tests/it/fixtures/spec/", $file));
        let origin = Origin { url: Some($url), content_type: None };
        let now = "2026-03-09T10:00:00Z".parse().expect("an instant");
        let verdict = examine(bytes, &origin, now);
        let found: Vec<String> = verdict
            .findings
            .iter()
            .filter(|finding| finding.level != Level::Note)
            .map(|finding| format!("{} {}", finding.level.word(), finding.element))
            .collect();
        assert_eq!(found.join(","), $expected, "{:#?}", verdict.findings);
        let next = verdict.polls.as_ref().and_then(|polls| polls.next.first());
        assert_eq!(next.map(|at| at.format("%d %H:%M").to_string()).as_deref(), $next);
        verdict
    }};
}

fn says(verdict: &LintReport, element: &str, words: &str) -> bool {
    verdict.findings.iter().any(|found| found.element == element && found.message.contains(words))
}

#[test]
fn h2_and_h3_rules_win_over_everything_else() {
    let rss = check!("rules-rss.xml", "https://gazette.example/feed.rss", "", Some("09 10:30"));
    assert!(says(
        &rss,
        "interval",
        "rule 2: every 30 min from hour 9 to hour 17, Monday to Friday"
    ));
    assert!(says(&rss, "sy", "overruled by the interval rules"));
    assert!(says(&rss, "ttl", "every 2 h; overruled by the interval rules"));
    assert!(says(&rss, "skipHours", "hours 0 and 10 and Sunday (UTC): ignored"));
    assert!(says(&rss, "skipHours", "read as hour 0"));
    let atom = check!(
        "rules-atom.xml",
        "https://radio.example/log.atom",
        "warning interval",
        Some("09 13:00")
    );
    assert!(says(&atom, "interval", "the rule was dropped"));
    assert!(says(&atom, "refreshRate", "every 15 min; overruled"));
}

#[test]
fn h4_an_archived_atom_feed_is_sound() {
    let base = "https://orchard.example/notes/";
    let at = |name: &str| format!("{base}{name}");
    let index = check!("arch-index.xml", &at("index.atom"), "", Some("09 11:00"));
    assert!(says(&index, "prev-archive", "the archive before"));
    let newest = check!("arch-2026-02.xml", &at("archive/2026-02.atom"), "", Some("10 10:00"));
    assert!(says(&newest, "next-archive", "correct only in the newest"));
    check!("arch-2026-01.xml", &at("archive/2026-01.atom"), "", Some("10 10:00"));
    let oldest = check!("arch-2025-12.xml", &at("archive/2025-12.atom"), "", Some("10 10:00"));
    assert!(says(&oldest, "prev-archive", "this is the oldest"));
}

#[test]
fn h5_wrong_self_and_empty_link_are_reported() {
    let at = |name: &str| format!("https://tower.example/rss/{name}.xml");
    check!("arch-rss-index.xml", &at("current"), "", Some("09 11:00"));
    let third = check!("arch-rss-a3.xml", &at("a3"), "warning self", Some("10 10:00"));
    assert!(says(&third, "self", "archive: ignored"));
    check!("arch-rss-a2.xml", &at("a2"), "", Some("10 10:00"));
    let first = check!("arch-rss-a1.xml", &at("a1"), "warning prev-archive", Some("10 10:00"));
    assert!(says(&first, "prev-archive", "itself: ignored"));
}

#[test]
fn h6_to_h8_complete_paged_and_redirect_are_named() {
    let complete = check!("complete.xml", "https://lakes.example/top.atom", "", Some("09 11:00"));
    assert!(says(&complete, "fh:complete", "the whole feed"));
    let first = check!("paged-1.xml", "https://find.example/rss?q=bicycles", "", Some("09 11:00"));
    assert!(says(&first, "next", "only this document is polled"));
    let second =
        check!("paged-2.xml", "https://find.example/rss?q=bicycles&page=2", "", Some("09 11:00"));
    assert!(says(&second, "next", "no older page"));
    let moved = check!("redirect.xml", "https://old.example/feed.xml", "", None);
    assert!(says(&moved, "newLocation", "switch to the new address"));
    let gone = check!("redirect-gone.xml", "https://old.example/feed.xml", "", None);
    assert!(says(&gone, "newLocation", "as after 410"));
}

#[test]
fn h9_and_h10_old_forms_and_json_are_reported() {
    let prev = check!(
        "legacy-prev.xml",
        "https://old.example/f",
        "warning feed,warning fh:prev",
        Some("09 11:00")
    );
    assert!(says(&prev, "feed", "not the namespace of Atom 1.0"));
    check!("legacy-previous.xml", "https://mid.example/rss", "warning previous", Some("09 11:00"));
    let json = check!(
        "json-page.json",
        "https://kites.example/feed.json",
        "warning item",
        Some("09 10:30")
    );
    assert!(says(&json, "item", "discarded") && says(&json, "id", "read as text"));
}
