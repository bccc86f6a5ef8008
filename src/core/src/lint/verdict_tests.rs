//! Forty documents that a person classified: right, wrong, or arguable.

use chrono::{DateTime, Utc};

use super::*;
use crate::feed::Origin;

/// The classification of a document, and the worst level of its findings that follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Nothing is wrong: notes only.
    Right,
    /// Readers lose or guess something, or behave differently: a warning.
    Arguable,
    /// Readers lose the document, an entry, or older entries: an error.
    Wrong,
}

use Verdict::{Arguable, Right, Wrong};

const ITEM: &str = "<item><guid isPermaLink='false'>urn:1</guid><title>One</title><link>https://a.example/1</link>\
                    <pubDate>Mon, 02 Feb 2026 08:00:00 GMT</pubDate></item>";
const ENTRY: &str = "<entry><id>urn:1</id><title>One</title><link href='https://a.example/1'/>\
                     <updated>2026-02-02T08:00:00Z</updated></entry>";
const ATOM_HEAD: &str = "<id>urn:f</id><title>T</title><updated>2026-02-02T08:00:00Z</updated>";

fn rss(inside: &str) -> String {
    format!(
        "<rss version='2.0' xmlns:sy='http://purl.org/rss/1.0/modules/syndication/' xmlns:a='http://www.w3.org/2005/Atom' \
         xmlns:sched='tag:backissue.example,2026:schedule' xmlns:fh='http://purl.org/syndication/history/1.0'>\
         <channel><title>T</title><link>https://a.example/</link>{inside}</channel></rss>"
    )
}

fn atom(inside: &str) -> String {
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0' \
         xmlns:at='http://purl.org/atompub/tombstones/1.0' xmlns:sched='tag:backissue.example,2026:schedule'>{inside}</feed>"
    )
}

fn link(rel: &str, href: &str) -> String {
    format!("<link rel='{rel}' href='{href}'/>")
}

fn in_rss(documents: &mut Vec<(&'static str, Verdict, String)>) {
    let mut add = |name, verdict, inside: &str| documents.push((name, verdict, rss(inside)));
    let with = |hint: &str| format!("{hint}{ITEM}");
    add("a plain RSS feed", Right, ITEM);
    add("a ttl of an hour", Right, &with("<ttl>60</ttl>"));
    add("a ttl of a week", Right, &with("<ttl>10080</ttl>"));
    add("a ttl in seconds", Arguable, &with("<ttl>3600</ttl>"));
    add("a ttl with a unit", Arguable, &with("<ttl>60 minutes</ttl>"));
    add("two ttl", Arguable, &with("<ttl>60</ttl><ttl>30</ttl>"));
    add(
        "sy with a base",
        Right,
        &with(
            "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateBase>2026-01-01T08:00Z</sy:updateBase>",
        ),
    );
    add("an unknown period", Arguable, &with("<sy:updatePeriod>sometimes</sy:updatePeriod>"));
    add("nights skipped", Right, &with("<skipHours><hour>0</hour><hour>1</hour></skipHours>"));
    add(
        "the whole week skipped",
        Arguable,
        &with("<skipDays>Monday Tuesday Wednesday Thursday Friday Saturday Sunday</skipDays>"),
    );
    add("an hour of 25", Arguable, &with("<skipHours><hour>25</hour></skipHours>"));
    add(
        "interval rules",
        Right,
        &with(
            "<sched:interval>240</sched:interval><sched:interval starthour='9' endhour='17'>30</sched:interval>",
        ),
    );
    add(
        "a rule that never applies",
        Arguable,
        &with("<sched:interval>240</sched:interval><sched:interval>60</sched:interval>"),
    );
}

fn items_in_rss(documents: &mut Vec<(&'static str, Verdict, String)>) {
    let mut add = |name, verdict, inside: &str| documents.push((name, verdict, rss(inside)));
    let with = |hint: &str| format!("{hint}{ITEM}");
    add(
        "a rule in an unknown zone",
        Arguable,
        &with("<sched:interval tz='Mars/Base'>60</sched:interval>"),
    );
    add(
        "an item without a date",
        Right,
        "<item><guid isPermaLink='false'>urn:1</guid><title>One</title></item>",
    );
    add(
        "an item without an id",
        Arguable,
        "<item><title>One</title><link>https://a.example/1</link></item>",
    );
    add("a guid that is no address", Arguable, "<item><guid>1</guid><title>One</title></item>");
    add("two items with one id and text", Wrong, &with(ITEM));
    add(
        "a date in words",
        Arguable,
        "<item><guid isPermaLink='false'>urn:1</guid><title>One</title><pubDate>yesterday</pubDate></item>",
    );
    add(
        "a date of next year",
        Arguable,
        "<item><guid isPermaLink='false'>urn:1</guid><title>One</title><pubDate>Mon, 01 Feb 2027 08:00:00 GMT</pubDate></item>",
    );
    add(
        "an item that says nothing",
        Arguable,
        "<item><guid isPermaLink='false'>urn:1</guid></item>",
    );
    add("no items", Arguable, "");
    add(
        "archives in RSS",
        Right,
        &with("<a:link rel='prev-archive' href='https://a.example/1.xml'/>"),
    );
    add("a link of an old draft", Arguable, &with("<fh:prev>https://a.example/1.xml</fh:prev>"));
}

fn in_atom(documents: &mut Vec<(&'static str, Verdict, String)>) {
    let mut add = |name, verdict, inside: &str| documents.push((name, verdict, atom(inside)));
    let with = |more: &str| format!("{ATOM_HEAD}{more}{ENTRY}");
    let current = link("current", "https://a.example/feed.atom");
    add("a plain Atom feed", Right, &with(""));
    add("a complete feed", Right, &with("<fh:complete/>"));
    add(
        "complete, but with archives",
        Arguable,
        &with(&format!("<fh:complete/>{}", link("prev-archive", "https://a.example/1"))),
    );
    add("an archive", Right, &with(&format!("<fh:archive/>{current}")));
    add("an archive that names no feed", Arguable, &with("<fh:archive/>"));
    add(
        "archives and pages",
        Arguable,
        &with(
            &(link("prev-archive", "https://a.example/1") + &link("next", "https://a.example/2")),
        ),
    );
    add(
        "archives on an insecure address",
        Arguable,
        &with(&link("prev-archive", "http://a.example/1")),
    );
    add(
        "an archive that is stated to be missing",
        Right,
        &with(
            &(link("prev-archive", "https://a.example/1")
                + "<sched:missing href='https://a.example/1'/>"),
        ),
    );
    add(
        "a missing archive without a link",
        Arguable,
        &with("<sched:missing href='https://a.example/1'/>"),
    );
    add(
        "a deleted entry",
        Right,
        &with("<at:deleted-entry ref='urn:0' when='2026-02-01T00:00:00Z'/>"),
    );
    add(
        "an entry that is there and deleted",
        Arguable,
        &with("<at:deleted-entry ref='urn:1' when='2026-02-03T00:00:00Z'/>"),
    );
    add(
        "a feed without an id",
        Arguable,
        &format!("<title>T</title><updated>2026-02-02T08:00:00Z</updated>{ENTRY}"),
    );
    add(
        "an entry without a date",
        Arguable,
        &format!("{ATOM_HEAD}<entry><id>urn:1</id><title>One</title></entry>"),
    );
}

#[test]
fn forty_documents_get_the_verdict_of_a_person() {
    let mut documents = Vec::new();
    let whole = rss(ITEM);
    let cut = whole.split("One").next().unwrap_or_default().to_owned();
    in_rss(&mut documents);
    items_in_rss(&mut documents);
    in_atom(&mut documents);
    documents.push(("a web page", Wrong, "<html><body><p>Hello</p></body></html>".to_owned()));
    documents.push(("a feed that is cut off", Wrong, cut));
    documents.push(("a JSON Feed", Right, r#"{"version":"https://jsonfeed.org/version/1.1","title":"T","feed_url":"https://a.example/feed","items":[{"id":"1","title":"One","content_text":"Text","date_published":"2026-02-02T08:00:00Z"}]}"#.to_owned()));
    assert_eq!(documents.len(), 40);
    let now: DateTime<Utc> = "2026-03-02T10:00:00Z".parse().unwrap();
    let origin = Origin { url: Some("https://a.example/feed"), content_type: None };
    let mut differing = Vec::new();
    for (name, expected, document) in &documents {
        let report = examine(document.as_bytes(), &origin, now);
        let found = match report.findings.iter().map(|finding| finding.level).min() {
            Some(Level::Error) => Wrong,
            Some(Level::Warning) => Arguable,
            Some(Level::Note) | None => Right,
        };
        let worse: Vec<_> =
            report.findings.iter().filter(|finding| finding.level != Level::Note).collect();
        assert!(worse.iter().all(|finding| mending(finding).is_some()), "{name}");
        if found != *expected {
            differing.push(format!("{name}: {found:?}, not {expected:?}: {worse:#?}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
