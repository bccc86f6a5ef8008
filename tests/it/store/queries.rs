//! Queries in the store, in filters and in marks, against a plain evaluation without the index.

use std::cell::Cell;
use std::collections::BTreeSet;

use backissue::engine::entries::filter_work::FilterWork;
use backissue::engine::entries::rows::{ListQuery, RowKey, RowOrder, Scope, Show};
use backissue::io::search::{CatchUp, SearchIndex};
use backissue::io::store::Store;
use backissue_core::feed::Entry;
use backissue_core::filters::{Action, EntryFilter};
use backissue_core::history::{EntryKey, FeedKey, Flag};
use backissue_core::search::{EntryTexts, KnownNames, Matching, QueriedFeed, Subject, parse};
use backissue_core::words::frequency::Frequency;
use chrono_tz::Tz;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{FEED, at, entry, open, polled, record};

const OTHER: FeedKey = FeedKey(2);
/// A label that a filter adds.
const LABEL: &str = "later";

/// Pieces of titles, names and texts.
const PIECES: [&str; 14] = [
    "frost",
    "Frost",
    "frosty",
    "late",
    "wax",
    "café",
    "CAFE",
    "don't",
    "東京都",
    "漢字",
    "x-ray",
    "a",
    "2014",
    "(wax)",
];
/// Pieces of queries.
const PARTS: [&str; 64] = [
    "rate:<hourly",
    "rate:>weekly",
    "has:picture",
    "longer:3",
    "shorter:2",
    "is:edited",
    "frost",
    "late",
    "fro*",
    "wax",
    "cafe",
    "\"late frost\"",
    "\"frost late\"",
    "don't",
    "東京",
    "字",
    "a",
    "a*",
    "title:frost",
    "author:lee",
    "text:wax",
    "title:(frost OR wax)",
    "category:frost",
    "category:\"late wax\"",
    "link:site.example/1",
    "link:/\\/[0-3]$/",
    "link:wax",
    "*ros*",
    "title:*af*",
    "*\"t w\"*",
    "*漢*",
    "/fr.st/",
    "/^late/",
    "title:/^$/",
    "text:/wax$/",
    "category:/^w/",
    "author:/a.n/",
    "feed:orchard",
    "feed:2",
    "feed:/^o/",
    "tag:news",
    "tag:news/coast",
    "tag:later",
    "label:later",
    "label:/l/",
    "is:unread",
    "is:read",
    "is:starred",
    "is:hidden",
    "age:<6d",
    "age:>6d",
    "after:2026-01-28",
    "before:2026-01-30",
    "before:3d",
    "OR",
    "OR",
    "OR",
    "AND",
    "NOT",
    "-",
    "(",
    ")",
    "(",
    ")",
];

fn phrase() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..6).prop_map(|words| words.join(" "))
}

fn some_entry() -> impl Strategy<Value = Entry> {
    let words = prop::collection::vec(phrase(), 0..3);
    let authors = prop::option::of(prop::sample::select(vec!["Ann Lee", "Late Frost"]));
    (prop::option::of(phrase()), phrase(), authors, words, 0..12_i64).prop_map(
        |(title, text, author, categories, days)| Entry {
            title: title.filter(|title| !title.is_empty()),
            content: Some(format!("<p>{}</p><i>wax</i>", text.replace(' ', " <b>and</b> "))),
            author: author.map(str::to_owned),
            categories,
            published: Some(at(-days * 86_400 - 1_000)),
            ..entry(0, "")
        },
    )
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    prop::collection::vec(some_entry(), 1..12).prop_map(|entries| {
        let numbered = (0_u32..).zip(entries).map(|(id, one)| {
            let Entry { id, link, .. } = entry(id, "");
            Entry { id, link, ..one }
        });
        numbered.collect()
    })
}

fn query() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PARTS[..]), 1..7).prop_map(|parts| {
        let text = parts.join(" ");
        text.replace("- ", "-")
    })
}

/// The numbers of the marks that entries get, and of those that the filter labels.
type Marked = (Vec<usize>, Vec<usize>, Vec<usize>, Vec<usize>);

fn marks() -> impl Strategy<Value = Marked> {
    let some = || prop::collection::vec(0..24_usize, 0..8);
    (some(), some(), some(), some())
}

/// A store with two feeds whose entries have marks and labels, and an index of it.
fn store_with(
    folder: &tempfile::TempDir,
    feeds: [Vec<Entry>; 2],
    (read, starred, hidden, labelled): Marked,
) -> (Store, Vec<EntryKey>) {
    let mut store = open(folder);
    let mut keys = Vec::new();
    for (feed, entries) in [FEED, OTHER].into_iter().zip(feeds) {
        let count = u32::try_from(entries.len()).unwrap();
        store.commit(&polled(feed, 1, entries)).unwrap();
        keys.extend((0..count).map(|seq| EntryKey { feed, seq }));
    }
    let named = |places: &[usize]| -> Vec<EntryKey> {
        let places: BTreeSet<usize> = places.iter().map(|place| place % keys.len()).collect();
        places.into_iter().map(|place| keys[place]).collect()
    };
    for (places, flag) in [(read, Flag::Read), (starred, Flag::Starred), (hidden, Flag::Hidden)] {
        store.mark(&named(&places), flag, true).unwrap();
    }
    let action = Action::Label(LABEL.into());
    let filter = EntryFilter { id: 1, action: action.clone(), ..EntryFilter::default() };
    // Its query matches nothing more: entries arrived before it.
    store.save_filters(&[EntryFilter { query: "nothing".into(), ..filter }]).unwrap();
    let hits = named(&labelled);
    store.filter_entries(&FilterWork::Apply { filter: 1, action, hits }, None, None).unwrap();
    let index = SearchIndex::open(store.folder()).unwrap();
    let mut behind = CatchUp::new(index.clone(), store.texts());
    assert!(behind.everything(&mut |_| true).unwrap());
    behind.commit().unwrap();
    store.use_index(index);
    (store, keys)
}

/// Returns how often a feed publishes. Nothing but its entries shows it.
fn frequency(store: &Store, feed: FeedKey) -> Frequency {
    let sums = store.sums().unwrap();
    sums.iter().find(|(key, ..)| *key == feed).unwrap().2.counted
}

/// Evaluates a query for each entry by itself. `sees_hidden`: hidden entries count although the query does not ask for them.
fn plainly(
    store: &mut Store,
    keys: &[EntryKey],
    text: &str,
    sees_hidden: bool,
) -> BTreeSet<EntryKey> {
    let query = parse(text, false, Tz::UTC).unwrap();
    let mut found = BTreeSet::new();
    for &key in keys {
        let (kept, flags) = store.entry(key).unwrap().unwrap();
        let body = store.body(key).unwrap();
        let labels: Vec<String> =
            store.filters_that_hit(key).iter().map(|_| LABEL.to_owned()).collect();
        let of_feed = record(key.feed);
        let texts = EntryTexts::new(&kept, body.as_ref());
        let subject = Subject {
            feed: of_feed.queried(key.feed, frequency(store, key.feed)),
            flags,
            listed: kept.listed().timestamp(),
            labels: &labels,
            texts: &texts,
            now: at(0),
        };
        let is_seen = sees_hidden || !flags.is_hidden() || query.finds_hidden();
        if is_seen && query.condition.holds(&subject) {
            found.insert(key);
        }
    }
    found
}

fn listed(store: &mut Store, matching: &Matching, order: RowOrder) -> BTreeSet<EntryKey> {
    let query = ListQuery {
        scope: Scope::Found(Box::new(matching.clone())),
        show: Show::All,
        since: None,
        keep: BTreeSet::new(),
        gaps: Vec::new(),
        order,
        join: None,
        apart: BTreeSet::new(),
        rare: None,
    };
    store.ordered(&query).unwrap().into_iter().filter_map(RowKey::entry).collect()
}

#[test]
fn a_query_finds_the_same_entries_everywhere() {
    let stores = (entries(), entries(), marks(), prop::collection::vec(query(), 60));
    let (asked, hits) = (Cell::new(0_usize), Cell::new(0_usize));
    let mut runner =
        TestRunner::new(Config { cases: 40, failure_persistence: None, ..Config::default() });
    let run = runner.run(&stores, |(one, other, marked, queries)| {
        let folder = tempfile::tempdir().unwrap();
        let (mut store, keys) = store_with(&folder, [one, other], marked);
        let records = [record(FEED), record(OTHER)];
        let feeds: Vec<QueriedFeed<'_>> = [FEED, OTHER]
            .into_iter()
            .zip(&records)
            .map(|(key, one)| one.queried(key, frequency(&store, key)))
            .collect();
        let labels = [LABEL.to_owned()];
        for text in queries {
            let Ok(query) = parse(&text, false, Tz::UTC) else { continue };
            let names = KnownNames { feeds: &feeds, labels: &labels };
            let Ok(matching) = Matching::new(query, names, at(0)) else { continue };
            let expected = plainly(&mut store, &keys, &text, false);
            let found: BTreeSet<EntryKey> =
                store.search(&matching).unwrap().into_iter().map(|hit| hit.key).collect();
            prop_assert_eq!(&found, &expected, "search {}", text);
            for order in [RowOrder::BestFirst, RowOrder::NewestFirst] {
                prop_assert_eq!(&listed(&mut store, &matching, order), &expected, "list {}", text);
            }
            let plan = store.find_to_mark(&matching, (Flag::Opened, true, false)).unwrap();
            prop_assert_eq!(plan.fitting, expected.len(), "mark {}", text);
            // A filter looks at hidden entries too.
            let filter = EntryFilter { id: 2, query: text.clone(), ..EntryFilter::default() };
            let hit = store.texts().hits(&filter, at(0), &|| true).unwrap().keys;
            let hit: BTreeSet<EntryKey> = hit.into_iter().collect();
            prop_assert_eq!(&hit, &plainly(&mut store, &keys, &text, true), "filter {}", text);
            asked.set(asked.get() + 1);
            hits.set(hits.get() + usize::from(!expected.is_empty()));
        }
        Ok(())
    });
    run.unwrap();
    let (asked, hits) = (asked.get(), hits.get());
    assert!(asked > 600 && hits > 150, "{asked} queries, {hits} of them found entries");
}
