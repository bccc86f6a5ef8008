//! A poll without changes writes only its times and a line of the poll log, not the feed's whole state.

use backissue::engine::poll::fetch::Validators;
use backissue_core::schedule::{CacheState, Lifetime};

use super::*;

/// Returns the state of a feed after `polls` polls, the last of them at this second after the start.
fn state(polls: u32, second: i64) -> FeedState {
    let mut state = FeedState {
        polls,
        status: Some(304),
        validators: Validators {
            url: format!("https://site.example/{}.xml", "a-long-path/".repeat(20)),
            etag: Some(b"\"an entity tag\"".to_vec()),
            last_modified: Some(b"Mon, 02 Mar 2026 09:00:00 GMT".to_vec()),
        },
        ..FeedState::default()
    };
    state.facts.last_try = Some(at(second));
    state.facts.last_ok = Some(at(second));
    state.facts.cache = Some(CacheState {
        received_at: at(second),
        lifetime: Lifetime::MaxAge(60),
        date: Some(at(second)),
        age_seconds: 0,
    });
    state
}

fn unchanged(feed: FeedKey, polls: u32, second: i64) -> Commit {
    let log = polled(feed, second, vec![]).log.map(|line| PollLogEntry {
        status: Some(304),
        wire_bytes: 0,
        settled_by: Some(backissue_core::schedule::SettledBy::Default),
        ..line
    });
    let state = Box::new(state(polls, second));
    Commit { record: None, document: None, log, state, ..polled(feed, second, vec![]) }
}

fn kept(store: &Store) -> FeedState {
    *store.subscriptions().unwrap().remove(0).state
}

#[test]
fn state_round_trips_after_full_and_partial_writes() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, vec![entry(1, "text")]);
    let mut polls = 1;
    for (second, status) in [(10, 304), (20, 304), (30, 200), (40, 304), (50, 500), (60, 304)] {
        polls += 1;
        store.save_try(FEED, at(second - 1)).unwrap();
        let tried = kept(&store);
        assert_eq!(tried.facts.last_try, Some(at(second - 1)), "before {second}");
        assert_eq!(tried.polls, polls - 1, "before {second}");
        let mut commit = unchanged(FEED, polls, second);
        commit.state.status = Some(status);
        store.commit(&commit).unwrap();
        assert_eq!(kept(&store), *commit.state, "at {second}");
    }
    store.sync().unwrap();
    drop(store);
    let mut expected = state(polls, 60);
    let mut store = open(&folder);
    assert_eq!(kept(&store), expected);
    // An attempt that was stored and then reverted stays reverted after reopening.
    store.save_try(FEED, at(70)).unwrap();
    store.save_state(FEED, &expected).unwrap();
    assert_eq!(kept(&store), expected);
    expected.trouble = Some("it timed out".into());
    store.save_state(FEED, &expected).unwrap();
    assert_eq!(kept(&store), expected);
    store
        .commit(&Commit { state: Box::new(expected.clone()), ..unchanged(FEED, polls, 60) })
        .unwrap();
    assert_eq!(kept(&store), expected);
}

/// Returns the number of bytes that this process wrote to files, as counted by the system; `None` if the system does not count
/// them.
fn written() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("wchar: "))?.parse().ok()
}

/// Environment variable that is set only in the process that measures.
const MEASURING: &str = "BACKISSUE_TEST_MEASURES";
const TOLD: &str = "bytes a feed and round: ";

#[test]
fn rounds_of_unchanged_feeds_write_less_than_a_kilobyte_a_feed() {
    if std::env::var_os(MEASURING).is_some() {
        measure();
        return;
    }
    // The bytes are counted per process, so the rounds run in a process without other tests.
    let this = "store::unchanged::rounds_of_unchanged_feeds_write_less_than_a_kilobyte_a_feed";
    let mut own = std::process::Command::new(std::env::current_exe().unwrap());
    let ran = own.args(["--exact", this, "--nocapture"]).env(MEASURING, "1").output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}{}", String::from_utf8_lossy(&ran.stderr));
    let Some(each) = told.lines().find_map(|line| line.strip_prefix(TOLD)) else {
        assert!(told.contains("skipped"), "{told}");
        return;
    };
    let each: u64 = each.parse().unwrap();
    assert!((50..1000).contains(&each), "{each} B a feed and round");
}

/// Polls five hundred feeds in four rounds, all answered with 304, and syncs the writes in groups as the store thread does.
#[expect(clippy::print_stdout, reason = "this process reports to the one that started it")]
fn measure() {
    const FEEDS: u32 = 500;
    const ROUNDS: u32 = 4;
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    for feed in (1..=FEEDS).map(FeedKey) {
        let entries = (0..4).map(|id| entry(id, "text")).collect();
        store.commit(&Commit { state: Box::new(state(1, 1)), ..polled(feed, 1, entries) }).unwrap();
    }
    store.sync().unwrap();
    let Some(before) = written() else {
        println!("skipped: this system does not say how much was written");
        return;
    };
    for polls in 2..2 + ROUNDS {
        let second = i64::from(polls) * 3600;
        for feed in (1..=FEEDS).map(FeedKey) {
            store.save_try(feed, at(second)).unwrap();
            store.commit(&unchanged(feed, polls, second)).unwrap();
            if feed.0.is_multiple_of(64) {
                store.sync().unwrap();
            }
        }
    }
    store.sync().unwrap();
    println!("\n{TOLD}{}", (written().unwrap() - before) / u64::from(FEEDS * ROUNDS));
}
