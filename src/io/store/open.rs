//! Opens the store: takes the lock, opens the database, checks the schema.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sled::Mode;

use super::super::codec;
use super::super::private_files::{create_private_folder, make_data_private};
use super::super::search::SharedIndex;
use super::applied_filters::AppliedFilters;
use super::error::{StoreError, catch_sled_panic, one_line};
use super::folder_lock::lock_folder;
use super::handle::{SharedTrees, Store};
use super::reading::listed_entries::ListedEntryCache;
use super::record_keys::feed_of;
use super::salvage::{self, Finding};
use super::sleepy_threads::{SessionLength, open_database};
use super::upkeep::daily_backup;
use super::upkeep::free_room::measure_room;
use super::upkeep::sync::Syncer;
use super::writing::group::Group;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::io::system::words::{is_out_of_files, is_out_of_room, system_words};

/// Size of sled's page cache, on disk; in memory its pages take twice that. The default of 1 GiB uses half a gigabyte under a large load.
const CACHE_BYTES: u64 = 4 * 1024 * 1024;
/// Bytes that sled allocates on disk at a time.
const SEGMENT_BYTES: u64 = 512 * 1024;
/// The key of the salt that spreads the polls of this installation (SPEC A.7).
const SALT_KEY: &[u8] = b"salt";

/// The key of the largest number that a subscription ever had.
pub(super) const LAST_FEED_KEY: &[u8] = b"last_feed";
/// How often opening is tried again: sled releases its files a moment after it is closed.
const TRIES: u32 = 100;
/// The pause before files at which sled panicked are tried once more.
const PANIC_PAUSE: Duration = Duration::from_millis(200);
/// The pause between two attempts.
const TRY_PAUSE: Duration = Duration::from_millis(20);

impl Store {
    /// Opens the store for a short work.
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
        create_private_folder(folder).map_err(cannot)?;
        Self::open_locked(folder, &lock_folder(folder)?, stay)
    }

    /// Opens the store in a folder that this process has locked.
    pub(super) fn open_locked(
        folder: &Path,
        lock: &File,
        stay: SessionLength,
    ) -> Result<Self, StoreError> {
        let cannot = |why: std::io::Error| StoreError::Folder {
            folder: folder.into(),
            why: system_words(&why),
        };
        super::upkeep::fresh_store::mend_swap(folder)?;
        let files = folder.join("store");
        let damaged = |why: &str| StoreError::Unreadable { folder: folder.into(), why: why.into() };
        // What cannot be looked at is left to sled, which says why.
        salvage::prepare(&files).ok();
        // It is kept until everything is open: in its place sled's tables would lie, which are empty for the most part, and take
        // memory only where it was used before.
        let mut buffer = Vec::new();
        if let Ok(Finding::Damaged(why)) = salvage::inspect(&files, &mut buffer) {
            return Err(damaged(&why));
        }
        // sled begins anew where it finds nothing that it can read.
        let had_records = has_records(&files.join("db")) || daily_backup::is_any(folder);
        let mut tries = 0;
        let mut store = loop {
            let lock = lock.try_clone().map_err(cannot)?;
            match catch_sled_panic(|| Ok(Self::open_files(&files, lock, stay))) {
                Ok(opened) => break opened.map_err(|error| unopened(folder, &error))?,
                // sled also panics where the system refuses it a thread: that passes.
                Err(_) if tries == 0 => std::thread::sleep(PANIC_PAUSE),
                Err(_) => return Err(damaged("its files are damaged")),
            }
            tries += 1;
        };
        store.data = folder.into();
        make_data_private(folder);
        if had_records && store.facts.is_empty() {
            return Err(damaged("its records are gone"));
        }
        // sled reads much of its files only now.
        match catch_sled_panic(|| store.make_ready(folder)) {
            Ok(()) => Ok(store),
            Err(StoreError::Corrupted(why)) => Err(damaged(&why)),
            Err(error) => Err(error),
        }
    }

    /// Checks the schema and loads the records that are kept in memory.
    fn make_ready(&mut self, folder: &Path) -> Result<(), StoreError> {
        self.check_schema(folder)?;
        self.note_lost_texts()?;
        self.load_ended()?;
        self.load_filters()
    }

    fn open_files(files: &Path, lock: File, stay: SessionLength) -> Result<Self, sled::Error> {
        let config = sled::Config::new().path(files).mode(Mode::LowSpace);
        // What a thread of sled's cannot write on a full disk is told to nobody, and is waited for without an end. Parts of the files
        // are given free by writes, too.
        let config = config.cache_capacity(CACHE_BYTES).flush_every_ms(None);
        let mut tries = 0;
        let db = loop {
            match open_database(&config, stay) {
                Err(sled::Error::Io(error)) if is_locked(&error) && tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(TRY_PAUSE);
                }
                opened => break opened?,
            }
        };
        let log = File::open(files.join("db"))?;
        let store = Self {
            facts: db.open_tree("about")?,
            feeds: db.open_tree("feeds")?,
            state: db.open_tree("state")?,
            counters: db.open_tree("counters")?,
            index: db.open_tree("index")?,
            meta: db.open_tree("meta")?,
            bodies: db.open_tree("bodies")?,
            polls: db.open_tree("polls")?,
            rhythms: db.open_tree("rhythms")?,
            times: db.open_tree("times")?,
            pages: db.open_tree("pages")?,
            places: db.open_tree("places")?,
            history: db.open_tree("history")?,
            nodes: db.open_tree("nodes")?,
            filter_hits: db.open_tree("rulings")?,
            undo: db.open_tree("undo")?,
            filters: AppliedFilters::default(),
            rows: BTreeMap::new(),
            shown: ListedEntryCache::default(),
            ended: BTreeSet::new(),
            order: Vec::new(),
            gaps: Vec::new(),
            list_number: 0,
            search_index: SharedIndex::default(),
            data: PathBuf::new(),
            opened_bytes: db.size_on_disk()?,
            copy: None,
            former_copy: None,
            measure_room,
            group: Group::default(),
            shared_trees: SharedTrees::default(),
            stay,
            syncer: Syncer::new(db.clone(), config, log, files.join("blobs")),
            db,
            lock,
        };
        store.shared_trees.send_replace(Some(store.text_trees()));
        Ok(store)
    }

    /// Makes everything written so far durable, also against a power cut.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.syncer.sync()
    }

    /// Closes the files; the folder stays locked while the returned file is held.
    pub(super) fn close(self) -> File {
        self.lock
    }

    /// Returns the largest number that a subscription ever had.
    pub fn last_feed(&self) -> Result<u32, StoreError> {
        let noted =
            self.facts.get(LAST_FEED_KEY)?.as_deref().and_then(feed_of).map_or(0, |feed| feed.0);
        let largest =
            self.feeds.last()?.and_then(|(key, _)| feed_of(&key)).map_or(0, |feed| feed.0);
        Ok(noted.max(largest))
    }

    /// Returns the salt of this installation, which spreads the polls of many readers (SPEC A.7). `fresh` becomes the
    /// salt of a new store.
    pub fn salt(&self, fresh: u64) -> Result<u64, StoreError> {
        if let Some(salt) =
            self.facts.get(SALT_KEY)?.as_deref().and_then(|bytes| bytes.try_into().ok())
        {
            return Ok(u64::from_be_bytes(salt));
        }
        self.facts.insert(SALT_KEY, &fresh.to_be_bytes())?;
        Ok(fresh)
    }

    /// Notes the unsubscribed feeds, whose entries are in no list.
    fn load_ended(&mut self) -> Result<(), StoreError> {
        let mut ended = BTreeSet::new();
        for pair in &self.feeds {
            let (key, bytes) = pair?;
            let Ok(record) = codec::decode::<SubscriptionRecord>(&bytes) else { continue };
            ended.extend(feed_of(&key).filter(|_| record.ended.is_some()));
        }
        self.ended = ended;
        Ok(())
    }
}

/// Whether sled's log is longer than what is allocated when it is created: a program that was killed in its first
/// second has written nothing.
fn has_records(log: &Path) -> bool {
    fs::metadata(log).is_ok_and(|log| log.len() > SEGMENT_BYTES)
}

/// Turns the error of sled's opening into ours.
fn unopened(folder: &Path, error: &sled::Error) -> StoreError {
    let damaged = match error {
        sled::Error::Io(error) if is_locked(error) => {
            return StoreError::InUse { folder: folder.into(), process: None, socket: None };
        }
        sled::Error::Io(error) if is_out_of_room(error) => return StoreError::NoRoom,
        sled::Error::Io(error) if is_out_of_files(error) => return StoreError::NoFiles,
        sled::Error::Io(error) => {
            matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof)
        }
        // Files of another version of sled, say: they may be sound.
        sled::Error::Unsupported(_) => false,
        sled::Error::CollectionNotFound(_)
        | sled::Error::ReportableBug(_)
        | sled::Error::Corruption { .. } => true,
    };
    let why = if let sled::Error::Io(error) = error {
        system_words(error)
    } else {
        one_line(&error.to_string())
    };
    let folder = folder.into();
    if damaged {
        StoreError::Unreadable { folder, why }
    } else {
        StoreError::Refused { folder, why }
    }
}

/// Whether sled's files are still locked. We hold the lock of the folder, so this passes.
fn is_locked(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock || error.to_string().contains("acquire lock")
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

    /// All that the system can refuse, on every way to a sentence.
    #[test]
    fn store_errors_contain_no_system_error_numbers() {
        for code in 1..134 {
            let refused = || std::io::Error::from_raw_os_error(code);
            let sentences = [
                unopened(Path::new("data"), &sled::Error::Io(refused())),
                StoreError::from(sled::Error::Io(refused())),
                StoreError::from(refused()),
            ];
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
