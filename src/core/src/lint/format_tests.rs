//! Tests of each rule with documents that are right, wrong, or arguable. Nothing is said about what is arguable.

use chrono::{DateTime, Utc};

use crate::feed::Origin;
use crate::lint::delivery::{Delivered, Headers};
use crate::lint::{Level, LintFinding, Survey, examine, mending};
use crate::schedule::TimingHeaders;

const URL: &str = "https://a.example/feed";

fn now() -> DateTime<Utc> {
    "2026-03-02T10:00:00Z".parse().unwrap()
}

fn rss(inside: &str) -> String {
    format!(
        "<rss version='2.0' xmlns:content='http://purl.org/rss/1.0/modules/content/' xmlns:a='http://www.w3.org/2005/Atom'>\
         <channel><title>T</title><link>https://a.example/</link><description>D</description>{inside}</channel></rss>"
    )
}

/// Returns an RSS feed with one item that contains `inside`.
fn item(inside: &str) -> String {
    rss(&format!(
        "<item><guid isPermaLink='false'>1</guid><title>One</title><pubDate>Mon, 02 Feb 2026 08:00:00 GMT</pubDate>{inside}</item>"
    ))
}

fn atom(head: &str, inside: &str) -> String {
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0'><id>urn:f</id>{head}\
         <updated>2026-02-02T08:00:00Z</updated><entry><id>urn:1</id><updated>2026-02-02T08:00:00Z</updated>{inside}</entry></feed>"
    )
}

fn json(version: &str, inside: &str) -> String {
    format!(
        "{{\"version\":\"{version}\",\"title\":\"T\",\"items\":[{{\"id\":\"1\",\"date_published\":\"2026-02-02T08:00:00Z\",{inside}}}]}}"
    )
}

/// Returns the errors and warnings about an element.
fn findings(document: &str, element: &str) -> Vec<LintFinding> {
    let origin = Origin { url: Some(URL), content_type: None };
    let report = examine(document.as_bytes(), &origin, now());
    let wrong = report.findings.into_iter().filter(|finding| finding.level != Level::Note);
    wrong.filter(|finding| finding.element == element).collect()
}

/// Checks one rule: the wrong document has one finding with these words and an advice, the others have none.
#[track_caller]
fn check(element: &str, words: &str, right: &str, wrong: &str, arguable: &str) {
    for (document, is_wrong) in [(right, false), (arguable, false), (wrong, true)] {
        let found = findings(document, element);
        assert_eq!(found.len(), usize::from(is_wrong), "{element}: {document}\n{found:#?}");
        for finding in found {
            assert!(finding.message.contains(words), "{finding:?}");
            assert_eq!(finding.level, Level::Warning);
            assert!(mending(&finding).is_some());
        }
    }
}

const HTML_V1: &str = "https://jsonfeed.org/version/1.1";

#[test]
fn relative_addresses_need_a_base() {
    let text = |markup: &str| item(&format!("<description><![CDATA[{markup}]]></description>"));
    check(
        "relative address",
        "1 text in description with a relative address",
        &text("<a href='https://a.example/1'>x</a>"),
        &text("<a href='#top'>x</a> <img src='p.png'>"),
        &text("<a href='#top'>x</a> <img src='//b.example/p.png'> &lt;img src='x'>"),
    );
    check(
        "relative address",
        "1 text in content:encoded with",
        &item("<content:encoded>&lt;p>x&lt;/p></content:encoded>"),
        &item("<content:encoded>&lt;a href=\"/1\">x&lt;/a></content:encoded>"),
        &item(
            "<content:encoded xml:base='https://a.example/'>&lt;a href='/1'>x&lt;/a></content:encoded>",
        ),
    );
    check(
        "relative address",
        "1 relative address in link",
        &item("<link>https://a.example/1</link>"),
        &item("<link>/1</link>"),
        &item("<link/>"),
    );
    check(
        "relative address",
        "1 relative address in enclosure",
        &item("<enclosure url='https://a.example/1.mp3' length='9' type='audio/mpeg'/>"),
        &item("<enclosure url='1.mp3' length='9' type='audio/mpeg'/>"),
        &item("<enclosure url='https://a.example/1.mp3' length='0' type='audio/mpeg'/>"),
    );
    check(
        "relative address",
        "1 text in content_html",
        &json(HTML_V1, "\"content_html\":\"<a href='https://a.example/1'>x</a>\""),
        &json(HTML_V1, "\"content_html\":\"<a href='1'>x</a>\""),
        &json(HTML_V1, "\"content_text\":\"<a href='1'>x</a>\""),
    );
    check(
        "relative address",
        "1 relative address in url",
        &json(HTML_V1, "\"url\":\"https://a.example/1\",\"content_text\":\"x\""),
        &json(HTML_V1, "\"url\":\"/1\",\"content_text\":\"x\""),
        &atom(
            "<title>T</title>",
            "<title>x</title><link href='/1'/><content type='html'>&lt;a href='2'></content>",
        ),
    );
}

#[test]
fn attached_files_have_an_address_a_size_and_a_type() {
    check(
        "enclosure",
        "1 attached file without a required part",
        &item("<enclosure url='https://a.example/1.mp3' length='9' type='audio/mpeg'/>"),
        &item("<enclosure url='https://a.example/1.mp3'/>"),
        &item("<enclosure url='https://a.example/1.mp3' length='0' type='audio/mpeg'/>"),
    );
    let missing = &findings(&item("<enclosure url='https://a.example/1.mp3'/>"), "enclosure")[0];
    assert_eq!(missing.text, "length, type");
    let file =
        |file: &str| json(HTML_V1, &format!("\"content_text\":\"x\",\"attachments\":[{{{file}}}]"));
    check(
        "attachments",
        "1 attached file",
        &file("\"url\":\"https://a.example/1.mp3\",\"mime_type\":\"audio/mpeg\""),
        &file("\"url\":\"https://a.example/1.mp3\""),
        &file(
            "\"url\":\"https://a.example/1.mp3\",\"mime_type\":\"audio/x-unknown\",\"size_in_bytes\":0",
        ),
    );
}

#[test]
fn channels_link_to_a_website() {
    let bare = |inside: &str| {
        format!(
            "<rss version='2.0'><channel><title>T</title>{inside}<item><guid>a:1</guid></item></channel></rss>"
        )
    };
    check(
        "link",
        "the channel has no link",
        &bare("<link>https://a.example/</link>"),
        &bare(""),
        &bare("<link xmlns='http://www.w3.org/2005/Atom' href='https://a.example/'/>"),
    );
}

#[test]
fn single_elements_and_links_are_not_repeated() {
    check(
        "repeated element",
        "1 element named title too many",
        &item("<description>x</description>"),
        &item("<title>Two</title>"),
        &item("<category>a</category><category>b</category><a:title>Two</a:title><title/>"),
    );
    check(
        "repeated element",
        "1 element named updated too many",
        &atom("<title>T</title>", "<published>2026-02-01T08:00:00Z</published>"),
        &atom("<title>T</title>", "<updated>2026-02-03T08:00:00Z</updated>"),
        &atom("<title>T</title>", "<author><name>A</name></author><author><name>B</name></author>"),
    );
    let links = |links: &[(&str, &str)]| {
        let links = links.iter().map(|(rel, href)| format!("<link rel='{rel}' href='{href}'/>"));
        atom(&format!("<title>T</title>{}", links.collect::<String>()), "<title>x</title>")
    };
    check(
        "repeated link",
        "a second prev-archive link",
        &links(&[("prev-archive", "1"), ("self", "feed")]),
        &links(&[("prev-archive", "1"), ("prev-archive", "2")]),
        &links(&[("prev-archive", "1"), ("prev-archive", "1"), ("related", "a"), ("related", "b")]),
    );
    let pages = |second: &str| {
        let first = "<link rel='alternate' type='text/html' href='https://a.example/1'/>";
        atom("<title>T</title>", &format!("<title>x</title>{first}<link {second}/>"))
    };
    check(
        "alternate",
        "1 alternate link of the same type and language",
        &pages("rel='related' href='https://a.example/2'"),
        &pages("type='text/html' href='https://a.example/2'"),
        &pages("type='text/html' hreflang='de' href='https://a.example/2'"),
    );
}

#[test]
fn atom_texts_have_a_type_that_fits() {
    let title = |title: &str| atom("<title>T</title>", title);
    check(
        "type",
        "1 text in title with markup but without a type",
        &title("<title type='html'>&lt;b>x&lt;/b></title>"),
        &title("<title>&lt;b>x&lt;/b></title>"),
        &title(
            "<title type='text'>&lt;b>x&lt;/b></title><summary>1 &lt; 2 &amp; 3 &gt; 2</summary>",
        ),
    );
    check(
        "type",
        "1 text in summary with markup",
        &title("<summary>AT&amp;T</summary>"),
        &title("<summary>AT&amp;amp;T</summary>"),
        &title("<content src='https://a.example/&amp;'/>"),
    );
    check(
        "type",
        "1 type in content: not 'text', 'html' or 'xhtml'",
        &title("<content type='html'>&lt;p></content>"),
        &title("<content type='text/html'>&lt;p></content>"),
        &title(
            "<content type='text/markdown'># x</content><link rel='enclosure' type='text/html' href='x'/>",
        ),
    );
    check(
        "type",
        "1 type in summary",
        &title("<summary type='text'>x</summary>"),
        &title("<summary type='text/plain'>x</summary>"),
        &title("<content type='text/html' src='https://a.example/1'/>"),
    );
    check(
        "xhtml",
        "1 text in content",
        &title(
            "<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>x</p></div></content>",
        ),
        &title("<content type='xhtml'><p xmlns='http://www.w3.org/1999/xhtml'>x</p></content>"),
        &title("<content type='xhtml'>\n <div xmlns='http://www.w3.org/1999/xhtml'/>\n</content>"),
    );
}

#[test]
fn json_feeds_state_their_version_and_contents() {
    let content = "\"content_text\":\"x\"";
    check(
        "version",
        "not an address of a version of JSON Feed",
        &json(HTML_V1, content),
        &json("http://jsonfeed.org/version/1.1", content),
        &json("https://jsonfeed.org/version/1", content),
    );
    check(
        "content_html",
        "1 item with neither content_html nor content_text",
        &json(HTML_V1, content),
        &json(HTML_V1, "\"title\":\"One\",\"summary\":\"x\""),
        &json(HTML_V1, "\"title\":\"One\",\"content_html\":\"<br>\""),
    );
}

/// Returns the errors and warnings about an answer to a request with `A-IM: feed`, or to the first request.
fn delta_findings(
    status: u16,
    headers: Headers<'_>,
    has_entries: bool,
    is_first: bool,
) -> Vec<(Level, String)> {
    let body = if has_entries {
        atom("<title>T</title>", "<title>x</title>")
    } else {
        "<feed xmlns='http://www.w3.org/2005/Atom'><id>urn:f</id><title>T</title></feed>".to_owned()
    };
    let answer = |status| Delivered {
        asked: URL,
        answered: URL,
        public: true,
        status,
        hops: Vec::new(),
        headers,
        wire_bytes: 100,
        bytes: body.as_bytes(),
    };
    let mut survey = Survey::begin(&answer(if is_first { status } else { 200 }), now());
    if !is_first {
        survey.repeated(&answer(status), true);
    }
    let findings = survey.into_report().findings.into_iter();
    let about = ["226", "IM", "Vary", "ETag"];
    let wrong = findings
        .filter(|finding| finding.level != Level::Note && about.contains(&&*finding.element));
    wrong
        .inspect(|finding| assert!(mending(finding).is_some()))
        .map(|finding| (finding.level, finding.element))
        .collect()
}

#[test]
fn deltas_are_requested_and_named_and_kept_apart() {
    let good = Headers {
        content_type: Some("application/atom+xml"),
        etag: true,
        last_modified: true,
        times: TimingHeaders { cache_control: Some("no-cache"), ..TimingHeaders::default() },
        link: None,
        im: Some("feed"),
        vary: Some("Accept-Encoding, A-IM"),
    };
    let no_store =
        TimingHeaders { cache_control: Some("no-store, im"), ..TimingHeaders::default() };
    let check = |status, headers, entries, expected: &[&str]| {
        let found = delta_findings(status, headers, entries, false);
        let expected: Vec<(Level, String)> =
            expected.iter().map(|element| (Level::Warning, (*element).to_owned())).collect();
        assert_eq!(found, expected, "{status} {headers:?}");
    };
    check(226, good, true, &[]);
    check(226, Headers { im: Some("FEED"), ..good }, true, &[]);
    check(226, Headers { im: Some("gzip, feed"), ..good }, true, &["IM"]);
    check(226, Headers { vary: None, times: no_store, ..good }, true, &[]);
    check(226, Headers { im: None, ..good }, true, &["IM"]);
    check(226, Headers { im: Some("diffe"), ..good }, true, &["IM"]);
    check(226, good, false, &["226"]);
    check(226, Headers { etag: false, ..good }, true, &["ETag"]);
    check(226, Headers { vary: Some("Accept-Encoding"), ..good }, true, &["Vary"]);
    check(304, Headers { im: None, vary: None, ..good }, false, &[]);
    let unasked = delta_findings(226, good, true, true);
    assert_eq!(unasked, [(Level::Error, "226".to_owned())]);
    assert_eq!(delta_findings(200, good, true, true), []);
}
