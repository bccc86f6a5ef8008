//! Tests of the requests of devices, and of the answers, which are read with our own client.

use super::*;
use crate::accounts::api_call::MarkAction;
use crate::accounts::{answers, greader};

fn call(path: &str, query: &str) -> Result<ServedCall, CallFault> {
    read_call(path, query, None)
}

fn post(path: &str, form: &str) -> Result<ServedCall, CallFault> {
    read_call(path, "output=json", Some(form))
}

#[test]
fn streams_are_read_in_every_form() {
    for (text, stream) in [
        (READING_LIST, Stream::All),
        ("user/1005/state/com.google/reading-list", Stream::All),
        ("user/ann/state/com.google/read", Stream::Read),
        (STARRED, Stream::Starred),
        ("user/-/label/To do/1", Stream::Label("To do/1".into())),
        ("feed/4", Stream::Feed(4)),
        ("feed/https://a.example/f", Stream::Address("https://a.example/f".into())),
        ("user/-/state/com.google/broadcast", Stream::Unknown),
        ("user/-/label/", Stream::Unknown),
        ("user/-/label/a\nb", Stream::Unknown),
        ("state/com.google/read", Stream::Unknown),
        ("", Stream::Unknown),
    ] {
        assert_eq!(Stream::read(text), stream, "{text}");
    }
}

#[test]
fn requests_of_our_client_are_understood() {
    let ids_call = |wanted: &greader::IdsWanted<'_>| {
        let path = greader::item_ids(wanted).path;
        let (path, query) = path.split_once('?').unwrap();
        call(path.strip_prefix("/reader/api/0/").unwrap(), query).unwrap()
    };
    let wanted = greader::IdsWanted {
        stream: READING_LIST,
        unread: true,
        count: 50_000,
        continuation: Some("1234"),
    };
    let expected = StreamWanted {
        stream: Stream::All,
        within: Vec::new(),
        without: vec![Stream::Read],
        since: None,
        until: None,
        after: Some(1234),
        oldest_first: false,
        count: COUNT_MAX,
    };
    assert_eq!(ids_call(&wanted), ServedCall::Ids(expected));
    let ids = [ItemId::of_number(7), ItemId::of_number(8)];
    let form = |made: crate::accounts::api_call::ApiCall| {
        post(made.path.strip_prefix("/reader/api/0/").unwrap(), &made.body).unwrap()
    };
    let edit = |edits| ServedCall::Edit { edits, ids: vec![7, 8] };
    assert_eq!(
        form(greader::mark("t", MarkAction::Unread, &ids)),
        edit(vec![TagEdit::Read(false)])
    );
    assert_eq!(
        form(greader::label("t", "Keep", true, &ids)),
        edit(vec![TagEdit::Label("Keep".into(), true)])
    );
    assert_eq!(form(greader::contents("t", &ids)), ServedCall::Items(vec![7, 8]));
}

#[test]
fn wrong_requests_are_refused() {
    for (path, query, form, fault) in [
        ("stream/items/ids", "", None, CallFault::Parameter("s")),
        ("stream/items/ids", "s=feed/1&n=x", None, CallFault::Parameter("n")),
        ("stream/items/ids", "s=feed/1&c=-", None, CallFault::Parameter("c")),
        ("edit-tag", "a=user/-/state/com.google/read&i=1", None, CallFault::NotPost),
        ("mark-all-as-read", "", Some("s=feed/1"), CallFault::Parameter("ts")),
        ("mark-all-as-read", "", Some("s=feed/1&ts=soon"), CallFault::Parameter("ts")),
        ("subscription/edit", "", Some("s=feed/1&ac=drop"), CallFault::Parameter("ac")),
        ("disable-tag", "", Some("s=feed/1"), CallFault::Parameter("s")),
        ("atom", "", None, CallFault::NotOffered),
        ("preference/list", "", None, CallFault::NotOffered),
        ("", "", None, CallFault::NotOffered),
    ] {
        assert_eq!(read_call(path, query, form), Err(fault), "{path} {query}");
    }
    let many = "&i=1".repeat(NAMED_MAX + 1);
    assert_eq!(post("edit-tag", &many), Err(CallFault::TooMany));
    for query in ["T=1", "x=1&Auth=a", "Passwd=p", "%54=1"] {
        assert_eq!(check_query(query), Err(CallFault::SecretInAddress), "{query}");
    }
    assert_eq!(check_query("output=json&s=T&t=title"), Ok(()));
}

#[test]
fn answers_are_read_back_by_our_client() {
    let feed = ServedFeed {
        number: 4,
        title: "A & <b>".into(),
        tags: vec!["News".into()],
        url: Some("https://a.example/f".into()),
        site: None,
        history: Some(HistoryThere { text: "complete\u{1b}".into(), gaps: vec!["g".into(); 99] }),
    };
    let hidden = ServedFeed { number: 5, url: None, ..feed.clone() };
    let read =
        answers::read_subscriptions(write_subscriptions([feed.clone(), hidden]).as_bytes(), true);
    let read = read.unwrap();
    assert_eq!(read.len(), 1, "an address that no device may know is none");
    assert_eq!((read[0].stream.as_str(), read[0].title.as_str()), ("feed/4", "A & <b>"));
    assert_eq!(read[0].folders, ["News"]);
    let history = read[0].history.as_ref().unwrap();
    assert_eq!((history.text.trim(), history.gaps.len()), ("complete", answers::GAPS_MAX));
    let tags = answers::read_tags(write_tags(["News"], ["Keep"]).as_bytes()).unwrap();
    assert!(tags.folders.contains("News") && tags.labels.contains("Keep"));
    let mut ids = answers::GatheredIds::default();
    ids.add(write_ids(&[9, 8], Some(8)).as_bytes()).unwrap();
    assert_eq!((ids.ids.len(), ids.continuation.as_deref()), (2, Some("8")));
    let item = ServedItem {
        id: 1_700_000_000_000_001,
        feed,
        title: "<script>x</script> & co".into(),
        link: Some("https://a.example/1".into()),
        text: "<p>t</p>".into(),
        is_starred: true,
        categories: vec!["user/-/state/com.google/read".into(), "topic".into()],
        ..ServedItem::default()
    };
    let atom = write_atom(std::slice::from_ref(&item));
    let read_atom = crate::feed::parse(atom.as_bytes(), &crate::feed::Origin::default());
    let entry = &read_atom.entries[0];
    assert_eq!(entry.id, "tag:google.com,2005:reader/item/00060a24181e4001");
    assert_eq!(entry.content.as_deref(), Some("<p>t</p>"), "{atom}");
    assert!(atom.contains("label=\"fresh\"") && atom.contains("label=\"starred\""), "{atom}");
    let text = write_items(vec![item], None);
    assert!(!text.contains("com.google/read\"") && !text.contains("<script"), "{text}");
    let read = answers::read_items(text.as_bytes(), true).unwrap();
    assert_eq!(read[0].id.number(), Some(1_700_000_000_000_001));
    assert_eq!(read[0].entry.title.as_deref(), Some("<script>x</script> & co"));
    assert_eq!(read[0].entry.categories, ["topic"]);
    assert_eq!(answers::read_quick_add(write_quick_add(Ok(4)).as_bytes()).unwrap(), "feed/4");
    assert!(answers::read_quick_add(write_quick_add(Err("no")).as_bytes()).is_err());
}
