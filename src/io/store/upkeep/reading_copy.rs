//! A store for reading alone: where nothing can be written to the data folder, what stands in it is read into a copy
//! elsewhere, which goes when the program ends.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::disk_room::FREE_MIN;
use super::free_room::measure_room;
use super::fresh_store::FreshStore;
use crate::io::store::error::{StoreError, catch_sled_panic};
use crate::io::store::handle::{ReadingCopy, Store};
use crate::io::store::salvage::{Salvaged, salvage};
use backissue_core::feed::text::counted_words;

/// Bytes that are written to see whether anything can be.
static PROBE: [u8; 64 * 1024] = [0; 64 * 1024];

/// Whether the store in a data folder can be written, as far as permissions and a few bytes go.
pub(super) fn is_writable(data: &Path) -> bool {
    let files = data.join("store");
    let probe = tempfile::tempfile_in(data);
    let probed = probe.and_then(|mut file| file.write_all(&PROBE).and_then(|()| file.sync_all()));
    probed.is_ok()
        && OpenOptions::new().append(true).open(files.join("db")).is_ok()
        && tempfile::tempfile_in(files).is_ok()
}

/// Whether what kept a store from being opened is that it cannot be written.
fn is_unwritable(data: &Path, error: &StoreError) -> bool {
    // sled writes what it has read in one piece when it opens a store: more than a few bytes.
    matches!(error, StoreError::NoRoom)
        || measure_room(data).is_some_and(|free| free < FREE_MIN)
        || !is_writable(data)
}

/// Makes a folder in which there is room for so many bytes.
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
        if !data.join("store/db").is_file() || !is_unwritable(data, &error) {
            return Err(error);
        }
        match catch_sled_panic(|| Self::open_to_read(data)) {
            Ok(Some((store, told))) => Ok((store, Some(told))),
            Ok(None) | Err(_) => Err(error),
        }
    }

    /// Opens a copy of what stands in a data folder; says that nothing is kept, and what could not be read. `None`: there
    /// is no room for it.
    fn open_to_read(data: &Path) -> Result<Option<(Self, String)>, StoreError> {
        let log = std::fs::metadata(data.join("store/db")).map_or(0, |found| found.len());
        let Some(folder) = make_folder(log.saturating_mul(2)) else { return Ok(None) };
        let mut fresh = FreshStore::begin(folder.path())?;
        let mut tree = Vec::new();
        let salvaged = salvage(&data.join("store"), &mut |name, key, value, _| {
            if tree != name {
                fresh.tree(name)?;
                tree = name.to_vec();
            }
            fresh.put(key, value)
        })?;
        fresh.take_over(None)?;
        let mut store = Self::open(folder.path())?;
        store.copy = Some(ReadingCopy { from: data.into(), folder });
        Ok(Some((store, told_of(&salvaged))))
    }

    /// Whether it is a copy for reading: nothing of what is changed in it is kept.
    pub const fn only_reads(&self) -> bool {
        self.copy.is_some()
    }

    /// The data folder whose store this is, also where a copy of it is read.
    pub fn home_folder(&self) -> &Path {
        self.copy.as_ref().map_or(self.folder(), |copy| &copy.from)
    }
}

/// Says that nothing is kept, and what of the files could not be read.
fn told_of(salvaged: &Salvaged) -> String {
    let reads = StoreError::ReadOnly;
    if !salvaged.is_partial {
        return reads.to_string();
    }
    let records = counted_words(salvaged.records, "record", "records");
    format!(
        "{reads}; its files are also damaged: {records} could be read, the others are missing until it is writable and repaired"
    )
}

#[cfg(test)]
mod tests {
    use crate::engine::store_work::{Job, JobId, StoreWork};
    use crate::io::store::upkeep::reading_copy::*;

    #[test]
    fn unwritable_store_is_read_from_a_copy_unchanged() {
        let data = tempfile::tempdir().unwrap();
        Store::open(data.path()).unwrap().salt(7).unwrap();
        let log = || std::fs::read(data.path().join("store/db")).unwrap();
        let before = log();
        let refused = || StoreError::Failed("something else".into());
        assert!(Store::read_instead(data.path(), refused()).is_err(), "it can be written");
        let (mut store, told) = Store::read_instead(data.path(), StoreError::NoRoom).unwrap();
        assert_eq!(told, Some(StoreError::ReadOnly.to_string()));
        assert_eq!(store.salt(1).unwrap(), 7);
        let write = StoreWork { id: JobId(1), job: Job::SaveSearches(Vec::new()), change: None };
        let why = store.perform(write).unwrap().result.unwrap_err();
        assert!(why.no_room && why.text.contains("read-only"), "{why:?}");
        assert_eq!(store.home_folder(), data.path());
        let copy = store.folder().to_owned();
        drop(store);
        assert_eq!((log(), copy.exists()), (before, false));
    }
}
