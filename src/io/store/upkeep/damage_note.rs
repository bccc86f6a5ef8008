//! A note beside the store that sled found its files damaged when it was at work: the next opening copies what is sound.

use std::fs::{self, File};
use std::path::Path;

use crate::io::store::error::{StoreError, catch_sled_panic};
use crate::io::store::handle::Store;

/// A file in the data folder that says that sled found its files damaged when it was at work.
const FOUND_DAMAGED: &str = "store-is-damaged";

/// Does work that may find the files damaged: what is remembered of them may be wrong then, and is forgotten.
pub(in crate::io::store) fn on_damaged_files<T>(
    store: &mut Store,
    work: impl FnOnce(&mut Store) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let done = catch_sled_panic(|| work(store));
    if let Err(StoreError::NoRoom) = done {
        store.syncer.give_up();
    }
    if let Err(StoreError::Corrupted(_)) = done {
        note_damage(&store.data);
        store.rows.clear();
        store.shown.clear();
    }
    done
}

/// Notes that sled found its files damaged: the next opening copies what is sound.
pub(in crate::io::store) fn note_damage(data: &Path) {
    if !data.as_os_str().is_empty() {
        File::create(data.join(FOUND_DAMAGED)).ok();
    }
}

/// Whether sled found its files damaged when it had them open.
pub(in crate::io::store) fn is_noted(data: &Path) -> bool {
    data.join(FOUND_DAMAGED).exists()
}

/// The files were put in order.
pub(super) fn forget(data: &Path) {
    fs::remove_file(data.join(FOUND_DAMAGED)).ok();
}
