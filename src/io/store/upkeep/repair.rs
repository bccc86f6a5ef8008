//! Drops records that cannot be read, so that everything else goes on: texts and entries come again with a poll, sums are
//! counted anew.

use std::fs::File;

use sled::Tree;

use super::backup::{BackupPart, read_backup};
use super::check::StoreProblem;
use super::daily_backup;
use crate::engine::feeds::subscription::{FeedState, SubscriptionRecord};
use crate::engine::poll::poll_log::PollLogEntry;
use crate::engine::poll::poll_times::PollTimes;
use crate::history::{ArchiveNode, FeedKey, HistoryRecord, KeptEntry};
use crate::io::codec::{self, CodecError};
use crate::io::store::chunks::are_texts;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::record_keys::{feed_bytes, feed_of};

/// How a record of a tree is read.
type ReadRecord = fn(&[u8], &[u8]) -> Result<(), CodecError>;

impl Store {
    /// The trees whose records can be dropped, with what each record is called.
    fn droppable(&self) -> [(&Tree, &'static str, ReadRecord); 9] {
        [
            (&self.state, "the state", |_, bytes| codec::decode::<FeedState>(bytes).map(drop)),
            (&self.times, "the times of the last polls", |_, bytes| {
                codec::decode::<PollTimes>(bytes).map(drop)
            }),
            (&self.index, "a record of marks", |_, bytes| codec::decode_rows(bytes).map(drop)),
            (&self.meta, "a record of entries", |_, bytes| {
                codec::decode_compressed::<Vec<Option<KeptEntry>>>(bytes).map(drop)
            }),
            (&self.bodies, "a record of texts", |key, bytes| {
                are_texts(bytes, key.len() > 8).then_some(()).ok_or(CodecError::Checksum)
            }),
            (&self.polls, "a line of the poll log", |_, bytes| {
                codec::decode::<PollLogEntry>(bytes).map(drop)
            }),
            (&self.rhythms, "when it published", |_, bytes| {
                codec::is_sound(bytes).then_some(()).ok_or(CodecError::Checksum)
            }),
            (&self.history, "the history", |_, bytes| {
                codec::decode::<HistoryRecord>(bytes).map(drop)
            }),
            (&self.nodes, "a record of an archive", |_, bytes| {
                codec::decode::<ArchiveNode>(bytes).map(drop)
            }),
        ]
    }

    /// Drops what cannot be read, and puts what belongs together in line again. Returns what was dropped, by name.
    pub(in crate::io::store) fn drop_unreadable(
        &mut self,
    ) -> Result<Vec<StoreProblem>, StoreError> {
        let mut found = Vec::new();
        for (tree, what, read) in self.droppable() {
            for pair in tree {
                let (key, bytes) = pair?;
                let Err(why) = read(&key, &bytes) else { continue };
                let feed =
                    feed_of(&key).map_or_else(String::new, |feed| format!(" of feed {feed}"));
                tree.remove(&key)?;
                let text =
                    format!("{what}{feed} is damaged ({why}); dropped, the feed is polled again");
                found.push(StoreProblem { text, repaired: true });
            }
        }
        found.extend(self.revive_feeds()?);
        if !found.is_empty() {
            self.rows.clear();
            self.shown.clear();
            self.mend_feeds(false)?;
        }
        Ok(found)
    }

    /// Puts records of subscriptions back that are damaged or missing: as the newest backup has them, else with the
    /// address that was asked last. Without either the feed cannot be had back.
    pub(in crate::io::store) fn revive_feeds(&mut self) -> Result<Vec<StoreProblem>, StoreError> {
        let mut lost: Vec<FeedKey> = Vec::new();
        for key in self.state.iter().keys().chain(self.feeds.iter().keys()) {
            let Some(feed) = feed_of(&key?) else { continue };
            let record = self.feeds.get(feed_bytes(feed))?;
            let is_sound =
                record.is_some_and(|bytes| codec::decode::<SubscriptionRecord>(&bytes).is_ok());
            if !is_sound && !lost.contains(&feed) {
                lost.push(feed);
            }
        }
        let mut found = Vec::new();
        for feed in lost {
            let asked = self.state_of(feed).unwrap_or_default().validators.url;
            let text = if let Some(bytes) = self.backed_up_record(feed)? {
                self.feeds.insert(feed_bytes(feed), bytes)?;
                format!(
                    "the record of feed {feed} is damaged; put back as the newest backup has it"
                )
            } else if asked.is_empty() {
                self.remove(&[feed])?;
                format!(
                    "the record of feed {feed} is damaged, and nothing says what feed it was: dropped"
                )
            } else {
                let text = format!(
                    "the record of feed {feed} is damaged; it is read from {asked} again, without its tags and settings"
                );
                let record = SubscriptionRecord { url: asked, ..SubscriptionRecord::default() };
                self.feeds.insert(feed_bytes(feed), codec::encode(&record)?)?;
                text
            };
            found.push(StoreProblem { text, repaired: true });
        }
        Ok(found)
    }

    /// The record of a subscription in the newest backup that can be read.
    fn backed_up_record(&self, feed: FeedKey) -> Result<Option<Vec<u8>>, StoreError> {
        let wanted = feed_bytes(feed);
        for daily in daily_backup::newest_first(&self.data, chrono::NaiveDate::MAX) {
            let Ok(file) = File::open(&daily.path) else { continue };
            let (mut is_feeds, mut record) = (false, None);
            let read = read_backup(file, &mut |part| {
                match part {
                    BackupPart::Tree(name) => is_feeds = name == b"feeds",
                    BackupPart::Record(key, value) if is_feeds && key == wanted => {
                        record = Some(value.to_vec());
                    }
                    BackupPart::Record(..) => {}
                }
                Ok(())
            });
            if read.is_ok() && record.is_some() {
                return Ok(record);
            }
        }
        Ok(None)
    }
}
