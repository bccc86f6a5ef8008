//! Recovers from a store that cannot be opened: it is moved aside, and a new one is made from the newest daily backup.

use std::fs::File;
use std::path::Path;

use chrono::{DateTime, NaiveDate, Utc};

use super::backup::TEXTS_LOST;
use super::daily_backup::{self, Daily};
use crate::engine::poll::fetch::Validators;
use crate::history::{EntryKey, FeedKey, TEXT_LOST};
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::record_keys::feed_of;
use crate::io::store::sleepy_threads::Stay;

impl Store {
    /// Opens the store. If its files are damaged, a new one is made from the newest readable daily backup, and the
    /// returned sentence says what is kept and what is lost.
    pub fn open_or_recover(
        data: &Path,
        now: DateTime<Utc>,
        stay: Stay,
    ) -> Result<(Self, Option<String>), StoreError> {
        let error = match Self::open_to(data, stay) {
            Ok(store) => return Ok((store, None)),
            Err(error) => error,
        };
        let StoreError::Unreadable { why, .. } = &error else { return Err(error) };
        let aside = format!("store-damaged-{}", now.format("%Y%m%d-%H%M%S%.3f"));
        for backup in daily_backup::newest_first(data, now.date_naive()) {
            if Self::put_in_place(&backup, data, &aside).is_ok() {
                // What was indexed before says nothing about these entries; it can be made anew at any time.
                crate::io::search::SearchIndex::make_anew(data).ok();
                let store = Self::open_to(data, stay)?;
                let feeds = match store.subscriptions()?.len() {
                    1 => "1 subscription".to_owned(),
                    feeds => format!("{feeds} subscriptions"),
                };
                let told = format!(
                    "the store could not be opened ({why}): {feeds} and what was read and starred are back as of {}, texts come with the next polls; the damaged files are in {}",
                    backup.day,
                    data.join(&aside).display()
                );
                return Ok((store, Some(told)));
            }
        }
        Err(error)
    }

    fn put_in_place(backup: &Daily, data: &Path, aside: &str) -> Result<(), StoreError> {
        let file = File::open(&backup.path);
        let file = file.map_err(|error| StoreError::Backup(error.to_string()))?;
        Self::restore_backup(data, file, aside).map(|_| ())
    }

    pub fn back_up_daily(&self, today: NaiveDate) -> Result<(), StoreError> {
        if !daily_backup::backup_is_due(&self.data, today) {
            return Ok(());
        }
        daily_backup::write(&self.backup_source(), &self.data, today, &|| true)
    }

    /// Takes note, in a store that was made from a backup without texts, that they are missing: the next document of
    /// each feed is requested unconditionally and brings what it has of them.
    pub(in crate::io::store) fn note_lost_texts(&mut self) -> Result<(), StoreError> {
        if !self.facts.contains_key(TEXTS_LOST)? {
            return Ok(());
        }
        let keys: Vec<_> = self.feeds.iter().keys().collect::<Result<_, _>>()?;
        for feed in keys.iter().filter_map(|key| feed_of(key)) {
            self.note_lost_texts_of(feed)?;
        }
        // The backup was made while feeds were polled: sums may be a moment older than rows.
        self.check(true)?;
        self.facts.remove(TEXTS_LOST)?;
        self.sync()
    }

    fn note_lost_texts_of(&mut self, feed: FeedKey) -> Result<(), StoreError> {
        let mut state = self.state_of(feed)?;
        state.validators = Validators::default();
        self.save_state(feed, &state)?;
        // What is damaged is found and told by the check; the other feeds are here.
        let Ok(rows) = self.rows_of(feed) else { return Ok(()) };
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let keys: Vec<EntryKey> = (0..count).map(|seq| EntryKey { feed, seq }).collect();
        let kept = self.readable_entries(&keys)?;
        for (key, row) in keys.iter().zip(self.rows_of(feed)?) {
            row.content = TEXT_LOST;
            if !kept.contains_key(key) {
                row.flags = row.flags.withdrawn(true);
            }
        }
        let rows = self.index_batch(feed, 0..count)?;
        Ok(self.index.apply_batch(rows)?)
    }
}
