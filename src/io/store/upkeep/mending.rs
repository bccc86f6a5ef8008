//! Puts the records of a store in line again where some of them are missing: rows, entries, texts and sums.

use std::collections::BTreeSet;

use crate::io::store::pack::{Batch, Table, TableName};

use super::backup::TEXTS_LOST;
use super::recovery_report::complete_note;
use super::repair::revived_words;
use crate::engine::poll::fetch::Validators;
use crate::io::codec;
use crate::io::store::chunks::{ENTRIES, ROWS};
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::record_keys::{feed_bytes, feed_of, number_of, numbered_key};
use backissue_core::feed::identity::identity_hash;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{
    EntryKey, FeedKey, Flags, HistoryRecord, IndexRow, NodeState, Nodes, TEXT_LOST,
};

/// The value of [`TEXTS_LOST`] where only some texts are missing: what is there stays as it is.
pub(in crate::io::store) const SOME_LOST: &[u8] = b"some";

/// The row of an entry of which nothing is known any more.
const NOTHING: IndexRow =
    IndexRow { identity: 0, content: TEXT_LOST, listed: 0, flags: Flags::OLD.withdrawn(true) };

/// What is known to be missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::io::store) struct Missing {
    /// Entries of which nothing but a row is left, or that are counted and have not even that.
    entries: u32,
    /// Entries that were found without their marks.
    marks: u32,
    /// Entries without their text, in feeds without archives.
    texts: u32,
    /// The same in feeds whose archives are asked for again.
    archived_texts: u32,
}

impl Missing {
    fn add(&mut self, other: Self) {
        self.entries = self.entries.saturating_add(other.entries);
        self.marks = self.marks.saturating_add(other.marks);
        self.texts = self.texts.saturating_add(other.texts);
        self.archived_texts = self.archived_texts.saturating_add(other.archived_texts);
    }

    /// What is missing in words, a fragment for each kind.
    pub(in crate::io::store) fn words(self) -> impl Iterator<Item = String> {
        let entries = |count| counted_words(count, "entry", "entries");
        let told = [
            (
                self.entries,
                format!(
                    "{} lost unless the next polls bring them back",
                    counted_words(self.entries, "entry is", "entries are"),
                ),
            ),
            (
                self.marks,
                format!("the marks of {} are lost: they count as unread", entries(self.marks)),
            ),
            (
                self.texts,
                format!(
                    "the texts of {} are missing; the next polls restore those that the feeds still contain",
                    entries(self.texts),
                ),
            ),
            (
                self.archived_texts,
                format!(
                    "the texts of {} are missing; their feeds' archives are fetched again automatically",
                    entries(self.archived_texts),
                ),
            ),
        ];
        told.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words)
    }
}

impl Store {
    /// Takes note, in a store that was made from a backup or from damaged files, that texts are missing: the next
    /// document of each feed is requested unconditionally and brings what it has of them.
    pub(in crate::io::store) fn note_lost_texts(&mut self) -> Result<(), StoreError> {
        let Some(mark) = self.facts.get(TEXTS_LOST)? else { return Ok(()) };
        let revived = self.revive_feeds()?;
        let missing = self.mend_feeds(*mark != *SOME_LOST)?;
        // The backup was made while feeds were polled: sums may be a moment older than rows.
        self.check(true)?;
        if *mark == *SOME_LOST {
            let told = revived_words(&revived).into_iter().chain(missing.words());
            complete_note(&self.data, &told.collect::<Vec<_>>());
        }
        self.drop_record(TableName::Facts, TEXTS_LOST)?;
        self.sync()
    }

    /// Puts the records of each feed in line. `all`: every text is missing.
    pub(in crate::io::store) fn mend_feeds(&mut self, all: bool) -> Result<Missing, StoreError> {
        let keys: Vec<_> = self.feeds.keys().collect::<Result<_, _>>()?;
        let mut missing = Missing::default();
        for feed in keys.iter().filter_map(|key| feed_of(key)) {
            missing.add(self.mend_feed(feed, all)?);
        }
        Ok(missing)
    }

    /// Puts the records of a feed in line; what is sound stays as it is.
    pub(super) fn mend_feed(&mut self, feed: FeedKey, all: bool) -> Result<Missing, StoreError> {
        let mut missing = Missing { marks: self.add_missing_rows(feed)?, ..Missing::default() };
        // What is damaged is found and told by the check; the other feeds are here.
        let Ok(rows) = self.rows_of(feed) else { return Ok(missing) };
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        // Sums know of entries of which no row is left. What cannot be read is as good as none.
        let counted = self.counters_of(feed).unwrap_or_default().next_seq;
        missing.entries = counted.saturating_sub(count);
        let keys: Vec<EntryKey> = (0..count).map(|seq| EntryKey { feed, seq }).collect();
        let kept = self.readable_entries(&keys)?;
        let without_text: BTreeSet<EntryKey> =
            keys.iter().filter(|key| all || !self.has_text_record(**key)).copied().collect();
        let mut changed = BTreeSet::new();
        for (key, row) in keys.iter().zip(self.rows_of(feed)?) {
            if without_text.contains(key) && row.content != TEXT_LOST {
                row.content = TEXT_LOST;
                missing.texts = missing.texts.saturating_add(1);
                changed.insert(key.seq);
            }
            let is_told = row.flags.is_withdrawn() && row.content == TEXT_LOST;
            if !kept.contains_key(key) && !is_told {
                row.flags = row.flags.withdrawn(true);
                row.content = TEXT_LOST;
                missing.entries = missing.entries.saturating_add(1);
                changed.insert(key.seq);
            }
        }
        if !changed.is_empty() {
            let rows = self.index_batch(feed, changed.into_iter())?;
            self.db.commit(&[(TableName::Index, &rows)])?;
        }
        if all || missing != Missing::default() {
            self.ask_whole(feed)?;
            // What cannot be read is as good as none.
            if self.history_of(feed).unwrap_or_default().archives > 0 {
                self.reread_archives(feed)?;
                missing.archived_texts = std::mem::take(&mut missing.texts);
            }
        }
        Ok(missing)
    }

    /// Has the next document of a feed asked for unconditionally.
    pub(super) fn ask_whole(&mut self, feed: FeedKey) -> Result<(), StoreError> {
        // What cannot be read is as good as none.
        let mut state = self.state_of(feed).unwrap_or_default();
        state.validators = Validators::default();
        self.save_state(feed, &state)
    }

    /// Writes what the archives of a feed say of its history, where its record is lost: the next document says the rest.
    pub(super) fn keep_history_of_archives(
        &mut self,
        feed: FeedKey,
        nodes: &Nodes,
    ) -> Result<(), StoreError> {
        let mut record = HistoryRecord { archived: true, walked: true, ..HistoryRecord::default() };
        for (_, node) in nodes.iter().filter(|(_, node)| node.state == NodeState::Applied) {
            record.archives = record.archives.saturating_add(1);
            record.epoch = record.epoch.max(node.epoch);
            let oldest = node.span.map(|(_, oldest)| oldest);
            record.reaches = record.reaches.into_iter().chain(oldest).min();
        }
        self.put(TableName::History, feed_bytes(feed), codec::encode(&record)?)?;
        self.ask_whole(feed)
    }

    /// Has the archives of a feed asked for again, by themselves and within the usual bounds: some texts came from them, or
    /// what is known of them does not hang together.
    pub(super) fn reread_archives(&mut self, feed: FeedKey) -> Result<(), StoreError> {
        // What cannot be read is as good as none.
        let (mut record, mut known) =
            (self.history_of(feed).unwrap_or_default(), self.nodes(feed)?);
        record.reread(&mut known);
        let mut history = Batch::default();
        history.insert(feed_bytes(feed), codec::encode(&record)?);
        let mut nodes = Batch::default();
        for key in self.nodes.keys_of(feed_bytes(feed)) {
            nodes.remove(key?);
        }
        self.db.commit(&[(TableName::History, &history), (TableName::Nodes, &nodes)])
    }

    /// Makes rows of entries whose record of rows is missing; returns how many. Their marks are lost.
    fn add_missing_rows(&mut self, feed: FeedKey) -> Result<u32, StoreError> {
        let chunks_of = |table: &Table| -> Result<BTreeSet<u32>, StoreError> {
            let keys = table.keys_of(feed_bytes(feed));
            let keys: Vec<_> = keys.collect::<Result<_, _>>()?;
            Ok(keys.iter().filter_map(|key| number_of(key)).collect())
        };
        let (there, entries) = (chunks_of(&self.index)?, chunks_of(&self.meta)?);
        let last_entry = entries.last().map(|chunk| (chunk * ENTRIES) / ROWS);
        let Some(last) = there.last().copied().max(last_entry) else { return Ok(0) };
        let mut added = 0_u32;
        for chunk in 0..=last {
            let there = self.index.get(numbered_key(feed, chunk))?;
            let there = there.map_or(Ok(Vec::new()), |bytes| codec::decode_rows(&bytes));
            // What is damaged is found and told by the check.
            let Ok(mut rows) = there else { continue };
            let had = rows.len();
            let keys: Vec<EntryKey> = (chunk.saturating_mul(ROWS)..)
                .take(ROWS as usize)
                .map(|seq| EntryKey { feed, seq })
                .collect();
            let missing = keys.get(had..).unwrap_or_default();
            if missing.is_empty() {
                continue;
            }
            let kept = self.readable_entries(missing)?;
            let end = if chunk < last { keys.last() } else { kept.keys().next_back() };
            let Some(end) = end.copied() else { continue };
            rows.extend(missing.iter().take_while(|key| **key <= end).map(|key| {
                kept.get(key).map_or(NOTHING, |kept| IndexRow {
                    identity: identity_hash(&kept.id),
                    listed: kept.listed().timestamp(),
                    flags: Flags::NEW,
                    ..NOTHING
                })
            }));
            added = added.saturating_add(u32::try_from(kept.len()).unwrap_or(u32::MAX));
            self.put(TableName::Index, numbered_key(feed, chunk), codec::encode_rows(&rows))?;
        }
        self.rows.remove(&feed);
        Ok(added)
    }
}
