//! Finds the entries that a filter hits, on a thread other than the store's.

use chrono::{DateTime, Utc};

use super::texts::Texts;
use crate::engine::entries::filter_work::{FilterPreview, PREVIEW_TITLES, PreviewTitle};
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::io::codec;
use crate::io::store::chunks;
use crate::io::store::record_keys::feed_bytes;
use backissue_core::filters::{EntryFilter, FilterSubject, PreparedFilters};
use backissue_core::history::{EntryKey, FeedKey, IndexRow};

/// Entries that are read together.
const SLICE: usize = 256;

/// The entries that a filter hits.
#[derive(Debug, Default)]
pub struct RuleHits {
    /// In order of their numbers.
    pub keys: Vec<EntryKey>,
    /// Their number, and the newest of them.
    pub preview: FilterPreview,
}

impl Texts {
    /// Finds all entries that a filter hits. `goes_on` is asked from time to time; `None`: it returned false.
    pub fn hits(
        &self,
        rule: &EntryFilter,
        now: DateTime<Utc>,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<RuleHits> {
        let mut found = RuleHits::default();
        let judge = PreparedFilters::new(std::slice::from_ref(rule));
        for feed in self.feeds() {
            let Some(record) = self.record(feed).filter(|record| record.ended.is_none()) else {
                continue;
            };
            let judge = judge.for_feed(feed, &record.tags, now);
            if judge.is_empty() {
                continue;
            }
            let rows = self.rows(feed);
            let findable = (0_u32..).zip(&rows).filter(|(_, row)| row.flags.is_findable());
            let seqs: Vec<u32> = findable.map(|(seq, _)| seq).collect();
            for slice in seqs.chunks(SLICE) {
                if !goes_on() {
                    return None;
                }
                self.look_at(feed, &rows, slice, &judge, &mut found);
            }
        }
        found.preview.sort();
        Some(found)
    }

    fn look_at(
        &self,
        feed: FeedKey,
        rows: &[IndexRow],
        seqs: &[u32],
        judge: &PreparedFilters,
        found: &mut RuleHits,
    ) {
        let preview = &mut found.preview;
        preview.of = preview.of.saturating_add(u32::try_from(seqs.len()).unwrap_or(u32::MAX));
        let wanted = seqs.iter().copied();
        let entries = if judge.looks_at_texts() {
            self.read(feed, wanted)
        } else {
            let trees = self.tables();
            trees.map(|trees| chunks::kept_in(&trees.meta, feed, wanted)).unwrap_or_default()
        };
        for (seq, (kept, body)) in entries {
            if judge.hits(&FilterSubject::new(feed, &kept, body.as_ref())).next().is_none() {
                continue;
            }
            let key = EntryKey { feed, seq };
            let unread = rows.get(seq as usize).is_some_and(|row| row.flags.is_unread());
            found.keys.push(key);
            preview.hits = preview.hits.saturating_add(1);
            preview.unread = preview.unread.saturating_add(u32::from(unread));
            let title = kept.shown_title().to_owned();
            preview.newest.push(PreviewTitle { feed, listed: kept.listed(), title });
            if preview.newest.len() > 4 * PREVIEW_TITLES {
                preview.sort();
            }
        }
    }

    fn record(&self, feed: FeedKey) -> Option<SubscriptionRecord> {
        let bytes = self.tables()?.feeds.get(feed_bytes(feed)).ok().flatten()?;
        codec::decode(&bytes).ok()
    }
}
