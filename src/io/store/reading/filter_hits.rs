//! Finds the entries that a filter hits, on a thread other than the store's.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::texts::Texts;
use crate::engine::entries::filter_work::{FilterPreview, PREVIEW_TITLES, PreviewTitle};
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::io::store::applied_filters::AppliedFilters;
use crate::io::store::chunks;
use crate::io::store::record_keys::feed_bytes;
use crate::io::{clock, codec};
use backissue_core::filters::{EntryFilter, PreparedFilters};
use backissue_core::history::{EntryKey, FeedKey, IndexRow};
use backissue_core::search::{EntryTexts, FeedNames, Subject};

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
        let judge = PreparedFilters::new(std::slice::from_ref(rule), clock::zone());
        let labels = if judge.looks_at_labels() { self.other_labels(rule) } else { Labels::new() };
        for feed in self.feeds() {
            let Some(record) = self.record(feed).filter(|record| record.ended.is_none()) else {
                continue;
            };
            let names = record.names(feed);
            let judge = judge.for_feed(&names, now);
            if judge.is_empty() {
                continue;
            }
            let rows = self.rows(feed);
            let findable = (0_u32..).zip(&rows).filter(|(_, row)| row.flags.is_findable());
            let seqs: Vec<u32> = findable.map(|(seq, _)| seq).collect();
            let looked = LookedAt { names, rows: &rows, labels: &labels, now };
            for slice in seqs.chunks(SLICE) {
                if !goes_on() {
                    return None;
                }
                self.look_at(&looked, slice, &judge, &mut found);
            }
        }
        found.preview.sort();
        Some(found)
    }

    fn look_at(
        &self,
        looked: &LookedAt<'_>,
        seqs: &[u32],
        judge: &PreparedFilters,
        found: &mut RuleHits,
    ) {
        let preview = &mut found.preview;
        preview.of = preview.of.saturating_add(u32::try_from(seqs.len()).unwrap_or(u32::MAX));
        let (feed, wanted) = (looked.names.key, seqs.iter().copied());
        let entries = if judge.looks_at_texts() {
            self.read(feed, wanted)
        } else {
            let trees = self.tables();
            trees.map(|trees| chunks::kept_in(&trees.meta, feed, wanted)).unwrap_or_default()
        };
        for (seq, (kept, body)) in entries {
            let (key, row) = (EntryKey { feed, seq }, looked.rows.get(seq as usize));
            let Some(&IndexRow { flags, listed, .. }) = row else { continue };
            let texts = EntryTexts::new(&kept, body.as_ref());
            let labels = looked.labels.get(&key).map(Vec::as_slice).unwrap_or_default();
            let (feed, now) = (looked.names, looked.now);
            let subject = Subject { feed, flags, listed, labels, texts: &texts, now };
            if judge.hits(&subject).is_empty() {
                continue;
            }
            found.keys.push(key);
            preview.hits = preview.hits.saturating_add(1);
            preview.unread = preview.unread.saturating_add(u32::from(flags.is_unread()));
            let title = kept.shown_title().to_owned();
            preview.newest.push(PreviewTitle { feed: key.feed, listed: kept.listed(), title });
            if preview.newest.len() > 4 * PREVIEW_TITLES {
                preview.sort();
            }
        }
    }

    fn record(&self, feed: FeedKey) -> Option<SubscriptionRecord> {
        let bytes = self.tables()?.feeds.get(feed_bytes(feed)).ok().flatten()?;
        codec::decode(&bytes).ok()
    }

    /// Returns the labels that filters other than this one gave to entries.
    fn other_labels(&self, rule: &EntryFilter) -> Labels {
        let mut labels = Labels::new();
        let Some(tables) = self.tables() else { return labels };
        let Ok(filters) = AppliedFilters::load(&tables.facts, &tables.filter_hits) else {
            return labels;
        };
        for filter in filters.list.iter().filter(|filter| filter.id != rule.id) {
            let Some(label) = filter.action.label() else { continue };
            for key in filters.hits_of(filter.id) {
                labels.entry(key).or_default().push(label.to_owned());
            }
        }
        labels
    }
}

/// The labels of entries.
type Labels = BTreeMap<EntryKey, Vec<String>>;

/// A feed whose entries a filter looks at.
struct LookedAt<'l> {
    names: FeedNames<'l>,
    rows: &'l [IndexRow],
    labels: &'l Labels,
    now: DateTime<Utc>,
}
