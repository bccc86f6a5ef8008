//! Tests each finding with the smallest document that produces it.

use chrono::{DateTime, Utc};

use super::*;
use crate::feed::Origin;

fn now() -> DateTime<Utc> {
    "2026-03-02T10:00:00Z".parse().expect("an instant")
}

fn verdict(document: &str) -> LintReport {
    let origin = Origin { url: Some("https://a.example/feed"), content_type: None };
    examine(document.as_bytes(), &origin, now())
}

/// Checks that there is a finding with this level, this element, and these words in its message.
fn check(document: &str, level: Level, element: &str, words: &str) {
    let findings = verdict(document).findings;
    let found = findings.iter().any(|finding| {
        finding.level == level && finding.element == element && finding.message.contains(words)
    });
    assert!(found, "{level:?} {element} '{words}' in\n{document}\n{findings:#?}");
}

/// Checks that no finding has this element and these words.
fn check_none(document: &str, element: &str, words: &str) {
    let findings = verdict(document).findings;
    let found = findings
        .iter()
        .find(|finding| finding.element == element && finding.message.contains(words));
    assert_eq!(found, None, "{document}");
}

fn rss(inside: &str) -> String {
    format!(
        "<rss version='2.0' xmlns:sy='http://purl.org/rss/1.0/modules/syndication/' \
         xmlns:sched='tag:backissue.example,2026:schedule' xmlns:atom='http://www.w3.org/2005/Atom' \
         xmlns:fh='http://purl.org/syndication/history/1.0'><channel><title>T</title>{inside}</channel></rss>"
    )
}

fn atom(inside: &str) -> String {
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0'>\
         <title>T</title>{inside}</feed>"
    )
}

fn items(dates: &[&str]) -> String {
    let item = |(at, date)| format!("<item><guid>tag:{at}</guid><pubDate>{date}</pubDate></item>");
    dates.iter().enumerate().map(item).collect::<Vec<_>>().concat()
}

#[test]
fn invalid_or_truncated_feed_is_an_error() {
    check("<html><body>x</body></html>", Level::Error, "document", "this is not a feed");
    check("", Level::Error, "document", "this is not a feed");
    let cut = "<rss version='2.0'><channel><item><title>x";
    check(cut, Level::Error, "document", "cut off");
    assert_eq!(verdict("hello").polls, None);
}

#[test]
fn size_and_format_are_reported() {
    check(&rss(""), Level::Warning, "document", "no entries");
    check(
        &rss(&"<item><guid>a:1</guid></item>".repeat(501)),
        Level::Warning,
        "document",
        "every poll",
    );
    check(&rss(""), Level::Note, "document", "an RSS feed, without archives or pages; 0 entries");
    check(
        "<rss version='0.91'><channel><title>x</title></channel></rss>",
        Level::Note,
        "rss",
        "not RSS 2.0",
    );
    check(
        "<feed xmlns='http://purl.org/atom/ns#'><title>x</title></feed>",
        Level::Warning,
        "feed",
        "Atom 1.0",
    );
}

#[test]
fn flaws_of_reading_are_warnings_and_counted() {
    check(&rss("<ttl>soon</ttl>"), Level::Warning, "ttl", "not a number of minutes");
    check(&rss(&items(&["x", "y", "z"])), Level::Warning, "pubDate", "not a date (3 times)");
    let latin = "<?xml version='1.0' encoding='iso-8859-1'?><rss version='2.0'><channel><title>\u{e9}</title></channel></rss>";
    check(latin, Level::Warning, "encoding", "were read as such");
    let all: Vec<String> = (0..24).map(|hour| format!("<hour>{hour}</hour>")).collect();
    check(
        &rss(&format!("<skipHours>{}</skipHours>", all.concat())),
        Level::Warning,
        "skipHours",
        "whole week",
    );
    check(
        &rss(
            "<skipDays><day>mon</day><day>tue</day><day>wed</day><day>thu</day><day>fri</day><day>sat</day><day>sun</day></skipDays>",
        ),
        Level::Warning,
        "skipDays",
        "whole week",
    );
}

#[test]
fn every_hint_is_reported_with_its_overriding_source() {
    check(&rss("<ttl>60</ttl>"), Level::Note, "ttl", "every 1 h; readers follow it");
    check(&rss("<ttl>5</ttl>"), Level::Note, "ttl", "raised to a reader's usual minimum of 15 min");
    check(&rss("<ttl>10080</ttl>"), Level::Note, "ttl", "cut to a reader's usual maximum of 1 d");
    let sy = "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>";
    check(&rss(sy), Level::Note, "sy", "daily, 4 updates: every 6 h, counted from the last poll");
    let based = format!("{sy}<sy:updateBase>2026-01-05T00:00Z</sy:updateBase><ttl>60</ttl>");
    check(
        &rss(&based),
        Level::Note,
        "sy",
        "aligned with Monday 2026-01-05 00:00 UTC; readers follow it",
    );
    check(&rss(&based), Level::Note, "ttl", "overruled by sy");
    check(
        &atom("<refreshRate>900000</refreshRate>"),
        Level::Note,
        "refreshRate",
        "every 15 min; readers follow",
    );
    check(&rss(""), Level::Note, "feed", "no hint says how often");
    let wordpress = "<generator>https://wordpress.org/?v=6.8</generator><sy:updatePeriod>hourly</sy:updatePeriod>";
    check(&rss(wordpress), Level::Note, "sy", "WordPress writes this");
    check(&rss(&format!("{wordpress}<ttl>30</ttl>")), Level::Note, "sy", "overruled by ttl");
    check(&rss("<cloud domain='x'/>"), Level::Note, "hub", "offers push");
}

#[test]
fn interval_rules_and_unreachable_ones_are_reported() {
    let rule =
        "<sched:interval starthour='9' endhour='17' startday='1' endday='5'>30</sched:interval>";
    check(
        &rss(rule),
        Level::Note,
        "interval",
        "rule 1: every 30 min from hour 9 to hour 17, Monday to Friday",
    );
    check(
        &rss(rule),
        Level::Note,
        "interval",
        "no rule applies in 123 of the 168 hours of the week: the reader's default",
    );
    check(
        &rss(&format!("{rule}<ttl>60</ttl>")),
        Level::Note,
        "interval",
        "hours of the week: ttl applies then",
    );
    check(&rss(&format!("{rule}<ttl>60</ttl>")), Level::Note, "ttl", "in the hours they cover");
    let all = "<sched:interval>240</sched:interval>";
    check(
        &rss(&format!("{all}<ttl>60</ttl>")),
        Level::Note,
        "ttl",
        "overruled by the interval rules",
    );
    check(&rss(&format!("{all}{all}")), Level::Warning, "interval", "rule 1 never applies");
    check_none(&rss(&format!("{all}{rule}")), "interval", "never applies");
}

#[test]
fn skip_windows_apply_unless_replaced() {
    let skips = "<skipHours><hour>6</hour><hour>7</hour><hour>8</hour><hour>9</hour><hour>10</hour>\
                 <hour>11</hour></skipHours><skipDays><day>Sunday</day></skipDays>";
    let words =
        "hours 6, 7, 8, 9, 10 and 11 and Sunday (UTC): no automatic polls then (36 % of the week)";
    check(&rss(skips), Level::Note, "skipHours", words);
    let replaced = format!("{skips}<sy:updatePeriod>daily</sy:updatePeriod>");
    check(&rss(&replaced), Level::Note, "skipHours", "ignored, because sy replaces");
    let replaced = format!("{skips}<sched:interval>60</sched:interval>");
    check(&rss(&replaced), Level::Note, "skipHours", "ignored, because the interval rules replace");
    check(
        &rss("<skipHours><hour>24</hour></skipHours>"),
        Level::Note,
        "skipHours",
        "read as hour 0",
    );
    check(
        &rss("<skipDays><day>Sunday</day></skipDays>"),
        Level::Note,
        "skipDays",
        "Sunday (UTC): no automatic",
    );
}

#[test]
fn ttl_in_seconds_is_suspected_by_value_or_entries() {
    check(
        &rss("<ttl>3600</ttl>"),
        Level::Warning,
        "ttl",
        "looks like seconds: ttl is in minutes, so this means 2 d 12 h",
    );
    check_none(&rss("<ttl>1440</ttl>"), "ttl", "seconds");
    let hourly = items(&["2026-03-02T08:00:00Z", "2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"]);
    check(
        &rss(&format!("<ttl>1440</ttl>{hourly}")),
        Level::Warning,
        "ttl",
        "since an entry appears about every 1 h",
    );
    let daily = items(&["2026-02-28T08:00:00Z", "2026-03-01T09:00:00Z", "2026-03-02T10:00:00Z"]);
    check_none(&rss(&format!("<ttl>1440</ttl>{daily}")), "ttl", "seconds");
}

#[test]
fn misplaced_hints_are_reported() {
    check(&rss("<item><ttl>60</ttl></item>"), Level::Warning, "ttl", "found in 'item'");
    check(&rss("<ttl>60</ttl><ttl>70</ttl>"), Level::Warning, "ttl", "the first one counts");
    check(
        &rss("<fh:archive/><ttl>60</ttl>"),
        Level::Warning,
        "archive",
        "hints in an archive document",
    );
}

#[test]
fn polls_match_the_schedule_exactly() {
    let polls = |document: &str| verdict(document).polls.expect("polls");
    let times = |polls: &Polls| {
        polls.next.iter().map(|at| at.format("%d %H:%M").to_string()).collect::<Vec<_>>().join(", ")
    };
    let ttl = polls(&rss("<ttl>100</ttl><skipHours><hour>13</hour></skipHours>"));
    assert_eq!(times(&ttl), "02 11:40, 02 14:00, 02 15:40");
    assert_eq!((ttl.settled_by.word(), ttl.last_ok), ("ttl", now()));
    assert_eq!(polls(&rss("")).a_week, 168);
    let ended = "{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"T\",\"expired\":true,\"items\":[]}";
    assert_eq!((polls(ended).next.len(), polls(ended).settled_by.word()), (0, "expired"));
    check(ended, Level::Note, "expired", "the feed has ended");
    check(ended, Level::Note, "feed", "readers no longer poll this feed");
    let three = items(&["2026-02-28T10:00:00Z", "2026-03-01T10:00:00Z", "2026-03-02T10:00:00Z"]);
    check(
        &rss(&three),
        Level::Note,
        "feed",
        "about every 1 d, and the entries go back 2 d; readers that do not poll",
    );
}

fn linked(rel: &str, href: &str) -> String {
    atom(&format!("<link rel='self' href='feed'/><link rel='{rel}' href='{href}'/>"))
}

#[test]
fn history_links_are_checked() {
    check(&linked("prev-archive", "a/1"), Level::Note, "prev-archive", "the archive before");
    check(
        &linked("prev-archive", "http://a.example/1"),
        Level::Warning,
        "prev-archive",
        "from https to http",
    );
    check(
        &linked("prev-archive", "https://b.example/1"),
        Level::Note,
        "prev-archive",
        "the archive before",
    );
    check(
        &linked("prev-archive", "https://192.168.1.4/1"),
        Level::Warning,
        "prev-archive",
        "private network",
    );
    check(
        &linked("prev-archive", "ftp://a.example/1"),
        Level::Warning,
        "prev-archive",
        "only http and https",
    );
    check(&linked("prev-archive", "#top"), Level::Warning, "prev-archive", "the document itself");
    check(&linked("next-archive", "n"), Level::Warning, "next-archive", "without fh:archive");
    check(&linked("current", "c"), Level::Note, "current", "followed once");
    check(&linked("previous", "p"), Level::Warning, "previous", "ask the user once");
    check(&linked("next", "p"), Level::Note, "next", "only this document is polled");
    check(&atom(""), Level::Note, "self", "none");
    check(&atom("<link rel='self' href='other'/>"), Level::Note, "self", "not the address");
}

#[test]
fn contradictory_history_marks_are_warnings() {
    let both = atom("<link rel='prev-archive' href='a'/><link rel='next' href='b'/>");
    check(&both, Level::Warning, "next", "have no meaning together");
    check(
        &atom("<fh:complete/><link rel='next' href='b'/>"),
        Level::Warning,
        "complete",
        "are ignored",
    );
    let archive = atom("<fh:archive/><fh:complete/><link rel='next' href='b'/>");
    check(&archive, Level::Warning, "fh:complete", "cannot be the whole feed");
    check(&archive, Level::Warning, "next", "in an archive document");
    check(&archive, Level::Warning, "current", "by mistake");
    let own = "<link rel='self' href='c'/><link rel='current' href='c'/>";
    check(&atom(&format!("<fh:archive/>{own}")), Level::Warning, "self", "archive: ignored");
    check(
        &atom("<fh:incremental>true</fh:incremental>"),
        Level::Warning,
        "fh:incremental",
        "no link leads",
    );
    check(
        &atom("<fh:incremental>maybe</fh:incremental>"),
        Level::Warning,
        "fh:incremental",
        "neither",
    );
    check(&atom("<fh:prev>a</fh:prev>"), Level::Warning, "fh:prev", "old draft");
}

#[test]
fn entry_identities_are_checked() {
    let linked = rss("<item><title>x</title><link>/1</link></item>");
    let sharing = linked.replace(
        "</channel>",
        "<item><title>other</title><link>https://a.example/1</link></item></channel>",
    );
    check(&sharing, Level::Warning, "item", "2 of them share a link");
    check(&linked, Level::Warning, "item", "1 entry without guid: the link is the identity");
    check(
        &rss("<item><title>x</title></item>"),
        Level::Warning,
        "item",
        "1 of them has no link either",
    );
    check(&rss("<item><guid>7</guid></item>"), Level::Warning, "guid", "isPermaLink is not false");
    check(
        &rss("<item><guid>a:1</guid></item><item><guid>a:1</guid></item>"),
        Level::Error,
        "id",
        "1 entry has an id",
    );
    check(&rss("<item><guid>a:1</guid></item>"), Level::Warning, "title", "neither title nor text");
    check(
        "<rss version='2.0'><channel><item/></channel></rss>",
        Level::Warning,
        "title",
        "the feed has no title",
    );
    let json =
        "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{\"id\":1},{\"title\":\"x\"}]}";
    check(json, Level::Note, "id", "read as text");
    check(json, Level::Warning, "item", "without id: discarded");
}

#[test]
fn entry_dates_are_checked() {
    check(
        &rss(&items(&["Mon, 02 Mar 2026 09:00:00"])),
        Level::Warning,
        "pubDate",
        "1 date without a time zone",
    );
    check(&rss(&items(&["2 Mar 2026"])), Level::Warning, "pubDate", "without a time of day");
    check(
        &rss(&items(&["2026-03-02T09:00:00Z"])),
        Level::Warning,
        "pubDate",
        "not in RFC 822 format",
    );
    check(
        &rss(&items(&["Mon, 02 Mar 2026 11:00:00 GMT"])),
        Level::Warning,
        "date",
        "less than a day in the future",
    );
    check(
        &rss(&items(&["Wed, 04 Mar 2026 11:00:00 GMT"])),
        Level::Warning,
        "date",
        "treated as missing",
    );
    check(&rss("<item><guid>a:1</guid></item>"), Level::Note, "pubDate", "1 entry without a date");
    let entry = atom("<entry><id>a:1</id><published>2026-03-02T09:00:00Z</published></entry>");
    check(&entry, Level::Warning, "updated", "1 entry without a readable updated");
    check(&entry, Level::Warning, "updated", "the feed itself");
}

#[test]
fn sound_feed_has_only_notes() {
    let entry = "<entry><id>tag:a.example,2026:1</id><title>One</title><link href='1'/>\
                 <updated>2026-03-01T09:00:00Z</updated><summary>x</summary></entry>";
    let sound = atom(&format!(
        "<id>tag:a.example,2026:f</id><updated>2026-03-01T09:00:00Z</updated><link rel='self' href='feed'/>\
         <link rel='prev-archive' href='a/1'/>{entry}"
    ));
    let verdict = verdict(&sound);
    assert_eq!(
        (verdict.count(Level::Error), verdict.count(Level::Warning)),
        (0, 0),
        "{:#?}",
        verdict.findings
    );
    assert!(verdict.findings.is_sorted_by_key(|finding| finding.topic));
}

#[test]
fn json_findings_match_the_text_findings() {
    let json = report_json(&verdict(&rss("<ttl>60</ttl>")));
    assert_eq!(
        (&json["kind"], &json["role"], &json["errors"]),
        (&"rss".into(), &"plain".into(), &0.into())
    );
    assert_eq!(json["polls"]["next_polls"][0], "2026-03-02T11:00:00Z");
    assert_eq!(
        (&json["polls"]["settled_by"], &json["polls"]["polls_a_week"]),
        (&"ttl".into(), &168.into())
    );
    assert_eq!(
        (&json["findings"][0]["level"], &json["findings"][0]["topic"]),
        (&"note".into(), &"document".into())
    );
}
