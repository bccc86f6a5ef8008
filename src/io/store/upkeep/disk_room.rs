//! Disk space. sled does not continue after a write that failed, so nothing is written unless there is enough space for it.
//! Compaction copies the records that are still needed from the pack into a new one.
//!
//! If stored texts and fetched pages take more than their limit (SPEC C.10), those of the oldest entries that are read and not
//! starred are dropped. The ids and positions of these entries stay, so that they are not fetched again or shown as new.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use backissue_core::history::{EntryKey, FeedKey};

use crate::engine::store_work::Job;
use crate::io::private_files::{create_empty_subfolder, create_private_subfolder};
use crate::io::regular_files::{self, sync_folder};
use crate::io::store::error::StoreError;
use crate::io::store::handle::{Store, TextRecord};
use crate::io::store::pack::TableName;
use crate::io::store::pack::database::{INDEX, PACK};
use crate::io::store::pack::frame::{FrameWriter, read_frames};
use crate::io::system::MeasureRoom;

/// Number of bytes that must stay free after any write: for sled, and for other programs that write in the meantime.
pub(super) const FREE_MIN: u64 = 8 * 1024 * 1024;
/// Estimated number of bytes that are written for each byte of a document: for texts, their records, and the pages of sled that
/// contain these.
const GROWTH: u64 = 3;

/// Estimates the number of bytes that a job writes.
fn size_of(job: &Job) -> u64 {
    // Other jobs write little.
    let document = if let Job::Commit(commit) = job {
        commit.document.as_deref()
    } else if let Job::KeepHistory(commit) = job {
        commit.document.as_ref().map(|(document, _)| &**document)
    } else {
        None
    };
    let arrived = if let Job::Sync(sync) = job { sync.arrived.as_slice() } else { &[] };
    let entries = document.map_or(&[][..], |document| document.entries.as_slice());
    let bytes = entries.iter().chain(arrived.iter().map(|(_, entry)| entry)).map(|entry| {
        let texts = [&entry.content, &entry.summary].into_iter().flatten();
        texts.map(String::len).fold(500, usize::saturating_add)
    });
    let bytes = bytes.fold(0, usize::saturating_add);
    u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(GROWTH)
}

impl Store {
    /// Sets the function that measures the free disk space. Used by tests.
    pub const fn measure_room_by(&mut self, measure: MeasureRoom) {
        self.measure_room = measure;
    }

    /// Returns an error if there is not enough disk space for a job.
    pub(in crate::io::store) fn check_room(&mut self, job: &Job) -> Result<(), StoreError> {
        if job.only_reads() {
            return Ok(());
        }
        if self.only_reads() {
            return Err(StoreError::ReadOnly);
        }
        let size = size_of(job);
        self.check_room_for(size.saturating_add(FREE_MIN))
    }

    /// Returns an error if there is not enough disk space for texts of this size in bytes.
    pub(in crate::io) fn check_room_for_texts(&self, bytes: usize) -> Result<(), StoreError> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(GROWTH);
        self.check_room_for(bytes.saturating_add(FREE_MIN))
    }

    /// Returns an error if fewer than `needed` bytes are free. Returns `Ok` if the free space is not known.
    pub(in crate::io::store) fn check_room_for(&self, needed: u64) -> Result<(), StoreError> {
        match (self.measure_room)(&self.data) {
            Some(free) if free < needed => Err(StoreError::Full { free, needed }),
            Some(_) | None => Ok(()),
        }
    }
}

/// Name of a new pack in the data folder, until it replaces the old one.
const NEW_PACK: &str = "store.pack.new";
/// A pack is compacted only if more than this number of its bytes are no longer needed.
const DEAD_MAX: u64 = 8 * 1024 * 1024;

/// The result of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compacted {
    /// Bytes on disk before the compaction.
    pub before: u64,
    /// Size of the new pack in bytes.
    pub live: u64,
}

impl Store {
    /// Checks whether more than a quarter of the pack, and more than [`DEAD_MAX`] bytes, are no longer needed.
    pub fn is_worth_compacting(&self) -> Result<bool, StoreError> {
        if self.only_reads() || self.db.is_wrong() || self.db.pack_length() <= DEAD_MAX {
            return Ok(false);
        }
        let (bytes, live) = self.db.pack_bytes()?;
        Ok(is_worth(bytes, live))
    }

    /// Returns an error if there is not enough disk space for a second copy of the records.
    pub fn check_room_to_compact(&self) -> Result<(), StoreError> {
        if self.only_reads() {
            return Err(StoreError::ReadOnly);
        }
        let Some(free) = (self.measure_room)(&self.data) else { return Ok(()) };
        let needed = self.db.pack_bytes()?.1.saturating_add(FREE_MIN);
        if free < needed { Err(StoreError::NoRoomToCompact { free, needed }) } else { Ok(()) }
    }

    /// Copies every record into a new pack that replaces this one. Calls `progress` with the number of finished tables and the
    /// number of all tables. If the copying is interrupted, the old pack is unchanged.
    pub fn compact(
        mut self,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Compacted, StoreError> {
        self.check_room_to_compact()?;
        self.check_place()?;
        if self.db.is_wrong() {
            return Err(StoreError::Failed("the last write failed".into()));
        }
        let before = self.db.disk_bytes();
        let (data, stay) = (self.data.clone(), self.stay);
        let mut out = NewPack::begin(&data)?;
        let tables = TableName::ALL.len();
        for (done, table) in self.tables.all().enumerate() {
            progress(done, tables);
            for record in table.iter() {
                let (key, value) = record?;
                out.put(table.name(), &key, &value)?;
            }
        }
        progress(tables, tables);
        // Close the store now, so that sled's files are not used after they are removed. The folder stays locked until the end.
        self.db.distrust();
        let lock = self.close();
        let live = replace_pack(out, None)?;
        Self::open_locked(&data, lock, stay)?;
        Ok(Compacted { before, live })
    }
}

/// Checks whether a pack of `bytes` bytes, of which `live` are needed, is worth compacting.
const fn is_worth(bytes: u64, live: u64) -> bool {
    let dead = bytes.saturating_sub(live);
    dead > DEAD_MAX && dead > bytes / 4
}

/// A new pack that is being written. It is removed unless it replaces the old one.
#[derive(Debug)]
pub(super) struct NewPack {
    out: Option<FrameWriter<BufWriter<File>>>,
    data: PathBuf,
}

impl NewPack {
    /// Begins a new pack in a data folder, which must be locked.
    pub(super) fn begin(data: &Path) -> Result<Self, StoreError> {
        let path = data.join(NEW_PACK);
        remove_file(&path)?;
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        Ok(Self { out: Some(FrameWriter::new(BufWriter::new(file))), data: data.into() })
    }

    /// Adds a record.
    pub(super) fn put(
        &mut self,
        table: TableName,
        key: &[u8],
        value: &[u8],
    ) -> Result<(), StoreError> {
        self.out.as_mut().map_or(Ok(()), |out| Ok(out.put(table, key, value)?))
    }
}

impl Drop for NewPack {
    fn drop(&mut self) {
        if self.out.take().is_some() {
            fs::remove_file(self.data.join(NEW_PACK)).ok();
        }
    }
}

/// Finishes a new pack and replaces the old one with it. The old pack must not be open. It is moved to the folder `aside` in the
/// data folder, or removed if `aside` is `None`. Returns the length of the new pack in bytes. After an interruption at any point,
/// [`finish_replacement`] finds one complete pack.
pub(super) fn replace_pack(mut new_pack: NewPack, aside: Option<&str>) -> Result<u64, StoreError> {
    let data = new_pack.data.clone();
    let Some(out) = new_pack.out.take() else { return Ok(0) };
    let (file, _) = out.end().inspect_err(|_| drop(fs::remove_file(data.join(NEW_PACK))))?;
    let file = file.into_inner().map_err(|error| StoreError::from(error.into_error()))?;
    file.sync_all().inspect_err(|_| drop(fs::remove_file(data.join(NEW_PACK))))?;
    let (pack, new) = (data.join(PACK), data.join(NEW_PACK));
    let index = data.join(INDEX);
    // Without a pack, move sled's files, which may be the store of an older development version.
    let moved = if pack.exists() { Some((&pack, PACK)) } else { Some((&index, INDEX)) };
    let moved = moved.filter(|(from, _)| from.exists());
    if let (Some(aside), Some((from, name))) = (aside.map(|name| data.join(name)), moved) {
        create_private_subfolder(&aside)?;
        fs::rename(from, aside.join(name))?;
        sync_folder(&aside)?;
    }
    fs::rename(&new, &pack)?;
    sync_folder(&data)?;
    create_empty_subfolder(&index)?;
    Ok(file.metadata()?.len())
}

/// Completes or undoes an interrupted replacement of a pack. The data folder must be locked.
pub(in crate::io::store) fn finish_replacement(data: &Path) -> Result<(), StoreError> {
    let (pack, new) = (data.join(PACK), data.join(NEW_PACK));
    if !new.exists() {
        return Ok(());
    }
    // The old pack is moved aside only after the new one is complete. If there was no old pack, the new one may be incomplete.
    let is_whole = || {
        let file = regular_files::open(&new).map_err(StoreError::from)?;
        read_frames::<StoreError>(BufReader::new(file), &mut |_| Ok(()))
    };
    if pack.exists() || is_whole().is_err() {
        return remove_file(&new);
    }
    fs::rename(new, pack)?;
    Ok(sync_folder(data)?)
}

fn remove_file(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Key of the size in bytes that the store had on disk when the size of the texts was last measured.
const MEASURED_KEY: &[u8] = b"texts_measured";

/// Minimum growth of the files, in bytes, after which the size of the texts is measured again.
const GROWTH_MIN: u64 = 1024 * 1024;

/// The result of dropping texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DroppedTexts {
    /// Number of entries whose text was dropped.
    pub entries: usize,
    /// Size of all texts and fetched pages before, in bytes.
    pub before: u64,
}

impl Store {
    /// Checks whether the texts may exceed `max` bytes: the files are larger than `max`, and have grown by an eighth of `max` since
    /// the last measurement. Does not read the texts.
    pub fn may_hold_too_much(&self, max: u64) -> Result<bool, StoreError> {
        let bytes = self.db.disk_bytes();
        let measured = self.tables.facts.get(MEASURED_KEY)?;
        let measured =
            measured.and_then(|bytes| (*bytes).try_into().ok()).map_or(0, u64::from_be_bytes);
        // Measure again after a compaction, which makes the files smaller than at the last measurement.
        let grown = bytes < measured || bytes.saturating_sub(measured) > (max / 8).max(GROWTH_MIN);
        Ok(bytes > max && grown)
    }

    /// If the texts exceed `max` bytes, drops texts until at most nine tenths of `max` are left. Texts of unread and starred
    /// entries are never dropped.
    pub fn shed_texts(&mut self, max: u64) -> Result<DroppedTexts, StoreError> {
        let records = self.text_records().chain(self.page_records());
        let sizes: BTreeMap<TextRecord, u64> = records.collect::<Result<_, _>>()?;
        let before = sizes.values().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
        let mut shed = DroppedTexts { entries: 0, before };
        if before > max {
            let wanted = before.saturating_sub(max / 10 * 9);
            for (feed, seqs) in self.oldest_texts(&sizes, wanted)? {
                shed.entries = shed.entries.saturating_add(seqs.len());
                self.drop_texts(feed, seqs.iter().copied())?;
                self.drop_pages(feed, seqs.into_iter())?;
            }
        }
        self.put(TableName::Facts, MEASURED_KEY, self.db.disk_bytes().to_be_bytes())?;
        self.sync()?;
        Ok(shed)
    }

    /// Returns the oldest entries whose texts may be dropped, as many as are needed to free `wanted` bytes. `sizes` are the sizes
    /// of the records in bytes.
    fn oldest_texts(
        &mut self,
        sizes: &BTreeMap<TextRecord, u64>,
        wanted: u64,
    ) -> Result<BTreeMap<FeedKey, BTreeSet<u32>>, StoreError> {
        let mut held: BTreeMap<EntryKey, u64> = BTreeMap::new();
        let mut dropped: BTreeMap<FeedKey, BTreeSet<u32>> = BTreeMap::new();
        let mut freed = 0_u64;
        for key in self.oldest_read(sizes) {
            if freed >= wanted {
                break;
            }
            if !held.contains_key(&key) {
                for (key, record, sharing) in self.held_beside(key) {
                    // Assume that texts in the same record have the same size.
                    let bytes = sizes.get(&record).copied().unwrap_or_default();
                    held.insert(key, bytes / u64::from(sharing.max(1)));
                }
            }
            let page = sizes.get(&TextRecord::Page(key)).copied();
            // If the text was already dropped, dropping it again frees nothing.
            for bytes in held.remove(&key).into_iter().chain(page) {
                freed = freed.saturating_add(bytes);
                dropped.entry(key.feed).or_default().insert(key.seq);
            }
        }
        Ok(dropped)
    }

    /// Returns the read and not starred entries of all feeds that have texts, oldest first.
    fn oldest_read(&mut self, sizes: &BTreeMap<TextRecord, u64>) -> Vec<EntryKey> {
        let feeds: BTreeSet<FeedKey> = sizes.keys().map(|record| record.feed()).collect();
        let mut oldest: Vec<(i64, EntryKey)> = Vec::new();
        for feed in feeds {
            // If the index of a feed is damaged, it is not known which entries were read, so keep their texts.
            let Ok(rows) = self.rows_of(feed) else { continue };
            let rows = (0_u32..).zip(rows.iter());
            let may_go = rows.filter(|(_, row)| row.flags.is_read() && !row.flags.is_starred());
            oldest.extend(may_go.map(|(seq, row)| (row.listed, EntryKey { feed, seq })));
        }
        oldest.sort_unstable();
        oldest.into_iter().map(|(_, key)| key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_is_compacted_once_a_quarter_of_it_is_dead() {
        const MB: u64 = 1 << 20;
        for (bytes, live, expected) in [
            (9 * MB, 2 * MB, false),
            (20 * MB, 11 * MB, true),
            (90 * MB, 70 * MB, false),
            (90 * MB, 67 * MB, true),
        ] {
            assert_eq!(is_worth(bytes, live), expected, "{bytes} {live}");
        }
    }

    /// Returns bytes that do not compress to almost nothing, always the same for each number.
    fn value(number: u32, length: u32) -> Vec<u8> {
        (0..length).map(|at| at.wrapping_mul(number).to_be_bytes()[2]).collect()
    }

    #[test]
    fn compaction_without_room_does_nothing_and_names_the_need() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        store.put(TableName::Bodies, b"a key", value(7, 4_000_000)).unwrap();
        store.measure_room_by(|_| Some(9_000_000));
        let told = store.compact(|_, _| ()).unwrap_err().to_string();
        assert!(told.contains("needs 13 MB of disk space, and 9 MB are free"), "{told}");
        assert!(!folder.path().join(NEW_PACK).exists());
    }

    #[test]
    fn a_compacted_store_holds_the_same_records_in_less_room() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        for round in 0..900_u32 {
            let value = value(round, 20_000);
            store.put(TableName::Bodies, round.to_be_bytes(), value.clone()).unwrap();
            store.put(TableName::Bodies, b"again", value).unwrap();
            store.drop_record(TableName::Bodies, (round / 2).to_be_bytes()).unwrap();
        }
        let records = |store: &Store| -> Vec<_> {
            let records = store.tables.bodies.iter().map(Result::unwrap);
            records.map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
        };
        let (expected, before) = (records(&store), store.db.pack_bytes().unwrap().0);
        assert!(store.is_worth_compacting().unwrap() && expected.len() > 400);
        let mut steps = 0;
        store.compact(|_, _| steps += 1).unwrap();
        assert!(steps > 10);
        let mut store = Store::open(folder.path()).unwrap();
        assert_eq!(records(&store), expected);
        let (after, live) = store.db.pack_bytes().unwrap();
        assert!(after < before / 3 && after.abs_diff(live) < live / 10, "{before} {after} {live}");
        assert!(!store.is_worth_compacting().unwrap());
        assert_eq!(store.salt(1).unwrap(), 1);
    }

    #[test]
    fn an_interrupted_replacement_leaves_one_complete_store() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Store::open(folder.path()).unwrap().salt(7).unwrap(), 7);
        let (pack, new) = (folder.path().join(PACK), folder.path().join(NEW_PACK));
        fs::write(&new, b"not complete").unwrap();
        assert_eq!(Store::open(folder.path()).unwrap().salt(1).unwrap(), 7);
        assert!(!new.exists());
        // There was no old pack, and the restore that began the new one was interrupted.
        let bytes = fs::read(&pack).unwrap();
        fs::remove_file(&pack).unwrap();
        fs::remove_dir_all(folder.path().join(INDEX)).unwrap();
        fs::write(&new, &bytes[..bytes.len() - 20]).unwrap();
        assert_eq!(Store::open(folder.path()).unwrap().salt(3).unwrap(), 3);
        fs::write(&pack, bytes).unwrap();
        // The old pack was moved aside, and the new one has not replaced it yet.
        fs::rename(&pack, &new).unwrap();
        assert_eq!(Store::open(folder.path()).unwrap().salt(1).unwrap(), 7);
    }
}
