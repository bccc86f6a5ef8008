//! Tests of the answers of servers.

use super::*;

const PAGE: &str =
    "answered with a web page, perhaps a sign-in page: open its address in a browser";

fn long(number: &str) -> ItemId {
    ItemId::read(number).unwrap()
}

#[test]
fn only_the_body_ok_is_a_success() {
    for (body, expected) in [
        ("OK", Ok(())),
        (" OK\n", Ok(())),
        ("[]", Err("gave an empty answer: it does not offer this")),
        ("", Err("gave an answer that is not OK: ''")),
        ("OKAY", Err("gave an answer that is not OK: 'OKAY'")),
        ("Bad\u{1b}[2J", Err("gave an answer that is not OK: 'Bad[2J'")),
        (" <html>", Err(PAGE)),
    ] {
        let read = read_ok(body.as_bytes()).map_err(|fault| fault.to_string());
        assert_eq!(read, expected.map_err(str::to_owned), "{body}");
    }
}

#[test]
fn the_login_is_one_line_of_the_answer() {
    for (body, expected) in [
        ("SID=a/1\nLSID=null\nAuth=ann/8e6845e089457af25303abc6f53356eb60bdb5f8\n", true),
        ("Auth=a/1\r\n", true),
        ("Error=BadAuthentication\n", false),
        ("Auth=\n", false),
        ("Auth=a b\n", false),
        ("<!DOCTYPE html>Auth=a", false),
    ] {
        assert_eq!(read_login(body.as_bytes()).is_ok(), expected, "{body}");
    }
    assert_eq!(read_login(b"SID=x\nAuth=a/1\r\n").unwrap(), "a/1");
    assert_eq!(read_login(b"<html>"), Err(AnswerFault::WebPage));
    assert_eq!(read_token(b"abc123ZZ\n").unwrap(), "abc123ZZ");
    assert!(read_token(b"a b").is_err() && read_token(b"").is_err());
}

#[test]
fn ids_are_gathered_from_pages_until_a_page_brings_nothing() {
    let mut gathered = GatheredIds::default();
    gathered.add(br#"{"itemRefs":[{"id":"3"},{"id":"2"}],"continuation":"2"}"#).unwrap();
    assert_eq!(gathered.continuation.as_deref(), Some("2"));
    // An id as a number instead of a string, and the first id again in the long form.
    gathered
        .add(br#"{"itemRefs":[{"id":2},{"id":"tag:google.com,2005:reader/item/1"}],"continuation":1}"#)
        .unwrap();
    assert_eq!(gathered.continuation.as_deref(), Some("1"));
    gathered.add(br#"{"itemRefs":[],"continuation":"1"}"#).unwrap();
    assert_eq!(gathered.continuation, None);
    assert_eq!(gathered.ids, [long("3"), long("2"), long("1")]);
    assert!(gathered.contains(&long("1")) && !gathered.contains(&long("4")));

    let mut one = GatheredIds::default();
    one.add(br#"{"itemRefs":[{"id":"1"}],"continuation":"x"}"#).unwrap();
    one.add(br#"{"itemRefs":[{"id":"2"}],"continuation":"x"}"#).unwrap();
    assert_eq!(one.continuation, None, "the same continuation again would never end");
    let mut endless = GatheredIds::default();
    let ended = (0..=PAGES_MAX).map(|page| {
        endless.add(
            format!(r#"{{"itemRefs":[{{"id":"{page}"}}],"continuation":"c{page}"}}"#).as_bytes(),
        )
    });
    assert_eq!(ended.last(), Some(Err(AnswerFault::Endless)));
}

#[test]
fn unusable_lists_are_refused() {
    for (body, fault) in [
        ("[]", "gave an empty answer: it does not offer this"),
        ("<html>", PAGE),
        ("{\"itemRefs\":[", "gave an answer that cannot be read: it ends too early"),
        ("{\"itemRefs\":7}", "gave an answer that cannot be read: it is JSON, but not of this API"),
        ("{,}", "gave an answer that cannot be read: it is not JSON"),
        (r#"{"itemRefs":[{"id":"x"}]}"#, "gave an answer that cannot be read: 'x' is no id"),
    ] {
        let read = GatheredIds::default().add(body.as_bytes());
        assert_eq!(read.unwrap_err().to_string(), fault, "{body}");
    }
    for wrong in ["{\"itemRefs\":7}", "{\"itemRefs\":[", "\u{0}", "null"] {
        assert!(GatheredIds::default().add(wrong.as_bytes()).is_err(), "{wrong}");
        assert!(read_items(wrong.as_bytes(), true).is_err(), "{wrong}");
        assert!(read_subscriptions(wrong.as_bytes(), true).is_err(), "{wrong}");
    }
    assert!(
        GatheredIds::default().add(br#"{"itemRefs":null}"#).is_ok(),
        "an empty list of Miniflux"
    );
}

#[test]
fn subscriptions_are_read_with_their_folders() {
    let body = r#"{"subscriptions":[
        {"id":"feed/4","title":"A\u001b \uff06 b","categories":[{"id":"user/-/label/News","label":"News"}],
         "url":"https://a.example/feed","htmlUrl":"https://a.example/","iconUrl":"x"},
        {"id":"feed/https://b.example/feed","title":"B","categories":[{"id":"user/1005/label/C/D"}]},
        {"id":"feed/5","title":"C","url":"file:///etc/passwd"},
        {"id":"feed/6","title":"D"}]}"#;
    let read = read_subscriptions(body.as_bytes(), true).unwrap();
    let shown: Vec<_> = read
        .iter()
        .map(|feed| {
            (feed.stream.as_str(), feed.url.as_str(), feed.title.as_str(), feed.folders.concat())
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("feed/4", "https://a.example/feed", "A & b", "News".to_owned()),
            ("feed/https://b.example/feed", "https://b.example/feed", "B", "C/D".to_owned()),
        ]
    );
}

#[test]
fn labels_are_told_from_folders() {
    let body = r#"{"tags":[{"id":"user/-/state/com.google/starred"},{"id":"user/-/label/News","type":"folder"},
        {"id":"user/7/label/To do/1","type":"tag","unread_count":2},{"id":"user/-/label/a\u001bb","type":"tag"},{"id":"x"}]}"#;
    let tags = read_tags(body.as_bytes()).unwrap();
    let set = |name: &str| BTreeSet::from([name.to_owned()]);
    assert_eq!(tags, RemoteTags { labels: set("To do/1"), folders: set("News") });
    assert!(read_tags(br#"{"tags":[]}"#).is_err(), "it would remove all labels here");
}

#[test]
fn entries_are_read_without_marks_and_with_limits() {
    let large = "x".repeat(10 * 1024 * 1024);
    let body = format!(
        r#"{{"items":[
        {{"id":"tag:google.com,2005:reader/item/00060a24181e4001","published":1699990000,
         "title":"A &lt;i&gt; \uff1cb\uff1e \uff06 \uff06lt;c\u0007","canonical":[{{"href":"https://a.example/1"}}],
         "categories":["user/-/state/com.google/read","user/-/label/News","tide \uff06 wind",""],"origin":{{"streamId":"feed/4"}},
         "summary":{{"content":"<p>{large}</p>"}},"author":"Ann",
         "enclosure":[{{"href":"https://a.example/1.mp3","type":"audio/mpeg","length":1001}},{{"url":"javascript:x"}}]}},
        {{"id":"no id","origin":{{}}}},
        {{"id":"7","published":"99999999999999999","alternate":[{{"href":"http://a.example/2"}}]}}]}}"#
    );
    let read = read_items(body.as_bytes(), true).unwrap();
    let [first, second] = read.as_slice() else { panic!("{}", read.len()) };
    assert_eq!(first.entry.title.as_deref(), Some("A <i> <b> & <c"));
    assert_eq!(first.entry.id, "tag:google.com,2005:reader/item/00060a24181e4001");
    assert_eq!(
        (first.stream.as_str(), first.entry.categories.join(",")),
        ("feed/4", "tide & wind".into())
    );
    assert_eq!(first.entry.content.as_ref().unwrap().len(), TEXT_MAX);
    let [enclosure] = first.entry.enclosures.as_slice() else { panic!() };
    assert_eq!((enclosure.url.as_str(), enclosure.length), ("https://a.example/1.mp3", Some(1001)));
    assert_eq!(
        (second.entry.published, second.entry.link.as_deref()),
        (None, Some("http://a.example/2"))
    );
    let plain = read_items(br#"{"items":[{"id":"1","title":"a &amp; <b>b</b>"}]}"#, false).unwrap();
    assert_eq!(plain[0].entry.title.as_deref(), Some("a & b"));
}

#[test]
fn names_of_feeds_come_back_as_they_were_written() {
    for (title, expected) in [
        ("What if？", "What if?"),
        ("TCP／IP， OSI； more＼less", "TCP/IP, OSI; more\\less"),
        ("A ＆ B", "A & B"),
        ("これは？", "これは？"),
        ("新闻，体育", "新闻，体育"),
    ] {
        let list = format!(
            r#"{{"subscriptions":[{{"id":"feed/4","title":"{title}","url":"https://a.example/","categories":[{{"id":"user/-/label/A/B?","label":"A／B？"}}]}}]}}"#
        );
        let feeds = read_subscriptions(list.as_bytes(), true).unwrap();
        assert_eq!(
            (feeds[0].title.as_str(), &feeds[0].folders[..]),
            (expected, &["A/B?".to_owned()][..])
        );
        let feeds = read_subscriptions(list.as_bytes(), false).unwrap();
        assert_eq!(feeds[0].title, title);
    }
}
