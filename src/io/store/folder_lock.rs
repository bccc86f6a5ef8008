//! What is checked first when the store is opened: the lock file of its folder, because one process at a time owns it, and the
//! version of its schema.

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

/// How often the lock is tried again while this process itself seems to hold it: a child process that is being started
/// shares our locks for a moment.
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
        // A program that is being started shares our locks for a moment, also one that was just released; and a process that
        // has just taken the lock writes its number in a moment.
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
    // A process that reads it meanwhile finds the former owner or this one, never nothing.
    let length = u64::try_from(owner.len()).unwrap_or_default();
    file.write_all(owner.as_bytes()).and_then(|()| file.set_len(length)).map_err(cannot)?;
    Ok(file)
}

/// Looks whether a process has the store of a folder open; that is an error of the kind [`StoreError::InUse`].
pub fn find_lock(folder: &Path) -> Result<(), StoreError> {
    if folder.join("lock").exists() { lock_folder(folder).map(drop) } else { Ok(()) }
}

/// Whether a folder is a backissue data folder, used by this process or not.
pub fn is_data_folder(folder: &Path) -> bool {
    folder.join("lock").is_file() && folder.join("store.pack").is_file()
}

/// Where this process would listen for the commands of others while it has the store of a folder open.
pub fn own_socket(folder: &Path) -> PathBuf {
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    socket_path(folder, session.as_deref())
}

/// Where the process listens that has the store of a folder open, or had it last.
pub fn owner_socket(folder: &Path) -> Option<PathBuf> {
    read_owner(&std::fs::read_to_string(folder.join("lock")).ok()?).1
}

/// What the lock file says of its owner: the process, and where it listens.
fn read_owner(text: &str) -> (Option<u32>, Option<PathBuf>) {
    let mut lines = text.lines();
    let process = lines.next().and_then(|line| line.trim().parse().ok());
    let socket = lines.next().map(PathBuf::from).filter(|path| path.is_absolute());
    (process, socket)
}

/// The schema this program reads and writes.
pub(super) const SCHEMA: u8 = 3;
/// The key of the schema version in the table of facts.
pub(super) const SCHEMA_KEY: &[u8] = b"schema";

impl Store {
    /// Notes the schema of a new store, and refuses a store with a newer one.
    pub(super) fn check_schema(&mut self, folder: &Path) -> Result<(), StoreError> {
        match self.facts.get(SCHEMA_KEY)?.and_then(|bytes| bytes.first().copied()) {
            Some(found) if found > SCHEMA => {
                Err(StoreError::Newer { folder: folder.into(), found, newest: SCHEMA })
            }
            Some(_) => Ok(()),
            None => {
                self.put(TableName::Facts, SCHEMA_KEY, [SCHEMA])?;
                self.sync()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
