//! Opening the store: one owner, a schema version, and a sentence for everything that can go wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sled::{Db, Mode, Tree};

use super::super::codec;
use super::super::search::IndexShelf;
use super::error::{StoreError, one_line, unpanicked};
use super::filters::Rulings;
use super::reading::shown_rows::ShownEntries;
use super::schema;
use super::upkeep::daily_backup;
use super::upkeep::sync::Syncer;
use crate::engine::backfill::gap_rows::GapMark;
use crate::engine::entries::rows::RowKey;
use crate::engine::feeds::subscription::{FeedState, SavedSubscription, SubscriptionRecord};
use crate::history::{FeedKey, IndexRow};

/// sled's page cache; the default of 1 GiB takes half a gigabyte at a large load.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;
/// What sled sets aside on disk at once.
const SEGMENT_BYTES: u64 = 512 * 1024;
/// Name of the salt that spreads this installation's polls (SPEC A.7).
const SALT_KEY: &[u8] = b"salt";

/// Name of the largest number a subscription ever had.
const LAST_FEED_KEY: &[u8] = b"last_feed";
/// sled lets go of its files a moment after it was closed: they are tried again so often.
const TRIES: u32 = 100;
/// So is our own lock on the folder.
const LOCK_TRIES: u32 = 10;
/// Before files at which sled panicked are tried once more.
const PANIC_PAUSE: Duration = Duration::from_millis(200);
/// And so long apart.
const TRY_PAUSE: Duration = Duration::from_millis(20);

/// The open store. Its owner is one thread; see [`super::Keeper`].
#[derive(Debug)]
pub struct Store {
    pub(super) db: Db,
    pub(super) about: Tree,
    pub(super) feeds: Tree,
    pub(super) state: Tree,
    pub(super) counters: Tree,
    pub(super) index: Tree,
    pub(super) meta: Tree,
    pub(super) bodies: Tree,
    pub(super) polls: Tree,
    /// When each feed published.
    pub(super) rhythms: Tree,
    /// The times of each feed's last polls, where they are later than its state says.
    pub(super) times: Tree,
    /// Pages that entries link to.
    pub(super) pages: Tree,
    /// Where the reader was in texts.
    pub(super) places: Tree,
    pub(super) history: Tree,
    pub(super) nodes: Tree,
    /// Which entries each rule of the reader's hit.
    pub(super) rulings_tree: Tree,
    /// The rules, and what they hit; the store's own copy of what the tree says.
    pub(super) rulings: Rulings,
    /// Index rows of the feeds looked at so far; the store's own copy of what the tree says.
    pub(super) rows: BTreeMap<FeedKey, Vec<IndexRow>>,
    /// What lists show of the entries looked at last.
    pub(super) shown: ShownEntries,
    /// Subscriptions given up since the store was opened; their entries are in no list.
    pub(super) ended: BTreeSet<FeedKey>,
    /// The order of the open list.
    pub(super) order: Vec<RowKey>,
    /// The gaps in it.
    pub(super) gaps: Vec<GapMark>,
    /// The number of that list.
    pub(super) order_of: u64,
    /// The folder it stands in.
    pub(super) data: PathBuf,
    /// The index to search in, once it is open.
    pub(super) shelf: IndexShelf,
    pub(super) syncer: Syncer,
    /// Held as long as the store is open.
    lock: File,
}

impl Store {
    /// Opens the store in a data folder, makes it if there is none, and brings an older schema up to date.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let cannot = |why: std::io::Error| StoreError::Folder {
            folder: folder.into(),
            why: one_line(&why.to_string()),
        };
        if folder.exists() && !folder.is_dir() {
            return Err(StoreError::Folder {
                folder: folder.into(),
                why: "it is not a folder".into(),
            });
        }
        fs::create_dir_all(folder).map_err(cannot)?;
        let lock = lock(folder)?;
        super::upkeep::fresh_store::mend_swap(folder)?;
        let files = folder.join("store");
        // sled begins anew where it finds nothing that it can read.
        let had_records = has_records(&files.join("db")) || daily_backup::is_any(folder);
        let damaged = |why: &str| StoreError::Unreadable { folder: folder.into(), why: why.into() };
        let mut tries = 0;
        let mut store = loop {
            let lock = lock.try_clone().map_err(cannot)?;
            match unpanicked(|| Ok(Self::open_files(&files, lock))) {
                Ok(opened) => break opened.map_err(|error| unopened(folder, &error))?,
                // sled also panics where the system refuses it a thread: that passes.
                Err(_) if tries == 0 => std::thread::sleep(PANIC_PAUSE),
                Err(_) => return Err(damaged("its files are damaged")),
            }
            tries += 1;
        };
        store.data = folder.into();
        if had_records && store.about.is_empty() {
            return Err(damaged("its records are gone"));
        }
        // sled reads much of its files only now.
        match unpanicked(|| store.make_ready(folder)) {
            Ok(()) => Ok(store),
            Err(StoreError::Corrupted(why)) => Err(damaged(&why)),
            Err(error) => Err(error),
        }
    }

    /// What is done and read before anything else.
    fn make_ready(&mut self, folder: &Path) -> Result<(), StoreError> {
        self.bring_up_to_date(folder, &schema::MIGRATIONS)?;
        self.note_lost_texts()?;
        self.forget_ended()?;
        self.read_rulings()
    }

    fn open_files(files: &Path, lock: File) -> Result<Self, sled::Error> {
        let config =
            sled::Config::new().path(files).mode(Mode::LowSpace).cache_capacity(CACHE_BYTES);
        let mut tries = 0;
        let db = loop {
            match config.open() {
                Err(sled::Error::Io(error)) if is_locked(&error) && tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(TRY_PAUSE);
                }
                opened => break opened?,
            }
        };
        let log = File::open(files.join("db"))?;
        Ok(Self {
            about: db.open_tree("about")?,
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
            rulings_tree: db.open_tree("rulings")?,
            rulings: Rulings::default(),
            rows: BTreeMap::new(),
            shown: ShownEntries::default(),
            ended: BTreeSet::new(),
            order: Vec::new(),
            gaps: Vec::new(),
            order_of: 0,
            shelf: IndexShelf::default(),
            data: PathBuf::new(),
            syncer: Syncer::new(db.clone(), log, files.join("blobs")),
            db,
            lock,
        })
    }

    /// Makes everything written so far durable, also against a power cut.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.syncer.sync()
    }

    /// Closes the files; the folder stays locked as long as the answer is held.
    pub(super) fn close(self) -> File {
        self.lock
    }

    /// The largest number a subscription ever had.
    pub fn last_feed(&self) -> Result<u32, StoreError> {
        let noted =
            self.about.get(LAST_FEED_KEY)?.as_deref().and_then(feed_of).map_or(0, |feed| feed.0);
        let largest =
            self.feeds.last()?.and_then(|(key, _)| feed_of(&key)).map_or(0, |feed| feed.0);
        Ok(noted.max(largest))
    }

    /// Which subscriptions cannot be read, or not wholly; a sentence each.
    pub fn unreadable(&self) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        for pair in &self.feeds {
            let (key, bytes) = pair?;
            let feed = feed_of(&key).map_or(0, |feed| feed.0);
            if let Err(why) = codec::decode::<SubscriptionRecord>(&bytes) {
                found.push(format!(
                    "the record of feed {feed} is damaged ({why}): the feed is not shown"
                ));
            }
            let state = self.state.get(&key)?.map(|bytes| codec::decode::<FeedState>(&bytes));
            let times = self.times_damage(&key)?;
            if let Some(why) = state.and_then(Result::err).or(times) {
                found.push(format!(
                    "the state of feed {feed} is damaged ({why}): the feed is read anew"
                ));
            }
        }
        Ok(found)
    }

    /// The salt of this installation, so that many readers' polls spread (SPEC A.7); made once from `fresh`.
    pub fn salt(&self, fresh: u64) -> Result<u64, StoreError> {
        if let Some(salt) =
            self.about.get(SALT_KEY)?.as_deref().and_then(|bytes| bytes.try_into().ok())
        {
            return Ok(u64::from_be_bytes(salt));
        }
        self.about.insert(SALT_KEY, &fresh.to_be_bytes())?;
        Ok(fresh)
    }

    /// Forgets the subscriptions that were given up.
    fn forget_ended(&mut self) -> Result<(), StoreError> {
        let mut ended = Vec::new();
        for pair in &self.feeds {
            let (key, bytes) = pair?;
            let record = codec::decode::<SubscriptionRecord>(&bytes);
            ended.extend(
                feed_of(&key).filter(|_| record.is_ok_and(|record| record.ended.is_some())),
            );
        }
        let last = FeedKey(self.last_feed()?);
        for feed in ended {
            self.about.insert(LAST_FEED_KEY, &feed_bytes(last))?;
            self.remove(feed)?;
        }
        Ok(())
    }

    /// All subscriptions, in order of their numbers.
    pub fn subscriptions(&self) -> Result<Vec<SavedSubscription>, StoreError> {
        let mut saved = Vec::new();
        for pair in &self.feeds {
            let (key, bytes) = pair?;
            let Some(feed) = feed_of(&key) else { continue };
            // What cannot be read is left out here and told by `unreadable`.
            let Ok(record) = codec::decode::<SubscriptionRecord>(&bytes) else { continue };
            if record.ended.is_some() {
                continue;
            }
            saved.push(SavedSubscription {
                key: feed,
                record,
                state: self.state_of(feed)?,
                history: self.history_of(feed).unwrap_or_default(),
                counters: self.counters_of(feed).unwrap_or_default(),
            });
        }
        Ok(saved)
    }
}

/// Whether more was written to sled's log than it sets aside when it begins: a program that was killed in its first
/// second has written nothing.
fn has_records(log: &Path) -> bool {
    fs::metadata(log).is_ok_and(|log| log.len() > SEGMENT_BYTES)
}

/// Why sled did not open its files.
fn unopened(folder: &Path, error: &sled::Error) -> StoreError {
    let damaged = match error {
        sled::Error::Io(error) if is_locked(error) => {
            return StoreError::InUse { folder: folder.into(), process: None };
        }
        sled::Error::Io(error) => {
            matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof)
        }
        // Files of another version of sled, say: they may be sound.
        sled::Error::Unsupported(_) => false,
        sled::Error::CollectionNotFound(_)
        | sled::Error::ReportableBug(_)
        | sled::Error::Corruption { .. } => true,
    };
    let (folder, why) = (folder.into(), one_line(&error.to_string()));
    if damaged {
        StoreError::Unreadable { folder, why }
    } else {
        StoreError::Refused { folder, why }
    }
}

/// Whether sled could not have its files. Nobody else has the folder, so this passes.
fn is_locked(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock || error.to_string().contains("acquire lock")
}

/// Takes the folder for this process, or says who has it.
pub(super) fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join("lock");
    let cannot = |why: std::io::Error| StoreError::Folder {
        folder: folder.into(),
        why: one_line(&why.to_string()),
    };
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(cannot)?;
    let mut tries = 0;
    while let Err(error) = file.try_lock() {
        match error {
            TryLockError::Error(error) => return Err(cannot(error)),
            TryLockError::WouldBlock => {}
        }
        let mut text = String::new();
        let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
        let process: Option<u32> = read.ok().and_then(|_| text.trim().parse().ok());
        // A program being started shares our locks for a moment, also one that we have just let go of.
        if process != Some(std::process::id()) || tries >= LOCK_TRIES {
            return Err(StoreError::InUse { folder: folder.into(), process });
        }
        tries += 1;
        std::thread::sleep(TRY_PAUSE);
    }
    file.rewind().map_err(cannot)?;
    file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(cannot)?;
    Ok(file)
}

/// The key of a feed's records.
pub(super) const fn feed_bytes(feed: FeedKey) -> [u8; 4] {
    feed.0.to_be_bytes()
}

/// The key of a numbered record of a feed: the numbers are in order, as those of the feeds are.
pub(super) const fn numbered_key(feed: FeedKey, number: u32) -> [u8; 8] {
    ((feed.0 as u64) << 32 | number as u64).to_be_bytes()
}

/// The number in a [`numbered_key`].
pub(super) fn number_of(key: &[u8]) -> Option<u32> {
    key.get(4..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Reads [`feed_bytes`] back, and the feed of a [`numbered_key`].
pub(super) fn feed_of(key: &[u8]) -> Option<FeedKey> {
    key.first_chunk().map(|bytes| FeedKey(u32::from_be_bytes(*bytes)))
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
