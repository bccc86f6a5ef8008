//! Checks what the index cannot answer: the texts of entries say whether the words of a phrase follow each other, and whether a part of a
//! word, a link or a regular expression matches.

use chrono::DateTime;

use super::search_hits::{SearchHit, UnsureHit, Verdicts};
use crate::io::store::chunks::{kept_in, read_in};
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use backissue_core::history::{EntryKey, IndexRow};
use backissue_core::search::{Condition, EntryTexts, Leaf, Matching, TextTest};

/// Entries whose texts are read together.
const SLICE: usize = 128;
impl Store {
    /// Returns whether an entry meets a condition, given what is known of its text tests.
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
            // Ages were replaced by instants when the query was prepared.
            Leaf::Row(test) => {
                Some(test.holds(key.feed, row.flags, row.listed, DateTime::UNIX_EPOCH))
            }
        })
    }

    /// Reads the texts of entries that are unsure, and adds those that meet the condition to `found`.
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
        // Neighbours share records.
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

    /// Judges entries of one feed by their texts. One that cannot be read is not found.
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
            read_in(&self.meta, &self.bodies, feed, seqs)
        } else {
            kept_in(&self.meta, feed, seqs)
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
