//! The first checks when the store is opened: the lock file of the data folder, because only one process at a time may own it, and
//! the version of the schema.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::StoreError;
use super::handle::Store;
use crate::io::owner::address::socket_path;
use crate::io::regular_files::open_with;
use crate::io::store::pack::TableName;
use crate::io::system::system_words;

/// Number of further attempts to take the lock while no other process is known to have it: a child process that is just starting
/// shares the locks of this process for a moment.
const LOCK_TRIES: u32 = 10;
/// The pause between two attempts.
const TRY_PAUSE: Duration = Duration::from_millis(20);

/// Locks the folder for this process; the error names the process that holds it.
pub(super) fn lock_folder(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join("lock");
    let cannot =
        |why: std::io::Error| StoreError::Folder { folder: folder.into(), why: system_words(&why) };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = open_with(&mut options, &path).map_err(cannot)?;
    let mut tries = 0;
    while let Err(error) = file.try_lock() {
        match error {
            TryLockError::Error(error) => return Err(cannot(error)),
            TryLockError::WouldBlock => {}
        }
        let mut text = String::new();
        let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
        read.ok();
        let (process, socket) = read_owner(&text);
        // Try again unless another process has the lock. A child process that is just starting briefly shares the locks of this
        // process, even a lock that was just released. A process that has just taken the lock has not written its id yet.
        let is_another = process.is_some_and(|process| process != std::process::id());
        if is_another || tries >= LOCK_TRIES {
            return Err(StoreError::InUse { folder: folder.into(), process, socket });
        }
        tries += 1;
        std::thread::sleep(TRY_PAUSE);
    }
    file.rewind().map_err(cannot)?;
    let socket = own_socket(folder);
    let owner = format!("{}\n{}\n", std::process::id(), socket.display());
    // Shorten the file only after writing, so that another process finds the former owner or the new one, never an empty file.
    let length = u64::try_from(owner.len()).unwrap_or_default();
    file.write_all(owner.as_bytes()).and_then(|()| file.set_len(length)).map_err(cannot)?;
    Ok(file)
}

/// Returns an error of the kind [`StoreError::InUse`] if a process has the store of a folder open.
pub fn find_lock(folder: &Path) -> Result<(), StoreError> {
    if folder.join("lock").exists() { lock_folder(folder).map(drop) } else { Ok(()) }
}

/// Checks whether a folder is a data folder of backissue, even if this process does not use it.
pub fn is_data_folder(folder: &Path) -> bool {
    folder.join("lock").is_file() && folder.join("store.pack").is_file()
}

/// Returns the path of the socket on which this process listens for commands of other processes while it has the store of a folder
/// open.
pub fn own_socket(folder: &Path) -> PathBuf {
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    socket_path(folder, session.as_deref())
}

/// Returns the path of the socket of the process that has the store of a folder open, or had it open last.
pub fn owner_socket(folder: &Path) -> Option<PathBuf> {
    read_owner(&std::fs::read_to_string(folder.join("lock")).ok()?).1
}

/// Reads the content of a lock file: the process id of the owner and the path of its socket.
fn read_owner(text: &str) -> (Option<u32>, Option<PathBuf>) {
    let mut lines = text.lines();
    let process = lines.next().and_then(|line| line.trim().parse().ok());
    let socket = lines.next().map(PathBuf::from).filter(|path| path.is_absolute());
    (process, socket)
}

/// The schema this program reads and writes.
pub(super) const SCHEMA: u8 = 4;
/// The key of the schema version in the table of facts.
pub(super) const SCHEMA_KEY: &[u8] = b"schema";

impl Store {
    /// Notes the present schema in a new store or one with an older schema, and refuses a store with a newer one.
    pub(super) fn check_schema(&mut self, folder: &Path) -> Result<(), StoreError> {
        if self.refuse_newer(folder)? == Some(SCHEMA) {
            return Ok(());
        }
        self.put(TableName::Facts, SCHEMA_KEY, [SCHEMA])?;
        self.sync()
    }

    /// Returns the schema of the store, or an error if it is newer than the program's.
    pub(super) fn refuse_newer(&self, folder: &Path) -> Result<Option<u8>, StoreError> {
        let found = self.tables.facts.get(SCHEMA_KEY)?.and_then(|bytes| bytes.first().copied());
        let newer = found.filter(|found| *found > SCHEMA);
        newer.map_or(Ok(found), |found| {
            Err(StoreError::Newer { folder: folder.into(), found, newest: SCHEMA })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_schema_becomes_the_present_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        store.put(TableName::Facts, SCHEMA_KEY, [SCHEMA - 1]).unwrap();
        drop(store);
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.tables.facts.get(SCHEMA_KEY).unwrap().as_deref(), Some(&[SCHEMA][..]));
    }

    #[test]
    fn a_newer_schema_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        store.put(TableName::Facts, SCHEMA_KEY, [SCHEMA + 1]).unwrap();
        drop(store);
        for _ in 0..2 {
            let error = Store::open(folder.path()).unwrap_err();
            assert!(matches!(error, StoreError::Newer { found, .. } if found == SCHEMA + 1));
            assert!(error.to_string().contains("newer backissue"));
        }
    }
}
