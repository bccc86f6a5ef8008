//! Publication times: one record for each feed, which a poll without news does not write.

use std::collections::BTreeMap;

use crate::io::store::pack::{Batch, TableName};

use crate::engine::feeds::subscription::Commit;
use crate::io::codec;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::record_keys::feed_bytes;
use backissue_core::history::{EntryKey, FeedKey, Merged};
use backissue_core::schedule::learning::{Fetch, LearnedRecord, Publications, Stamp};

/// The status of a delta, which holds new entries only (RFC 3229).
const DELTA: u16 = 226;

impl Store {
    /// Returns the publication times of a feed; the default if none were stored.
    pub fn publications(&self, feed: FeedKey) -> Result<Publications, StoreError> {
        let bytes = self.rhythms.get(feed_bytes(feed))?;
        Ok(bytes.map(|bytes| codec::decode(&bytes)).transpose()?.unwrap_or_default())
    }

    /// Returns the plan that was learned of a feed last. A record that cannot be read is as good as none: the feed is
    /// learned again.
    pub fn learned_plan(&self, feed: FeedKey) -> Result<Option<LearnedRecord>, StoreError> {
        let bytes = self.rhythms.get(plan_key(feed))?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()))
    }

    /// Stores the plan that was learned of a feed.
    pub fn save_learned_plan(
        &mut self,
        feed: FeedKey,
        learned: &LearnedRecord,
    ) -> Result<(), StoreError> {
        self.put(TableName::Rhythms, plan_key(feed), codec::encode(learned)?)?;
        Ok(())
    }

    /// Returns the batch that adds the publication times of a commit; `None` if it adds none.
    ///
    /// Of the first document all dates count, also if the feed itself has been known for longer.
    pub(in crate::io::store) fn rhythm_batch(
        &self,
        commit: &Commit,
        merged: &Merged,
    ) -> Result<Option<Batch>, StoreError> {
        let Some(document) = &commit.document else { return Ok(None) };
        // A damaged record is replaced by a new one: its content is learned again.
        let mut publications = self.publications(commit.feed).unwrap_or_default();
        let first = publications.since().is_none();
        let stamps: Vec<Option<Stamp>> = if first {
            document.entries.iter().map(Stamp::of).collect()
        } else {
            let feed = commit.feed;
            let before = self.counters_of(feed)?.next_seq;
            let written = merged.entries.keys().filter(|&&seq| seq < before);
            let known =
                self.read_entries(&written.map(|&seq| EntryKey { feed, seq }).collect::<Vec<_>>())?;
            let updated: BTreeMap<u32, _> =
                known.iter().map(|(key, kept)| (key.seq, kept.updated)).collect();
            // What is kept of an entry has no offset; the document has it.
            let offsets: BTreeMap<_, _> = document
                .entries
                .iter()
                .filter_map(|entry| Stamp::of(entry).map(|stamp| (stamp.at, stamp.offset_minutes)))
                .collect();
            let stamp = |at: Option<_>| {
                at.map(|at| Stamp { at, offset_minutes: offsets.get(&at).copied().flatten() })
            };
            let written = merged.entries.iter().filter_map(|(&seq, entry)| {
                let kept = &entry.kept;
                if seq >= before {
                    return Some(stamp(kept.published.or(kept.updated)));
                }
                let later = kept.updated > updated.get(&seq).copied().flatten();
                (later && entry.body.is_some()).then(|| stamp(kept.updated))
            });
            written.collect()
        };
        if stamps.is_empty() && !first {
            return Ok(None);
        }
        let is_delta = commit.state.status == Some(DELTA);
        let previous = if first { None } else { self.state_of(commit.feed)?.facts.last_ok };
        publications.learn_from_fetch(&Fetch {
            previous,
            at: commit.fetched_at,
            stamps: &stamps,
            document_entries: if is_delta { 0 } else { document.entries.len() },
        });
        let mut batch = Batch::default();
        batch.insert(feed_bytes(commit.feed), codec::encode(&publications)?);
        Ok(Some(batch))
    }
}

/// The key of a feed's plan, beside its publication times.
fn plan_key(feed: FeedKey) -> [u8; 5] {
    let [a, b, c, d] = feed_bytes(feed);
    [a, b, c, d, b'p']
}
