//! The words of the generated feeds, with frequencies as in a natural language, and the numbers that choose them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::documents::{COMMON, EVERYWHERE, RARE};

/// Number of different words.
const VOCABULARY: usize = 50_000;
/// Weight of the most common word; the word of rank n has an n-th of it.
const TOP_WEIGHT: u64 = 1 << 40;
/// Ranks of the words that titles, headings and categories name things with: neither among the most common words nor rare.
const TOPICS: std::ops::Range<u64> = 200..3000;

/// Starts of syllables.
const STARTS: [&str; 23] = [
    "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "br", "ch", "cl",
    "gr", "pl", "st", "th", "tr",
];
/// Middles of syllables.
const MIDDLES: [&str; 24] = [
    "a", "e", "i", "o", "a", "e", "i", "o", "a", "e", "i", "o", "a", "e", "i", "o", "a", "e", "u",
    "u", "ea", "ea", "ou", "é",
];
/// Ends of syllables.
const ENDS: [&str; 12] = ["", "", "", "", "", "", "l", "n", "r", "s", "t", "nd"];

/// The words in order of their ranks, each with the sum of its weight and the weights of all more common words.
static WORDS: LazyLock<Vec<(u64, String)>> = LazyLock::new(|| {
    let mut weight = 0;
    let weighted = vocabulary().into_iter().zip(1..).map(|(word, rank)| {
        weight += TOP_WEIGHT / rank;
        (weight, word)
    });
    weighted.collect()
});

/// Returns different words made of syllables, the most common ones first; common words are shorter.
fn vocabulary() -> Vec<String> {
    let mut chance = Chance::new(0, 0);
    let mut used = BTreeSet::from([RARE, COMMON, EVERYWHERE].map(str::to_owned));
    let mut words = Vec::with_capacity(VOCABULARY);
    while words.len() < VOCABULARY {
        let syllables = match words.len() {
            0..120 => 1,
            120..2500 => 1 + chance.below(2),
            _ => 2 + chance.below(2),
        };
        let mut word = String::new();
        for _ in 0..syllables {
            word.push_str(chance.one_of(&STARTS));
            word.push_str(chance.one_of(&MIDDLES));
            word.push_str(chance.one_of(&ENDS));
        }
        if used.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

/// A pseudo-random number generator that returns the same numbers in every run.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// Returns a generator whose numbers depend only on these two numbers.
    pub(crate) fn new(feed: u32, part: u32) -> Self {
        let seed = u64::from(feed) << 32 | u64::from(part) | 1 << 63;
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(mixed ^ mixed >> 29)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below the limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// Returns true with this probability in percent.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    /// Returns a word; the word of rank n is n times rarer than the most common word.
    pub(crate) fn word(&mut self) -> &'static str {
        let total = WORDS[VOCABULARY - 1].0;
        let place = self.below(total);
        &WORDS[WORDS.partition_point(|(weight, _)| *weight <= place)].1
    }

    /// Returns one of the words that name things, all equally likely.
    pub(crate) fn topic(&mut self) -> &'static str {
        &WORDS[(TOPICS.start + self.below(TOPICS.end - TOPICS.start)) as usize].1
    }
}

/// Returns the word with a capital letter.
pub(crate) fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}
