//! A store for reading alone, where nothing can be written to the data folder: the pack is read where it is, and sled's files are
//! in another folder, which is removed when the program ends.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::disk_room::FREE_MIN;
use super::free_room::measure_room;
use crate::io::regular_files::open_with;
use crate::io::store::error::StoreError;
use crate::io::store::folder_lock::lock_folder;
use crate::io::store::handle::Store;
use crate::io::store::pack::Database;
use crate::io::store::pack::database::PACK;
use crate::io::store::sleepy_threads::SessionLength;

/// Bytes that are written to see whether anything can be.
static PROBE: [u8; 64 * 1024] = [0; 64 * 1024];

/// Returns whether the store in a data folder can be written, as far as permissions and a few bytes go.
pub(super) fn is_writable(data: &Path) -> bool {
    let probe = tempfile::tempfile_in(data);
    let probed = probe.and_then(|mut file| file.write_all(&PROBE).and_then(|()| file.sync_all()));
    probed.is_ok() && open_with(OpenOptions::new().append(true), &data.join(PACK)).is_ok()
}

/// Returns whether a store could not be opened because it cannot be written.
fn is_unwritable(data: &Path, error: &StoreError) -> bool {
    matches!(error, StoreError::NoRoom)
        || measure_room(data).is_some_and(|free| free < FREE_MIN)
        || !is_writable(data)
}

/// Makes a folder in which this number of bytes is free.
fn make_folder(bytes: u64) -> Option<TempDir> {
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let places = session.into_iter().chain(["/dev/shm".into(), std::env::temp_dir()]);
    places
        .filter(|place| measure_room(place).is_none_or(|free| free > bytes))
        .find_map(|place| tempfile::tempdir_in(place).ok())
}

impl Store {
    /// Opens the store for reading alone, if it could not be opened because nothing can be written; says so.
    pub(super) fn read_instead(
        data: &Path,
        error: StoreError,
    ) -> Result<(Self, Option<String>), StoreError> {
        if !data.join(PACK).is_file() || !is_unwritable(data, &error) {
            return Err(error);
        }
        match Self::open_to_read(data) {
            Ok(Some((store, told))) => Ok((store, Some(told))),
            Ok(None) | Err(_) => Err(error),
        }
    }

    /// Opens what is in a data folder; says that nothing is kept, and whether something could not be read. `None`: there is no room
    /// for sled's files anywhere.
    fn open_to_read(data: &Path) -> Result<Option<(Self, String)>, StoreError> {
        let pack = data.join(PACK).metadata()?.len();
        let Some(folder) = make_folder((pack / 8).saturating_add(FREE_MIN)) else {
            return Ok(None);
        };
        let (db, scanned) = Database::open_to_read(data, folder.path())?;
        let mut store = Self::with(db, lock_folder(folder.path())?, data, SessionLength::Short)?;
        store.elsewhere = Some(folder);
        store.load_memory()?;
        let mut told = StoreError::ReadOnly.to_string();
        if !scanned.is_sound() {
            told.push_str(
                "; its files are also damaged: some records are missing until it is writable and repaired",
            );
        }
        Ok(Some((store, told)))
    }

    /// Returns whether the store is open for reading alone.
    pub const fn only_reads(&self) -> bool {
        self.db.only_reads()
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::store_work::{Job, JobId, StoreWork};
    use crate::io::store::upkeep::reading_copy::*;

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
        };
        let why = store.perform(write).unwrap().result.unwrap_err();
        assert!(why.no_room && why.text.contains("read-only"), "{why:?}");
        let copy = store.elsewhere.as_ref().unwrap().path().to_owned();
        drop(store);
        assert_eq!((log(), copy.exists()), (before, false));
    }
}
