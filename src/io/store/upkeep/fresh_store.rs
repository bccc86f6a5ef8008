//! Builds a new store beside the old one and swaps them.
//!
//! A new store is built in `store.making`, renamed to `store.new` once it is complete and durable, and replaces
//! `store`, which is `store.old` for that moment. Wherever this is interrupted, the next opening finds one complete
//! store: see [`mend_swap`].

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use sled::{Batch, Db, IVec, Mode, Tree};

use crate::io::private_files::{create_private_folder, make_content_private};
use crate::io::store::error::StoreError;

const STORE: &str = "store";
const MAKING: &str = "store.making";
const NEW: &str = "store.new";
const OLD: &str = "store.old";
/// Bytes in a batch. sled writes a growing page several times, and uses the room of the former ones again once they are
/// flushed: with batches of this size the same records always come out at about the same size, and a fifth smaller than
/// with a megabyte.
const BATCH_BYTES: usize = 128 * 1024;
/// Size of sled's page cache while the new store is written.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;

/// A new store that is being built.
#[derive(Debug)]
pub(in crate::io::store) struct FreshStore {
    db: Db,
    data: PathBuf,
    tree: Option<Tree>,
    batch: Batch,
    waiting: usize,
}

impl FreshStore {
    /// Begins a new store and removes what an earlier attempt left. The data folder must be locked.
    pub(in crate::io::store) fn begin(data: &Path) -> Result<Self, StoreError> {
        let making = data.join(MAKING);
        remove(&making)?;
        // It holds what was read, also while it is being made.
        create_private_folder(&making)?;
        let config = sled::Config::new().path(making).mode(Mode::LowSpace).flush_every_ms(None);
        let db = config.cache_capacity(CACHE_BYTES).open()?;
        Ok(Self { db, data: data.into(), tree: None, batch: Batch::default(), waiting: 0 })
    }

    /// Selects the tree that the next records go into.
    pub(in crate::io::store) fn tree(&mut self, name: &[u8]) -> Result<(), StoreError> {
        self.write()?;
        self.tree = Some(self.db.open_tree(name)?);
        Ok(())
    }

    /// Writes a record to the selected tree.
    pub(in crate::io::store) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        self.batch.insert(key, value);
        self.waiting = self.waiting.saturating_add(key.len()).saturating_add(value.len());
        if self.waiting >= BATCH_BYTES { self.write() } else { Ok(()) }
    }

    /// Writes a record to the selected tree unless it has one with this key. Says whether it was written.
    pub(in crate::io::store) fn put_missing(
        &mut self,
        key: &[u8],
        value: &[u8],
    ) -> Result<bool, StoreError> {
        let has = self.tree.as_ref().map_or(Ok(false), |tree| tree.contains_key(key))?;
        if !has {
            self.put(key, value)?;
        }
        Ok(!has)
    }

    /// A record of the selected tree that was written before the tree was selected.
    pub(in crate::io::store) fn get(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        Ok(self.tree.as_ref().map_or(Ok(None), |tree| tree.get(key))?)
    }

    /// Returns the size on disk of what was written so far.
    pub(in crate::io::store) fn disk_bytes(&mut self) -> Result<u64, StoreError> {
        self.write()?;
        self.db.flush()?;
        Ok(self.db.size_on_disk()?)
    }

    fn write(&mut self) -> Result<(), StoreError> {
        if self.waiting == 0 {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.batch);
        self.waiting = 0;
        let Some(tree) = &self.tree else { return Ok(()) };
        tree.apply_batch(batch)?;
        self.db.flush()?;
        Ok(())
    }

    /// Replaces the store, which is renamed to `aside` in the data folder, or removed. Everything is durable before
    /// the old store is touched. Nobody may have the old store open.
    pub(in crate::io::store) fn take_over(mut self, aside: Option<&str>) -> Result<(), StoreError> {
        self.write()?;
        self.db.flush()?;
        let data = self.data.clone();
        drop(self);
        let (store, new, old) = (data.join(STORE), data.join(NEW), data.join(OLD));
        make_content_private(&data.join(MAKING));
        sync_all(&data.join(MAKING))?;
        remove(&new)?;
        rename(&data.join(MAKING), &new)?;
        remove(&old)?;
        if store.exists() {
            rename(&store, &aside.map_or(old.clone(), |name| data.join(name)))?;
        }
        rename(&new, &store)?;
        remove(&old)
    }
}

/// Completes or undoes an interrupted swap. The data folder must be locked.
pub(in crate::io::store) fn mend_swap(data: &Path) -> Result<(), StoreError> {
    let store = data.join(STORE);
    for whole in [data.join(NEW), data.join(OLD)] {
        if !store.exists() && whole.exists() {
            rename(&whole, &store)?;
        }
    }
    [MAKING, NEW, OLD].iter().try_for_each(|name| remove(&data.join(name)))
}

/// Renames within the data folder, durably.
fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::rename(from, to)?;
    let folder = to.parent().unwrap_or(to);
    Ok(File::open(folder).and_then(|folder| folder.sync_all())?)
}

fn remove(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Syncs every file of a folder, and the folders.
fn sync_all(folder: &Path) -> std::io::Result<()> {
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.is_dir() {
            sync_all(&path)?;
        } else {
            File::open(&path)?.sync_all()?;
        }
    }
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use crate::io::store::upkeep::fresh_store::*;

    fn marked(data: &Path, name: &str, mark: &str) {
        fs::create_dir(data.join(name)).unwrap();
        fs::write(data.join(name).join("mark"), mark).unwrap();
    }

    #[test]
    fn new_store_is_private_from_the_start() {
        use std::os::unix::fs::PermissionsExt;
        let data = tempfile::tempdir().unwrap();
        let is_private = |name: &str| {
            let mode = fs::metadata(data.path().join(name)).unwrap().permissions().mode();
            mode.trailing_zeros() >= 6
        };
        let mut fresh = FreshStore::begin(data.path()).unwrap();
        assert!(is_private(MAKING));
        fresh.tree(b"about").unwrap();
        // A record of its own file.
        fresh.put(b"key", &vec![7; 2_000_000]).unwrap();
        fresh.take_over(None).unwrap();
        for name in ["store", "store/db", "store/conf", "store/blobs"] {
            assert!(is_private(name), "{name}");
        }
        for blob in fs::read_dir(data.path().join("store/blobs")).unwrap().flatten() {
            assert!(is_private(&format!("store/blobs/{}", blob.file_name().display())));
        }
    }

    #[test]
    fn interrupted_store_swap_leaves_one_whole_store() {
        // What is there, and which of them is the store afterwards.
        let cases: [(&[&str], Option<&str>); 7] = [
            (&["store"], Some("store")),
            (&["store", "store.making"], Some("store")),
            (&["store", "store.new"], Some("store")),
            (&["store.new", "store.old"], Some("store.new")),
            (&["store", "store.old"], Some("store")),
            (&["store.new"], Some("store.new")),
            (&[], None),
        ];
        for (there, expected) in cases {
            let data = tempfile::tempdir().unwrap();
            for name in there {
                marked(data.path(), name, name);
            }
            mend_swap(data.path()).unwrap();
            let found = fs::read_to_string(data.path().join("store/mark")).ok();
            assert_eq!(found.as_deref(), expected, "{there:?}");
            let left = fs::read_dir(data.path()).unwrap().count();
            assert_eq!(left, usize::from(expected.is_some()), "{there:?}");
        }
    }
}
