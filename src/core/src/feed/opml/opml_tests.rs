//! Reads intact and broken subscription lists, and checks that writing a list loses nothing.

use proptest::prelude::*;

use super::subscription_list::*;
use super::{read_opml, write_opml};
use crate::feed::address::without_logins;
use crate::feed::text::one_line;

fn list(body: &str) -> Opml {
    read_opml(format!("<opml version='2.0'><head/><body>{body}</body></opml>").as_bytes()).unwrap()
}

fn urls(opml: &Opml) -> Vec<&str> {
    opml.outlines.iter().map(|feed| feed.xml_url.as_str()).collect()
}

#[test]
fn a_feed_with_a_title_of_a_megabyte_is_read() {
    let long = "x".repeat(1_000_000);
    let text = format!(
        "<opml><body><outline text=\"{long}\" xmlUrl=\"https://a.example/\"/><outline text=\"{long}\"><outline text=\"b\" xmlUrl=\"https://b.example/\"/></outline></body></opml>"
    );
    let read = read_opml(text.as_bytes()).unwrap();
    assert_eq!(read.outlines.len(), 2, "{:?}", read.flaws);
    assert_eq!(read.outlines[0].title.as_ref().map(String::len), Some(502), "cut, and …");
    assert!(read.flaws.is_empty(), "{:?}", read.flaws);
}

#[test]
fn opml_list_is_read() {
    let opml = read_opml(
        b"<?xml version='1.0' encoding='utf-8'?><!-- x --><opml version='1.1'><head><title>My &amp; \
          <![CDATA[list]]></title></head><body><outline text='Fruit'><outline type='rss' text='T' \
          title=' The  Title ' xmlUrl=' http://a.example/f ' htmlUrl='http://a.example/' \
          language='en'/></outline></body></opml>",
    )
    .unwrap();
    assert_eq!(opml.title.as_deref(), Some("My & list"));
    assert_eq!(opml.outlines.len(), 1);
    let feed = &opml.outlines[0];
    assert_eq!(feed.xml_url, "http://a.example/f");
    assert_eq!(feed.html_url.as_deref(), Some("http://a.example/"));
    assert_eq!(feed.title.as_deref(), Some("The Title"));
    assert_eq!(feed.tags, ["Fruit"]);
    assert_eq!((opml.bad, opml.flaws, opml.broken), (vec![], vec![], None));
}

#[test]
fn folders_and_categories_are_tags() {
    let opml = list(
        "<outline text='A / B'><outline title='C'><outline xmlUrl='http://a.example/' \
         category='/x/y, z ,,A/B/C'/></outline><outline xmlUrl='http://b.example/'/></outline>\
         <outline xmlUrl='http://c.example/'/>",
    );
    let tags: Vec<String> = opml.outlines.iter().map(|feed| feed.tags.join("|")).collect();
    assert_eq!(tags, ["A/B/C|x/y|z", "A/B", ""]);
}

#[test]
fn the_frame_of_pocket_casts_is_no_tag() {
    let feed = "<outline type='rss' text='A' xmlUrl='http://a.example/'/>";
    for (frame, tags) in [
        ("text='feeds'", &[][..]),
        ("text='feeds' title='feeds'", &["feeds"]),
        ("text='Feeds'", &["Feeds"]),
    ] {
        let opml = list(&format!("<outline {frame}>{feed}</outline>"));
        assert_eq!(opml.outlines[0].tags, tags, "{frame}");
    }
}

#[test]
fn settings_are_read_by_namespace_or_by_our_prefix() {
    let opml = read_opml(
        format!(
            "<opml xmlns:q='{NAMESPACE}' xmlns:o='urn:other'><body><outline \
             xmlUrl='http://a.example/' q:pace='more' o:pace='less' bi:every='2 h'/></body></opml>"
        )
        .as_bytes(),
    )
    .unwrap();
    let settings: Vec<_> = opml.outlines[0].settings.iter().collect();
    assert_eq!(
        settings,
        [(&"every".to_owned(), &"2 h".to_owned()), (&"pace".to_owned(), &"more".to_owned())]
    );
}

#[test]
fn names_are_read_in_any_case_and_addresses_with_odd_schemes() {
    let opml = list(
        "<OUTLINE XMLURL='http://a.example/'/><outline xmlurl='feed://b.example/f'/>\
         <outline xml:lang='x' xmlUrl='FEED:https://c.example/f'/><outline type='rss' url='http://d.example/'/>",
    );
    let expected =
        ["http://a.example/", "https://b.example/f", "https://c.example/f", "http://d.example/"];
    assert_eq!(urls(&opml), expected);
    assert_eq!(opml.outlines[0].title, None);
}

#[test]
fn malformed_opml_is_repaired() {
    let opml = list(
        "<outline text='A & B &copy; &nope; &#233;' xmlUrl='http://a.example/?x=1&y=2'>\
         <outline text=unquoted xmlUrl=http://b.example/></b></outline><outline text='a < b' \
         xmlUrl='http://c.example/'/>",
    );
    assert_eq!(
        urls(&opml),
        ["http://a.example/?x=1&y=2", "http://b.example/", "http://c.example/"]
    );
    assert_eq!(opml.outlines[0].title.as_deref(), Some("A & B © &nope; é"));
    assert_eq!(opml.outlines[2].title.as_deref(), Some("a < b"));
    assert!(opml.flaws.iter().any(|flaw| flaw.reason.contains("end tag of b")), "{:?}", opml.flaws);
}

#[test]
fn missing_quote_does_not_swallow_the_next_outline() {
    let opml = list(
        "\n<outline text='a xmlUrl='http://a.example/'/>\n<outline text='b' xmlUrl='http://b.example/'/>",
    );
    assert_eq!(urls(&opml), ["http://a.example/", "http://b.example/"]);
    assert_eq!(opml.flaws[0].line, 2);
    let opml = list(
        "\n<outline text='a' xmlUrl='http://a.example/>\n<outline xmlUrl='http://b.example/'/>",
    );
    assert_eq!(urls(&opml), ["http://b.example/"]);
    assert_eq!(opml.bad[0].line, 2);
}

#[test]
fn unspaced_attributes_and_tags_in_texts_are_read() {
    let opml = list(
        "<outline text='a > b'type=\"rss\"xmlUrl='http://a.example/'/>\n<outline text='b'/xmlUrl='http://b.example/'/>\
         <outline text='c' xmlUrl='http://c.example/'<outline xmlUrl='http://d.example/'/>",
    );
    let expected =
        ["http://a.example/", "http://b.example/", "http://d.example/", "http://c.example/"];
    assert_eq!(urls(&opml), expected);
    assert_eq!(opml.outlines[0].title.as_deref(), Some("a > b"));
    assert_eq!((opml.bad.len(), opml.flaws.len(), opml.broken), (0, 1, None));
    assert_eq!(opml.flaws[0].line, 2);
}

#[test]
fn truncated_list_keeps_its_start_and_names_the_place() {
    let whole = "<opml>\n<body>\n<outline text='F'>\n<outline xmlUrl='http://a.example/'/>\n\
                 <outline xmlUrl='http://b.example/'/>\n</outline></body></opml>";
    let cases = [
        (whole.len() - 7, 2, Some((6, "inside opml"))),
        (whole.len() - 25, 2, Some((5, "inside outline “F”"))),
        (whole.find("//b").unwrap(), 1, Some((5, "ill-formed"))),
        (whole.len(), 2, None),
    ];
    for (length, feeds, broken) in cases {
        let opml = read_opml(&whole.as_bytes()[..length]).unwrap();
        assert_eq!(opml.outlines.len(), feeds, "{length}");
        let found = opml.broken.as_ref().map(|flaw| (flaw.line, flaw.reason.as_str()));
        assert_eq!(found.map(|(line, _)| line), broken.map(|(line, _)| line), "{found:?}");
        let (Some((_, found)), Some((_, part))) = (found, broken) else { continue };
        assert!(found.contains(part), "{found}");
    }
}

#[test]
fn outlines_without_a_usable_feed_are_reported_with_their_line() {
    let opml = list(
        "\n<outline type='rss' text='none'/>\n<outline text='js' xmlUrl='javascript:x'/>\n\
         <outline text='rel' xmlUrl='/feed.xml'/>\n<outline type='link' text='l' url='http://x.example/'/>\n\
         <outline type='rss' text='folder'><outline xmlUrl='http://a.example/'/></outline>\n\
         <outline text='empty'/>",
    );
    let bad: Vec<_> = opml.bad.iter().map(|bad| (bad.text.as_str(), bad.line)).collect();
    assert_eq!(bad, [("none", 2), ("js", 3), ("rel", 4), ("l", 5)]);
    assert_eq!(opml.bad[1].reason, "has an address with the scheme javascript");
    assert_eq!(opml.outlines[0].tags, ["folder"]);
    assert_eq!(opml.flaws.len(), 1);
    assert_eq!(opml.flaws[0].line, 7);
}

#[test]
fn duplicate_feed_gets_the_tags_of_both() {
    let opml = list(
        "<outline text='A'><outline xmlUrl='http://a.example'/></outline><outline text='B'>\
         <outline xmlUrl='http://A.example/' text='T' bi:pace='more'/></outline>",
    );
    assert_eq!(urls(&opml), ["http://a.example"]);
    assert_eq!(opml.outlines[0].tags, ["A", "B"]);
    assert_eq!(opml.outlines[0].title.as_deref(), Some("T"));
    assert_eq!(opml.outlines[0].settings["pace"], "more");
}

#[test]
fn non_list_document_is_named() {
    let cases: [(&[u8], &str); 7] = [
        (b"", "this is not an OPML document: it is empty (line 1)"),
        (
            b"\n\n<rss version='2.0'>",
            "this is not an OPML document: it is a feed; add its address instead (line 3)",
        ),
        (b"<!DOCTYPE html>\n<html>", "this is not an OPML document: it is a web page (line 2)"),
        (b"\njust text", "this is not an OPML document: it starts with text (line 2)"),
        (b"{\"a\": 1}", "this is not an OPML document: it starts with text (line 1)"),
        (
            b"<?xml version='1.0'?><a/>",
            "this is not an OPML document: its root element is not opml (line 1)",
        ),
        (b"\x89PNG\r\n\x1a\n\0\0", "this is not an OPML document: it starts with text (line 1)"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(read_opml(bytes).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_list_without_feeds_is_a_list() {
    for text in ["<opml/>", "<opml version='x'><body/></opml>", "<opml><head></head></opml>"] {
        assert_eq!(read_opml(text.as_bytes()).unwrap(), Opml::default(), "{text}");
    }
}

#[test]
fn encodings_are_heeded() {
    let body = "<opml><body><outline text='é' xmlUrl='http://a.example/'/></body></opml>";
    let declared =
        format!("<?xml version=\"1.0\" encoding=\"ISO-8859-1\" ?>{}", body.replace('é', "#"));
    let latin: Vec<u8> = declared.bytes().map(|b| if b == b'#' { 0xE9 } else { b }).collect();
    let utf16: Vec<u8> =
        [0xFEFF].into_iter().chain(body.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let utf8 = [b"\xEF\xBB\xBF<?xml version='1.0' encoding='utf-16'?>\n", body.as_bytes()].concat();
    for bytes in [latin, utf16, utf8] {
        assert_eq!(read_opml(&bytes).unwrap().outlines[0].title.as_deref(), Some("é"));
    }
}

#[test]
fn endless_nesting_is_not_followed() {
    let opml = read_opml("<opml><body>".to_owned().as_bytes()).unwrap();
    assert!(opml.broken.is_some());
    let deep = format!("<opml><body>{}", "<outline text='x'>".repeat(50_000));
    assert_eq!(
        read_opml(deep.as_bytes()).unwrap().broken.unwrap().reason,
        "The document is nested too deeply"
    );
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~éß漢😀&<>\"']{1,12}",
        prop::sample::select(vec!["a,b", "&amp;", "]]>", "<b>x</b>", "http://a.example/"])
            .prop_map(str::to_owned),
    ]
    .prop_filter_map("empty", |text| {
        Some(one_line(&without_logins(&text), 100)).filter(|text| !text.is_empty())
    })
}

prop_compose! {
    fn feed()(
        number in 0_u32..50,
        query in "[a-z&=+%2]{0,6}",
        html_url in prop::option::of(line()),
        title in prop::option::of(line()),
        tags in prop::collection::vec(prop::collection::vec(line(), 1..4), 0..4),
        settings in prop::collection::btree_map("[a-z][a-z0-9-]{0,8}", "[ -~\n\té]{0,10}", 0..4),
    ) -> OpmlFeed {
        let mut kept: Vec<String> = Vec::new();
        for tag in tags.into_iter().filter_map(|parts| normal_tag(&parts.join("/"))) {
            if !kept.contains(&tag) {
                kept.push(tag);
            }
        }
        let settings = settings.into_iter().filter(|(name, _)| is_setting_name(name)).collect();
        let xml_url = format!("https://h{number}.example/?{query}");
        OpmlFeed { xml_url, html_url, title, tags: kept, settings }
    }
}

proptest! {
    #[test]
    fn writing_and_reading_loses_nothing_but_logins(feeds in prop::collection::vec(feed(), 0..20), title in line()) {
        let mut feeds = feeds;
        feeds.sort_by(|a, b| a.xml_url.cmp(&b.xml_url));
        feeds.dedup_by(|a, b| a.xml_url == b.xml_url);
        let mut opml = read_opml(write_opml(&title, &feeds).as_bytes()).unwrap();
        opml.outlines.sort_by(|a, b| a.xml_url.cmp(&b.xml_url));
        let expected = Opml { title: Some(title), outlines: feeds, ..Opml::default() };
        prop_assert_eq!(opml, expected);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0_usize..300) {
        drop(read_opml(&bytes));
        let whole = b"<opml><head><title>x</title></head><body><outline text='a&b' xmlUrl='http://a.example/'>\
                      <outline text=\"c\" xmlUrl=\"http://b.example/\"/></outline></body></opml>";
        let mut mixed = whole.to_vec();
        let at = cut.min(mixed.len());
        mixed.splice(at..at, bytes);
        drop(read_opml(&mixed));
        drop(read_opml(&whole[..at]));
    }
}
