//! The user's filters: which entries each of them matched, and the marks that it sets or reverts.

use std::collections::{BTreeMap, BTreeSet};

use crate::io::store::pack::{Batch, TableName};
use chrono::{DateTime, Utc};

use super::error::StoreError;
use super::handle::{
    AppliedFilters, FILTERS_KEY, NewHits, Store, feed_bytes, numbered_key, saved_in,
};
use super::reading::texts::frequency_in;
use crate::engine::change::undo_stack::Step;
use crate::engine::change::value::LaterStep;
use crate::engine::entries::filter_work::{FilterChanges, FilterCount, FilterWork};
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::io::{clock, codec};
use backissue_core::feed::FeedDocument;
use backissue_core::filters::{Action, EntryFilter, FilterScope, PreparedFilters};
use backissue_core::history::{EntryKey, FeedKey, Flag, Flags, Merged};
use backissue_core::search::{EntryTexts, Subject};
use backissue_core::words::frequency::Frequency;

/// The key of the folded tags in the table of facts.
pub(super) const FOLDED_KEY: &[u8] = b"folded";
/// The marks that filters can set.
const FILTER_FLAGS: [Flag; 3] = [Flag::Hidden, Flag::Read, Flag::Starred];

impl Store {
    /// Loads the filters and their matches into memory.
    pub(super) fn load_filters(&mut self) -> Result<(), StoreError> {
        self.filters = AppliedFilters::load(&self.tables.facts, &self.tables.filter_hits)?;
        Ok(())
    }

    /// Returns the user's filters in their order, or no filters if their record is damaged.
    pub fn saved_filters(&self) -> Result<Vec<EntryFilter>, StoreError> {
        saved_in(&self.tables.facts)
    }

    /// Writes the filters, which from now on apply to new entries.
    pub fn save_filters(&mut self, filters: &[EntryFilter]) -> Result<(), StoreError> {
        self.put(TableName::Facts, FILTERS_KEY, codec::encode(&filters)?)?;
        self.use_filters(filters);
        Ok(())
    }

    fn use_filters(&mut self, filters: &[EntryFilter]) {
        self.filters.judge = PreparedFilters::new(filters, clock::zone());
        self.filters.list = filters.to_vec();
    }

    /// Returns the tags that are folded, or none if their record is damaged.
    pub fn folded(&self) -> Result<BTreeSet<String>, StoreError> {
        let bytes = self.tables.facts.get(FOLDED_KEY)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    pub fn save_folded(&mut self, folded: &BTreeSet<String>) -> Result<(), StoreError> {
        self.put(TableName::Facts, FOLDED_KEY, codec::encode(folded)?)?;
        Ok(())
    }

    /// Returns the numbers of the filters that matched an entry, in the order of the filters.
    pub fn filters_that_hit(&self, key: EntryKey) -> Vec<u32> {
        let filters = self.filters.list.iter().map(|filter| filter.id);
        filters.filter(|&filter| self.filters.has_hit(filter, key)).collect()
    }

    /// Counts the entries that each filter matched, and how many of them are hidden.
    pub fn count_filter_hits(&mut self) -> Result<BTreeMap<u32, FilterCount>, StoreError> {
        let ids: Vec<u32> = self.filters.list.iter().map(|filter| filter.id).collect();
        let mut counts = BTreeMap::new();
        for id in ids {
            let mut count = FilterCount::default();
            let hits: Vec<EntryKey> = self.filters.hits_of(id).collect();
            for key in hits {
                let Some(flags) = self.flags_of(key)? else { continue };
                count.hits = count.hits.saturating_add(1);
                count.hidden = count.hidden.saturating_add(u32::from(flags.is_hidden()));
            }
            counts.insert(id, count);
        }
        Ok(counts)
    }

    /// Returns the marks of an entry; `None` if there is no such entry, or its feed was unsubscribed.
    fn flags_of(&mut self, key: EntryKey) -> Result<Option<Flags>, StoreError> {
        if self.ended.contains(&key.feed) {
            return Ok(None);
        }
        Ok(self.rows_of(key.feed)?.get(key.seq as usize).map(|row| row.flags))
    }

    /// Applies the filters to the new entries of a document and corrects the counters. Returns the entries that each filter
    /// matched.
    pub(super) fn apply_filters(
        &self,
        feed: FeedKey,
        document: &FeedDocument,
        merged: &mut Merged,
        first_new: u32,
        now: DateTime<Utc>,
    ) -> NewHits {
        let mut hits = NewHits::new();
        if self.filters.judge.is_empty() || merged.new == 0 {
            return hits;
        }
        let bytes = self.tables.feeds.get(feed_bytes(feed)).ok().flatten();
        let record = bytes.and_then(|bytes| codec::decode::<SubscriptionRecord>(&bytes).ok());
        let mut record = record.unwrap_or_default();
        // The record of a new subscription has no title yet.
        record.title = record.title.or_else(|| document.head.title.clone());
        let rates = self.filters.judge.looks_at_rates();
        let frequency = if rates {
            frequency_in(&self.tables.state, &self.tables.counters, feed)
        } else {
            Frequency::default()
        };
        let names = record.queried(feed, frequency);
        let judge = self.filters.judge.for_feed(&names, now);
        if judge.is_empty() {
            return hits;
        }
        for (&seq, entry) in merged.entries.range_mut(first_new..) {
            let (before, listed) = (entry.row.flags, entry.row.listed);
            let texts = EntryTexts::new(&entry.kept, entry.body.as_ref());
            let subject =
                Subject { feed: names, flags: before, listed, labels: &[], texts: &texts, now };
            for filter in judge.hits(&subject) {
                entry.row.flags = filter.action.done_to(entry.row.flags);
                hits.entry(filter.id).or_default().push(seq);
            }
            merged.counters.shift(Some(before), Some(entry.row.flags));
        }
        hits
    }

    /// Returns the batch that writes the known matches of filters together with these new ones.
    pub(super) fn hits_batch(&self, feed: FeedKey, new: &NewHits) -> Result<Batch, StoreError> {
        let mut batch = Batch::default();
        for (&filter, seqs) in new {
            let known = self.filters.hits.get(&(filter, feed));
            let all: BTreeSet<u32> = known.into_iter().flatten().chain(seqs).copied().collect();
            batch.insert(numbered_key(feed, filter), codec::encode_compressed(&all)?);
        }
        Ok(batch)
    }

    /// Adds matches that have been written to the matches in memory.
    pub(super) fn hits_written(&mut self, feed: FeedKey, new: NewHits) {
        for (filter, seqs) in new {
            self.filters.hits.entry((filter, feed)).or_default().extend(seqs);
        }
    }

    /// Copies the matches of entries to the feed into which their feed is merged. `now_as` maps the old entry numbers to the new
    /// ones.
    pub(super) fn hand_hits(
        &mut self,
        from: FeedKey,
        into: FeedKey,
        now_as: &BTreeMap<u32, u32>,
    ) -> Result<(), StoreError> {
        let mut handed = NewHits::new();
        for ((filter, feed), seqs) in &self.filters.hits {
            let moved = seqs.iter().filter_map(|seq| now_as.get(seq).copied());
            if *feed == from {
                handed.entry(*filter).or_default().extend(moved);
            }
        }
        handed.retain(|_, seqs| !seqs.is_empty());
        let batch = self.hits_batch(into, &handed)?;
        self.db.commit(&[(TableName::FilterHits, &batch)])?;
        self.hits_written(into, handed);
        Ok(())
    }

    /// Returns the matches of the filters that a merge of this feed changes, as they are before and after it.
    pub(super) fn hits_of_merge(&self, from: FeedKey, into: FeedKey) -> Vec<FilterChanges> {
        let is_changed = |filter: &&EntryFilter| {
            let is_scope = filter.scope == FilterScope::Feed(from);
            is_scope || self.filters.hits.contains_key(&(filter.id, from))
        };
        let changed = self.filters.list.iter().filter(is_changed);
        let known = changed.map(|filter| FilterChanges {
            before: self.hits_in(filter.id, into),
            of_some: true,
            ..FilterChanges::none(filter.id)
        });
        known.collect()
    }

    /// Adds the present matches of a filter to a change of them.
    pub(super) fn with_present_hits(&self, changes: FilterChanges, of: FeedKey) -> FilterChanges {
        FilterChanges { after: self.hits_in(changes.filter, of), ..changes }
    }

    fn hits_in(&self, filter: u32, feed: FeedKey) -> Vec<EntryKey> {
        let seqs = self.filters.hits.get(&(filter, feed)).into_iter().flatten();
        seqs.map(|&seq| EntryKey { feed, seq }).collect()
    }

    /// Removes the matches of a removed feed from memory.
    pub(super) fn forget_hits(&mut self, feed: FeedKey) {
        self.filters.hits.retain(|(_, of), _| *of != feed);
    }

    /// Applies a filter to stored entries, or undoes or redoes that, and replaces the list of filters if `list` is given.
    /// Everything is written together with the undo `step`, or nothing is. Returns what changed.
    pub fn filter_entries(
        &mut self,
        work: &FilterWork,
        list: Option<&[EntryFilter]>,
        step: Option<LaterStep>,
    ) -> Result<FilterChanges, StoreError> {
        let hits = self.filters.hits_of(work.filter()).map(|key| key.feed);
        let mut touched: BTreeSet<FeedKey> = hits.collect();
        let former = self.filters.list.clone();
        if let Some(list) = list {
            self.use_filters(list);
        }
        let done = self.write_filtered(work, list, step, &mut touched);
        if done.is_err() {
            // The write failed, so restore what is kept in memory.
            self.use_filters(&former);
            for feed in touched {
                self.rows.remove(&feed);
            }
        }
        done
    }

    fn write_filtered(
        &mut self,
        work: &FilterWork,
        list: Option<&[EntryFilter]>,
        step: Option<LaterStep>,
        touched: &mut BTreeSet<FeedKey>,
    ) -> Result<FilterChanges, StoreError> {
        let filter = work.filter();
        let before: BTreeSet<EntryKey> = self.filters.hits_of(filter).collect();
        let (after, wanted) = match work {
            FilterWork::Apply { hits, action, .. } => {
                let after: BTreeSet<EntryKey> = hits.iter().copied().collect();
                let wanted = self.wanted_by(filter, &before, &after, action)?;
                (after, wanted)
            }
            FilterWork::Label { keys, set, .. } => {
                let keys: BTreeSet<EntryKey> = keys.iter().copied().collect();
                let after = if *set { &before | &keys } else { &before - &keys };
                // A label sets no marks.
                (after, BTreeMap::new())
            }
            FilterWork::Replay { changes, forward } => self.replayed(changes, *forward, &before)?,
        };
        let changes = FilterChanges {
            filter,
            flags: self.differences(&wanted)?,
            before: before.iter().copied().collect(),
            after: after.iter().copied().collect(),
            of_some: false,
        };
        touched.extend(after.iter().chain(wanted.keys()).map(|key| key.feed));
        let [mut index, mut sums, mut hit, mut facts] = [(); 4].map(|()| Batch::default());
        for &feed in &*touched {
            let mut sum = self.counters_of(feed)?;
            let all = EntryKey { feed, seq: 0 }..=EntryKey { feed, seq: u32::MAX };
            let rows = self.rows_of(feed)?;
            for (key, &flags) in wanted.range(all.clone()) {
                if let Some(row) = rows.get_mut(key.seq as usize) {
                    sum.shift(Some(row.flags), Some(flags));
                    row.flags = flags;
                }
            }
            self.add_rows(&mut index, feed, wanted.range(all.clone()).map(|(key, _)| key.seq))?;
            self.put_counters(&mut sums, feed, sum)?;
            let seqs: BTreeSet<u32> = after.range(all).map(|key| key.seq).collect();
            if seqs.is_empty() {
                hit.remove(numbered_key(feed, filter));
            } else {
                hit.insert(numbered_key(feed, filter), codec::encode_compressed(&seqs)?);
            }
        }
        if let Some(list) = list {
            facts.insert(FILTERS_KEY, codec::encode(&list)?);
        }
        if let Some(step) = step {
            let part = Step::of_filter(step.filters.clone(), changes.clone());
            self.write_beside(&step, vec![part])?;
        }
        self.db.commit(&[
            (TableName::Index, &index),
            (TableName::Counters, &sums),
            (TableName::FilterHits, &hit),
            (TableName::Facts, &facts),
        ])?;
        self.filters.hits.retain(|(of, _), _| *of != filter);
        for key in after {
            self.filters.hits.entry((filter, key.feed)).or_default().insert(key.seq);
        }
        Ok(changes)
    }

    /// Returns the new marks of the entries whose marks change when the filter matches exactly the entries `after` and its action
    /// is applied to them.
    fn wanted_by(
        &mut self,
        filter: u32,
        before: &BTreeSet<EntryKey>,
        after: &BTreeSet<EntryKey>,
        action: &Action,
    ) -> Result<BTreeMap<EntryKey, Flags>, StoreError> {
        let mut wanted = BTreeMap::new();
        for &key in before.union(after) {
            let Some(flags) = self.flags_of(key)? else { continue };
            let free = before.contains(&key) && !self.filters.is_hidden_otherwise(filter, key);
            let shown = if free { flags.with(Flag::Hidden, false) } else { flags };
            let done = if after.contains(&key) { action.done_to(shown) } else { shown };
            if done != flags {
                wanted.insert(key, done);
            }
        }
        Ok(wanted)
    }

    /// Returns the matches and marks after changes of a filter were undone or redone. Entries that the filter has matched since the
    /// change are shown again, unless another filter hides them.
    fn replayed(
        &mut self,
        changes: &FilterChanges,
        forward: bool,
        now: &BTreeSet<EntryKey>,
    ) -> Result<(BTreeSet<EntryKey>, BTreeMap<EntryKey, Flags>), StoreError> {
        let set = |keys: &[EntryKey]| keys.iter().copied().collect::<BTreeSet<EntryKey>>();
        let (before, after) = (set(&changes.before), set(&changes.after));
        let (from, to) = if forward { (before, after) } else { (after, before) };
        let mut of_list = self.filters.list.iter();
        let is_by_hand =
            of_list.any(|it| it.id == changes.filter && it.scope == FilterScope::ByHand);
        // A server may have changed the label of other entries since the change, so change only the entries of the change.
        let hits = if is_by_hand || changes.of_some {
            &(now | &(&to - &from)) - &(&from - &to)
        } else {
            to
        };
        let mut wanted: BTreeMap<EntryKey, Flags> = BTreeMap::new();
        for &(key, flag, value) in &changes.flags {
            let known = match wanted.get(&key) {
                Some(flags) => Some(*flags),
                None => self.flags_of(key)?,
            };
            let Some(flags) = known else { continue };
            wanted.insert(key, flags.with(flag, value == forward));
        }
        for &key in now.iter().filter(|_| !changes.of_some) {
            let known = changes.before.binary_search(&key).is_ok()
                || changes.after.binary_search(&key).is_ok();
            if known || self.filters.is_hidden_otherwise(changes.filter, key) {
                continue;
            }
            if let Some(flags) = self.flags_of(key)? {
                wanted.insert(key, flags.with(Flag::Hidden, false));
            }
        }
        Ok((hits, wanted))
    }

    /// Returns the marks that differ from the stored ones, with their new values.
    fn differences(
        &mut self,
        wanted: &BTreeMap<EntryKey, Flags>,
    ) -> Result<Vec<(EntryKey, Flag, bool)>, StoreError> {
        let mut changed = Vec::new();
        for (&key, &after) in wanted {
            let Some(before) = self.flags_of(key)? else { continue };
            let differing =
                FILTER_FLAGS.into_iter().filter(|&flag| before.get(flag) != after.get(flag));
            changed.extend(differing.map(|flag| (key, flag, after.get(flag))));
        }
        Ok(changed)
    }
}
