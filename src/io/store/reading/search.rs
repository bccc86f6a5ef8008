//! Answering a search: the index says which entries have the words, the rows say which of them are meant.

use std::collections::BTreeMap;

use crate::feed::text::{one_line, strip_markup};
use crate::history::{EntryBody, EntryKey, FeedKey, Flags};
use crate::io::codec;
use crate::io::search::SearchIndex;
use crate::io::store::error::StoreError;
use crate::io::store::open::Store;
use crate::io::store::upkeep::check::Finding;
use crate::search::{Marks, Matching, Snippet};
use crate::ui::panes::entry_list::ListQuery;
use crate::ui::panes::entry_list::RowKey;
use crate::ui::panes::entry_list::RowOrder;
use crate::ui::panes::entry_list::Show;
use crate::ui::panes::saved_searches::SavedSearch;

/// Name of the saved searches among the facts about the store.
const SAVED_KEY: &[u8] = b"searches";
/// Entries of a ranked list at most: nobody walks to the end of a long one, who adds a word sees all of them.
pub(in crate::io::store) const RANKED_MAX: usize = 1000;
/// How much more the newest hit counts than a very old one.
const NEWEST_WEIGHT: f32 = 0.3;
/// Seconds after which that is half as much.
const HALF_LIFE_SECONDS: f32 = 365.0 * 86_400.0;
/// Characters of the text a snippet is taken from.
const SNIPPET_TEXT_CHARS: usize = 100_000;

/// An entry that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The entry.
    pub key: EntryKey,
    /// The date it is listed under, in Unix seconds.
    pub listed: i64,
    /// How well it fits; 0 where no words were looked for.
    pub score: f32,
}

impl Store {
    /// Gives the store the index to search in.
    pub fn use_index(&mut self, index: SearchIndex) {
        self.shelf.put(index);
    }

    /// The searches that were saved, in their order; none if their record is damaged.
    pub fn saved_searches(&self) -> Result<Vec<SavedSearch>, StoreError> {
        let bytes = self.about.get(SAVED_KEY)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// What is wrong with their record.
    pub(in crate::io::store) fn check_searches(&self) -> Result<Option<Finding>, StoreError> {
        let bytes = self.about.get(SAVED_KEY)?;
        let damaged = bytes.and_then(|bytes| codec::decode::<Vec<SavedSearch>>(&bytes).err());
        Ok(damaged.map(|why| Finding {
            text: format!("the record of your saved searches is damaged ({why}); none is shown"),
            repaired: false,
        }))
    }

    /// Writes the searches that are saved.
    pub fn save_searches(&self, searches: &[SavedSearch]) -> Result<(), StoreError> {
        self.about.insert(SAVED_KEY, codec::encode(&searches)?)?;
        Ok(())
    }

    /// How many unread entries each of these searches finds.
    pub fn count_found(
        &mut self,
        wanted: &[(u32, Matching)],
    ) -> Result<BTreeMap<u32, u32>, StoreError> {
        wanted.iter().map(|(id, matching)| Ok((*id, self.unread_found(matching)?))).collect()
    }

    /// The data folder.
    pub fn folder(&self) -> &std::path::Path {
        &self.data
    }

    /// Every entry that is looked for, best first; where no words are looked for, newest first.
    pub fn search(&mut self, matching: &Matching) -> Result<Vec<Found>, StoreError> {
        let mut found = self.unranked(matching, |flags| matching.shows(flags))?;
        rank(&mut found);
        Ok(found)
    }

    /// The rows of a list that was searched for.
    pub(in crate::io::store) fn ordered_search(
        &mut self,
        matching: &Matching,
        query: &ListQuery,
    ) -> Result<Vec<RowKey>, StoreError> {
        let all = query.show == Show::All;
        let shown = |flags| (all && matching.shows(flags)) || query.show.takes(flags);
        let mut found = self.unranked(matching, shown)?;
        for &key in &query.keep {
            // What was read in the list stays in it until it is opened anew.
            let kept = found.iter().any(|hit| hit.key == key);
            let row = self.rows_of(key.feed)?.get(key.seq as usize);
            if let Some(row) = row.filter(|_| !kept) {
                found.push(Found { key, listed: row.listed, score: 0.0 });
            }
        }
        if query.order == RowOrder::BestFirst {
            rank(&mut found);
            found.truncate(RANKED_MAX);
            return Ok(found.into_iter().map(|hit| RowKey::Entry(hit.key)).collect());
        }
        let gaps = query.gaps.iter();
        let gaps = gaps.map(|mark| (mark.listed.timestamp(), RowKey::Gap(mark.feed, mark.gap)));
        let mut order: Vec<(i64, RowKey)> =
            found.into_iter().map(|hit| (hit.listed, RowKey::Entry(hit.key))).chain(gaps).collect();
        order.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        if query.order == RowOrder::OldestFirst {
            order.reverse();
        }
        Ok(order.into_iter().map(|(_, key)| key).collect())
    }

    fn unranked(
        &mut self,
        matching: &Matching,
        shown: impl Fn(Flags) -> bool,
    ) -> Result<Vec<Found>, StoreError> {
        if matching.wants_gaps() {
            return Ok(Vec::new());
        }
        for &feed in &matching.feeds {
            if self.rows_of(feed).is_err() {
                // One damaged feed must not take the others out of every search.
                self.rows.insert(feed, Vec::new());
            }
        }
        let rows: BTreeMap<FeedKey, _> = matching
            .feeds
            .iter()
            .filter_map(|feed| Some((*feed, self.rows.get(feed)?.as_slice())))
            .collect();
        let rulings = &self.rulings;
        let mut found = Vec::new();
        let mut judge = |key: EntryKey, score: f32| {
            let row = rows.get(&key.feed).and_then(|rows| rows.get(key.seq as usize));
            let fits = |row: &&crate::history::IndexRow| {
                shown(row.flags)
                    && matching.fits(row.flags, row.listed)
                    && matching.labels.fit(key.feed, |rules| rulings.have_hit(rules, key))
            };
            if let Some(row) = row.filter(fits) {
                found.push(Found { key, listed: row.listed, score });
            }
        };
        if matching.terms.is_empty() {
            for (&feed, rows) in &rows {
                for (seq, _) in (0_u32..).zip(rows.iter()) {
                    judge(EntryKey { feed, seq }, 0.0);
                }
            }
        } else if let Some(index) = self.shelf.get() {
            index
                .find(&matching.terms, &mut judge)
                .map_err(|error| StoreError::Search(error.to_string()))?;
        }
        Ok(found)
    }

    /// How many unread entries are looked for.
    pub fn unread_found(&mut self, matching: &Matching) -> Result<u32, StoreError> {
        let found = self.unranked(matching, Flags::is_unread)?;
        Ok(u32::try_from(found.len()).unwrap_or(u32::MAX))
    }

    /// A piece of an entry's text around the first word that was looked for.
    pub fn snippet(&self, key: EntryKey, marks: &Marks, chars: usize) -> Snippet {
        let body = self.body(key).ok().flatten();
        let markup = body.as_ref().and_then(EntryBody::text).unwrap_or_default();
        marks.snippet(&one_line(&strip_markup(markup), SNIPPET_TEXT_CHARS), chars)
    }
}

/// Puts the best first. Of two that fit as well the newer one counts more, and slightly more in any case.
fn rank(found: &mut [Found]) {
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
