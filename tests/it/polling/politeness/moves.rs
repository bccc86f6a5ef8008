//! Feeds that move: which address is stored after which chain of redirects (SPEC D.3), and what the user is asked.

use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::feeds::trouble::{self, Remedy};
use backissue::engine::request::{Request, TroubleAnswer};
use backissue_core::filters::{Action, EntryFilter, FilterScope};
use backissue_core::history::{Counters, EntryKey, FeedKey};
use chrono::TimeDelta;

use crate::support::world::{Scripted, World, rss};

const A: &str = "https://a.example/feed";
const B: &str = "https://b.example/feed";
const C: &str = "https://c.example/feed";
const FEED: FeedKey = FeedKey(1);

fn orchard() -> String {
    rss("Orchard", &[("o2", "Wax", 1, ""), ("o1", "Ladders", 2, "")])
}

fn elsewhere() -> String {
    rss("Elsewhere", &[("x1", "Other", 1, "")])
}

/// Returns a world subscribed to feed `A`.
fn world() -> World {
    World::subscribed(120, 36, &[(A, &orchard(), &["garden"])])
}

fn remedies(world: &World) -> Vec<Remedy> {
    trouble::concerns(&world.app.engine, world.now).iter().map(|concern| concern.remedy).collect()
}

/// Opens the list of feeds that need attention.
fn attend(world: &mut World) {
    world.press("<esc><esc>gjjjj<enter>");
    assert!(backissue::ui::panes::attention::is_open(&world.app));
}

const NO_MOVE: &str = "'Orchard' has no proposed address to accept or refuse; to read it from another address, name that address";

#[test]
fn stored_address_follows_leading_permanent_redirects() {
    for (chain, end, stored) in [
        (&[(A, 301, B)][..], Some(B), B),
        (&[(A, 308, B)], Some(B), B),
        (&[(A, 302, B)], Some(B), A),
        (&[(A, 303, B)], Some(B), A),
        (&[(A, 307, B)], Some(B), A),
        (&[(A, 301, B), (B, 302, C)], Some(C), B),
        (&[(A, 302, B), (B, 301, C)], Some(C), A),
        (&[(A, 308, B), (B, 301, C)], Some(C), C),
        (&[(A, 301, B)], None, A),
    ] {
        let mut world = world();
        for (from, status, to) in chain {
            world.lead(from, *status, to);
        }
        match end {
            Some(end) => world.serve(end, &orchard()),
            None => world.refuse(B, 404, Default::default()),
        }
        world.poll(FEED);
        assert_eq!(world.feed(1).record.url, stored, "{chain:?}");
        assert_eq!(
            world.reload().engine.feeds[&FEED].record.url,
            stored,
            "{chain:?}, after a restart"
        );
        assert_eq!(world.feed(1).is_failing(), end.is_none(), "{chain:?}");
    }
}

#[test]
fn redirects_to_new_sessions_move_a_feed_twice_at_most() {
    for (first, session) in [
        ("https://a.example/feed", "https://a.example/feed?sid="),
        ("https://a.example/f.jsp?x=1", "https://a.example/f.jsp;jsessionid=A?x="),
        ("https://a.example/f.aspx", "https://a.example/(S(q))/f.aspx?n="),
    ] {
        let mut world = World::subscribed(120, 36, &[(first, &orchard(), &[])]);
        for n in 1..=5 {
            let (from, to) = (world.feed(1).record.url.clone(), format!("{session}{n}"));
            world.lead(&from, 301, &to);
            world.serve(&to, &orchard());
            world.poll(FEED);
            assert!(!world.feed(1).is_failing());
        }
        let record = &world.feed(1).record;
        assert_eq!((record.url.as_str(), record.former.len()), (&*format!("{session}2"), 2));
        let concerns = trouble::concerns(&world.app.engine, world.now);
        assert!(concerns[0].sentence.contains("another session"), "{concerns:?}");
        // A later move to another path is an ordinary one.
        let from = world.feed(1).record.url.clone();
        world.lead(&from, 301, B);
        world.serve(B, &orchard());
        world.poll(FEED);
        assert_eq!(world.feed(1).record.url, B);
    }
}

#[test]
fn page_or_broken_document_does_not_move_a_feed() {
    // A permanent redirect to a document that is not a feed must not change the stored address (SPEC G.27).
    for body in ["<html><title>Parked</title></html>", "<rss><channel><item>", "{}"] {
        let mut world = world();
        world.lead(A, 301, B);
        world.serve(B, body);
        world.poll(FEED);
        assert_eq!(world.feed(1).record.url, A, "{body}");
        assert!(world.feed(1).is_failing(), "{body}");
    }
}

#[test]
fn a_304_moves_a_feed_if_its_validators_were_from_a_200() {
    let mut world = world();
    let etag = Some("\"b\"");
    world
        .network
        .insert(B.into(), Scripted { status: 200, etag, body: orchard(), ..Scripted::default() });
    world.lead(A, 302, B);
    world.poll(FEED);
    world.lead(A, 301, B);
    world.poll(FEED);
    assert_eq!(world.feed(1).state.status, Some(304));
    assert_eq!(world.feed(1).record.url, B);
}

#[test]
fn move_keeps_entries_marks_and_tags_and_its_origin() {
    let mut world = world();
    world.press("<enter>s<enter>");
    world.press("<esc>");
    let before = world.feed(1).counters;
    assert_eq!((before.starred, before.unread), (1, 1));
    world.lead(A, 301, B);
    world.serve(B, &orchard());
    world.poll(FEED);
    let feed = world.feed(1);
    assert_eq!((feed.counters, &feed.record.tags[..]), (before, &["garden".to_owned()][..]));
    assert_eq!(feed.record.former[0].url, A);
    assert_eq!(feed.state.validators.url, B);
}

#[test]
fn another_host_without_shared_entries_asks_first() {
    let mut world = world();
    world.lead(A, 301, B);
    world.serve(B, &elsewhere());
    world.poll(FEED);
    assert_eq!(world.feed(1).record.url, A);
    assert_eq!(remedies(&world), [Remedy::AcceptMove]);
    attend(&mut world);
    world.press("<enter>");
    assert_eq!(world.feed(1).record.url, B);
    world.press("u");
    assert_eq!(world.feed(1).record.url, A);
    assert_eq!(remedies(&world), [Remedy::AcceptMove], "the question is open again");
    world.press("N");
    assert_eq!(remedies(&world), [Remedy::Retry]);
    world.poll(FEED);
    assert_eq!(world.feed(1).record.url, A, "the reader refused");
    assert_eq!(remedies(&world), [Remedy::Retry], "nothing of the feed can be read");
}

#[test]
fn only_a_shared_entry_proves_a_move() {
    let mut world = world();
    world.lead(A, 301, "https://a.example/new");
    world.serve("https://a.example/new", &elsewhere());
    world.poll(FEED);
    assert_eq!(world.feed(1).record.url, A, "the host alone proves nothing");
    assert_eq!((remedies(&world), world.feed(1).is_failing()), (vec![Remedy::AcceptMove], true));
    let atom = |id: &str, entry: &str| {
        format!(
            "<feed xmlns='http://www.w3.org/2005/Atom'><id>{id}</id><title>T</title>\
             <updated>2026-03-01T00:00:00Z</updated><entry><id>{entry}</id><title>{entry}</title>\
             <updated>2026-03-01T00:00:00Z</updated></entry></feed>"
        )
    };
    for (id, entry, stored, is_read) in [
        ("urn:t", "e1", B, true),
        ("urn:t", "e2", A, true),
        ("urn:other", "e1", A, true),
        ("urn:other", "e2", A, false),
    ] {
        let mut world = World::subscribed(90, 24, &[(A, &atom("urn:t", "e1"), &[])]);
        world.lead(A, 301, B);
        world.serve(B, &atom(id, entry));
        world.poll(FEED);
        let (feed, asked) = (world.feed(1), remedies(&world).contains(&Remedy::AcceptMove));
        let found = (feed.record.url.as_str(), !feed.is_failing(), asked);
        assert_eq!(found, (stored, is_read, stored == A), "{id} {entry}");
    }
}

#[test]
fn document_without_entries_proves_no_move() {
    let mut world = world();
    world.lead(A, 301, "https://a.example/new");
    world.serve("https://a.example/new", &rss("Empty", &[]));
    world.poll(FEED);
    assert_eq!(world.feed(1).record.url, A);
    assert!(world.feed(1).is_failing(), "nothing of the feed was read");
    assert_eq!(remedies(&world), [Remedy::AcceptMove], "the reader is asked");
}

#[test]
fn a_410_at_the_end_of_a_redirect_does_not_end_a_feed() {
    for status in [301, 302] {
        let mut world = world();
        world.lead(A, status, B);
        world.refuse(B, 410, Default::default());
        world.poll(FEED);
        assert!(!world.feed(1).is_gone() && world.feed(1).is_failing(), "{status}");
        world.refuse(A, 410, Default::default());
        world.poll(FEED);
        assert!(world.feed(1).is_gone(), "{status}: from its own address it is believed");
    }
}

#[test]
fn answer_without_an_open_question_is_refused() {
    let mut world = world();
    for (answer, why) in [
        (TroubleAnswer::AcceptMove, NO_MOVE),
        (TroubleAnswer::DeclineMove, NO_MOVE),
        (TroubleAnswer::UndoMove, "'Orchard' has not moved"),
        (TroubleAnswer::Resume, "'Orchard' has not ended: it is polled as planned"),
    ] {
        world.tell(Request::Trouble(FEED, answer));
        assert_eq!(world.notice(), why);
    }
    world.refuse(A, 410, Default::default());
    world.poll(FEED);
    assert!(world.feed(1).is_gone());
    world.serve(A, &orchard());
    world.pass(TimeDelta::minutes(6));
    world.tell(Request::Trouble(FEED, TroubleAnswer::Resume));
    world.pass(TimeDelta::seconds(2));
    assert!(!world.feed(1).is_gone() && !world.feed(1).is_failing());
    world.tell(Request::Unsubscribe(FEED));
    assert!(world.app.engine.feeds.is_empty());
    world.tell(Request::Unsubscribe(FEED));
    assert_eq!(world.notice(), "that subscription no longer exists");
}

#[test]
fn move_is_reported_undone_and_not_repeated() {
    let mut world = world();
    world.lead(A, 301, B);
    world.serve(B, &orchard());
    world.poll(FEED);
    assert!(world.notice().contains("moved to https://b.example/feed"), "{}", world.notice());
    assert_eq!(remedies(&world), [Remedy::UndoMove]);
    attend(&mut world);
    world.press("<enter>");
    assert_eq!(world.feed(1).record.url, A);
    world.poll(FEED);
    assert_eq!((world.feed(1).record.url.as_str(), world.feed(1).is_failing()), (A, false));
    assert_eq!(remedies(&world), []);
}

#[test]
fn move_to_a_subscribed_feed_merges_the_marks() {
    let both =
        [(A, orchard()), (B, rss("Orchard", &[("o3", "Frost", 0, ""), ("o2", "Wax", 1, "")]))];
    let feeds: Vec<(&str, &str, &[&str])> =
        vec![(both[0].0, &both[0].1, &["garden"][..]), (both[1].0, &both[1].1, &["news"][..])];
    let mut world = World::subscribed(120, 36, &feeds);
    // Star "Wax" in the first feed, and read "Ladders".
    world.press("jjjjjj<enter>s");
    assert_eq!(world.titles(), ["Wax", "Ladders"]);
    world.press("j<enter><esc><esc>");
    let filter = |action, query: &str, feed| {
        let (scope, query) = (FilterScope::Feed(FeedKey(feed)), query.to_owned());
        Request::SaveFilter(Box::new(EntryFilter { action, scope, query, ..Default::default() }))
    };
    world.tell(filter(Action::Label("mine".into()), "wax", 1));
    world.tell(filter(Action::Hide, "frost", 2));
    world.rest();
    world.lead(A, 301, B);
    world.poll(FEED);
    assert_eq!((remedies(&world), world.app.engine.feeds.len()), (vec![Remedy::Merge], 2));
    world.pass(TimeDelta::minutes(3));
    let before = marks_of(&mut world);
    attend(&mut world);
    world.press("<enter>");
    assert_eq!(world.app.engine.feeds.keys().map(|key| key.0).collect::<Vec<_>>(), [2]);
    let kept = world.feed(2);
    assert_eq!((kept.counters.total, kept.counters.starred, kept.counters.unread), (3, 1, 1));
    assert_eq!(kept.record.tags, ["news", "garden"]);
    let merged = marks_of(&mut world);
    for filter in &merged.2 {
        assert_eq!(filter.scope, FilterScope::Feed(FeedKey(2)), "{filter:?}");
    }
    for _ in 0..2 {
        world.press("u");
        assert_eq!(marks_of(&mut world), before, "both feeds are as before");
        world.press("<c-y>");
        assert_eq!(marks_of(&mut world), merged);
    }
    world.press("u");
    attend(&mut world);
    world.press("<enter>");
    assert_eq!(marks_of(&mut world), merged, "a second merge is like the first one");
    world.press("u");
    world.app = world.reload();
    assert_eq!(marks_of(&mut world), before);
}

/// The entries of all feeds with their marks and filters, the tags of the feeds, and the filters.
#[expect(clippy::type_complexity, reason = "it is only compared")]
fn marks_of(
    world: &mut World,
) -> (Vec<(EntryKey, String, Vec<u32>)>, Vec<(Counters, Vec<String>)>, Vec<EntryFilter>) {
    let feeds = world.app.engine.feeds.values();
    let feeds = feeds.map(|feed| (feed.key, feed.counters, feed.record.tags.clone()));
    let feeds: Vec<_> = feeds.collect();
    let all = feeds.iter().flat_map(|(feed, counters, _)| {
        (0..counters.next_seq).map(|seq| EntryKey { feed: *feed, seq })
    });
    let entries = world.store.entries(&all.collect::<Vec<_>>()).unwrap();
    let shown = entries.into_iter().filter(|entry| entry.flags.is_live());
    let shown = shown.map(|it| (it.key, format!("{:?}", it.flags), it.ruled));
    let same = |counters: Counters| Counters { next_seq: 0, ..counters };
    let feeds = feeds.into_iter().map(|(_, counters, tags)| (same(counters), tags)).collect();
    (shown.collect(), feeds, world.app.engine.filters.list.clone())
}

/// Returns an Atom feed with this id, these extra head elements (`marks`), and these entries.
fn atom(id: &str, marks: &str, entries: &[&str]) -> String {
    let entry = |id: &&str| {
        format!(
            "<entry><id>{id}</id><title>{id}</title><updated>2026-03-01T00:00:00Z</updated></entry>"
        )
    };
    let entries: String = entries.iter().map(entry).collect();
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0' \
         xmlns:at='http://purl.org/atompub/tombstones/1.0' xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'>\
         <id>{id}</id><title>T</title><updated>2026-03-01T00:00:00Z</updated>{marks}{entries}</feed>"
    )
}

#[test]
fn unaccepted_redirect_target_changes_nothing() {
    let archive = "https://b.example/1.atom";
    let prev = format!("<link rel='prev-archive' href='{archive}'/>");
    let current = format!("<fh:archive/><link rel='current' href='{C}'/>");
    let marks = [
        "<fh:complete/>",
        prev.as_str(),
        current.as_str(),
        "<at:deleted-entry ref='e1' when='2026-03-02T00:00:00Z'/>",
        "<sy:updatePeriod>yearly</sy:updatePeriod>",
    ];
    let redirects = [301, 308, 302, 303, 307];
    for (marks, status) in marks.into_iter().flat_map(|marks| redirects.map(|by| (marks, by))) {
        let mut world = World::subscribed(120, 36, &[(A, &atom("urn:a", "", &["e1", "e2"]), &[])]);
        let (hints, validators) =
            (world.feed(1).state.facts.hints.clone(), world.feed(1).state.validators.clone());
        world.lead(A, status, B);
        world.serve(B, &atom("urn:b", marks, &["x1"]));
        world.serve(archive, &atom("urn:b", "<fh:archive/>", &["x0"]));
        world.serve(C, &atom("urn:b", "", &["x2"]));
        for refused in [false, true] {
            if refused {
                world.pass(TimeDelta::minutes(6));
                world.tell(Request::Trouble(FEED, TroubleAnswer::DeclineMove));
            }
            world.poll(FEED);
            world.pass(TimeDelta::seconds(2));
            world.rest();
            let feed = world.feed(1);
            assert_eq!((feed.counters.total, feed.record.url.as_str()), (2, A), "{marks}");
            assert_eq!(feed.history.status().text(), "this feed offers no older entries");
            assert_eq!(feed.state.facts.hints, hints, "{marks}");
            assert_eq!(feed.state.validators, validators, "{marks}");
            let why = feed.state.trouble.as_deref().unwrap();
            assert!(why.contains("nothing there proves that it is the same feed"), "{why}");
            assert!(!world.asked().iter().any(|asked| *asked == archive || *asked == C), "{marks}");
            let asked = if refused { Remedy::Retry } else { Remedy::AcceptMove };
            assert_eq!(remedies(&world), [asked], "{marks}");
        }
    }
}

#[test]
fn accepted_move_is_polled_at_once_and_counts_withdrawals() {
    let mut world = World::subscribed(120, 36, &[(A, &atom("urn:a", "", &["e1", "e2"]), &[])]);
    world.lead(A, 301, B);
    world.serve(B, &atom("urn:b", "<fh:complete/>", &["x1"]));
    world.poll(FEED);
    world.pass(TimeDelta::minutes(6));
    world.tell(Request::Trouble(FEED, TroubleAnswer::AcceptMove));
    world.pass(TimeDelta::seconds(2));
    world.rest();
    let feed = world.feed(1);
    assert_eq!((feed.counters.total, feed.record.url.as_str()), (1, B));
    assert!(!feed.is_failing());
    let last = world.app.engine.poll_run.results.back().unwrap();
    assert_eq!((last.new, last.edited, last.withdrawn), (1, 0, 2));
}

#[test]
fn never_read_feed_is_read_at_its_redirect_target() {
    let mut world = World::new(120, 36);
    let wanted = Subscribe { address: A.into(), unasked: true, ..Subscribe::default() };
    world.tell(Request::Subscribe(Box::new(wanted)));
    world.lead(A, 301, B);
    world.serve(B, &orchard());
    world.poll(FEED);
    assert_eq!(world.feed(1).counters.total, 2);
    assert_eq!(remedies(&world), [Remedy::AcceptMove]);
    world.poll(FEED);
    assert_eq!(world.feed(1).record.url, B, "it is the same as what was read");
}

#[test]
fn known_redirect_target_is_trusted_and_another_is_not() {
    let mut world = world();
    world.lead(A, 302, B);
    world.serve(B, &orchard());
    world.poll(FEED);
    world.serve(B, &elsewhere());
    world.poll(FEED);
    assert!(!world.feed(1).is_failing(), "all entries of the same place are new");
    world.lead(A, 302, C);
    world.serve(C, &rss("Third", &[("y1", "Y", 1, "")]));
    world.poll(FEED);
    let trouble = world.feed(1).state.trouble.clone().unwrap();
    assert!(trouble.contains("redirected to https://c.example/feed, but nothing"), "{trouble}");
    let told = trouble::concerns(&world.app.engine, world.now).remove(0).sentence;
    assert!(told.starts_with("Its server redirects to https://c.example/feed, but"), "{told}");
    world.serve(A, &rss("Orchard", &[]));
    world.poll(FEED);
    assert!(!world.feed(1).is_failing(), "an empty feed at its own address is a feed");
}

#[test]
fn redirected_feed_is_complete_only_once_proven() {
    for status in [301, 302] {
        let mut world = World::new(120, 36);
        let address = A.into();
        let wanted = Subscribe { address, unasked: true, ..Subscribe::default() };
        world.tell(Request::Subscribe(Box::new(wanted)));
        world.lead(A, status, B);
        world.serve(B, &atom("urn:b", "<fh:complete/>", &["e1", "e2"]));
        world.poll(FEED);
        assert_eq!(world.feed(1).counters.total, 2);
        let said = world.feed(1).history.status().text();
        assert_eq!(said, "may be incomplete: read through an unverified redirect", "{status}");
        world.serve(B, &atom("urn:b", "<fh:complete/>", &["e2", "e3"]));
        world.poll(FEED);
        assert_eq!(world.feed(1).history.status().text(), "complete history", "{status}");
        assert_eq!(world.feed(1).counters.total, 2, "entries missing from it are withdrawn");
    }
}
