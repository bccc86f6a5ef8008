//! Benchmarks of searching a store of 300,000 entries with texts of about 2.5 kB: the time to build the index, its size, and the
//! time to answer queries. `cargo bench --bench search`; `BACKISSUE_BENCH_ENTRIES` sets another number of entries.

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

use backissue::io::search::{CatchUp, SearchIndex};
use backissue::io::store::Store;
use backissue_core::history::FeedKey;
use backissue_core::search::{KnownNames, Marks, Matching, QueriedFeed, Query, parse};
use backissue_core::words::frequency::Frequency;
use chrono_tz::Tz;
use filled::{FEEDS, entries_wanted, fill, now, resident_mb, word};

mod filled;

/// Maximum number of texts that are read after each key, as in the reader.
const TYPED_TEXTS_MAX: usize = 40;

fn main() {
    let entries = entries_wanted();
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    let began = Instant::now();
    fill(&mut store, entries);
    println!(
        "{entries} entries in {FEEDS} feeds: stored in {:.1} s",
        began.elapsed().as_secs_f64()
    );
    let index = SearchIndex::open(folder.path()).unwrap();
    let mut behind = CatchUp::new(index.clone(), store.texts());
    let began = Instant::now();
    behind.everything(&mut |_| true).unwrap();
    behind.commit().unwrap();
    println!("indexed in {:.1} s, {} MB resident", began.elapsed().as_secs_f64(), resident_mb());
    println!(
        "merged after {:.1} s: {} MB on disk",
        began.elapsed().as_secs_f64(),
        index.disk_bytes() / 1_000_000
    );
    let began = Instant::now();
    drop(behind);
    let behind = CatchUp::new(index.clone(), store.texts());
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
        ("one word or another", format!("{} OR {}", word(40), word(900)), false),
        ("common, or another", format!("{} OR {}", word(1), word(2)), false),
        ("not one, but another", format!("-{} {}", word(1), word(40)), false),
        ("not a common word", format!("-{}", word(5)), false),
        ("expression in a feed", format!("/{}.{}/ feed:\"feed 7.\"", word(40), word(1)), false),
        ("category, three days", "category:pruning age:<3d".to_owned(), false),
        ("link in a feed", "link:/1$/ feed:\"feed 8.\"".to_owned(), false),
    ] {
        measure(&mut store, what, &query, typing);
    }
    type_queries(
        &mut store,
        &[
            format!("{} OR {}", word(40), word(900)),
            format!("-{} {}", word(1), word(40)),
            format!("/{}.{}/ feed:\"feed 7.\"", word(40), word(1)),
            "category:pruning age:<3d".to_owned(),
            format!("title:({} OR {}) is:unread", word(3), word(70)),
        ],
    );
    println!("after the queries: {} MB resident", resident_mb());
}

/// Types queries key by key, and prints how long the answers took.
fn type_queries(store: &mut Store, queries: &[String]) {
    let mut taken: Vec<(Duration, String)> = Vec::new();
    for query in queries {
        for end in 1..=query.len() {
            let typed = &query[..end];
            let Ok(query) = parse(typed, true, Tz::UTC) else { continue };
            let Some(mut matching) = matching(query) else { continue };
            matching.texts_max = matching.reads_texts().then_some(TYPED_TEXTS_MAX);
            let began = Instant::now();
            for hit in store.search(&matching).unwrap().iter().take(40) {
                store.entry(hit.key).unwrap();
            }
            taken.push((began.elapsed(), typed.to_owned()));
        }
    }
    taken.sort();
    let at = |share: usize| taken[(taken.len() * share / 100).min(taken.len() - 1)].0;
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    println!(
        "{} keys typed: median {:.1} ms, 90 % under {:.1} ms, 99 % under {:.1} ms",
        taken.len(),
        milliseconds(at(50)),
        milliseconds(at(90)),
        milliseconds(at(99)),
    );
    for (time, typed) in taken.iter().rev().take(5) {
        println!("  {:>6.1} ms  {typed}", milliseconds(*time));
    }
}

fn matching(query: Query) -> Option<Matching> {
    let names: Vec<String> = (1..=FEEDS).map(|key| format!("feed {key}.")).collect();
    let names = (1..=FEEDS).zip(&names).map(|(key, title)| QueriedFeed {
        key: FeedKey(key),
        title,
        address: "",
        tags: &[],
        frequency: Frequency::default(),
    });
    let names: Vec<QueriedFeed<'_>> = names.collect();
    Matching::new(query, KnownNames { feeds: &names, labels: &[] }, now()).ok()
}

fn measure(store: &mut Store, what: &str, query: &str, typing: bool) {
    let matching = matching(parse(query, typing, Tz::UTC).unwrap()).unwrap();
    let marks = Marks::for_condition(&matching.condition);
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
