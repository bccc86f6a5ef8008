//! A store filled with generated entries, which are the same in every run and have word frequencies as in a natural language.

use backissue::engine::feeds::subscription::{Commit, SubscriptionRecord};
use backissue::io::store::Store;
use backissue_core::feed::{Entry, FeedDocument, Kind};
use backissue_core::history::FeedKey;
use chrono::{DateTime, Utc};

/// Number of subscriptions.
pub(crate) const FEEDS: u32 = 1000;
/// Number of different words; words with lower numbers are more common.
const VOCABULARY: u64 = 200_000;
const WORDS_A_TEXT: u64 = 380;

/// Fills the store with this number of entries and waits until they are written to disk.
pub(crate) fn fill(store: &mut Store, entries: u32) {
    let mut chance = Chance(42);
    for feed in 1..=FEEDS {
        let of_feed = entries / FEEDS;
        let document: Vec<Entry> = (0..of_feed).map(|n| entry(&mut chance, n)).collect();
        let commit = Commit {
            feed: FeedKey(feed),
            state: Box::default(),
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
        categories: if number.is_multiple_of(20) {
            vec!["Late pruning".to_owned()]
        } else {
            Vec::new()
        },
        ..Entry::default()
    }
}

/// Returns the word with this rank; rank 1 is the most common word. Words consist of letters, and common words are shorter.
pub(crate) fn word(rank: u64) -> String {
    let mut rest = rank.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let length = 3 + rank.ilog2() as usize / 3;
    let mut word = String::new();
    for _ in 0..length {
        word.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
    }
    word
}

/// Returns the fixed time that every run uses as the current time.
pub(crate) fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_770_000_000, 0).unwrap()
}

/// A pseudo-random number generator that returns the same numbers in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a random rank; the word of rank n is about n times rarer than the most common word.
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

/// Returns the resident memory of this process in MB; 0 if the system does not report it.
pub(crate) fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1000
}

/// Returns the number of entries to generate: the value of `BACKISSUE_BENCH_ENTRIES`, or 300,000.
pub(crate) fn entries_wanted() -> u32 {
    let entries = std::env::var("BACKISSUE_BENCH_ENTRIES").ok().and_then(|n| n.parse().ok());
    entries.unwrap_or(300_000)
}
