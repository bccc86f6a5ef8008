//! Whatever the bytes, reading ends soon, does not panic, and gives the same answer twice.

use super::*;

const RSS: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">
<channel><title>Tides &amp; winds</title><link>/</link><ttl> 60 </ttl><skipHours><hour>3</hour></skipHours>
<atom:link rel="next" href="?page=2"/><fh:archive xmlns:fh="http://purl.org/syndication/history/1.0"/>
<item><title>High <b>water</b></title><guid>a1</guid><pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate>
<author>ada@example.org (Ada “L.”)</author><enclosure url="a.mp3" length="12" type="audio/mpeg"/>
<itunes:duration>1:02:03</itunes:duration><content:encoded><![CDATA[<p>Text <a href="x">x</a></p>]]></content:encoded></item>
<item rdf:about="u"><description>&lt;p&gt;no title &#8212; no id&lt;/p&gt;</description></item>
</channel></rss>"#;

const ATOM: &str = r#"<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en" xml:base="http://a.example/b/">
<title type="html">A &amp;amp; B</title><id>urn:f</id><updated>2026-03-02T10:00:00Z</updated><link rel="self" href="f"/>
<entry><title>One</title><id> urn:1 </id><link href="1"/><updated>2026-03-01T00:00:00+01:00</updated>
<author><name>Ada</name></author><category term="x" label="X"/><summary>short</summary>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">a <b title="&quot;">b</b><br/></div></content></entry>
<at:deleted-entry xmlns:at="http://purl.org/atompub/tombstones/1.0" ref="urn:0" when="2026-01-01T00:00:00Z"/></feed>"#;

const JSON: &str = r#"{"version":"https://jsonfeed.org/version/1.1","title":"K","next_url":"?p=2","hubs":[{}],
"items":[{"id":7,"url":"/7","title":null,"content_html":"<p>x</p>","date_published":"2026-03-02T10:00:00Z",
"attachments":[{"url":"a.mp3","size_in_bytes":1.5}],"tags":["t",1]}],"_schedule":{"intervals":[{"minutes":30}]}}"#;

/// A small generator of numbers that look random (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(below.max(1)).unwrap()).unwrap()
    }
}

const PIECES: [&[u8]; 22] = [
    b"<",
    b">",
    b"</",
    b"&",
    b"\"",
    b"'",
    b"<![CDATA[",
    b"]]>",
    b"<!--",
    b"-->",
    b"\0",
    b"\xff",
    b"\xc3",
    b"<item>",
    b"</item>",
    b"<entry>",
    b" xmlns=\"x\"",
    b"&#0;",
    b"&#x10ffff;",
    b"{",
    b"99999999999999999999",
    "“é@a.bc”".as_bytes(),
];

fn mutated(document: &str, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = document.as_bytes().to_vec();
    for _ in 0..=dice.roll(5) {
        let at = dice.roll(bytes.len() + 1);
        let end = (at + dice.roll(200)).min(bytes.len());
        match dice.roll(5) {
            0 => bytes.truncate(at.max(1)),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, PIECES[dice.roll(PIECES.len())].iter().copied())),
            3 => bytes.extend_from_within(at..end),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = byte.wrapping_add(1)),
        }
    }
    bytes
}

#[test]
fn mutated_documents_are_read_alike_twice_and_never_panic() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let origin = Origin { url: Some("https://a.example/feed"), content_type: None };
    for round in 0..1_500 {
        let bytes = mutated([RSS, ATOM, JSON][round % 3], &mut dice);
        let document = parse(&bytes, &origin);
        assert_eq!(document, parse(&bytes, &origin), "{}", String::from_utf8_lossy(&bytes));
        assert!(document.entries.iter().all(|entry| !entry.id.is_empty()));
        assert!(
            !document.flaws.iter().any(|flaw| flaw.reason.contains("could not be read")),
            "{:?}",
            document.flaws
        );
    }
}

#[test]
fn attacks_end_soon_and_leave_little() {
    let bomb = format!(
        "<!DOCTYPE rss [<!ENTITY a \"{}\"><!ENTITY b \"&a;&a;&a;&a;\">]><rss><channel><title>{}</title></channel></rss>",
        "x".repeat(10_000),
        "&b;".repeat(10_000)
    );
    let documents = [
        bomb,
        format!("<rss><channel>{}", "<item/>".repeat(30_000)),
        format!("<rss><channel><item><description>{}", "<b>".repeat(60_000)),
        format!("<rss><channel><item>{}", "</b>".repeat(60_000)),
        format!("<rss><channel><item {}/>", "a='1' ".repeat(30_000)),
        format!("<rss><channel><title a='{}'>t</title>", "x".repeat(500_000)),
        format!(
            "<feed xml:base='http://a.example/{}'>{}",
            "x/".repeat(40_000),
            "<entry><link href='y'/></entry>".repeat(2_000)
        ),
        format!(
            "{{\"version\":\"https://jsonfeed.org/version/1\",\"items\":{}",
            "[".repeat(100_000)
        ),
        format!("<rss><channel>{}", "<item><pubDate>x</pubDate></item>".repeat(5_000)),
    ];
    for bytes in documents {
        let document = parse(bytes.as_bytes(), &Origin::default());
        assert!(document.entries.len() <= 10_000 && document.flaws.len() <= 66, "{}", &bytes[..60]);
        assert!(document.head.title.as_deref().unwrap_or_default().chars().count() <= 1_000);
    }
}

#[test]
fn an_edited_title_makes_no_new_entry() {
    let ids = |document: &str| -> Vec<String> {
        let document = parse(
            document.as_bytes(),
            &Origin { url: Some("https://a.example/feed"), content_type: None },
        );
        document.entries.into_iter().map(|entry| entry.id).collect()
    };
    assert_eq!(ids(RSS), ids(&RSS.replace("High", "Low")));
    assert_eq!(ids(ATOM), ids(&ATOM.replace("One", "Two")));
    assert_eq!(ids(ATOM), ["urn:1"]);
    let rdf = "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'><item rdf:about='http://a.example/1'><title>One</title></item></rdf:RDF>";
    assert_eq!(ids(rdf), ["http://a.example/1"]);
    assert_eq!(ids(rdf), ids(&rdf.replace("One", "Two")));
}

#[test]
fn the_specimens_are_read_in_full() {
    let origin = Origin { url: Some("https://a.example/dir/feed"), content_type: None };
    let rss = parse(RSS.as_bytes(), &origin);
    assert_eq!(rss.entries[0].title.as_deref(), Some("High water"));
    assert_eq!(rss.entries[0].author.as_deref(), Some("Ada “L.”"));
    assert_eq!(
        rss.entries[0].content.as_deref(),
        Some("<p>Text <a href=\"https://a.example/dir/x\">x</a></p>")
    );
    assert_eq!(rss.entries[0].enclosures[0].url, "https://a.example/dir/a.mp3");
    assert_eq!(rss.entries[0].enclosures[0].duration_seconds, Some(3_723));
    assert_eq!(rss.entries[1].id, "u");
    assert_eq!((rss.role, rss.head.link.as_deref()), (Role::Archive, Some("https://a.example/")));
    let atom = parse(ATOM.as_bytes(), &origin);
    assert_eq!(atom.head.title.as_deref(), Some("A & B"));
    assert_eq!(atom.head.language.as_deref(), Some("en"));
    assert_eq!(atom.entries[0].link.as_deref(), Some("http://a.example/b/1"));
    assert_eq!(atom.entries[0].content.as_deref(), Some("a <b title=\"&quot;\">b</b><br />"));
    assert_eq!(atom.entries[0].categories, ["x"]);
    assert_eq!(atom.tombstones.len(), 1);
    let json = parse(JSON.as_bytes(), &origin);
    assert_eq!(
        (json.entries[0].id.as_str(), json.entries[0].link.as_deref()),
        ("7", Some("https://a.example/7"))
    );
    assert_eq!(json.entries[0].enclosures[0].length, Some(1));
    assert!(json.hints.offers_push && json.hints.intervals.len() == 1);
}
