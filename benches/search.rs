//! Searching in a store of 300,000 entries with texts of about 2.5 kB: how long the index takes to build, how large it
//! is, and how long answers take. `cargo bench --bench search`; `BACKISSUE_BENCH_ENTRIES` sets another number.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::default_trait_access,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    reason = "a measurement may panic, print and read the clock"
)]

use std::time::{Duration, Instant};

use backissue::app::subscription::{Commit, FeedState, SubscriptionRecord};
use backissue::feed::{Entry, FeedDocument, Kind};
use backissue::history::FeedKey;
use backissue::io::search::{CatchUp, SearchIndex};
use backissue::io::store::Store;
use backissue::search::{Marks, Matching, parse};
use chrono::{DateTime, Utc};
use chrono_tz::Tz;

const FEEDS: u32 = 1000;
/// Words of the made-up language; the lower the number the more common.
const VOCABULARY: u64 = 200_000;
const WORDS_A_TEXT: u64 = 380;

fn main() {
    let entries = std::env::var("BACKISSUE_BENCH_ENTRIES").ok().and_then(|n| n.parse().ok());
    let entries: u32 = entries.unwrap_or(300_000);
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    let began = Instant::now();
    fill(&mut store, entries);
    println!(
        "{entries} entries in {FEEDS} feeds: stored in {:.1} s",
        began.elapsed().as_secs_f64()
    );
    let index = SearchIndex::open(folder.path()).unwrap();
    let mut behind = CatchUp::new(index.clone(), store.texts()).unwrap();
    let began = Instant::now();
    behind.everything(&mut |_| true).unwrap();
    behind.commit().unwrap();
    println!("indexed in {:.1} s, {} MB resident", began.elapsed().as_secs_f64(), resident_mb());
    behind.finish().unwrap();
    println!(
        "merged after {:.1} s: {} MB on disk",
        began.elapsed().as_secs_f64(),
        index.disk_bytes() / 1_000_000
    );
    let began = Instant::now();
    drop(behind);
    let behind = CatchUp::new(index.clone(), store.texts()).unwrap();
    assert_eq!(behind.state().missing, 0);
    println!("compared with the store in {:.0} ms", began.elapsed().as_secs_f64() * 1000.0);
    drop(behind);
    store.use_index(index);
    println!("at rest: {} MB resident", resident_mb());
    let typing = format!("{} {}", word(40), &word(900)[..3]);
    for (what, query, typing) in [
        ("common word", word(1), false),
        ("two common words", format!("{} {}", word(2), word(3)), false),
        ("word of the middle", word(2_000), false),
        ("rare word", word(150_000), false),
        ("no such word", "zzzzzz".to_owned(), false),
        ("phrase of common words", format!("\"{} {}\"", word(1), word(2)), false),
        ("one letter typed", word(1)[..1].to_owned(), true),
        ("two letters typed", word(1)[..2].to_owned(), true),
        ("three letters typed", word(1)[..3].to_owned(), true),
        ("a word and three letters", typing, true),
        ("common, not another", format!("{} -{}", word(1), word(5)), false),
        ("common, unread, dated", format!("{} is:unread after:2024", word(1)), false),
        ("no words: is:unread", "is:unread".to_owned(), false),
    ] {
        measure(&mut store, what, &query, typing);
    }
    println!("after the queries: {} MB resident", resident_mb());
}

fn measure(store: &mut Store, what: &str, query: &str, typing: bool) {
    let query = parse(query, typing, now(), Tz::UTC).unwrap();
    let matching = Matching {
        feeds: (1..=FEEDS).map(FeedKey).collect(),
        after: query.after.map(|at| at.timestamp()),
        before: query.before.map(|at| at.timestamp()),
        terms: query.terms,
        states: query.states,
        ..Matching::default()
    };
    let marks = Marks::of(&matching.terms);
    let mut taken: Vec<Duration> = Vec::new();
    let mut found = 0;
    for _ in 0..9 {
        let began = Instant::now();
        let hits = store.search(&matching).unwrap();
        for hit in hits.iter().take(20) {
            store.entry(hit.key).unwrap();
            store.snippet(hit.key, &marks, 160);
        }
        found = hits.len();
        taken.push(began.elapsed());
    }
    let first = taken[0];
    taken.sort_unstable();
    println!(
        "{what:<26} {found:>7} found   first {:>6.1} ms   median {:>6.1} ms   worst {:>6.1} ms",
        first.as_secs_f64() * 1000.0,
        taken[4].as_secs_f64() * 1000.0,
        taken[8].as_secs_f64() * 1000.0,
    );
}

fn fill(store: &mut Store, entries: u32) {
    let mut chance = Chance(42);
    for feed in 1..=FEEDS {
        let of_feed = entries / FEEDS;
        let document: Vec<Entry> = (0..of_feed).map(|n| entry(&mut chance, n)).collect();
        let commit = Commit {
            feed: FeedKey(feed),
            state: FeedState::default(),
            record: Some(SubscriptionRecord {
                url: format!("https://site.example/{feed}"),
                ..SubscriptionRecord::default()
            }),
            document: Some(Box::new(FeedDocument {
                kind: Kind::Rss,
                entries: document,
                ..FeedDocument::default()
            })),
            fetched_at: now(),
            history: None,
            renamed: Default::default(),
            complete: false,
            log: None,
        };
        store.commit(&commit).unwrap();
    }
    store.sync().unwrap();
}

fn entry(chance: &mut Chance, number: u32) -> Entry {
    let mut text = String::from("<p>");
    for place in 0..WORDS_A_TEXT {
        text.push_str(&word(chance.zipf()));
        text.push_str(if place % 60 == 59 { "</p><p>" } else { " " });
    }
    let title: Vec<String> = (0..6).map(|_| word(chance.zipf())).collect();
    Entry {
        id: format!("entry-{number}"),
        title: Some(title.join(" ")),
        published: now().checked_sub_signed(chrono::TimeDelta::hours(i64::from(number) * 30)),
        content: Some(text),
        ..Entry::default()
    }
}

/// The word of a rank: short ones are common, and all are letters.
fn word(rank: u64) -> String {
    let mut rest = rank.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let length = 3 + rank.ilog2() as usize / 3;
    let mut word = String::new();
    for _ in 0..length {
        word.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
    }
    word
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_770_000_000, 0).unwrap()
}

/// Numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A rank: the n-th word is about n times rarer than the first.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a rank need not be exact"
    )]
    fn zipf(&mut self) -> u64 {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((VOCABULARY as f64).powf(share) as u64).max(1)
    }
}

/// Memory of this process, where the system tells it.
fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1000
}
