//! Tests of chains of archives that each contain one fault, and of the finding that reports the fault.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::delivery::{Delivered, Headers};
use super::report::LintReport;
use super::survey::Survey;
use super::table::{Level, LintFinding, Topic};
use crate::history::ArchiveFailure;
use crate::schedule::TimingHeaders;

const FEED: &str = "https://press.example/feed.atom";

fn now() -> DateTime<Utc> {
    "2026-03-02T10:00:00Z".parse().unwrap()
}

fn archive(name: u32) -> String {
    format!("https://press.example/{name}.atom")
}

/// Returns a document with the given marks and links, and one entry. `number` determines the entry's id and all dates.
fn document(number: u32, marks: &str, links: &[(&str, &str)]) -> String {
    let links: Vec<String> =
        links.iter().map(|(rel, href)| format!("<link rel='{rel}' href='{href}'/>")).collect();
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0'>\
         <title>Press</title><id>urn:press</id><updated>2026-01-0{number}T00:00:00Z</updated>{marks}{}\
         <entry><id>urn:e{number}</id><title>{number}</title><link href='/{number}'/>\
         <updated>2026-01-0{number}T00:00:00Z</updated><content>Text</content></entry></feed>",
        links.join("")
    )
}

/// Returns a chain of three archives without faults.
fn sound() -> BTreeMap<String, String> {
    let mut site = BTreeMap::new();
    let own = [("self", FEED), ("prev-archive", "/3.atom")];
    site.insert(FEED.to_owned(), document(4, "", &own));
    for number in 1..=3_u32 {
        let (this, prev, next) =
            (archive(number), archive(number.saturating_sub(1)), archive(number + 1));
        let mut links = vec![("self", this.as_str()), ("current", FEED)];
        if number > 1 {
            links.push(("prev-archive", prev.as_str()));
        }
        if number < 3 {
            links.push(("next-archive", next.as_str()));
        }
        site.insert(this.clone(), document(number, "<fh:archive/>", &links));
    }
    site
}

const GOOD: Headers<'static> = Headers {
    content_type: Some("application/atom+xml; charset=utf-8"),
    etag: true,
    last_modified: true,
    times: TimingHeaders {
        cache_control: Some("max-age=3600"),
        expires: None,
        date: None,
        age: None,
        retry_after: None,
        rate_limits: None,
    },
    link: None,
    im: None,
    vary: None,
};

fn delivered<'a>(url: &'a str, body: &'a str, headers: Headers<'a>) -> Delivered<'a> {
    let bytes = body.as_bytes();
    Delivered {
        asked: url,
        answered: url,
        public: true,
        status: 200,
        hops: Vec::new(),
        headers,
        wire_bytes: 9,
        bytes,
    }
}

fn surveyed(site: &BTreeMap<String, String>, headers: Headers<'_>) -> LintReport {
    let mut survey = Survey::begin(&delivered(FEED, &site[FEED], headers), now());
    while let Some(asked) = survey.next(now()) {
        match site.get(&asked.url) {
            Some(body) => survey.arrived(&delivered(&asked.url, body, headers), now()),
            None => {
                survey.failed(&ArchiveFailure::Status { status: 404, retry_after: None }, now());
            }
        }
    }
    survey.into_report()
}

fn wrong(verdict: &LintReport) -> Vec<(Level, &str, &str)> {
    let is_wrong = |finding: &&LintFinding| finding.level != Level::Note;
    let told = |finding: &'_ LintFinding| finding.place.clone();
    verdict
        .findings
        .iter()
        .filter(is_wrong)
        .inspect(|finding| assert!(told(finding).is_some(), "{finding:?}"))
        .map(|finding| (finding.level, finding.element.as_str(), finding.place.as_deref().unwrap()))
        .collect()
}

/// Replaces the document at `url` in a faultless chain, and checks the findings.
#[track_caller]
fn check(url: &str, body: String, expected: &[(Level, &str, &str)]) {
    let mut site = sound();
    site.insert(url.to_owned(), body);
    assert_eq!(wrong(&surveyed(&site, GOOD)), expected);
}

#[test]
fn sound_archive_chain_is_read_without_findings() {
    let verdict = surveyed(&sound(), GOOD);
    assert_eq!(wrong(&verdict), []);
    let chain = verdict.chain.unwrap();
    assert_eq!((chain.archives, chain.entries, chain.is_whole), (3, 3, true));
    let told = verdict.findings.iter().find(|finding| finding.element == "chain").unwrap();
    assert_eq!(
        told.message,
        "3 archives with 3 entries could be read, back to 2026-01-01; the oldest one was reached"
    );
}

#[test]
fn missing_archive_is_an_error_at_its_link() {
    let mut site = sound();
    site.remove(&archive(1));
    let verdict = surveyed(&site, GOOD);
    assert_eq!(wrong(&verdict), [(Level::Error, "prev-archive", archive(2).as_str())]);
    assert!(!verdict.chain.unwrap().is_whole);
}

#[test]
fn a_loop_is_an_error() {
    let (one, two, three) = (archive(1), archive(2), archive(3));
    let links = [
        ("self", one.as_str()),
        ("current", FEED),
        ("prev-archive", three.as_str()),
        ("next-archive", two.as_str()),
    ];
    let looping = document(1, "<fh:archive/>", &links);
    check(&one, looping, &[(Level::Error, "prev-archive", one.as_str())]);
}

#[test]
fn inconsistent_archive_links_and_marks_are_warnings() {
    let (one, two, three) = (archive(1), archive(2), archive(3));
    let of_two = |this: &str, current: &str, next: &str, marks: &str| {
        let links =
            [("self", this), ("current", current), ("prev-archive", &one), ("next-archive", next)];
        document(2, marks, &links.map(|(rel, href)| (rel, href)))
    };
    let mark = "<fh:archive/>";
    let warned = |element| [(Level::Warning, element, two.as_str())];
    check(&two, of_two(FEED, FEED, &three, mark), &warned("self"));
    check(&two, of_two("/other.atom", FEED, &three, mark), &warned("self"));
    check(&two, of_two(&two, "/other.atom", &three, mark), &warned("current"));
    check(&two, of_two(&two, FEED, "/9.atom", mark), &warned("next-archive"));
    check(&two, of_two(&two, FEED, &three, ""), &warned("fh:archive"));
    let without_current =
        document(2, mark, &[("self", &two), ("prev-archive", &one), ("next-archive", &three)]);
    check(&two, without_current, &warned("current"));
    let alone = document(1, mark, &[("self", &one), ("current", FEED)]);
    check(&one, alone, &[(Level::Warning, "next-archive", one.as_str())]);
}

#[test]
fn unchanged_entry_in_two_archives_is_a_warning() {
    let (one, two) = (archive(1), archive(2));
    let links = [("self", one.as_str()), ("current", FEED), ("next-archive", two.as_str())];
    let again = document(2, "<fh:archive/>", &links);
    check(&one, again, &[(Level::Warning, "overlap", one.as_str())]);
}

#[test]
fn archive_newer_than_its_linking_document_is_a_warning() {
    let (one, two) = (archive(1), archive(2));
    let links = [("self", one.as_str()), ("current", FEED), ("next-archive", two.as_str())];
    let newest = document(9, "<fh:archive/>", &links);
    check(&one, newest, &[(Level::Warning, "order", one.as_str())]);
}

#[test]
fn delivery_of_a_document_is_checked() {
    let warned = |headers: Headers<'_>| -> Vec<(String, String)> {
        let verdict = surveyed(&sound(), headers);
        let wrong = verdict.findings.iter().filter(|finding| finding.level != Level::Note);
        wrong.map(|finding| (finding.element.clone(), finding.message.clone())).collect()
    };
    for content_type in ["text/html", "application/rss+xml", "application/json"] {
        let found = warned(Headers { content_type: Some(content_type), ..GOOD });
        // The same finding in four documents is reported once.
        let [(element, message)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(element, "Content-Type");
        assert!(message.ends_with("(and in 3 more documents)"), "{message}");
    }
    for content_type in ["application/xml", "text/xml; charset=utf-8", "Application/Atom+XML"] {
        assert_eq!(warned(Headers { content_type: Some(content_type), ..GOOD }), []);
    }
    assert_eq!(warned(Headers { content_type: None, ..GOOD })[0].0, "Content-Type");
    assert_eq!(warned(Headers { etag: false, last_modified: false, ..GOOD })[0].0, "ETag");
    assert_eq!(warned(Headers { etag: false, ..GOOD }), []);
    for (expires, warnings) in [("soon", 1), ("0", 0), ("Tue, 03 Mar 2026 10:00:00 GMT", 0)] {
        let times = TimingHeaders { expires: Some(expires), ..GOOD.times };
        assert_eq!(warned(Headers { times, ..GOOD }).len(), warnings, "{expires}");
    }
}

#[test]
fn cache_lifetime_delays_the_counted_polls() {
    let body = document(4, "", &[("self", FEED)])
        .replace("<feed", "<feed xmlns:a='http://www.w3.org/2005/Atom'")
        .replace("</feed>", "<a:refreshRate>1800000</a:refreshRate></feed>");
    let a_week = |times: TimingHeaders<'_>| {
        let survey = Survey::begin(&delivered(FEED, &body, Headers { times, ..GOOD }), now());
        survey.into_report().polls.unwrap().a_week
    };
    assert_eq!(a_week(TimingHeaders::default()), 336);
    let date = Some("Mon, 02 Mar 2026 10:00:00 GMT");
    let expires = Some("Mon, 02 Mar 2026 16:00:00 GMT");
    assert_eq!(a_week(TimingHeaders { expires, date, ..TimingHeaders::default() }), 28);
}

#[test]
fn hub_in_a_header_is_reported() {
    for (link, told) in [
        ("<https://hub.example/>; rel=\"hub\", </f>; rel=self", true),
        ("</f>; rel=\"alternate\"; title=\"hub\"", false),
    ] {
        let verdict = surveyed(&sound(), Headers { link: Some(link), ..GOOD });
        let found = verdict.findings.iter().any(|finding| finding.element == "Link");
        assert_eq!(found, told, "{link}");
    }
}

#[test]
fn archive_marked_complete_is_a_warning() {
    let prev = archive(3);
    let body = document(4, "", &[("self", FEED), ("prev-archive", &prev)]);
    let mut survey = Survey::begin(&delivered(FEED, &body, GOOD), now());
    let asked = survey.next(now()).unwrap();
    let links = [("self", asked.url.as_str()), ("current", FEED)];
    let body = document(3, "<fh:complete/>", &links);
    survey.arrived(&delivered(&asked.url, &body, GOOD), now());
    let verdict = survey.into_report();
    assert!(wrong(&verdict).iter().any(|found| found.1 == "fh:complete"));
}

#[test]
fn insecure_address_and_archive_redirects_are_warnings() {
    let url = "http://press.example/feed.atom";
    let body = document(4, "", &[("self", url), ("prev-archive", "http://press.example/3.atom")]);
    let mut survey = Survey::begin(&delivered(url, &body, GOOD), now());
    let asked = survey.next(now()).unwrap();
    let links = [("self", asked.url.as_str()), ("current", url)];
    let body = document(3, "<fh:archive/>", &links);
    let mut moved = delivered(&asked.url, &body, GOOD);
    moved.hops = vec![(302, asked.url.clone())];
    survey.arrived(&moved, now());
    assert_eq!(survey.next(now()), None);
    let verdict = survey.into_report();
    let found: Vec<&str> = wrong(&verdict).iter().map(|found| found.1).collect();
    assert_eq!(found, ["address", "redirect"]);
    assert!(verdict.findings.iter().any(|finding| finding.topic == Topic::Delivery));
}

#[test]
fn archive_walk_stops_at_the_caps_of_one_run() {
    let mut requests = 0_u32;
    let first = document(1, "", &[("prev-archive", "/?page=1")]);
    let mut survey = Survey::begin(&delivered(FEED, &first, GOOD), now());
    while let Some(asked) = survey.next(now()) {
        requests += 1;
        let next = format!("/?page={}", requests + 1);
        let body = document(1, "<fh:archive/>", &[("current", FEED), ("prev-archive", &next)])
            .replace("urn:e1", &format!("urn:e{requests}-of-many"));
        survey.arrived(&delivered(&asked.url, &body, GOOD), now());
    }
    assert_eq!(requests, 20);
    let verdict = survey.into_report();
    let ended = verdict
        .findings
        .iter()
        .find(|finding| finding.element == "prev-archive" && finding.topic == Topic::Archives);
    assert!(ended.unwrap().message.contains("ended here after 20 archives"), "{ended:?}");
}
