//! Writes marks of entries, together with the undo step of the change. Marks from another reader are set on stored entries, and
//! kept for entries that arrive later.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::feed::FeedDocument;
use backissue_core::filters::{Action, FilterScope};
use backissue_core::history::kept::Position;
use backissue_core::history::{
    Counters, DocumentPlace, EntryKey, FeedKey, Flag, Flags, Merged, MergedEntry, Merging,
    Tombstones,
};
use backissue_core::other_readers::elsewhere::{Seen, SeenElsewhere};
use chrono::{DateTime, Utc};

use crate::engine::change::MarkChange;
use crate::engine::change::undo_stack::Step;
use crate::engine::change::value::LaterStep;
use crate::engine::entries::filter_work::FilterChanges;
use crate::engine::other_reader_marks::{Elsewhere, ElsewhereNoted};
use crate::io::codec;
use crate::io::store::commit::CommitParts;
use crate::io::store::error::StoreError;
use crate::io::store::handle::{NewHits, Store, feed_bytes};
use crate::io::store::pack::{Batch, TableName};

impl Store {
    /// Sets a mark on entries. Returns the changed ones.
    pub fn mark(
        &mut self,
        keys: &[EntryKey],
        flag: Flag,
        value: bool,
    ) -> Result<Vec<EntryKey>, StoreError> {
        self.mark_with_step(keys, flag, value, None)
    }

    /// Sets a mark on entries, and writes its undo step with this id and time in the same frame.
    pub(in crate::io::store) fn mark_with_step(
        &mut self,
        keys: &[EntryKey],
        flag: Flag,
        value: bool,
        step: Option<&LaterStep>,
    ) -> Result<Vec<EntryKey>, StoreError> {
        let mut by_feed: BTreeMap<FeedKey, Vec<u32>> = BTreeMap::new();
        for key in keys {
            by_feed.entry(key.feed).or_default().push(key.seq);
        }
        let touched: Vec<FeedKey> = by_feed.keys().copied().collect();
        let marked = self.mark_feeds(by_feed, flag, value, step);
        if marked.is_ok() && !value && flag != Flag::Starred && flag != Flag::Hidden {
            // Do this after setting the mark, because the first frame must contain the undo step.
            self.begin_unread_again(keys)?;
        }
        if marked.is_err() {
            // The write failed, so the rows must be read again.
            for feed in touched {
                self.rows.remove(&feed);
            }
        }
        marked
    }

    /// Sets a mark on entries of feeds, all or none of them.
    fn mark_feeds(
        &mut self,
        by_feed: BTreeMap<FeedKey, Vec<u32>>,
        flag: Flag,
        value: bool,
        step: Option<&LaterStep>,
    ) -> Result<Vec<EntryKey>, StoreError> {
        let mut marked = Vec::new();
        let (mut index, mut sums) = (Batch::default(), Batch::default());
        for (feed, seqs) in by_feed {
            let mut counters = self.counters_of(feed)?;
            let mut changed = Vec::new();
            let rows = self.rows_of(feed)?;
            for seq in seqs {
                let Some(row) = rows.get_mut(seq as usize) else { continue };
                let after = row.flags.with(flag, value);
                if after != row.flags {
                    counters.shift(Some(row.flags), Some(after));
                    row.flags = after;
                    changed.push(seq);
                }
            }
            if changed.is_empty() {
                continue;
            }
            self.add_rows(&mut index, feed, changed.iter().copied())?;
            self.put_counters(&mut sums, feed, counters)?;
            marked.extend(changed.into_iter().map(|seq| EntryKey { feed, seq }));
        }
        if let Some(step) = step.filter(|_| !marked.is_empty()) {
            let keys = marked.clone();
            self.write_beside(step, vec![Step::Marked(MarkChange { flag, value, keys })])?;
        }
        self.db.commit(&[(TableName::Index, &index), (TableName::Counters, &sums)])?;
        Ok(marked)
    }

    pub(in crate::io::store) fn write_marks(
        &mut self,
        feed: FeedKey,
        seqs: &[u32],
        counters: Counters,
    ) -> Result<(), StoreError> {
        let index = self.index_batch(feed, seqs.iter().copied())?;
        let mut sums = Batch::default();
        self.put_counters(&mut sums, feed, counters)?;
        self.db.commit(&[(TableName::Index, &index), (TableName::Counters, &sums)])
    }
}

impl Store {
    /// Imports what another reader knew about the entries of a feed, with the `step` that undoes it. Stored entries get their marks
    /// now. Starred and labelled entries that are not stored are added, if their texts are given. All other marks are kept until
    /// their entries arrive.
    pub fn note_elsewhere(
        &mut self,
        feed: FeedKey,
        noted: &Elsewhere,
        now: DateTime<Utc>,
        step: Option<&LaterStep>,
    ) -> Result<ElsewhereNoted, StoreError> {
        let mut seen = noted.seen.clone();
        let known = self.find_known(feed, |row| row.flags.is_live())?;
        let here = known.values().flatten().map(|known| (known.seq, &known.kept));
        let found = seen.take(here);
        let mut result = ElsewhereNoted::default();
        let place = DocumentPlace { position: Position::Page, fetched_at: now };
        let entries = noted.entries.iter().filter(|entry| seen.waits_for(entry)).cloned().collect();
        let document = FeedDocument { entries, ..FeedDocument::default() };
        let tombstones = Tombstones::default();
        let (mut merged, mut hits) =
            self.merge(feed, &document, &Merging::at(place), &tombstones)?;
        result.added = merged.new as usize;
        let mut labels = NewHits::new();
        for entry in known.into_values().flatten() {
            let Some(seen) = found.get(&entry.seq) else { continue };
            let kept = MergedEntry::new(entry.row, entry.kept, None);
            let merged_entry = merged.entries.entry(entry.seq).or_insert(kept);
            let before = merged_entry.row.flags;
            let after = seen.added_to(before);
            merged_entry.row.flags = after;
            merged.counters.shift(Some(before), Some(after));
            count(&mut result, seen);
            self.add_labels(&mut labels, EntryKey { feed, seq: entry.seq }, seen);
            let is_new = |is: fn(Flags) -> bool| is(after) && !is(before);
            let read = is_new(Flags::is_read).then_some(Flag::Read);
            let starred = is_new(Flags::is_starred).then_some(Flag::Starred);
            result.marked.insert(entry.seq, read.into_iter().chain(starred).collect());
        }
        let added = merged.entries.iter().map(|(seq, entry)| (*seq, &entry.kept));
        for (seq, seen) in seen.take(added) {
            let Some(entry) = merged.entries.get_mut(&seq) else { continue };
            let before = entry.row.flags;
            entry.row.flags = seen.set_on_new(before);
            merged.counters.shift(Some(before), Some(entry.row.flags));
            count(&mut result, &seen);
            if seen.is_starred {
                result.marked.insert(seq, vec![Flag::Starred]);
            }
            self.add_labels(&mut labels, EntryKey { feed, seq }, &seen);
        }
        (result.read.later, result.starred.later) = seen.counts();
        result.waits_since = (!seen.is_empty()).then_some(now);
        result.labelled =
            labels.iter().map(|(&id, seqs)| self.hits_change(feed, id, seqs)).collect();
        for (id, seqs) in labels {
            hits.entry(id).or_default().extend(seqs);
        }
        if let Some(mut earlier) = self.elsewhere(feed)? {
            earlier.extend(seen);
            seen = earlier;
        }
        if let Some(step) = step {
            self.write_beside(step, result.steps(feed, &self.filters.list))?;
        }
        let parts = CommitParts::of_import(hits, elsewhere_batch(feed, &seen)?);
        self.write(feed, merged, parts)?;
        Ok(result)
    }

    /// Applies the marks of another reader to the new entries of a document. Returns the batch that writes which entries have not
    /// arrived yet, or `None` if these did not change.
    pub(in crate::io::store) fn apply_elsewhere(
        &mut self,
        feed: FeedKey,
        merged: &mut Merged,
        hits: &mut NewHits,
        now: DateTime<Utc>,
    ) -> Result<Option<Batch>, StoreError> {
        // Ignore a damaged record, so that the feed can be polled. 'backissue doctor' reports it.
        let Ok(Some(mut seen)) = self.elsewhere(feed) else { return Ok(None) };
        let first_new = self.counters_of(feed)?.next_seq;
        let new = merged.entries.range(first_new..).map(|(seq, entry)| (*seq, &entry.kept));
        let found = seen.take(new);
        for (&seq, seen) in &found {
            let Some(entry) = merged.entries.get_mut(&seq) else { continue };
            let before = entry.row.flags;
            // If a filter of the user marked the entry as read, do not let the mark of the other reader make it unread.
            entry.row.flags = if self.is_read_by_filter(hits, seq) {
                seen.added_to(before)
            } else {
                seen.set_on_new(before)
            };
            merged.counters.shift(Some(before), Some(entry.row.flags));
            self.add_labels(hits, EntryKey { feed, seq }, seen);
        }
        if seen.is_outdated(now) {
            seen = SeenElsewhere::default();
        } else if found.is_empty() {
            return Ok(None);
        }
        elsewhere_batch(feed, &seen).map(Some)
    }

    /// Checks whether a filter marked a new entry read.
    fn is_read_by_filter(&self, hits: &NewHits, seq: u32) -> bool {
        self.filters.list.iter().any(|filter| {
            filter.action == Action::Read
                && hits.get(&filter.id).is_some_and(|seqs| seqs.contains(&seq))
        })
    }

    /// Adds the labels of the other reader that also exist here and that the entry does not have yet.
    fn add_labels(&self, hits: &mut NewHits, key: EntryKey, seen: &Seen) {
        for name in &seen.labels {
            let labels =
                || self.filters.list.iter().filter(|it| it.action.label() == Some(name.as_str()));
            if labels().any(|filter| self.filters.has_hit(filter.id, key)) {
                continue;
            }
            if let Some(filter) = labels().find(|filter| filter.scope == FilterScope::ByHand) {
                hits.entry(filter.id).or_default().push(key.seq);
            }
        }
    }

    /// Describes the entries that get a label, for the undo step.
    fn hits_change(&self, feed: FeedKey, filter: u32, seqs: &[u32]) -> FilterChanges {
        let before: BTreeSet<EntryKey> = self.filters.hits_of(filter).collect();
        let new = seqs.iter().map(|&seq| EntryKey { feed, seq });
        let after: BTreeSet<EntryKey> = before.iter().copied().chain(new).collect();
        let (before, after) = (before.into_iter().collect(), after.into_iter().collect());
        FilterChanges { before, after, ..FilterChanges::none(filter) }
    }

    /// Waits again for the entries of an import, or stops waiting because the import was undone.
    pub fn await_elsewhere(
        &mut self,
        feed: FeedKey,
        import: DateTime<Utc>,
        waits: bool,
    ) -> Result<(), StoreError> {
        let Some(mut seen) = self.elsewhere(feed)? else { return Ok(()) };
        seen.set_undone(import, !waits);
        let batch = elsewhere_batch(feed, &seen)?;
        self.db.commit(&[(TableName::Elsewhere, &batch)])
    }

    /// When `from` is merged into `into`, adds the entries that `from` still waits for to those of `into`.
    pub(in crate::io::store) fn hand_elsewhere(
        &mut self,
        from: FeedKey,
        into: FeedKey,
    ) -> Result<(), StoreError> {
        // Ignore a damaged record, so that the feeds can be merged. 'backissue doctor' reports it.
        let Ok(Some(waiting)) = self.elsewhere(from) else { return Ok(()) };
        let mut all = self.elsewhere(into).ok().flatten().unwrap_or_default();
        all.extend(waiting);
        let batch = elsewhere_batch(into, &all)?;
        self.db.commit(&[(TableName::Elsewhere, &batch)])
    }

    fn elsewhere(&self, feed: FeedKey) -> Result<Option<SeenElsewhere>, StoreError> {
        let bytes = self.tables.elsewhere.get(feed_bytes(feed))?;
        Ok(bytes.map(|bytes| codec::decode(&bytes)).transpose()?)
    }
}

/// Counts the marks of a stored entry.
fn count(result: &mut ElsewhereNoted, seen: &Seen) {
    for (taken, is_marked) in
        [(&mut result.read, seen.is_read), (&mut result.starred, seen.is_starred)]
    {
        taken.here = taken.here.saturating_add(usize::from(is_marked));
    }
}

fn elsewhere_batch(feed: FeedKey, seen: &SeenElsewhere) -> Result<Batch, StoreError> {
    let mut batch = Batch::default();
    if seen.is_empty() {
        batch.remove(feed_bytes(feed));
    } else {
        batch.insert(feed_bytes(feed), codec::encode(seen)?);
    }
    Ok(batch)
}
