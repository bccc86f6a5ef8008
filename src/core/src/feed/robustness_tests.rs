//! Checks that malicious input is parsed quickly, that entry identities are stable and that documents with every supported element
//! are read completely. Tests with mutated documents are in `tests/it/feeds/mutations.rs`.

use super::*;

const RSS: &str = include_str!("../../../../tests/it/fixtures/rich/rss.xml");

const ATOM: &str = include_str!("../../../../tests/it/fixtures/rich/atom.xml");

const JSON: &str = include_str!("../../../../tests/it/fixtures/rich/feed.json");

#[test]
fn attack_documents_end_quickly_and_leave_little() {
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
fn edited_title_creates_no_new_entry() {
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
        Some("<p>Text <a href=\"https://a.example/x\">x</a></p>")
    );
    assert_eq!(rss.entries[0].enclosures[0].url, "https://a.example/dir/a.mp3");
    assert_eq!(rss.entries[0].enclosures[0].duration_seconds, Some(3_723));
    assert_eq!(rss.entries[1].id, "u");
    assert_eq!(
        (rss.role, rss.head.link.as_deref()),
        (DocumentRole::Archive, Some("https://a.example/"))
    );
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
