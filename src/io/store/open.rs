//! Opens the store: takes the lock, opens the database, checks the schema.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::super::codec;
use super::super::search::SharedIndex;
use super::super::system::measure_room;
use super::error::{StoreError, catch_sled_panic};
use super::folder_lock::lock_folder;
use super::handle::{AppliedFilters, SharedTables, Store, WriteGroup, feed_of};
use super::pack::database::{INDEX, PACK, is_of_pack};
use super::pack::{Database, TableName};
use super::reading::caches::{KnownVerdicts, ListedEntryCache};
use super::sleepy_threads::SessionLength;
use super::upkeep::daily_backup;
use super::upkeep::disk_room::finish_replacement;
use crate::io::private_files::{create_private_folder, find_bad_link, make_data_private};
use crate::io::system::system_words;

/// The key of the salt that spreads the polls of this installation (SPEC A.7).
const SALT_KEY: &[u8] = b"salt";

/// The key of the largest number that a subscription ever had.
pub(super) const LAST_FEED_KEY: &[u8] = b"last_feed";

/// Whether a subscription was removed. The other fields of its record are skipped.
#[derive(Deserialize)]
struct EndOfRecord {
    #[serde(default)]
    ended: Option<IgnoredAny>,
}

impl Store {
    /// Opens the store for a short session, such as a command.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_to(folder, SessionLength::Short)
    }

    /// Opens the store in a data folder, or creates it if there is none.
    pub fn open_to(folder: &Path, stay: SessionLength) -> Result<Self, StoreError> {
        let cannot = |why: std::io::Error| StoreError::Folder {
            folder: folder.into(),
            why: system_words(&why),
        };
        if folder.exists() && !folder.is_dir() {
            return Err(StoreError::Folder {
                folder: folder.into(),
                why: "it is not a folder".into(),
            });
        }
        if let Some(why) = find_bad_link(folder) {
            return Err(StoreError::Folder { folder: folder.into(), why });
        }
        create_private_folder(folder).map_err(cannot)?;
        Self::open_locked(folder, lock_folder(folder)?, stay)
    }

    /// Opens the store in a folder that this process has locked.
    pub(super) fn open_locked(
        folder: &Path,
        lock: File,
        stay: SessionLength,
    ) -> Result<Self, StoreError> {
        finish_replacement(folder)?;
        let damaged = |why: &str| StoreError::Unreadable { folder: folder.into(), why: why.into() };
        let has_pack = folder.join(PACK).exists();
        if !has_pack && folder.join(INDEX).join("db").exists() {
            return Err(if is_of_pack(&folder.join(INDEX)) {
                damaged("its records are gone")
            } else {
                StoreError::Older(folder.into())
            });
        }
        let had_records = daily_backup::is_any(folder);
        if !has_pack && had_records {
            return Err(damaged("its records are gone"));
        }
        let db = match Database::open(folder, stay) {
            Err(StoreError::Corrupted(why)) => return Err(damaged(&why)),
            Err(StoreError::Failed(why)) => {
                return Err(StoreError::Refused { folder: folder.into(), why });
            }
            opened => opened?,
        };
        let mut store = Self::with(db, lock, folder, stay)?;
        make_data_private(folder);
        if had_records && store.tables.facts.is_empty() {
            return Err(damaged("its records are gone"));
        }
        // sled reads many of its files only now. If they are damaged, they are filled again from the pack.
        match store.guarded(|store| store.make_ready(folder)) {
            Ok(()) => Ok(store),
            Err(StoreError::Corrupted(_)) => {
                let lock = store.close();
                let db = Database::open(folder, stay)?;
                let mut store = Self::with(db, lock, folder, stay)?;
                store.guarded(|store| store.make_ready(folder))?;
                Ok(store)
            }
            Err(error) => Err(error),
        }
    }

    /// Checks the schema and loads the records that are kept in memory.
    fn make_ready(&mut self, folder: &Path) -> Result<(), StoreError> {
        self.check_schema(folder)?;
        self.note_lost_texts()?;
        self.load_memory()
    }

    /// Loads the records that are kept in memory.
    pub(super) fn load_memory(&mut self) -> Result<(), StoreError> {
        self.load_ended()?;
        self.load_filters()
    }

    /// Creates the store for an open database.
    pub(super) fn with(
        db: Database,
        lock: File,
        data: &Path,
        stay: SessionLength,
    ) -> Result<Self, StoreError> {
        let store = Self {
            tables: Arc::clone(&db.tables),
            filters: AppliedFilters::default(),
            rows: BTreeMap::new(),
            numbers: None,
            shown: ListedEntryCache::default(),
            ended: BTreeSet::new(),
            order: Vec::new(),
            joined: BTreeMap::new(),
            folded_inside: BTreeMap::new(),
            inside: None,
            frequencies: BTreeMap::new(),
            unranked: Vec::new(),
            joins: false,
            gaps: Vec::new(),
            list_number: 0,
            search_index: SharedIndex::default(),
            verified: KnownVerdicts::default(),
            data: data.into(),
            elsewhere: None,
            measure_room,
            group: WriteGroup::default(),
            failed: BTreeMap::new(),
            counted: BTreeMap::new(),
            shared_tables: SharedTables::default(),
            stay,
            db,
            lock,
        };
        store.shared_tables.send_replace(Some(Arc::clone(&store.tables)));
        Ok(store)
    }

    /// Runs work and turns a panic of sled into an error, because sled panics on some kinds of damage in its files. If damage is
    /// found, everything kept in memory is dropped, and sled's files are filled again from the pack before the next write.
    pub(in crate::io) fn guarded<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let done = catch_sled_panic(|| work(self));
        if let Err(StoreError::Corrupted(_)) = done {
            self.db.distrust();
            self.rows.clear();
            self.inside = None;
            self.numbers = None;
            self.shown.clear();
        }
        done
    }

    /// Returns an error if the data folder is no longer the one that was opened, because changes would be lost.
    pub fn check_place(&self) -> Result<(), StoreError> {
        self.db.check_place()
    }

    /// Makes everything written so far durable, also against a power cut.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.db.sync()
    }

    /// Closes the files. The folder stays locked until the returned file is dropped.
    pub(super) fn close(self) -> File {
        self.lock
    }

    /// Returns the largest number that a subscription ever had.
    pub fn last_feed(&self) -> Result<u32, StoreError> {
        let noted = self.tables.facts.get(LAST_FEED_KEY)?;
        let noted = noted.as_deref().and_then(feed_of).map_or(0, |feed| feed.0);
        self.tables.feeds.keys().try_fold(noted, |largest, key| {
            Ok(largest.max(feed_of(&key?).map_or(0, |feed| feed.0)))
        })
    }

    /// Returns the salt of this installation, which spreads the polls of many readers (SPEC A.7). `fresh` becomes the
    /// salt of a new store.
    pub fn salt(&mut self, fresh: u64) -> Result<u64, StoreError> {
        if let Some(salt) =
            self.tables.facts.get(SALT_KEY)?.as_deref().and_then(|bytes| bytes.try_into().ok())
        {
            return Ok(u64::from_be_bytes(salt));
        }
        self.put(TableName::Facts, SALT_KEY, fresh.to_be_bytes())?;
        Ok(fresh)
    }

    /// Loads the set of unsubscribed feeds, whose entries no list shows.
    fn load_ended(&mut self) -> Result<(), StoreError> {
        let mut ended = BTreeSet::new();
        for pair in self.tables.feeds.iter() {
            let (key, bytes) = pair?;
            let Ok(record) = codec::decode::<EndOfRecord>(&bytes) else { continue };
            ended.extend(feed_of(&key).filter(|_| record.ended.is_some()));
        }
        self.ended = ended;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_owner_is_refused_with_the_process_of_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let _first = Store::open(folder.path()).unwrap();
        let second = Store::open(folder.path()).unwrap_err();
        assert!(
            matches!(second, StoreError::InUse { process: Some(id), .. } if id == std::process::id())
        );
    }

    /// Tries all errors of the system, as reported by sled and by file operations.
    #[test]
    fn store_errors_contain_no_system_error_numbers() {
        for code in 1..134 {
            let refused = || std::io::Error::from_raw_os_error(code);
            let sentences =
                [StoreError::from(sled::Error::Io(refused())), StoreError::from(refused())];
            for sentence in sentences.map(|error| error.to_string()) {
                assert!(!sentence.contains("os error"), "{code}: {sentence}");
            }
        }
    }

    #[test]
    fn a_file_in_place_of_the_folder_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(matches!(Store::open(file.path()).unwrap_err(), StoreError::Folder { .. }));
    }

    #[test]
    fn the_salt_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Store::open(folder.path()).unwrap().salt(7).unwrap(), 7);
        assert_eq!(Store::open(folder.path()).unwrap().salt(8).unwrap(), 7);
    }
}
