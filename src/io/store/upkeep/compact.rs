//! Compaction: sled's log only grows; live records are copied into a fresh store.

use super::damage_note::note_damage;
use super::disk_room::FREE_MIN;
use super::fresh_store::FreshStore;
use crate::io::store::error::{StoreError, catch_sled_panic};
use crate::io::store::handle::Store;
use crate::io::store::record_keys::tree_names;

/// The key of the size on disk after the last compaction.
const COMPACT_KEY: &[u8] = b"compact_bytes";
/// A smaller store is not worth compacting.
const WORTH_BYTES: u64 = 8 * 1024 * 1024;
/// One that was never compacted is at the end of the session that filled it only if it is so large.
const WORTH_AT_ONCE_BYTES: u64 = 64 * 1024 * 1024;

/// The result of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compacted {
    /// Bytes on disk before the compaction.
    pub before: u64,
    /// Bytes of the records that were copied.
    pub live: u64,
}

impl Store {
    /// Whether the log has 1.4 times the size it had after the last compaction.
    pub fn is_worth_compacting(&self) -> Result<bool, StoreError> {
        if self.only_reads() {
            return Ok(false);
        }
        let bytes = self.db.size_on_disk()?;
        let last = self.facts.get(COMPACT_KEY)?;
        let last = last.and_then(|bytes| bytes.as_ref().try_into().ok()).map(u64::from_be_bytes);
        Ok(is_worth(bytes, last, self.opened_bytes))
    }

    /// An error if there is no room for a second store of what lives in this one.
    pub fn check_room_to_compact(&self) -> Result<(), StoreError> {
        if self.only_reads() {
            return Err(StoreError::ReadOnly);
        }
        let Some(free) = (self.measure_room)(&self.data) else { return Ok(()) };
        if free >= self.db.size_on_disk()?.saturating_add(FREE_MIN) {
            return Ok(());
        }
        let mut live = 0_u64;
        for name in tree_names(&self.db) {
            for pair in &self.db.open_tree(name)? {
                let (key, value) = pair?;
                let bytes = key.len().saturating_add(value.len());
                live = live.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
            }
        }
        let needed = live.saturating_add(live / 2).saturating_add(FREE_MIN);
        if free < needed { Err(StoreError::NoRoomToCompact { free, needed }) } else { Ok(()) }
    }

    /// Copies every record into a fresh store that replaces this one. `progress` receives the number of finished trees
    /// and of all trees. An interruption leaves the old store untouched.
    pub fn compact(self, progress: impl FnMut(usize, usize)) -> Result<Compacted, StoreError> {
        self.check_room_to_compact()?;
        let data = self.data.clone();
        let done = catch_sled_panic(|| self.copy_and_replace(progress));
        if matches!(done, Err(StoreError::Corrupted(_))) {
            note_damage(&data);
        }
        done
    }

    fn copy_and_replace(
        self,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Compacted, StoreError> {
        let before = self.db.size_on_disk()?;
        let names = tree_names(&self.db);
        let mut fresh = FreshStore::begin(&self.data)?;
        let mut live = 0_u64;
        for (done, name) in names.iter().enumerate() {
            progress(done, names.len());
            fresh.tree(name)?;
            for pair in &self.db.open_tree(name)? {
                let (key, value) = pair?;
                let bytes = key.len().saturating_add(value.len());
                live = live.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
                fresh.put(&key, &value)?;
            }
        }
        // Its size is what the next log is measured by: sled needs more room than the records do.
        let compact = fresh.disk_bytes()?;
        fresh.tree(b"about")?;
        fresh.put(COMPACT_KEY, &compact.to_be_bytes())?;
        progress(names.len(), names.len());
        // The old files are closed before they are moved; the lock on the folder is held until the end.
        let lock = self.close();
        let taken = fresh.take_over(None);
        drop(lock);
        taken.map(|()| Compacted { before, live })
    }
}

/// Whether a log of so many bytes is worth compacting, which had `last` after the last compaction and `opened` when it was
/// opened.
const fn is_worth(bytes: u64, last: Option<u64>, opened: u64) -> bool {
    match last {
        Some(last) => bytes > WORTH_BYTES && bytes > last.saturating_add(last / 5 * 2),
        // What was just written for the first time is packed almost as well as it can be.
        None => bytes > if bytes / 2 > opened { WORTH_AT_ONCE_BYTES } else { WORTH_BYTES },
    }
}

#[cfg(test)]
mod tests {
    use crate::io::store::upkeep::compact::*;

    #[test]
    fn store_is_compacted_after_growing_by_less_than_half() {
        const MB: u64 = 1 << 20;
        for (bytes, last, opened, expected) in [
            (7 * MB, None, 7 * MB, false),
            (7 * MB, Some(MB), 7 * MB, false),
            (20 * MB, None, 0, false),
            (20 * MB, None, 18 * MB, true),
            (65 * MB, None, 0, true),
            (139 * MB, Some(100 * MB), 100 * MB, false),
            (141 * MB, Some(100 * MB), 100 * MB, true),
            (141 * MB, Some(100 * MB), 20 * MB, true),
        ] {
            assert_eq!(is_worth(bytes, last, opened), expected, "{bytes} {last:?} {opened}");
        }
    }

    #[test]
    fn compaction_without_room_does_nothing_and_names_the_need() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let value: Vec<u8> = (0..4_000_000_u32).map(|at| at.to_be_bytes()[3]).collect();
        store.bodies.insert(b"a key", value).unwrap();
        store.measure_room_by(|_| Some(9_000_000));
        let told = store.compact(|_, _| ()).unwrap_err().to_string();
        assert!(told.contains("needs 15 MB of disk space, and 9 MB are free"), "{told}");
        assert!(!folder.path().join("store.making").exists());
    }

    #[test]
    fn a_compacted_store_holds_the_same_records_and_less_log() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        for round in 0..200_u32 {
            let value: Vec<u8> =
                (0..20_000_u32).map(|at| at.wrapping_mul(round).to_be_bytes()[2]).collect();
            store.bodies.insert(round.to_be_bytes(), value.clone()).unwrap();
            store.bodies.insert(b"again", value).unwrap();
        }
        let expected: Vec<_> = store.bodies.iter().map(Result::unwrap).collect();
        let mut steps = 0;
        store.compact(|_, _| steps += 1).unwrap();
        assert!(steps > 10);
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.bodies.iter().map(Result::unwrap).collect::<Vec<_>>(), expected);
        // However small: what is left is about the size it is measured by, so it is not copied again and again.
        let last = store.facts.get(COMPACT_KEY).unwrap().unwrap();
        let last = u64::from_be_bytes(last.as_ref().try_into().unwrap());
        assert!(store.db.size_on_disk().unwrap() < 2 * last, "{last}");
        assert!(!store.is_worth_compacting().unwrap());
        assert_eq!(store.salt(1).unwrap(), 1);
    }
}
