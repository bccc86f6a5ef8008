//! Reads old, unusual and broken XML feeds.

use super::*;
use crate::feed::{DocumentRole, Origin, parse};

fn read(document: &str) -> FeedDocument {
    parse(
        document.as_bytes(),
        &Origin { url: Some("https://a.example/dir/feed"), content_type: None },
    )
}

/// Parses `document`, and checks its kind, the title of the feed and the IDs of the entries.
fn check(document: &str, kind: Kind, title: &str, ids: &[&str]) {
    let read = read(document);
    let found: Vec<&str> = read.entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(
        (read.kind, read.head.title.as_deref().unwrap_or(""), found.as_slice()),
        (kind, title, ids),
        "{document}"
    );
}

const ITEM: &str = "<item><guid>1</guid><title>x</title></item>";
const ENTRY: &str = "<entry><id>1</id><title>x</title></entry>";

#[test]
fn every_version_and_namespace_of_rss_is_read() {
    for version in [
        "",
        "version='0.93'",
        "version='2.0.1'",
        "version='2'",
        "xmlns='http://backend.userland.com/rss2'",
        "xmlns='urn:unknown'",
    ] {
        check(
            &format!("<rss {version}><channel><title>t</title>{ITEM}</channel></rss>"),
            Kind::Rss,
            "t",
            &["1"],
        );
    }
    check(&format!("<RSS><Channel><Title>t</Title>{ITEM}</Channel></RSS>"), Kind::Rss, "t", &["1"]);
    check(&format!("<rss><channel><title>t</title></channel>{ITEM}</rss>"), Kind::Rss, "t", &["1"]);
    check(&format!("<channel><title>t</title>{ITEM}</channel>"), Kind::Rss, "t", &["1"]);
    for name in ["http://my.netscape.com/rdf/simple/0.9/", "http://purl.org/rss/1.0/"] {
        let document = format!(
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='{name}'><channel><title>t</title></channel>\
             <item rdf:about='urn:1'><title>x</title></item><item><title>y</title><link>http://b.example/2</link></item></rdf:RDF>"
        );
        check(&document, Kind::Rdf, "t", &["urn:1", "http://b.example/2"]);
    }
}

#[test]
fn every_namespace_of_atom_is_read() {
    for name in [
        "http://www.w3.org/2005/Atom",
        "http://purl.org/atom/ns#",
        "http://purl.org/atom/ns#draft-ietf-atompub-format-09",
        "urn:unknown",
    ] {
        check(
            &format!("<feed xmlns='{name}'><title>t</title>{ENTRY}</feed>"),
            Kind::Atom,
            "t",
            &["1"],
        );
    }
    check(
        &format!(
            "<a:feed xmlns:a='http://www.w3.org/2005/Atom'>{}</a:feed>",
            ENTRY.replace('<', "<a:").replace("<a:/", "</a:")
        ),
        Kind::Atom,
        "",
        &["1"],
    );
    check(ENTRY, Kind::Atom, "", &["1"]);
}

#[test]
fn non_feed_document_gives_no_feed() {
    for document in [
        "",
        "  ",
        "plain text",
        "<html><body><rss/></body></html>",
        "<note>x</note>",
        "<feed xmlns='urn:unknown'/>",
        "<html><body><feed><entry><title>x</title></entry></feed></body></html>",
        "<html><body><rss><channel><title>x</title><item/></channel></rss></body></html>",
        "{\"a\":1}",
        "{",
    ] {
        let read = read(document);
        assert_eq!(read.kind, Kind::None, "{document}");
        assert!(!read.flaws.is_empty(), "{document}");
    }
}

#[test]
fn broken_document_yields_its_readable_parts() {
    let rss = |inside: &str| {
        format!(
            "<rss><channel><title>t</title><item><guid>1</guid>{inside}</item><item><guid>2</guid></item></channel></rss>"
        )
    };
    for inside in [
        "<title>a & b</title>",
        "<title>a < b</title>",
        "<title>a<b>c</title>",
        "<title>&nbsp;&foo;</title>",
        "<title>\u{1b}\u{0}&#27;</title>",
        "<description><p>x<br></description>",
        "<x:y>z</x:y>",
        "<link>",
        "<pubDate>never</pubDate>",
    ] {
        check(&rss(inside), Kind::Rss, "t", &["1", "2"]);
    }
    let cut = "<rss><channel><title>t</title><item><guid>1</guid><description>&lt;p";
    check(cut, Kind::Rss, "t", &["1"]);
    assert!(read(cut).is_truncated() && !read(&rss("")).is_truncated());
    check(&format!("Warning: x in line 3<br />\n{}\nmore", rss("")), Kind::Rss, "t", &["1", "2"]);
}

#[test]
fn the_better_of_two_statements_counts() {
    let entry = |inside: &str| {
        let spaces = "xmlns:atom='http://www.w3.org/2005/Atom' xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:dcterms='http://purl.org/dc/terms/' xmlns:content='http://purl.org/rss/1.0/modules/content/'";
        read(&format!("<rss {spaces}><channel><item>{inside}</item></channel></rss>"))
            .entries
            .remove(0)
    };
    assert_eq!(entry("<guid> </guid><guid>1</guid><guid>2</guid>").id, "1");
    assert_eq!(entry("<dc:title>a</dc:title><title>b</title>").title.as_deref(), Some("b"));
    let dated = entry(
        "<dc:date>2026-03-02</dc:date><pubDate>never</pubDate><dcterms:modified>2026-03-04</dcterms:modified>",
    );
    assert_eq!(dated.published, parse_date("2026-03-02"));
    assert_eq!(dated.updated, parse_date("2026-03-04"));
    assert_eq!(entry("<pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate>").updated, None);
    let texts = entry("<content:encoded>long</content:encoded><description>short</description>");
    assert_eq!((texts.summary.as_deref(), texts.content.as_deref()), (Some("short"), Some("long")));
    assert_eq!(
        entry("<guid>http://b.example/1</guid>").link.as_deref(),
        Some("http://b.example/1")
    );
    assert_eq!(entry("<guid isPermaLink='false'>http://b.example/1</guid>").link, None);
    assert_eq!(
        entry("<link/><atom:link href='x'/>").link.as_deref(),
        Some("https://a.example/dir/x")
    );
    assert_eq!(
        entry("<title>t</title><description>d</description>").id,
        entry("<description>d</description><title>t </title>").id
    );
}

#[test]
fn links_of_entries_and_sources_are_not_feed_links() {
    let document = "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='NEXT' href='?p=2'/><link rel='http://www.iana.org/assignments/relation/prev-archive' href='old'/>\
                    <link type='text/html' rel='current' href='page.html'/><entry><id>1</id><link rel='next-archive' href='x'/><source><link rel='last' href='y'/></source></entry></feed>";
    let read = read(document);
    assert_eq!(read.history.next.as_deref(), Some("https://a.example/dir/feed?p=2"));
    assert_eq!(read.history.prev_archive.as_deref(), Some("https://a.example/dir/old"));
    assert_eq!(
        (read.history.next_archive, read.history.last, read.history.current),
        (None, None, None)
    );
    assert_eq!(read.role, DocumentRole::Subscription);
}

#[test]
fn the_page_of_a_feed_is_the_one_its_own_format_names() {
    let page = |head: &str| {
        let spaces = "xmlns:atom='http://www.w3.org/2005/Atom'";
        read(&format!("<rss {spaces}><channel><title>t</title>{head}</channel></rss>")).head.link
    };
    let other = "<atom:link rel='alternate' type='text/html' hreflang='de' href='/de'/>";
    assert_eq!(page(&format!("{other}<link>/en</link>")).as_deref(), Some("https://a.example/en"));
    assert_eq!(page(other).as_deref(), Some("https://a.example/de"));
    assert_eq!(page("<atom:link rel='self' href='/feed'/>"), None);
    let channel = read(
        "<CHANNEL HREF='/c'><ITEM HREF='/1'><TITLE>x</TITLE><ABSTRACT>y</ABSTRACT></ITEM></CHANNEL>",
    );
    assert_eq!(channel.head.link.as_deref(), Some("https://a.example/c"));
    assert_eq!(channel.entries[0].link.as_deref(), Some("https://a.example/1"));
    assert_eq!(channel.entries[0].summary.as_deref(), Some("y"));
}

#[test]
fn links_to_the_document_itself_lead_nowhere() {
    for href in ["", "#top", "feed", "https://A.example:443/dir/feed#x"] {
        let read = read(&format!(
            "<feed xmlns='http://www.w3.org/2005/Atom'><title>t</title><link rel='prev-archive' href='{href}'/></feed>"
        ));
        assert_eq!((read.history.prev_archive, read.role), (None, DocumentRole::Plain), "{href}");
    }
}

#[test]
fn deleted_entries_and_generators_are_noted() {
    let document = "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:at='http://purl.org/atompub/tombstones/1.0'><generator uri='https://press.example/'>Press</generator>\
                    <at:deleted-entry ref='urn:1' when='2026-01-01T00:00:00Z'/><at:deleted-entry ref='urn:2' when='once'/><entry/></feed>";
    let read = read(document);
    assert_eq!(
        read.tombstones.iter().map(|tombstone| tombstone.id.as_str()).collect::<Vec<_>>(),
        ["urn:1"]
    );
    assert_eq!(read.hints.generator.as_deref(), Some("Press"));
    assert_eq!(read.flaws.len(), 1);
}

#[test]
fn rss_1_1_is_read_with_its_list_of_items() {
    let document = "<Channel xmlns='http://purl.org/net/rss1.1#' xmlns:p='http://purl.org/net/rss1.1/payload#' \
                    xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' rdf:about='http://b.example/feed'>\
                    <items rdf:parseType='Collection'><item rdf:about='urn:1'><title>x</title><link>http://b.example/1</link>\
                    <p:payload xmlns='http://www.w3.org/1999/xhtml'>a <em>b</em></p:payload></item><item rdf:about='urn:2'/></items>\
                    <title>t</title><link>http://b.example/</link></Channel>";
    check(document, Kind::Rss, "t", &["urn:1", "urn:2"]);
    let read = read(document);
    assert_eq!(read.head.link.as_deref(), Some("http://b.example/"));
    assert_eq!(read.entries[0].link.as_deref(), Some("http://b.example/1"));
    assert_eq!(read.entries[0].content.as_deref(), Some("a <em>b</em>"));
    assert_eq!(read.flaws, []);
}

#[test]
fn unclosed_container_loses_no_later_item() {
    let item = |id: u8| format!("<item><guid>{id}</guid><title>x</title></item>");
    for container in [
        "<itunes:category text='a'>",
        "<itunes:category text='a'><itunes:category text='b'/>",
        "<itunes:category text='a'><itunes:category text='b'>",
        "<itunes:owner><itunes:name>n</itunes:name>",
        "<image><url>u</url><title>i</title>",
        "<skipHours><hour>3</hour>",
        "<media:thing>text",
    ] {
        for rest in ["</channel></rss>", "</rss>", ""] {
            let document =
                format!("<rss><channel><title>t</title>{container}{}{}{rest}", item(1), item(2));
            check(&document, Kind::Rss, "t", &["1", "2"]);
            assert!(!read(&document).flaws.is_empty(), "{document}");
        }
    }
    let between = format!(
        "<rss><channel><itunes:owner><title>t</title><ttl>5</ttl>{}<x:y>{}</channel></rss>",
        item(1),
        item(2)
    );
    check(&between, Kind::Rss, "t", &["1", "2"]);
    assert_eq!(read(&between).hints.ttl_minutes, Some(5));
    let atom = format!("<feed><title>t</title><author><name>n</name>{ENTRY}</feed>");
    check(&atom, Kind::Atom, "t", &["1"]);
}

#[test]
fn items_inside_foreign_elements_are_ignored() {
    let document = format!(
        "<rss><channel><title>t</title><x:list><item><guid>9</guid></item></x:list>{ITEM}</channel></rss>"
    );
    check(&document, Kind::Rss, "t", &["1"]);
}

#[test]
fn a_feed_inside_a_web_page_is_read() {
    let rss = format!("<rss version='2.0'><channel><title>t</title>{ITEM}</channel></rss>");
    let atom = format!("<feed xmlns='http://www.w3.org/2005/Atom'><title>t</title>{ENTRY}</feed>");
    let page = |feed: &str| {
        format!(
            "<!DOCTYPE html><html xmlns='http://www.w3.org/1999/xhtml'><head><title>page</title><script>if (a<b) w('<rss>')</script>\
             </head><body><p>x</p>{feed}</body></html>"
        )
    };
    check(&page(&rss), Kind::Rss, "t", &["1"]);
    check(&page(&atom), Kind::Atom, "t", &["1"]);
    let reasons: Vec<String> =
        read(&page(&rss)).flaws.into_iter().map(|flaw| flaw.reason).collect();
    assert_eq!(reasons, ["the feed is inside a web page"]);
}

#[test]
fn a_feed_without_entries_says_why() {
    let why = |document: &str| {
        let read = read(document);
        assert!(read.kind.is_feed() && read.entries.is_empty(), "{document}");
        let flaw = read.flaws.into_iter().find(|flaw| flaw.reason.starts_with("no entries"));
        flaw.map(|flaw| format!("{}: {}", flaw.text, flaw.reason)).unwrap_or_default()
    };
    for (document, expected) in [
        (
            "<rss><channel><title>t</title></channel></rss>",
            "rss: no entries: it contains no item or entry element",
        ),
        (
            "<feed><item><id>1</id></item></feed>",
            "item: no entries: in Atom an entry is called entry",
        ),
        (
            "<rss><channel><entry/></channel></rss>",
            "entry: no entries: in RSS an entry is called item",
        ),
        (
            "<rss><channel><x:list><item/></x:list></channel></rss>",
            "x:list: no entries: they are inside this element, where readers do not look for them",
        ),
        (
            "<rss><channel><item xmlns='urn:x'/></channel></rss>",
            "item: no entries: the namespace of this element is not a feed namespace",
        ),
        (
            "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[]}",
            ": no entries: the list of items is empty",
        ),
        (
            "{\"version\":\"https://jsonfeed.org/version/1\"}",
            ": no entries: there is no list of items",
        ),
        (
            "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":{}}",
            ": no entries: this is not a list",
        ),
    ] {
        assert_eq!(why(document), expected, "{document}");
    }
}

#[test]
fn the_time_of_change_of_a_cdf_channel_is_read() {
    let read = read(
        "<CHANNEL HREF='/c' LASTMOD='2026-03-02T10:00Z'><ITEM HREF='/1' LastMod='2026-03-01T09:00:00+01:00'/>\
         <ITEM HREF='/2' LASTMOD='once'/></CHANNEL>",
    );
    assert_eq!(read.head.updated, parse_date("2026-03-02T10:00:00Z"));
    assert_eq!(read.entries[0].updated, parse_date("2026-03-01T08:00:00Z"));
    assert_eq!(read.entries[1].updated, None);
    assert_eq!(read.flaws.iter().map(|flaw| flaw.text.as_str()).collect::<Vec<_>>(), ["once"]);
}

#[test]
fn all_authors_of_one_vocabulary_are_read() {
    for (inside, expected) in [
        (
            "<dc:creator>Ada</dc:creator><dc:creator>Bo</dc:creator><dc:creator>Ada</dc:creator>",
            "Ada, Bo",
        ),
        ("<author>a@b.example (Ada)</author><dc:creator>Ada O.</dc:creator>", "Ada"),
        ("<author></author><dc:creator>Bo</dc:creator>", "Bo"),
        ("<author>a@b.example</author><dc:creator>Ada</dc:creator>", "Ada"),
        ("<author>a@b.example</author>", "a@b.example"),
        ("<itunes:author>Show</itunes:author><dc:creator>Ada</dc:creator>", "Ada"),
    ] {
        let document = format!(
            "<rss xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd'>\
             <channel><item><guid>1</guid>{inside}</item></channel></rss>"
        );
        assert_eq!(read(&document).entries[0].author.as_deref(), Some(expected), "{inside}");
    }
}

#[test]
fn text_and_date_come_from_other_vocabularies() {
    let entry = |inside: &str| {
        let document = format!(
            "<rss xmlns:prism='http://prismstandard.org/namespaces/basic/2.0/' xmlns:content='http://purl.org/rss/1.0/modules/content/' \
             xmlns:y='http://news.yandex.ru'><channel><item><guid>1</guid>{inside}</item></channel></rss>"
        );
        read(&document).entries.remove(0)
    };
    let dated = entry(
        "<prism:coverDate>2026-09-01</prism:coverDate><prism:publicationDate>2026-10-05</prism:publicationDate>",
    );
    assert_eq!(dated.published.unwrap().to_string(), "2026-10-05 00:00:00 UTC");
    let full = entry("<description>short</description><y:full-text>whole</y:full-text>");
    assert_eq!(full.body(), Some("whole"));
    let picture = entry(
        "<description>words</description><content:encoded>&lt;img src='https://a.example/x'></content:encoded>",
    );
    let [_, shown] = picture.kept_texts();
    assert_eq!(shown, Some("<img src='https://a.example/x'><p>words</p>"));
    let twice = entry("<description>&amp;lt;p&amp;gt;a&amp;lt;/p&amp;gt;</description>");
    assert_eq!(twice.body(), Some("&lt;p&gt;a&lt;/p&gt;"), "it stays as the publisher wrote it");
    assert_eq!(twice.kept_texts()[0], Some("<p>a</p>"));
}
