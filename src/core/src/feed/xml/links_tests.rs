//! Checks which links become the page URLs of entries, and the identities that result from them.

use crate::feed::{FeedDocument, Origin, parse};

fn read(document: &str) -> FeedDocument {
    parse(
        document.as_bytes(),
        &Origin { url: Some("https://a.example/dir/feed"), content_type: None },
    )
}

#[test]
fn html_alternate_is_chosen_as_the_page() {
    let link = |inside: &str| {
        let spaces = "xmlns:atom='http://www.w3.org/2005/Atom'";
        read(&format!("<rss {spaces}><channel><item>{inside}</item></channel></rss>"))
            .entries
            .remove(0)
            .link
    };
    let json = "<atom:link type='application/json' href='/json'/>";
    let bare = "<atom:link href='/bare'/>";
    let html = "<atom:link type='Text/HTML' href='/html'/>";
    for (inside, expected) in [
        ([json, bare, html], "https://a.example/html"),
        ([html, bare, json], "https://a.example/html"),
        ([json, bare, ""], "https://a.example/bare"),
        ([json, "", ""], "https://a.example/json"),
        ([html, bare, "<link>/own</link>"], "https://a.example/own"),
    ] {
        assert_eq!(link(&inside.concat()).as_deref(), Some(expected), "{inside:?}");
    }
    let head = "<feed><link href='/bare'/><link type='application/xhtml+xml' href='/html'/></feed>";
    assert_eq!(read(head).head.link.as_deref(), Some("https://a.example/html"));
}

#[test]
fn atom_id_with_a_web_address_serves_as_link() {
    let link = |inside: &str| {
        read(&format!("<feed><entry>{inside}</entry></feed>")).entries.remove(0).link
    };
    let id = "<id>http://b.example/1</id>";
    assert_eq!(link(id).as_deref(), Some("http://b.example/1"));
    let other = format!("{id}<link rel='edit' href='/e'/>");
    assert_eq!(link(&other).as_deref(), Some("http://b.example/1"));
    assert_eq!(link(&format!("{id}<link href='/2'/>")).as_deref(), Some("https://a.example/2"));
    assert_eq!(link("<id>urn:1</id>"), None);
}

#[test]
fn guid_is_a_link_unless_marked_otherwise() {
    let link = |attribute: &str| {
        let document = format!(
            "<rss><channel><item><guid {attribute}>http://b.example/1</guid></item></channel></rss>"
        );
        let entry = read(&document).entries.remove(0);
        assert_eq!(entry.id, "http://b.example/1", "the identity is the same");
        entry.link.is_some()
    };
    for (attribute, expected) in [
        ("", true),
        ("isPermaLink='true'", true),
        ("ispermalink=' TRUE '", true),
        ("isPermaLink='false'", false),
        ("isPermaLink='no'", false),
        ("isPermaLink='0'", false),
        ("isPermaLink='1'", false),
        ("isPermaLink=''", false),
    ] {
        assert_eq!(link(attribute), expected, "{attribute}");
    }
}

#[test]
fn distinct_entry_identities_are_unchanged() {
    let document = "<rss xmlns:atom='http://www.w3.org/2005/Atom'><channel><title>t</title>\
        <item><guid isPermaLink='no'>1</guid><link>http://b.example/1</link></item>\
        <item><link>/2</link><title>x</title><author>a</author></item>\
        <item><atom:link href='/3'/><atom:link type='text/html' href='/3.html'/><title>x</title></item>\
        <item><atom:link type='application/json' href='/4.json'/><title>x</title></item>\
        <item><atom:link type='text/html' href='/5.html'/><link>/5</link></item>\
        <item><title>a</title><description>&lt;p&gt;b c&lt;/p&gt;</description><author>a</author></item>\
        <item href='/7'><title>x</title></item>\
        <item><title>a</title></item>\
        <item/></channel></rss>";
    let ids: Vec<String> = read(document).entries.into_iter().map(|entry| entry.id).collect();
    assert_eq!(
        ids,
        [
            "1",
            "https://a.example/2",
            "https://a.example/3",
            "https://a.example/4.json",
            "https://a.example/5",
            "urn:backissue:entry:e39a664d213d5359d8930f094545d7ef",
            "https://a.example/7",
            "urn:backissue:entry:819452aa27ff2884ce3f5e4b6924f5bf",
            "urn:backissue:entry:cb1a188949466ad343e8be2420cb99e2",
        ]
    );
}

#[test]
fn entries_without_id_or_link_use_author_and_position() {
    let ids = |items: &[&str]| -> Vec<String> {
        let items: Vec<String> =
            items.iter().map(|inside| format!("<item>{inside}</item>")).collect();
        let document = format!("<rss><channel>{}</channel></rss>", items.concat());
        read(&document).entries.into_iter().map(|entry| entry.id).collect()
    };
    let by = |author: &str| format!("<title>x</title><author>{author}</author>");
    let (ada, bob) = (by("Ada"), by("Bob"));
    let read = ids(&[&ada, &bob, &bob]);
    assert!(read[0] != read[1] && read[1] != read[2] && read[0] != read[2], "{read:?}");
    let later = ids(&[&bob, &ada, &bob, &bob]);
    assert_eq!(later[1..], read, "what is new at the top changes no other");
    let songs = ids(&["<enclosure url='/1.mp3'/>", "<enclosure url='/2.mp3'/>"]);
    assert_ne!(songs[0], songs[1]);
}

#[test]
fn entries_linking_to_one_page_stay_distinct() {
    let item =
        |title: &str| format!("<item><link>http://b.example/</link><title>{title}</title></item>");
    let document = format!("<rss><channel>{}{}{}</channel></rss>", item("1"), item("2"), item("1"));
    let read = read(&document);
    assert_ne!(read.entries[0].id, read.entries[1].id);
    assert_eq!(read.entries[0].id, read.entries[2].id, "one item that stands there twice");
    assert!(read.entries.iter().all(|entry| entry.link.as_deref() == Some("http://b.example/")));
}
