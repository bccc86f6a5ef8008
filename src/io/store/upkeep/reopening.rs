//! Opens the store again while the program runs: after a write or a sync failed, when a read-only data folder becomes writable,
//! and when a missing data folder is back.
//!
//! If nothing can be written, the store is opened for reading only: the pack is read in its place, and sled's files are in a
//! temporary folder, which is removed when the program ends.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use super::disk_room::FREE_MIN;
use crate::io::clock;
use crate::io::regular_files::{open_with, try_again};
use crate::io::store::error::StoreError;
use crate::io::store::folder_lock::lock_folder;
use crate::io::store::handle::Store;
use crate::io::store::pack::database::PACK;
use crate::io::store::pack::{Database, PackPlace};
use crate::io::store::sleepy_threads::SessionLength;
use crate::io::system::{is_out_of_files_now, measure_room};

/// Number of attempts to open the store while another process briefly has it open, or while the system reports a temporary error.
const TRIES: u32 = 300;
/// The pause between two attempts.
const TRY_PAUSE: Duration = Duration::from_millis(100);

impl Store {
    /// Checks whether the store should be opened again before the next write.
    pub(in crate::io::store) fn is_worth_reopening(&self) -> bool {
        let has_room = || self.check_room_for(FREE_MIN).is_ok() && !is_out_of_files_now();
        if self.only_reads() {
            return has_room() && is_writable(&self.data);
        }
        match self.db.place() {
            PackPlace::Here => self.db.is_wrong() && has_room(),
            PackPlace::Returned => has_room(),
            PackPlace::Gone => false,
        }
    }

    /// Closes the files and opens them again. The open list is kept, and records are read again. Other threads that read the store
    /// wait until it is open. Returns a sentence for the user if something was lost.
    pub(in crate::io::store) fn reopen(mut self) -> Result<(Self, Option<String>), StoreError> {
        let (order, gaps) = (std::mem::take(&mut self.order), std::mem::take(&mut self.gaps));
        let (list_number, measure_room) = (self.list_number, self.measure_room);
        let failed = std::mem::take(&mut self.failed);
        let (search_index, shared) = (self.search_index.clone(), self.shared_tables.clone());
        // Keep the temporary folder of sled's files, which would otherwise be removed together with the closed store.
        let elsewhere = self.elsewhere.take();
        let mut opened = Err(StoreError::NoRoom);
        shared.send_modify(|tables| {
            *tables = None;
            opened = self.open_again();
            *tables = opened.as_ref().ok().map(|(store, _)| Arc::clone(&store.tables));
        });
        let (mut store, told) = opened?;
        (store.order, store.gaps, store.list_number) = (order, gaps, list_number);
        (store.measure_room, store.search_index) = (measure_room, search_index);
        (store.shared_tables, store.failed) = (shared, failed);
        store.elsewhere = store.elsewhere.take().or(elsewhere);
        Ok((store, told))
    }

    fn open_again(self) -> Result<(Self, Option<String>), StoreError> {
        let (stay, data) = (self.stay, self.data.clone());
        // A data folder that is back has another lock file.
        if self.only_reads() || self.check_place().is_err() {
            drop(self);
            return open_patiently(&data, stay);
        }
        // Keep the folder locked, so that no other process can open the store in between.
        let lock = self.close();
        match Self::open_locked(&data, lock, stay) {
            Ok(store) => Ok((store, None)),
            // Repair damaged files, or open the store for reading only. In the meantime, another process may open the store
            // first.
            Err(_) => open_patiently(&data, stay),
        }
    }
}

/// Opens a store. Tries again while another process has it open, or while the system reports a temporary error.
fn open_patiently(data: &Path, stay: SessionLength) -> Result<(Store, Option<String>), StoreError> {
    let is_temporary = |error: &StoreError| {
        matches!(
            error,
            StoreError::InUse { .. }
                | StoreError::Gone(_)
                | StoreError::NoRoom
                | StoreError::NoFiles
                | StoreError::Folder { .. }
                | StoreError::Refused { .. }
                | StoreError::Failed(_)
        )
    };
    try_again(TRIES, TRY_PAUSE, is_temporary, || {
        if !data.join(PACK).exists() {
            return Err(StoreError::Gone(data.into()));
        }
        Store::open_or_recover(data, clock::precise_now(), stay)
    })
}

/// Bytes that are written to test whether a folder can be written.
static PROBE: [u8; 64 * 1024] = [0; 64 * 1024];

/// Checks whether the store in a data folder can be written, by its permissions and by writing a small test file.
fn is_writable(data: &Path) -> bool {
    let probe = tempfile::tempfile_in(data);
    let probed = probe.and_then(|mut file| file.write_all(&PROBE).and_then(|()| file.sync_all()));
    probed.is_ok() && open_with(OpenOptions::new().append(true), &data.join(PACK)).is_ok()
}

/// Checks whether a store could not be opened because it cannot be written.
fn is_unwritable(data: &Path, error: &StoreError) -> bool {
    matches!(error, StoreError::NoRoom)
        || measure_room(data).is_some_and(|free| free < FREE_MIN)
        || !is_writable(data)
}

/// Creates a temporary folder where more than this number of bytes is free.
fn make_folder(bytes: u64) -> Option<TempDir> {
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let places = session.into_iter().chain(["/dev/shm".into(), std::env::temp_dir()]);
    places
        .filter(|place| measure_room(place).is_none_or(|free| free > bytes))
        .find_map(|place| tempfile::tempdir_in(place).ok())
}

impl Store {
    /// Opens the store for reading only, if opening it failed because it cannot be written; otherwise returns the error. Also
    /// returns a sentence for the user.
    pub(super) fn read_instead(
        data: &Path,
        error: StoreError,
    ) -> Result<(Self, Option<String>), StoreError> {
        if !data.join(PACK).is_file() || !is_unwritable(data, &error) {
            return Err(error);
        }
        match Self::open_to_read(data) {
            Ok(Some((store, told))) => Ok((store, Some(told))),
            Err(newer @ StoreError::Newer { .. }) => Err(newer),
            Ok(None) | Err(_) => Err(error),
        }
    }

    /// Opens the store of a data folder for reading only. The sentence says that nothing is saved, and whether some records cannot
    /// be read. Returns `None` if there is no space for sled's files anywhere.
    fn open_to_read(data: &Path) -> Result<Option<(Self, String)>, StoreError> {
        let pack = data.join(PACK).metadata()?.len();
        let Some(folder) = make_folder((pack / 8).saturating_add(FREE_MIN)) else {
            return Ok(None);
        };
        let (db, scanned) = Database::open_to_read(data, folder.path())?;
        let mut store = Self::with(db, lock_folder(folder.path())?, data, SessionLength::Short)?;
        store.elsewhere = Some(folder);
        store.refuse_newer(data)?;
        store.load_memory()?;
        let mut told = StoreError::ReadOnly.to_string();
        if !scanned.is_sound() {
            told.push_str(
                "; its files are also damaged: some records are missing until it is writable and repaired",
            );
        }
        Ok(Some((store, told)))
    }

    /// Checks whether the store is open for reading only.
    pub const fn only_reads(&self) -> bool {
        self.db.only_reads()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;

    use std::fs::File;

    use crate::io::store::upkeep::reopening::*;

    fn lock_file(data: &Path) -> File {
        let mut options = OpenOptions::new();
        options.read(true).write(true).open(data.join("lock")).unwrap()
    }

    #[test]
    fn store_stays_locked_while_it_is_reopened() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().to_owned();
        let mut store = Store::open(&data).unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let thief = std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                if lock_file(&data).try_lock().is_ok() {
                    return true;
                }
            }
            false
        });
        for _ in 0..5 {
            store = store.reopen().unwrap().0;
        }
        over.store(true, Ordering::Relaxed);
        assert!(!thief.join().unwrap(), "the store was taken");
        assert_eq!(store.salt(7).unwrap(), 7);
    }

    #[test]
    fn brief_store_owner_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().to_owned();
        drop(Store::open(&data).unwrap());
        let mut held = lock_file(&data);
        held.try_lock().unwrap();
        // Pretend to be another process.
        held.write_all(b"1\n/nowhere\n").and_then(|()| held.set_len(11)).unwrap();
        let (sender, opened) = channel();
        let opening = std::thread::spawn(move || {
            sender.send(open_patiently(&data, SessionLength::Short).is_ok())
        });
        assert!(opened.recv_timeout(3 * TRY_PAUSE).is_err(), "it waits");
        drop(held);
        assert!(opened.recv().unwrap());
        opening.join().unwrap().unwrap();
    }
}

#[cfg(test)]
mod reading_copy_tests {
    use crate::engine::store_work::{Job, JobId, StoreWork};
    use crate::io::store::folder_lock::{SCHEMA, SCHEMA_KEY};
    use crate::io::store::pack::TableName;
    use crate::io::store::upkeep::reopening::*;

    #[test]
    fn unwritable_newer_store_is_refused() {
        let data = tempfile::tempdir().unwrap();
        let mut store = Store::open(data.path()).unwrap();
        store.put(TableName::Facts, SCHEMA_KEY, [SCHEMA + 1]).unwrap();
        store.sync().unwrap();
        drop(store);
        let error = Store::read_instead(data.path(), StoreError::NoRoom).unwrap_err();
        assert!(matches!(error, StoreError::Newer { .. }), "{error}");
    }

    #[test]
    fn unwritable_store_is_read_unchanged() {
        let data = tempfile::tempdir().unwrap();
        Store::open(data.path()).unwrap().salt(7).unwrap();
        let log = || std::fs::read(data.path().join(PACK)).unwrap();
        let before = log();
        let refused = || StoreError::Failed("something else".into());
        assert!(Store::read_instead(data.path(), refused()).is_err(), "it can be written");
        let (mut store, told) = Store::read_instead(data.path(), StoreError::NoRoom).unwrap();
        assert_eq!(told, Some(StoreError::ReadOnly.to_string()));
        assert_eq!(store.salt(1).unwrap(), 7);
        let write = StoreWork {
            id: JobId(1),
            job: Job::SaveSearches(Vec::new()),
            change: None,
            beside: None,
            failures: 0,
        };
        let why = store.perform(write).unwrap().result.unwrap_err();
        assert!(why.no_room && why.text.contains("read-only"), "{why:?}");
        let copy = store.elsewhere.as_ref().unwrap().path().to_owned();
        drop(store);
        assert_eq!((log(), copy.exists()), (before, false));
    }
}
