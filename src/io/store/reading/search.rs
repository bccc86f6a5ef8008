//! Answers searches: the index finds the entries that contain the words, and their rows decide which of them are shown.
//!
//! What the index cannot decide is decided by the texts of entries: whether the words of a phrase follow each other, and whether
//! a part of a word, a link or a regular expression matches.

use std::collections::BTreeMap;

use backissue_core::feed::text::{one_line, strip_markup};
use backissue_core::history::{EntryBody, EntryKey, FeedKey, Flags, IndexRow};
use backissue_core::search::{Condition, EntryTexts, Leaf, Marks, Matching, Snippet, TextTest};
use chrono::DateTime;

use super::caches::{SearchHit, UnsureHit, Verdicts};
use crate::engine::change::value::SavedSearch;
use crate::engine::entries::rows::{ListQuery, RowKey, RowOrder, Show};
use crate::io::codec;
use crate::io::search::SearchIndex;
use crate::io::store::chunks::{kept_in, read_in};
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::pack::TableName;

/// The key of the saved searches in the table of facts.
pub(in crate::io::store) const SAVED_KEY: &[u8] = b"searches";
/// Maximum number of entries in a ranked list. Nobody reads a longer list to its end; another word in the query makes it shorter.
const RANKED_MAX: usize = 1000;
/// The score of the newest hit is multiplied by one plus this number.
const NEWEST_WEIGHT: f32 = 0.3;
/// Age in seconds, counted from the newest hit, at which this bonus is half as large.
const HALF_LIFE_SECONDS: f32 = 365.0 * 86_400.0;
/// Maximum number of characters of a text from which a snippet is taken.
const SNIPPET_TEXT_CHARS: usize = 100_000;

impl Store {
    /// Sets the index to search in.
    pub fn use_index(&mut self, index: SearchIndex) {
        self.search_index.set(index);
    }

    /// Returns the saved searches in their order; none if their record is damaged.
    pub fn saved_searches(&self) -> Result<Vec<SavedSearch>, StoreError> {
        let bytes = self.tables.facts.get(SAVED_KEY)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    pub fn save_searches(&mut self, searches: &[SavedSearch]) -> Result<(), StoreError> {
        self.put(TableName::Facts, SAVED_KEY, codec::encode(&searches)?)?;
        Ok(())
    }

    /// Counts the unread entries that each of these searches finds.
    pub fn count_found(
        &mut self,
        wanted: &[(u32, Matching)],
    ) -> Result<BTreeMap<u32, u32>, StoreError> {
        wanted.iter().map(|(id, matching)| Ok((*id, self.unread_found(matching)?))).collect()
    }

    pub fn folder(&self) -> &std::path::Path {
        &self.data
    }

    /// Returns every entry that a query finds, best first, or newest first if the query has no words.
    pub fn search(&mut self, matching: &Matching) -> Result<Vec<SearchHit>, StoreError> {
        let mut found = self.unranked(matching, |flags| matching.shows(flags))?;
        rank(&mut found);
        Ok(found)
    }

    /// Returns the rows of a list of search hits.
    pub(in crate::io::store) fn ordered_search(
        &mut self,
        matching: &Matching,
        query: &ListQuery,
    ) -> Result<Vec<RowKey>, StoreError> {
        let all = query.show == Show::All;
        let shown = |flags| (all && matching.shows(flags)) || query.show.takes(flags);
        let mut found = self.unranked(matching, shown)?;
        for &key in &query.keep {
            // Entries that were read in the list stay in it until it is opened again.
            let kept = found.iter().any(|hit| hit.key == key);
            let row = self.rows_of(key.feed)?.get(key.seq as usize);
            if let Some(row) = row.filter(|_| !kept) {
                found.push(SearchHit { key, listed: row.listed, score: 0.0 });
            }
        }
        if query.order == RowOrder::BestFirst {
            rank(&mut found);
            found.truncate(RANKED_MAX);
            return Ok(found.into_iter().map(|hit| RowKey::Entry(hit.key)).collect());
        }
        self.in_order(found.into_iter().map(|hit| (hit.listed, hit.key)).collect(), query)
    }

    pub(super) fn unranked(
        &mut self,
        matching: &Matching,
        shown: impl Fn(Flags) -> bool,
    ) -> Result<Vec<SearchHit>, StoreError> {
        if matching.wants_gaps() {
            return Ok(Vec::new());
        }
        for &feed in &matching.feeds {
            if self.rows_of(feed).is_err() {
                // Treat a feed with a damaged index as empty, so that searches still find entries of other feeds.
                self.rows.insert(feed, Vec::new());
            }
        }
        let rows: BTreeMap<FeedKey, _> = matching
            .feeds
            .iter()
            .filter(|feed| !self.ended.contains(feed))
            .filter_map(|feed| Some((*feed, self.rows.get(feed)?.as_slice())))
            .collect();
        let tests = matching.condition.text_tests();
        let asks_index = matching.has_words();
        let (mut found, mut unsure) = (Vec::new(), Vec::new());
        let mut judge = |key: EntryKey,
                         score: f32,
                         of_index: &dyn Fn(&TextTest) -> Option<bool>| {
            let row = rows.get(&key.feed).and_then(|rows| rows.get(key.seq as usize));
            let Some(row) = row.filter(|row| shown(row.flags) && matching.shows(row.flags)) else {
                return;
            };
            let hit = SearchHit { key, listed: row.listed, score };
            match self.judge_entry(&matching.condition, key, row, &mut |test| of_index(test)) {
                Some(true) => found.push(hit),
                Some(false) => {}
                None => {
                    let known = if asks_index {
                        tests.iter().map(|test| of_index(test)).collect()
                    } else {
                        Vec::new()
                    };
                    unsure.push(UnsureHit { hit, row: *row, known });
                }
            }
        };
        if !asks_index {
            for (&feed, rows) in &rows {
                for (seq, _) in (0_u32..).zip(rows.iter()) {
                    judge(EntryKey { feed, seq }, 0.0, &|_| None);
                }
            }
        } else if let Some(index) = self.search_index.get() {
            index.find(&matching.condition, &mut |candidate| {
                judge(candidate.key, candidate.score, &|test| match test {
                    TextTest::Words(term) => candidate.has(term),
                    TextTest::Part(..)
                    | TextTest::Regex(..)
                    | TextTest::Has(_)
                    | TextTest::Longer(_) => None,
                });
            })?;
        }
        self.verify(matching, unsure, &mut found)?;
        Ok(found)
    }

    /// Counts the unread entries that a query finds.
    pub fn unread_found(&mut self, matching: &Matching) -> Result<u32, StoreError> {
        let found = self.unranked(matching, Flags::is_unread)?;
        Ok(u32::try_from(found.len()).unwrap_or(u32::MAX))
    }

    /// Returns a piece of an entry's text around the first match of the query.
    pub fn snippet(&self, key: EntryKey, marks: &Marks, chars: usize) -> Snippet {
        let body = self.body(key).ok().flatten();
        let markup = body.as_ref().and_then(EntryBody::text).unwrap_or_default();
        marks.snippet(&one_line(&strip_markup(markup), SNIPPET_TEXT_CHARS), chars)
    }
}

/// Sorts hits, best first. Newer hits get a bonus.
fn rank(found: &mut [SearchHit]) {
    let newest = found.iter().map(|hit| hit.listed).max().unwrap_or(0);
    for hit in found.iter_mut() {
        #[expect(clippy::cast_precision_loss, reason = "an age in seconds need not be exact")]
        let age = newest.saturating_sub(hit.listed) as f32;
        hit.score *= 1.0 + NEWEST_WEIGHT * (-age / HALF_LIFE_SECONDS).exp2();
    }
    found.sort_unstable_by(|a, b| {
        b.score.total_cmp(&a.score).then(b.listed.cmp(&a.listed)).then(a.key.cmp(&b.key))
    });
}

/// Number of entries whose texts are read together.
const SLICE: usize = 128;
impl Store {
    /// Checks whether an entry meets a condition. `known` returns the result of a text test, if it is known. Returns `None` if the
    /// known results do not decide.
    pub(super) fn judge_entry(
        &self,
        condition: &Condition,
        key: EntryKey,
        row: &IndexRow,
        known: &mut dyn FnMut(&TextTest) -> Option<bool>,
    ) -> Option<bool> {
        condition.judge(&mut |leaf| match leaf {
            Leaf::Text(test) => known(test),
            Leaf::Name(test) => Some(self.filters.has_label(key, test)),
            // When the query was prepared, this test was replaced by a test of feeds.
            Leaf::Rate(_) => None,
            // The time has no effect, because ages were replaced by instants when the query was prepared.
            Leaf::Row(test) => {
                Some(test.holds(key.feed, row.flags, row.listed, DateTime::UNIX_EPOCH))
            }
        })
    }

    /// Reads the texts of unsure entries, and adds those that meet the condition to `found`. If there are more than
    /// `matching.texts_max`, reads only the newest.
    pub(super) fn verify(
        &mut self,
        matching: &Matching,
        mut unsure: Vec<UnsureHit>,
        found: &mut Vec<SearchHit>,
    ) -> Result<(), StoreError> {
        let tests = matching.condition.text_tests();
        let mut verdicts: Vec<Verdicts> =
            tests.iter().map(|test| self.verified.take(test)).collect();
        if let Some(max) = matching.texts_max.filter(|max| *max < unsure.len()) {
            unsure.select_nth_unstable_by_key(max, |entry| std::cmp::Reverse(entry.hit.listed));
            unsure.truncate(max);
        }
        // Sort by key, because neighbouring entries share records.
        unsure.sort_unstable_by_key(|entry| entry.hit.key);
        let mut to_read = Vec::new();
        for entry in unsure {
            let mut known = |test: &TextTest| entry.known_of(test, &tests, &verdicts);
            match self.judge_entry(&matching.condition, entry.hit.key, &entry.row, &mut known) {
                Some(true) => found.push(entry.hit),
                Some(false) => {}
                None => to_read.push(entry),
            }
        }
        for of_feed in to_read.chunk_by(|one, other| one.hit.key.feed == other.hit.key.feed) {
            for slice in of_feed.chunks(SLICE) {
                self.read_verdicts(matching, &tests, slice, &mut verdicts, found);
            }
        }
        for (test, verdicts) in tests.into_iter().zip(verdicts) {
            self.verified.put(test.clone(), verdicts);
        }
        Ok(())
    }

    /// Tests entries of one feed by their texts. An entry that cannot be read is not found.
    fn read_verdicts(
        &self,
        matching: &Matching,
        tests: &[&TextTest],
        entries: &[UnsureHit],
        verdicts: &mut [Verdicts],
        found: &mut Vec<SearchHit>,
    ) {
        let Some(first) = entries.first() else { return };
        let (feed, seqs) = (first.hit.key.feed, entries.iter().map(|entry| entry.hit.key.seq));
        let is_whole = matching.condition.looks_at_bodies();
        let read = if is_whole {
            read_in(&self.tables.meta, &self.tables.bodies, feed, seqs)
        } else {
            kept_in(&self.tables.meta, feed, seqs)
        };
        for entry in entries {
            let key = entry.hit.key;
            let Some((kept, body)) = read.get(&key.seq) else { continue };
            let page = is_whole.then(|| self.full_text(key).ok().flatten()).flatten();
            let whole = page.map(|page| body.clone().unwrap_or_default().with_page(&page.html));
            let words = EntryTexts::new(kept, whole.as_ref().or(body.as_ref()));
            let mut known = |test: &TextTest| {
                entry.known_of(test, tests, verdicts).or_else(|| {
                    let holds = test.holds(&words);
                    let place = tests.iter().position(|other| std::ptr::eq(*other, test));
                    if let Some(of_test) = place.and_then(|place| verdicts.get_mut(place)) {
                        of_test.insert(key, (entry.row.content, holds));
                    }
                    Some(holds)
                })
            };
            if self.judge_entry(&matching.condition, key, &entry.row, &mut known) == Some(true) {
                found.push(entry.hit);
            }
        }
    }
}
