//! Checks the store: reads every record and recounts every counter.

use crate::io::store::pack::{Batch, TableName};

use crate::io::codec;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::record_keys::{feed_bytes, feed_of};
use backissue_core::feed::text::counted_words;
use backissue_core::history::{Counters, EntryKey, FeedKey, IndexRow, TEXT_LOST};

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    pub feeds: usize,
    pub entries: usize,
    pub disk_bytes: u64,
    pub findings: Vec<StoreProblem>,
    /// Whether the pack is damaged: to repair that, it must be compacted after the check.
    pub is_pack_damaged: bool,
}

/// Something that is wrong with the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreProblem {
    /// What is wrong, as a sentence.
    pub text: String,
    pub repaired: bool,
}

impl Store {
    /// Reads every record. `repair` drops those that cannot be read, and rewrites the counters from the rows that they
    /// count.
    pub fn check(&mut self, repair: bool) -> Result<Health, StoreError> {
        self.guarded(|store| store.check_records(repair))
    }

    fn check_records(&mut self, repair: bool) -> Result<Health, StoreError> {
        let mut health = Health { disk_bytes: self.db.disk_bytes(), ..Health::default() };
        let scanned = self.db.scan()?;
        if !scanned.is_sound() {
            health.is_pack_damaged = true;
            let parts = counted_words(
                scanned.gaps.len().saturating_add(scanned.unsound),
                "part of the store's file is",
                "parts of the store's file are",
            );
            let then = if repair { "; it was written again from what is sound" } else { "" };
            health
                .findings
                .push(StoreProblem { text: format!("{parts} damaged{then}"), repaired: repair });
        }
        let (unreadable, damaged) = self.find_damage(repair)?;
        health.findings.extend(unreadable);
        let keys: Vec<_> = self.feeds.keys().collect::<Result<_, _>>()?;
        for feed in keys.iter().filter_map(|key| feed_of(key)) {
            // What is kept of an unsubscribed feed is read as well, but not counted: no list has it.
            health.feeds = health.feeds.saturating_add(usize::from(!self.ended.contains(&feed)));
            let found = self.check_feed(feed, repair, &mut health);
            if let Err(error @ StoreError::Corrupted(_)) = found {
                return Err(error);
            }
            // What the records of a feed cannot tell because they are damaged was reported with them.
            if let Err(error) = found
                && !damaged.contains(&feed)
            {
                health.findings.push(StoreProblem { text: error.to_string(), repaired: false });
            }
        }
        health.findings.extend(self.check_steps(repair)?);
        if repair {
            self.sync()?;
        }
        Ok(health)
    }

    fn check_feed(
        &mut self,
        feed: FeedKey,
        repair: bool,
        health: &mut Health,
    ) -> Result<(), StoreError> {
        self.check_entries(feed, repair, health)?;
        let rows = self.read_rows(feed)?;
        if !self.ended.contains(&feed) {
            health.entries = health.entries.saturating_add(rows.len());
        }
        let mut recount = Counters {
            next_seq: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            ..Counters::default()
        };
        for row in &rows {
            recount.shift(None, Some(row.flags));
        }
        let stored = self.counters_of(feed);
        if !matches!(&stored, Ok(stored) if *stored == recount) {
            let mut text = format!(
                "feed {feed}: the counters are wrong (stored {stored:?}, counted {recount:?})"
            );
            if repair {
                let mut batch = Batch::default();
                batch.insert(feed_bytes(feed), codec::encode(&recount)?);
                self.db.commit(&[(TableName::Counters, &batch)])?;
                text.push_str("; corrected");
            }
            health.findings.push(StoreProblem { text, repaired: repair });
        }
        self.publications(feed)?;
        self.check_history(feed, repair, health)
    }

    /// Looks for entries of which there is nothing but a row: the end of the log may be missing.
    fn check_entries(
        &mut self,
        feed: FeedKey,
        repair: bool,
        health: &mut Health,
    ) -> Result<(), StoreError> {
        let rows = self.read_rows(feed)?;
        let keys: Vec<EntryKey> =
            (0_u32..).zip(&rows).map(|(seq, _)| EntryKey { feed, seq }).collect();
        let kept = self.read_entries(&keys)?;
        // The row of an entry that is lost and was reported stays, so that numbers do not change.
        let was_told = |row: &IndexRow| row.flags.is_withdrawn() && row.content == TEXT_LOST;
        let lost = keys.iter().zip(&rows);
        let lost = lost.filter(|(key, row)| !kept.contains_key(key) && !was_told(row)).count();
        if lost > 0 {
            let mut text = format!("feed {feed}: {lost} entries have a row but no record");
            if repair {
                self.mend_feed(feed, false)?;
                text.push_str("; they are no longer listed, and the feed is polled again");
            }
            health.findings.push(StoreProblem { text, repaired: repair });
        }
        Ok(())
    }

    /// Looks whether the archives of a feed hang together. `repair` has them asked for again where they do not.
    fn check_history(
        &mut self,
        feed: FeedKey,
        repair: bool,
        health: &mut Health,
    ) -> Result<(), StoreError> {
        let mut tell = |text, repaired| health.findings.push(StoreProblem { text, repaired });
        let (nodes, _) = self.readable_nodes(feed)?;
        if repair && !nodes.is_empty() && !self.history.contains_key(feed_bytes(feed))? {
            self.keep_history_of_archives(feed, &nodes)?;
        }
        let record = self.history_of(feed)?;
        let Err(why) = nodes.check_invariant(&record) else { return Ok(()) };
        let then = if repair {
            // Also where the history itself was lost, which says where its archives begin.
            self.ask_whole(feed)?;
            self.reread_archives(feed)?;
            "they are fetched again automatically".into()
        } else {
            format!("'backissue history {feed} --reread' fetches them again")
        };
        tell(format!("feed {feed}: its archives are inconsistent: {why}; {then}"), repair);
        Ok(())
    }
}
