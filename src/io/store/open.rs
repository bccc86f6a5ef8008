//! Opening the store: one owner, a schema version, and a sentence for everything that can go wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use sled::{Db, Mode, Tree};

use super::super::codec::{self, CodecError};
use crate::app::subscription::{SavedSubscription, SubscriptionRecord};
use crate::history::{FeedKey, IndexRow};

/// The schema this program writes.
const SCHEMA: u8 = 1;
/// sled's page cache; the default of 1 GiB takes half a gigabyte at a large load.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;
/// Name of the schema version among the facts about the store.
const SCHEMA_KEY: &[u8] = b"schema";
/// Name of the salt that spreads this installation's polls (SPEC A.7).
const SALT_KEY: &[u8] = b"salt";

/// One step from a schema to the next, for [`Store::open`].
type Migration = fn(&Store) -> Result<(), StoreError>;
/// `MIGRATIONS[n]` brings schema n + 1 to n + 2.
const MIGRATIONS: [Migration; SCHEMA as usize - 1] = [];

/// Why the store cannot be used. Each prints as one sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process owns it.
    #[error(
        "the store in {folder} is in use by another backissue{}; close that one, or choose another folder with --data-dir",
        .process.map(|id| format!(" (process {id})")).unwrap_or_default()
    )]
    InUse {
        /// The data folder.
        folder: PathBuf,
        /// The owner's process id, if it could be read.
        process: Option<u32>,
    },
    /// The folder cannot be made or used.
    #[error("the data folder {folder} cannot be used: {why}; choose another one with --data-dir")]
    Folder {
        /// The data folder.
        folder: PathBuf,
        /// What the system says.
        why: String,
    },
    /// A newer program wrote it.
    #[error(
        "the store in {folder} was written by a newer backissue (schema {found}, this program knows {SCHEMA}); use that program, or another --data-dir"
    )]
    Newer {
        /// The data folder.
        folder: PathBuf,
        /// The schema found.
        found: u8,
    },
    /// sled cannot open its files.
    #[error(
        "the store in {folder} cannot be opened ({why}); move the folder aside and import your last OPML export"
    )]
    Unreadable {
        /// The data folder.
        folder: PathBuf,
        /// What sled says.
        why: String,
    },
    /// A record is damaged.
    #[error("{what} in the store is damaged ({why}); run 'backissue doctor'")]
    Damaged {
        /// Which record.
        what: String,
        /// What is wrong with it.
        why: CodecError,
    },
    /// Reading or writing failed.
    #[error(
        "the store could not be read or written: {0}; check the disk, then run 'backissue doctor'"
    )]
    Failed(String),
}

impl From<sled::Error> for StoreError {
    fn from(error: sled::Error) -> Self {
        Self::Failed(one_line(&error.to_string()))
    }
}

impl From<CodecError> for StoreError {
    fn from(why: CodecError) -> Self {
        Self::Damaged { what: "a record".into(), why }
    }
}

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
    /// Index rows of the feeds looked at so far; the store's own copy of what the tree says.
    pub(super) rows: BTreeMap<FeedKey, Vec<IndexRow>>,
    /// Subscriptions given up since the store was opened; their entries are in no list.
    pub(super) ended: BTreeSet<FeedKey>,
    /// The order of the open list.
    pub(super) order: Vec<crate::history::EntryKey>,
    /// sled's log, to sync it.
    log: File,
    /// Held as long as the store is open.
    _lock: File,
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
        let files = folder.join("store");
        let unreadable =
            |why: String| StoreError::Unreadable { folder: folder.into(), why: one_line(&why) };
        let mut store = catch_unwind(AssertUnwindSafe(|| Self::open_files(&files, lock)))
            .map_err(|_| unreadable("its files are damaged".into()))?
            .map_err(|error| unreadable(error.to_string()))?;
        store.bring_up_to_date(folder, &MIGRATIONS)?;
        store.forget_ended()?;
        Ok(store)
    }

    fn open_files(files: &Path, lock: File) -> Result<Self, StoreError> {
        let db = sled::Config::new()
            .path(files)
            .mode(Mode::LowSpace)
            .cache_capacity(CACHE_BYTES)
            .open()?;
        let log =
            File::open(files.join("db")).map_err(|error| StoreError::Failed(error.to_string()))?;
        Ok(Self {
            about: db.open_tree("about")?,
            feeds: db.open_tree("feeds")?,
            state: db.open_tree("state")?,
            counters: db.open_tree("counters")?,
            index: db.open_tree("index")?,
            meta: db.open_tree("meta")?,
            bodies: db.open_tree("bodies")?,
            polls: db.open_tree("polls")?,
            rows: BTreeMap::new(),
            ended: BTreeSet::new(),
            order: Vec::new(),
            db,
            log,
            _lock: lock,
        })
    }

    /// Takes the store from the schema it has to the one after the last migration, a step at a time; each
    /// step is durable before the next begins, so that an interruption goes on where it was.
    fn bring_up_to_date(&self, folder: &Path, migrations: &[Migration]) -> Result<(), StoreError> {
        let newest = u8::try_from(migrations.len()).unwrap_or(u8::MAX).saturating_add(1);
        let stored = self.about.get(SCHEMA_KEY)?.and_then(|bytes| bytes.first().copied());
        // A store that was made a moment ago has nothing to bring up to date.
        let fresh = stored.is_none() && self.feeds.is_empty();
        let found = if fresh { newest } else { stored.unwrap_or(1) };
        if found > newest {
            return Err(StoreError::Newer { folder: folder.into(), found });
        }
        let steps = (1_u8..).zip(migrations).filter(|(from, _)| *from >= found);
        for (from, migrate) in steps {
            migrate(self)?;
            self.about.insert(SCHEMA_KEY, &[from.saturating_add(1)])?;
            self.sync()?;
        }
        if fresh {
            self.about.insert(SCHEMA_KEY, &[newest])?;
            self.sync()?;
        }
        Ok(())
    }

    /// Makes everything written so far durable, also against a power cut: sled's own flush does not sync.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.db.flush()?;
        self.log.sync_data().map_err(|error| StoreError::Failed(error.to_string()))
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
        for feed in ended {
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
            let damaged =
                |why| StoreError::Damaged { what: format!("the record of feed {feed}"), why };
            let record: SubscriptionRecord = codec::decode(&bytes).map_err(damaged)?;
            if record.ended.is_some() {
                continue;
            }
            saved.push(SavedSubscription {
                key: feed,
                record,
                state: self
                    .state
                    .get(&key)?
                    .map_or(Ok(crate::app::subscription::FeedState::default()), |bytes| {
                        codec::decode(&bytes)
                    })
                    .map_err(damaged)?,
                counters: self.counters_of(feed)?,
            });
        }
        Ok(saved)
    }
}

/// Takes the folder for this process, or says who has it.
fn lock(folder: &Path) -> Result<File, StoreError> {
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
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let process =
                file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
            return Err(StoreError::InUse { folder: folder.into(), process });
        }
        Err(TryLockError::Error(error)) => return Err(cannot(error)),
    }
    file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(cannot)?;
    Ok(file)
}

/// The key of a feed's records.
pub(super) const fn feed_bytes(feed: FeedKey) -> [u8; 4] {
    feed.0.to_be_bytes()
}

/// Reads [`feed_bytes`] back.
pub(super) fn feed_of(key: &[u8]) -> Option<FeedKey> {
    key.first_chunk().map(|bytes| FeedKey(u32::from_be_bytes(*bytes)))
}

/// System messages may run over lines; ours are one sentence.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
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
    fn a_newer_schema_is_refused_with_a_sentence_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        Store::open(folder.path()).unwrap().about.insert(SCHEMA_KEY, &[SCHEMA + 1]).unwrap();
        let error = Store::open(folder.path()).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found, .. } if found == SCHEMA + 1), "{error}");
        assert!(error.to_string().contains("newer backissue"));
    }

    /// A migration that leaves its number behind.
    fn mark(store: &Store, step: u8) -> Result<(), StoreError> {
        let mut done = store.about.get(b"steps")?.map(|bytes| bytes.to_vec()).unwrap_or_default();
        done.push(step);
        store.about.insert(b"steps", done)?;
        Ok(())
    }

    #[test]
    fn an_older_schema_is_migrated_step_by_step_and_only_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let migrations: [Migration; 2] = [|store| mark(store, 1), |store| mark(store, 2)];
        for (stored, expected) in [(1, vec![1, 2]), (2, vec![2]), (3, vec![])] {
            store.about.insert(SCHEMA_KEY, &[stored]).unwrap();
            store.about.insert(b"steps", vec![]).unwrap();
            for _ in 0..2 {
                store.bring_up_to_date(folder.path(), &migrations).unwrap();
            }
            assert_eq!(
                store.about.get(b"steps").unwrap().unwrap(),
                expected,
                "from schema {stored}"
            );
            assert_eq!(store.about.get(SCHEMA_KEY).unwrap().unwrap(), [3]);
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
