//! A store for reading alone: where nothing can be written to the data folder, what stands in it is read into a copy
//! elsewhere, which goes when the program ends.

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::free_room::measure_room;
use super::fresh_store::FreshStore;
use crate::io::store::error::StoreError;
use crate::io::store::handle::{ReadingCopy, Store};
use crate::io::store::salvage::salvage;

/// Bytes that are written to see whether anything can be.
static PROBE: [u8; 64 * 1024] = [0; 64 * 1024];

/// Whether something can be written to a folder.
pub(super) fn is_writable(folder: &Path) -> bool {
    let probe = tempfile::tempfile_in(folder);
    probe.and_then(|mut file| file.write_all(&PROBE).and_then(|()| file.sync_all())).is_ok()
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
    /// Opens a store of which nothing can be written, for reading. `None`: that is not what is wrong with it, or there is
    /// no room for a copy.
    pub(super) fn open_if_unwritable(data: &Path) -> Result<Option<Self>, StoreError> {
        if !data.join("store/db").is_file() || is_writable(data) {
            return Ok(None);
        }
        Self::open_to_read(data)
    }

    /// Opens a copy of what stands in a data folder. `None`: there is no room for it.
    fn open_to_read(data: &Path) -> Result<Option<Self>, StoreError> {
        let log = std::fs::metadata(data.join("store/db")).map_or(0, |found| found.len());
        let Some(folder) = make_folder(log.saturating_mul(2)) else { return Ok(None) };
        let mut fresh = FreshStore::begin(folder.path())?;
        let mut tree = Vec::new();
        salvage(&data.join("store"), &mut |name, key, value| {
            if tree != name {
                fresh.tree(name)?;
                tree = name.to_vec();
            }
            fresh.put(key, value)
        })?;
        fresh.take_over(None)?;
        let mut store = Self::open(folder.path())?;
        store.copy = Some(ReadingCopy { from: data.into(), folder });
        Ok(Some(store))
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::store_work::{Job, JobId, StoreWork};
    use crate::io::store::upkeep::reading_copy::*;

    #[test]
    fn a_store_that_cannot_be_written_is_read_from_a_copy_and_left_as_it_is() {
        let data = tempfile::tempdir().unwrap();
        Store::open(data.path()).unwrap().salt(7).unwrap();
        let log = || std::fs::read(data.path().join("store/db")).unwrap();
        let before = log();
        assert!(Store::open_if_unwritable(data.path()).unwrap().is_none(), "it can be written");
        let mut store = Store::open_to_read(data.path()).unwrap().unwrap();
        assert_eq!(store.salt(1).unwrap(), 7);
        let write = StoreWork { id: JobId(1), job: Job::SaveSearches(Vec::new()), rollback: None };
        let why = store.perform(write).unwrap().result.unwrap_err();
        assert!(why.no_room && why.text.contains("for reading"), "{why:?}");
        let copy = store.folder().to_owned();
        drop(store);
        assert_eq!((log(), copy.exists()), (before, false));
    }
}
