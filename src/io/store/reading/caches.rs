//! Caches of the store: the fields of entries that lists show, because each row of a list may come from a different record, and
//! the results of text tests in searches.

use std::collections::BTreeMap;

use backissue_core::history::{EntryKey, FeedKey, IndexRow, listed};
use backissue_core::search::TextTest;
use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::io::store::error::StoreError;

/// Maximum number of records in the cache: about 10 MB with 32 entries each.
const RECORDS_MAX: usize = 1536;

/// The fields of an entry that lists show.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "StoredEntry")]
pub(in crate::io::store) struct ListedEntry {
    /// The title, or the beginning of the text if there is no title. Empty if there is neither.
    pub(in crate::io::store) title: Box<str>,
    pub(in crate::io::store) link: Option<Box<str>>,
    pub(in crate::io::store) author: Option<Box<str>>,
    /// The date it is listed under.
    pub(in crate::io::store) listed: DateTime<Utc>,
    /// The time when it was first seen.
    pub(in crate::io::store) first_seen: DateTime<Utc>,
}

/// The fields of a stored entry that are read for a list; the others are skipped.
#[derive(Deserialize)]
struct StoredEntry {
    title: Option<Box<str>>,
    #[serde(default)]
    excerpt: Option<Box<str>>,
    link: Option<Box<str>>,
    author: Option<Box<str>>,
    published: Option<DateTime<Utc>>,
    updated: Option<DateTime<Utc>>,
    first_seen: DateTime<Utc>,
    #[serde(default)]
    placed: Option<DateTime<Utc>>,
}

impl From<StoredEntry> for ListedEntry {
    fn from(entry: StoredEntry) -> Self {
        Self {
            title: entry.title.or(entry.excerpt).unwrap_or_default(),
            link: entry.link,
            author: entry.author,
            listed: listed(entry.published.or(entry.updated), entry.placed, entry.first_seen),
            first_seen: entry.first_seen,
        }
    }
}

/// A record of entries: its feed and its number there.
pub(in crate::io::store) type EntryRecord = (FeedKey, u32);

type Entries = Box<[Option<ListedEntry>]>;

/// A cache of the most recently used records.
#[derive(Debug, Default)]
pub(in crate::io::store) struct ListedEntryCache {
    records: BTreeMap<EntryRecord, (u64, Entries)>,
    /// Number of accesses so far, which gives the order in which records were used.
    clock: u64,
}

impl ListedEntryCache {
    /// Returns an entry by its record and its place there; the record is read if it is not in the cache.
    pub(in crate::io::store) fn get(
        &mut self,
        record: EntryRecord,
        place: usize,
        read: impl FnOnce() -> Result<Vec<Option<ListedEntry>>, StoreError>,
    ) -> Result<Option<&ListedEntry>, StoreError> {
        if !self.records.contains_key(&record) {
            let entries = read()?.into_boxed_slice();
            self.make_room();
            self.records.insert(record, (self.clock, entries));
        }
        self.clock = self.clock.saturating_add(1);
        let Some((used, entries)) = self.records.get_mut(&record) else { return Ok(None) };
        *used = self.clock;
        Ok(entries.get(place).and_then(Option::as_ref))
    }

    /// Removes the records of a feed, because its entries change.
    pub(in crate::io::store) fn forget(&mut self, feed: FeedKey) {
        self.records.retain(|(other, _), _| *other != feed);
    }

    pub(in crate::io::store) fn clear(&mut self) {
        self.records.clear();
    }

    /// If the cache is full, removes the half of the records that was not used for the longest time.
    fn make_room(&mut self) {
        if self.records.len() < RECORDS_MAX {
            return;
        }
        let mut used: Vec<u64> = self.records.values().map(|(used, _)| *used).collect();
        let (_, &mut middle, _) = used.select_nth_unstable(RECORDS_MAX / 2);
        self.records.retain(|_, (used, _)| *used > middle);
    }
}

/// Maximum number of verdicts in memory, about 50 bytes each.
const VERDICTS_MAX: usize = 100_000;

/// Verdicts of a text test: for each entry, the hash of the content that was tested, and whether the test holds.
pub(super) type Verdicts = BTreeMap<EntryKey, (u64, bool)>;

/// Verdicts of the latest text tests, the newest test at the end. An open list and the counts of saved searches repeat the same
/// tests.
#[derive(Debug, Default)]
pub(in crate::io::store) struct KnownVerdicts(Vec<(TextTest, Verdicts)>);

impl KnownVerdicts {
    /// Removes and returns the verdicts of a test. The caller must put them back.
    pub(super) fn take(&mut self, test: &TextTest) -> Verdicts {
        let place = self.0.iter().position(|(known, _)| known == test);
        place.map(|place| self.0.remove(place).1).unwrap_or_default()
    }

    pub(super) fn put(&mut self, test: TextTest, verdicts: Verdicts) {
        self.0.retain(|(known, _)| *known != test);
        self.0.push((test, verdicts));
        while self.0.len() > 1
            && self.0.iter().map(|(_, of)| of.len()).sum::<usize>() > VERDICTS_MAX
        {
            self.0.remove(0);
        }
    }
}

/// An entry that a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchHit {
    pub key: EntryKey,
    /// The date that it is listed under, in Unix seconds.
    pub listed: i64,
    /// How well it matches; 0 if the query has no words.
    pub score: f32,
}

/// An entry for which the index alone does not decide whether it meets a condition.
#[derive(Debug, Clone)]
pub(super) struct UnsureHit {
    pub(super) hit: SearchHit,
    pub(super) row: IndexRow,
    /// What the index knows about each text test of the condition, in the order of the tests. Empty if the index was not used.
    pub(super) known: Vec<Option<bool>>,
}

impl UnsureHit {
    /// Returns the result of a test according to the index or to an earlier reading of the text, if there is one.
    pub(super) fn known_of(
        &self,
        test: &TextTest,
        tests: &[&TextTest],
        verdicts: &[Verdicts],
    ) -> Option<bool> {
        let place = tests.iter().position(|other| std::ptr::eq(*other, test))?;
        self.known.get(place).copied().flatten().or_else(|| {
            let (content, holds) = verdicts.get(place)?.get(&self.hit.key)?;
            (*content == self.row.content).then_some(*holds)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::io::store::reading::caches::*;

    fn shown(title: &str) -> Vec<Option<ListedEntry>> {
        let listed = DateTime::UNIX_EPOCH;
        let entry = ListedEntry {
            title: title.into(),
            link: None,
            author: None,
            listed,
            first_seen: listed,
        };
        vec![None, Some(entry)]
    }

    #[test]
    fn list_records_are_cached_until_their_feed_changes() {
        let mut entries = ListedEntryCache::default();
        let mut reads = 0;
        let mut look = |entries: &mut ListedEntryCache, feed: u32| {
            let read = || {
                reads += 1;
                Ok(shown("Wax"))
            };
            let title = entries.get((FeedKey(feed), 0), 1, read).unwrap().unwrap().title.clone();
            assert_eq!(&*title, "Wax");
            reads
        };
        assert_eq!((look(&mut entries, 0), look(&mut entries, 0)), (1, 1));
        entries.forget(FeedKey(0));
        assert_eq!(look(&mut entries, 0), 2);
        let many = u32::try_from(RECORDS_MAX).unwrap();
        for feed in 1..=many {
            look(&mut entries, feed);
        }
        assert_eq!(look(&mut entries, many), 2 + many, "the last one is there");
        assert_eq!(look(&mut entries, 0), 3 + many, "the first one went");
        assert!(entries.records.len() <= RECORDS_MAX);
    }
}
