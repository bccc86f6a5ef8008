//! The order "rare first" over the feeds of a publisher with blogs, releases, a monthly essay and a firehose.

use std::collections::BTreeMap;

use backissue::engine::entries::rows::{
    JoinBy, ListQuery, RareTerms, Row, RowKey, RowOrder, RowsWanted, Scope, Show,
};
use backissue::engine::feeds::subscription::SavedSubscription;
use backissue::io::clock;
use backissue::io::store::Store;
use backissue_core::history::FeedKey;
use backissue_core::words::frequency::{Frequency, KnownBy};

use crate::support::binary::Program;

const DAY: i64 = 86_400;

/// Minutes between two entries, from and to, for each name of a frequency.
const MINUTES_BETWEEN: [(&str, i64, i64); 9] = [
    ("about yearly", 172_800, i64::MAX),
    ("a few times a year", 57_600, 288_000),
    ("about monthly", 20_160, 66_240),
    ("about weekly", 5_900, 20_300),
    ("a few times a week", 2_160, 6_050),
    ("about daily", 950, 2_300),
    ("several times a day", 60, 965),
    ("more than hourly", 14, 60),
    ("over 100 a day", 0, 15),
];

/// Titles of feeds, those that rarely publish first; each publishes less than the next ones.
const ORDER: [[&str; 2]; 5] = [
    ["The Monthly Essay", "Releases of weir/mux"],
    ["Sunday Strip", "The Slow Train"],
    ["Orchard Ledger", "日本語ブログ"],
    ["cs.LG updates on preprints.example", "Hacker Cron"],
    ["World Wire", "World Wire"],
];

fn query(show: Show, order: RowOrder, rare: Option<Box<RareTerms>>) -> ListQuery {
    ListQuery {
        scope: Scope::Everything,
        show,
        since: None,
        keep: Default::default(),
        gaps: Vec::new(),
        order,
        join: None,
        apart: Default::default(),
        rare,
    }
}

/// Returns the dates of all entries of each feed, in Unix seconds.
fn dates(store: &mut Store) -> BTreeMap<FeedKey, Vec<i64>> {
    let all = store.ordered(&query(Show::All, RowOrder::NewestFirst, None)).unwrap();
    let keys: Vec<_> = all.into_iter().filter_map(RowKey::entry).collect();
    let mut dates: BTreeMap<FeedKey, Vec<i64>> = BTreeMap::new();
    for entry in store.entries(&keys).unwrap() {
        dates.entry(entry.key.feed).or_default().push(entry.kept.listed().timestamp());
    }
    dates
}

/// Checks the reason of a frequency against the dates of the feed's entries.
fn check_reason(frequency: Frequency, dates: &[i64], now: i64) {
    // The poll was less than a minute ago.
    let since = |seconds: i64| {
        let counted =
            dates.iter().filter(|date| (now - seconds - 60..=now).contains(*date)).count();
        i64::try_from(counted).unwrap()
    };
    let span = now - dates.iter().min().unwrap();
    let between = match frequency.known {
        KnownBy::Counting { entries, seconds } => {
            assert_eq!(since(seconds), i64::from(entries), "{frequency:?}");
            seconds / 60 / i64::from(entries)
        }
        KnownBy::Learning => span.min(84 * DAY) / 60 / since(84 * DAY),
        KnownBy::Nothing => {
            assert!(dates.len() < 8 && span < 56 * DAY, "{}", dates.len());
            return;
        }
        KnownBy::Publisher => return,
    };
    let known = MINUTES_BETWEEN.iter().find(|(words, ..)| *words == frequency.words());
    let (_, from, to) = known.unwrap();
    assert!((*from..=*to).contains(&between), "{} {between}", frequency.reason());
}

#[test]
fn feeds_of_a_list_come_in_order_with_true_reasons() {
    let Ok(folder) = std::env::var("BACKISSUE_FEEDS") else {
        crate::feeds::corpus::tell(
            "BACKISSUE_FEEDS names no folder with a list of feeds: nothing is checked",
        );
        return;
    };
    let program = Program::new();
    program.write("config.toml", "[network]\nspace_loopback = false\nhost_spacing = \"0s\"\n");
    program.run(&["import", &format!("{folder}/subs.opml")]);
    program.run(&["poll", "--all"]);
    let mut store = Store::open(&program.data()).unwrap();
    let saved = store.subscriptions().unwrap();
    let now = clock::now();
    let frequency = |feed: &SavedSubscription| feed.state.facts.frequency(feed.counters.counted);
    let frequencies = saved.iter().map(|feed| (feed.key, frequency(feed))).collect();
    let rare = RareTerms { frequencies, quiet: Default::default() };
    let plain = query(Show::Unread, RowOrder::RareFirst, Some(Box::new(rare)));
    let joining = ListQuery { join: Some(JoinBy::Link), ..plain.clone() };
    let one = |rebuild| RowsWanted { rebuild: Some(rebuild), ..RowsWanted::at(1, 0, 2000) };
    let rows = store.rows_wanted(&one(joining)).unwrap().rows;
    assert!(rows.iter().any(|row| !row.inside.entries.is_empty()));
    assert!(rows.is_sorted_by_key(|row| row.frequency.unwrap().rank()), "with folded rows");
    let rebuild = Some(plain);
    let loaded = store.rows_wanted(&RowsWanted { rebuild, ..RowsWanted::at(1, 0, 2000) }).unwrap();
    let mut rows = loaded.rows;
    let rest = RowsWanted::at(1, rows.len(), loaded.total - rows.len());
    rows.extend(store.rows_wanted(&rest).unwrap().rows);
    assert!(rows.len() > 1900, "{}", rows.len());
    assert!(rows.is_sorted_by_key(|row| row.frequency.unwrap().rank()));

    let dates = dates(&mut store);
    let of_feeds: BTreeMap<FeedKey, Frequency> =
        rows.iter().map(|row| (row.key.feed(), row.frequency.unwrap())).collect();
    for (feed, frequency) in of_feeds {
        check_reason(frequency, &dates[&feed], now.timestamp());
    }
    let place = |title: &str| {
        let feed = saved.iter().find(|feed| feed.record.shown_title() == title).unwrap().key;
        let is_of = |row: &Row| row.key.feed() == feed;
        (rows.iter().position(is_of).unwrap(), rows.iter().rposition(is_of).unwrap())
    };
    for (rarer, others) in ORDER.iter().zip(&ORDER[1..]) {
        for (one, other) in rarer.iter().zip(others) {
            assert!(place(one).1 < place(other).0, "{one} before {other}");
        }
    }
    assert_eq!(place("World Wire").1, rows.len() - 1);
}
