//! A publisher of an archived feed with faults that a seed determines: error statuses, garbage, loops and changing addresses.

use std::collections::BTreeMap;

use backissue_core::feed::{Entry, FeedDocument, HistoryLinks, Kind};
use chrono::{DateTime, TimeDelta, Utc};

use super::Answer;

pub const SITE: &str = "https://press.example/";

/// A pseudo-random number generator (`SplitMix64`); the field is its state.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        // The `SplitMix64` algorithm.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// How requests for a faulty archive are answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    Status(u16),
    Timeout,
    Nonsense,
    /// The archive's `prev-archive` link leads to the newer archive of this number, which makes a loop.
    Loop(usize),
}

/// A publisher with `archives` archives, of which number 1 is the oldest, with `entries` entries each.
pub struct Publisher {
    pub archives: usize,
    pub entries: usize,
    pub faults: BTreeMap<usize, Fault>,
    /// Suffix of the archives' addresses: if it changes, the archives from number `churned` on get new addresses.
    pub edition: u32,
    pub churned: usize,
    /// Whether the entries have no dates.
    pub undated: bool,
    pub served: BTreeMap<String, u32>,
}

impl Publisher {
    pub fn new(archives: usize, entries: usize) -> Self {
        Self {
            archives,
            entries,
            faults: BTreeMap::new(),
            edition: 0,
            churned: archives,
            undated: false,
            served: BTreeMap::new(),
        }
    }

    /// Gives about one in ten archives a random fault; loops are among the faults only if `loops`.
    pub fn with_faults(mut self, seed: u64, loops: bool) -> Self {
        let mut chance = Chance(seed);
        for archive in 1..=self.archives {
            if chance.below(10) > 0 {
                continue;
            }
            let newer = archive + 1 + chance.below(5) as usize;
            let fault = match chance.below(if loops { 7 } else { 6 }) {
                0 => Fault::Status(403),
                1 => Fault::Status(404),
                2 => Fault::Status(410),
                3 => Fault::Status(500),
                4 => Fault::Timeout,
                5 => Fault::Nonsense,
                _ => Fault::Loop(newer.min(self.archives)),
            };
            if fault != Fault::Loop(archive) {
                self.faults.insert(archive, fault);
            }
        }
        self
    }

    pub fn heal(&mut self) {
        self.faults.clear();
    }

    pub fn url(&self, archive: usize) -> String {
        let edition = if archive >= self.churned { self.edition } else { 0 };
        format!("{SITE}archive/{archive}-{edition}.atom")
    }

    fn archive_at(&self, url: &str) -> Option<usize> {
        let name = url.strip_prefix(SITE)?.strip_prefix("archive/")?.strip_suffix(".atom")?;
        let archive: usize = name.split('-').next()?.parse().ok()?;
        (1..=self.archives).contains(&archive).then_some(archive)
    }

    fn date(number: usize) -> DateTime<Utc> {
        DateTime::from_timestamp(1_300_000_000, 0).unwrap() + TimeDelta::minutes(number as i64)
    }

    fn entry(&self, number: usize) -> Entry {
        let date = (!self.undated).then(|| Self::date(number));
        Entry {
            id: format!("e{number:06}"),
            title: Some(format!("Entry {number}")),
            published: date,
            ..Entry::default()
        }
    }

    fn document(
        &self,
        numbers: std::ops::Range<usize>,
        archive: bool,
        prev: Option<String>,
    ) -> FeedDocument {
        FeedDocument {
            kind: Kind::Atom,
            entries: numbers.rev().map(|number| self.entry(number)).collect(),
            history: HistoryLinks { archive, prev_archive: prev, ..HistoryLinks::default() },
            ..FeedDocument::default()
        }
    }

    /// Returns the publisher's answer to the request for an address.
    pub fn answer(&mut self, url: &str) -> Answer {
        let last = self.archives * self.entries;
        if url == SITE {
            let prev = (self.archives > 0).then(|| self.url(self.archives));
            let current = self.document(last..last + 10, false, prev);
            return Answer::Document(url.to_owned(), Box::new(current));
        }
        let Some(archive) = self.archive_at(url) else { return Answer::Status(404) };
        let prev = match self.faults.get(&archive) {
            Some(Fault::Status(status)) => return Answer::Status(*status),
            Some(Fault::Timeout) => return Answer::Timeout,
            Some(Fault::Nonsense) => {
                return Answer::Document(url.to_owned(), Box::default());
            }
            Some(Fault::Loop(newer)) => Some(self.url(*newer)),
            None => (archive > 1).then(|| self.url(archive - 1)),
        };
        *self.served.entry(url.to_owned()).or_default() += 1;
        let numbers = (archive - 1) * self.entries..archive * self.entries;
        Answer::Document(url.to_owned(), Box::new(self.document(numbers, true, prev)))
    }

    /// Returns the newest faulty archive and its fault; older archives cannot be reached.
    pub fn newest_fault(&self) -> Option<(usize, Fault)> {
        self.faults.iter().next_back().map(|(archive, fault)| (*archive, *fault))
    }
}
