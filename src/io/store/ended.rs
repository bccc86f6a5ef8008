//! Ends entries automatically that stay unread for longer than a limit. A record notes since when each entry has been unread in
//! this store, and which entries ended in the last seven days.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use backissue_core::history::{EntryKey, FeedKey, Flag, Flags};
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::engine::store_work::UnreadLimit;
use crate::io::codec;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::pack::TableName;

const ENDED_KEY: &[u8] = b"ended";
/// How long ended entries are listed.
const LISTED_FOR: TimeDelta = TimeDelta::days(7);

/// Notes about the entries of a feed. Times are in Unix seconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct EndedEntries {
    /// Number of the first entry that did not exist yet at the last check.
    next_seq: u32,
    /// Entries that were unread at the last check, with the time since when they have been unread.
    since: BTreeMap<u32, i64>,
    /// Entries that ended, with the time when they ended.
    ended: BTreeMap<u32, i64>,
}

impl Store {
    /// Ends the unread entries that have been unread for longer than the limits of their feeds allow, except starred and labelled
    /// ones. Returns these entries, and the number of entries that ended in the last seven days.
    pub(in crate::io::store) fn end_unread(
        &mut self,
        limits: &[UnreadLimit],
        now: DateTime<Utc>,
    ) -> Result<(Vec<EntryKey>, u32), StoreError> {
        let before = self.ended_entries()?;
        let mut noted = before.clone();
        let labels = self.filters.list.iter().filter(|filter| filter.action.label().is_some());
        let labels: Vec<u32> = labels.map(|filter| filter.id).collect();
        let (mut over, mut sent) = (Vec::new(), Vec::new());
        for limit in limits {
            let feed = noted.entry(limit.feed).or_default();
            // If the index of a feed is damaged, none of its entries end. Continue with the other feeds.
            let Ok(keys) = self.over(limit, feed, &labels, now) else { continue };
            if limit.is_sent {
                sent.extend_from_slice(&keys);
            }
            over.extend(keys);
        }
        for (feed, entries) in &mut noted {
            let Ok(rows) = self.rows_of(*feed) else { continue };
            let is_new = |at: i64| at > (now - LISTED_FOR).timestamp();
            entries.ended.retain(|seq, at| {
                let row = rows.get(*seq as usize);
                is_new(*at)
                    && row.is_some_and(|row| row.flags.has_ended() || *at == now.timestamp())
            });
        }
        let limited: BTreeSet<FeedKey> = limits.iter().map(|limit| limit.feed).collect();
        noted.retain(|feed, entries| limited.contains(feed) || !entries.ended.is_empty());
        // Entries of removed feeds are not listed.
        let listed = noted.iter().filter(|(feed, _)| !self.ended.contains(feed));
        let count: usize = listed.map(|(_, entries)| entries.ended.len()).sum();
        if noted != before {
            // Write this record first: an entry counts as ended only if its flag is set too.
            self.put(TableName::Facts, ENDED_KEY, codec::encode(&noted)?)?;
        }
        let ended = self.mark(&over, Flag::Ended, true)?;
        if !sent.is_empty() {
            self.mark(&sent, Flag::Opened, true)?;
        }
        Ok((ended, u32::try_from(count).unwrap_or(u32::MAX)))
    }

    /// Returns the entries of a feed that have been unread for longer than its limit, and notes since when the others have been
    /// unread.
    fn over(
        &mut self,
        limit: &UnreadLimit,
        noted: &mut EndedEntries,
        labels: &[u32],
        now: DateTime<Utc>,
    ) -> Result<Vec<EntryKey>, StoreError> {
        let feed = limit.feed;
        let latest = (now - TimeDelta::minutes(i64::from(limit.minutes))).timestamp();
        let rows = self.rows_of(feed)?;
        let next_seq = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let unread = (0_u32..).zip(rows.iter()).filter(|(_, row)| row.flags.is_unread());
        let unread: Vec<(u32, bool)> =
            unread.map(|(seq, row)| (seq, row.flags.is_starred())).collect();
        let mut over = Vec::new();
        let mut since = BTreeMap::new();
        for (seq, is_starred) in unread {
            let key = EntryKey { feed, seq };
            let at = match noted.since.get(&seq) {
                Some(at) => *at,
                // The entry existed at the last check and was read then. It became unread later, so its time begins now.
                None if seq < noted.next_seq => now.timestamp(),
                None => self.listed_entry(key)?.map_or(now, |it| it.first_seen).timestamp(),
            };
            let is_labelled = labels.iter().any(|&label| self.filters.has_hit(label, key));
            if at < latest && !is_starred && !is_labelled {
                over.push(key);
                noted.ended.insert(seq, now.timestamp());
            } else {
                since.insert(seq, at);
            }
        }
        (noted.next_seq, noted.since) = (next_seq, since);
        Ok(over)
    }

    /// Marks one entry from the history of a feed as unread: the oldest that was not opened. Its time begins now.
    pub(in crate::io::store) fn drip(
        &mut self,
        feed: FeedKey,
    ) -> Result<Vec<EntryKey>, StoreError> {
        let is_old = |flags: Flags| {
            flags.is_from_history() && !flags.was_opened() && flags.is_live() && flags.is_shown()
        };
        let rows = (0_u32..).zip(self.rows_of(feed)?.iter());
        let old = rows.filter(|(_, row)| is_old(row.flags));
        // Among entries with the same date, lists show the one with the lower number first.
        let oldest = old.min_by_key(|(seq, row)| (row.listed, Reverse(*seq)));
        let key = oldest.map(|(seq, _)| EntryKey { feed, seq });
        self.mark(key.as_slice(), Flag::FromHistory, false)
    }

    /// Restarts the unread time of entries that were marked unread.
    pub(super) fn begin_unread_again(&mut self, keys: &[EntryKey]) -> Result<(), StoreError> {
        let mut noted = self.ended_entries()?;
        let mut is_changed = false;
        for key in keys {
            let since = noted.get_mut(&key.feed).map(|entries| &mut entries.since);
            is_changed |= since.is_some_and(|since| since.remove(&key.seq).is_some());
        }
        if is_changed {
            self.put(TableName::Facts, ENDED_KEY, codec::encode(&noted)?)?;
        }
        Ok(())
    }

    /// Returns the entries that ended in the last seven days, as of the last check.
    pub fn ended_lately(&self) -> Result<BTreeSet<EntryKey>, StoreError> {
        let noted = self.ended_entries()?.into_iter();
        let listed = noted.filter(|(feed, _)| !self.ended.contains(feed));
        let ended = listed.flat_map(|(feed, entries)| {
            entries.ended.into_keys().map(move |seq| EntryKey { feed, seq })
        });
        Ok(ended.collect())
    }

    fn ended_entries(&self) -> Result<BTreeMap<FeedKey, EndedEntries>, StoreError> {
        let bytes = self.tables.facts.get(ENDED_KEY)?;
        // Without the record, entries count as unread since they were first seen.
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }
}
