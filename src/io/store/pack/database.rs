//! The database: a pack, and sled as the index of its records.
//!
//! A change is appended to the pack and then made in sled. At the end of a session, sled stores a note with the length of the pack.
//! If the note is missing or differs when the database is opened, sled's files are removed and filled again from the pack. This
//! happens after a power cut, after damage to the pack or to sled's files, and after the pack was replaced.
//!
//! If only the process was killed, all that it wrote is in its files. sled then has a beginning of the changes that were made in
//! it, and each is made after a record that says where its frame begins. The frames from there on are read again.
//!
//! A repair starts from the undamaged records of a pack.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sled::{Db, Mode};

use super::frame::{CHANGE, FrameBuilder, Record};
use super::pack_file::{Pack, PackPlace, Places, Scanned};
use super::table::{Batch, StoredRecord, Table, TableName, Tables, read_at};
use crate::io::codec;
use crate::io::private_files::create_empty_subfolder;
use crate::io::regular_files::{open_with, sync_folder, try_again};
use crate::io::store::error::{StoreError, catch_sled_panic};
use crate::io::store::sleepy_threads::{SessionLength, open_database};
use crate::io::system::is_out_of_files;

/// Name of the pack in a data folder.
pub(in crate::io) const PACK: &str = "store.pack";
/// Name of the folder of sled's files in a data folder.
pub(in crate::io::store) const INDEX: &str = "store";
/// Capacity of sled's page cache, in bytes of pages on disk. In memory, the pages take twice as much.
const CACHE_BYTES: u64 = 4 * 1024 * 1024;
/// Bytes that are reserved for sled in addition to the size of the records that are written.
const RESERVED: u64 = 2 * 1024 * 1024;
/// Key of the note about the pack in sled, in a tree with no other records.
const NOTE: &[u8] = b"pack";
/// Key of the record in sled about the last change made in it. In a tree with no other records but the note.
const LAST_CHANGE: &[u8] = b"change";
/// Name of an empty file next to sled's files, which shows that they are the index of a pack.
const OF_PACK: &str = "of-pack";
/// Maximum size in bytes of a file without a valid frame that may come from an interrupted first write.
const TORN_MAX: u64 = 4_096;
/// Number of attempts to open a file of sled while the file is locked or while the process has too many open files. sled releases
/// its lock shortly after it was closed.
const TRIES: u32 = 100;
const TRY_PAUSE: Duration = Duration::from_millis(20);

/// An open database.
#[derive(Debug)]
pub(in crate::io::store) struct Database {
    db: Db,
    pub(in crate::io::store) tables: Arc<Tables>,
    pack: Pack,
    /// Folder of sled's files.
    index: PathBuf,
    /// Length to which the pack is synced when the sync in progress ends.
    ordered: Option<u64>,
    /// Whether sled contains the note that it has all records of the pack.
    is_noted: bool,
    /// Whether sled may differ from the pack. If it may, nothing is written until the database is opened again.
    is_wrong: bool,
    /// Undo steps that are written in the next frame.
    pub(in crate::io::store) beside: Option<Batch>,
    /// Whether the database is open for reading only.
    only_reads: bool,
    /// Identifies the time since the system started; `None` if that is unknown.
    boot: Option<u128>,
}

/// The last change made in sled.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct LastChange {
    /// The number of the pack.
    pack: u64,
    /// Where the frame of the change begins and ends. sled has everything of the frames before it and nothing of later ones.
    frame: (u64, u64),
    /// When the system was started that wrote this. After a power cut, sled's files may lack what was written to them.
    boot: u128,
}

/// Returns the content of the note in sled: the number of the pack and its length.
fn note(pack: &Pack) -> [u8; 16] {
    (u128::from(pack.end) << 64 | u128::from(pack.number)).to_le_bytes()
}

/// Opens sled's files if they contain a note about the pack with this number, or about any pack if `pack` is `None`. Returns them
/// with the length of the pack in the note.
fn open_noted(pack: Option<u64>, index: &Path, stay: SessionLength) -> Option<(Db, u64)> {
    let (db, noted, _) = open_left(index, stay)?;
    let (number, end) = noted?;
    pack.is_none_or(|pack| number == pack).then_some((db, end))
}

/// Opens sled's files as a session left them, with the number and the length of the pack in its note, and with its last change.
fn open_left(index: &Path, stay: SessionLength) -> Option<LeftIndex> {
    if !index.join("db").is_file() {
        return None;
    }
    let opened = catch_sled_panic(|| {
        let db = open_index(index, stay)?;
        let (noted, last) = (db.get(NOTE)?, db.get(LAST_CHANGE)?);
        Ok((db, noted, last))
    });
    let (db, noted, last) = opened.ok()?;
    let noted = noted.and_then(|noted| {
        let (number, end) = noted.split_first_chunk()?;
        Some((u64::from_le_bytes(*number), u64::from_le_bytes(*end.first_chunk()?)))
    });
    Some((db, noted, last.and_then(|last| codec::decode(&last).ok())))
}

/// sled's files, with the note and the last change.
type LeftIndex = (Db, Option<(u64, u64)>, Option<LastChange>);

/// Returns a number that identifies the time since the system started.
fn find_boot() -> Option<u128> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    u128::from_str_radix(&id.trim().replace('-', ""), 16).ok()
}

impl Database {
    /// Opens the database in a data folder, or creates it if there is none. Returns an error if the pack is found to be damaged. A
    /// pack with the length in sled's note is not read, so damage in it is not noticed.
    pub(in crate::io::store) fn open(data: &Path, stay: SessionLength) -> Result<Self, StoreError> {
        let path = data.join(PACK);
        let index = data.join(INDEX);
        let is_new = !path.exists();
        let mut pack = if is_new {
            let pack = Pack::create(&path)?;
            sync_folder(data)?;
            pack
        } else {
            Pack::open(&path, true)?
        };
        if !is_new && !pack.is_known {
            // A crash can only have cut off the very first frame. Anything else is damage.
            let is_foreign = pack.end > TORN_MAX || open_noted(None, &index, stay).is_some();
            if is_foreign {
                return Err(StoreError::Corrupted("they are damaged".into()));
            }
        }
        if let Some((db, noted, last)) = open_left(&index, stay) {
            let noted = noted.filter(|(number, _)| *number == pack.number).map(|(_, end)| end);
            if noted == Some(pack.end) {
                let end = pack.end;
                let mut database = Self::with(pack, &index, db)?;
                (database.is_noted, database.is_wrong) = (true, false);
                database.pack.note_synced(end);
                return Ok(database);
            }
            if noted.is_some_and(|end| end > pack.end) {
                return Err(StoreError::Corrupted("a part of them is missing".into()));
            }
            if let Some(last) = last.filter(|last| last.pack == pack.number) {
                if let Ok(Some(database)) =
                    catch_sled_panic(|| Self::resume(pack, &index, db, last))
                {
                    return Ok(database);
                }
                pack = Pack::open(&path, true)?;
            }
        }
        // The last session did not end normally, so fill sled's files again.
        create_empty_subfolder(&index)?;
        File::create(index.join(OF_PACK))?;
        let (mut database, scanned) = Self::fill(pack, &index, stay)?;
        if !scanned.is_sound() {
            return Err(StoreError::Corrupted("they are damaged".into()));
        }
        database.pack.cut(scanned.end)?;
        database.sync()?;
        database.is_wrong = false;
        Ok(database)
    }

    /// Opens the database of a data folder that cannot be written. sled's files are created in the folder `elsewhere`.
    pub(in crate::io::store) fn open_to_read(
        data: &Path,
        elsewhere: &Path,
    ) -> Result<(Self, Scanned), StoreError> {
        let pack = Pack::open(&data.join(PACK), false)?;
        let index = elsewhere.join(INDEX);
        let (mut database, scanned) = Self::fill(pack, &index, SessionLength::Short)?;
        (database.only_reads, database.is_wrong) = (true, false);
        Ok((database, scanned))
    }

    /// Creates a database. It counts as wrong until the caller knows that sled has all records of the pack.
    fn with(pack: Pack, index: &Path, db: Db) -> Result<Self, StoreError> {
        let tables = Tables::open(|name| {
            Ok(Table::new(name, db.open_tree(name.text())?, Arc::clone(&pack.file)))
        })?;
        Ok(Self {
            db,
            tables: tables.into(),
            pack,
            index: index.into(),
            ordered: None,
            is_noted: false,
            is_wrong: true,
            beside: None,
            only_reads: false,
            boot: find_boot(),
        })
    }

    /// Fills new files of sled from the pack.
    fn fill(pack: Pack, index: &Path, stay: SessionLength) -> Result<(Self, Scanned), StoreError> {
        let (places, scanned) = pack.changes(0, 0)?;
        let db = catch_sled_panic(|| Ok(open_index(index, stay)?))?;
        let database = Self::with(pack, index, db)?;
        catch_sled_panic(|| database.apply_places(places))?;
        Ok((database, scanned))
    }

    /// Makes the changes in sled that a killed process did not make there any more. Returns `None` if sled's files cannot be used.
    fn resume(
        pack: Pack,
        index: &Path,
        db: Db,
        last: LastChange,
    ) -> Result<Option<Self>, StoreError> {
        let (begin, end) = last.frame;
        let mut database = Self::with(pack, index, db)?;
        if database.boot != Some(last.boot) || end > database.pack.end {
            return Ok(None);
        }
        let (places, scanned) = database.pack.changes(begin, 0)?;
        if !scanned.is_sound() || scanned.end < end {
            return Ok(None);
        }
        database.apply_places(places)?;
        database.pack.cut(scanned.end)?;
        database.sync()?;
        database.is_wrong = false;
        Ok(Some(database))
    }

    fn apply_places(&self, places: Places) -> Result<(), StoreError> {
        for ((table, key), place) in places {
            let tree = &self.tables.of(table).tree;
            match place {
                Some((place, length)) if StoredRecord::is_inline(table, length) => {
                    let value = read_at(&self.pack.file, place, length)?;
                    tree.insert(key, StoredRecord::Inline(&value).bytes())?
                }
                Some((place, length)) => {
                    tree.insert(key, StoredRecord::At(place, length).bytes())?
                }
                None => tree.remove(key)?,
            };
        }
        Ok(())
    }

    /// Checks whether the database is open for reading only.
    pub(in crate::io::store) const fn only_reads(&self) -> bool {
        self.only_reads
    }

    /// Writes changes, all or none of them. They are visible at once, and durable after the next sync.
    pub(in crate::io::store) fn commit(
        &mut self,
        batches: &[(TableName, &Batch)],
    ) -> Result<(), StoreError> {
        let steps = self.beside.take();
        let steps = steps.iter().map(|steps| (TableName::Undo, steps));
        let batches: Vec<_> = batches.iter().copied().chain(steps).collect();
        let batches = batches.as_slice();
        let mut frame = FrameBuilder::default();
        for (table, batch) in batches {
            if !frame.add(*table, batch) {
                return Err(StoreError::Failed("a record is too long".into()));
            }
        }
        if frame.is_empty() {
            return Ok(());
        }
        if self.only_reads() {
            return Err(StoreError::ReadOnly);
        }
        self.check_place()?;
        if self.is_wrong {
            return Err(StoreError::Failed("the last write failed".into()));
        }
        self.reserve(frame.length())?;
        let end = self.pack.end;
        let places = self.pack.append(frame)?;
        let done = catch_sled_panic(|| self.apply_committed(batches, places, end));
        if done.is_err() {
            self.distrust();
            self.pack.cut(end)?;
        }
        done
    }

    fn apply_committed(
        &mut self,
        batches: &[(TableName, &Batch)],
        places: Vec<u64>,
        begin: u64,
    ) -> Result<(), StoreError> {
        if let Some(boot) = self.boot {
            let frame = (begin, self.pack.end);
            let last = LastChange { pack: self.pack.number, frame, boot };
            self.db.insert(LAST_CHANGE, codec::encode(&last)?)?;
        }
        if std::mem::take(&mut self.is_noted) {
            self.db.remove(NOTE)?;
        }
        // Write the records one by one, because sled writes each of its own batches to the disk at once.
        let mut places = places.into_iter();
        for (table, changes) in batches {
            let tree = &self.tables.of(*table).tree;
            for (key, value) in changes.changes() {
                let place = places.next().unwrap_or_default();
                match value {
                    Some(value) => {
                        tree.insert(key, StoredRecord::choose(*table, value, place).bytes())?
                    }
                    None => tree.remove(key)?,
                };
            }
        }
        Ok(())
    }

    /// Reserves disk space for the next writes of sled, because sled does not continue after a write that failed. Does nothing on
    /// systems that cannot reserve space.
    fn reserve(&mut self, bytes: usize) -> Result<(), StoreError> {
        let path = self.index.join("db");
        let open = || open_with(fs::OpenOptions::new().write(true), &path);
        // Network connections may use all file descriptors, but connections are closed all the time. Without new attempts, the
        // result of a poll would be lost.
        let file = try_again(TRIES, TRY_PAUSE, is_out_of_files, open);
        let file = file.inspect_err(|error| {
            // If sled's files were removed, sled would still write to the removed files.
            if error.kind() == io::ErrorKind::NotFound {
                self.distrust();
            }
        })?;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{FallocateFlags, fallocate};
            let room = (bytes as u64).saturating_add(RESERVED);
            let end = file.metadata()?.len();
            let reserved = fallocate(&file, FallocateFlags::KEEP_SIZE, end, room);
            if let Err(rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT) = reserved {
                return Err(StoreError::NoRoom);
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (bytes, file);
        Ok(())
    }

    /// Makes everything that was written durable.
    pub(in crate::io::store) fn sync(&mut self) -> Result<(), StoreError> {
        if self.pack.synced < self.pack.end && !self.only_reads() {
            // The system reports a failed sync only once, so act on it now.
            let synced = self.pack.file.sync_data().map_err(StoreError::from);
            if let Err(error) = synced.and_then(|()| self.check_place()) {
                self.give_up_unsynced();
                return Err(error);
            }
            // While the other thread syncs, only that thread may learn of an error, so do not count the pack as synced yet.
            if self.ordered.is_none() {
                self.pack.note_synced(self.pack.end);
            }
        }
        Ok(())
    }

    /// Returns the file to sync so that everything written so far becomes durable. Call [`Self::was_synced`] after the sync.
    pub(in crate::io::store) fn begin_sync(&mut self) -> Arc<File> {
        self.ordered = Some(self.pack.end);
        Arc::clone(&self.pack.file)
    }

    /// Notes that the sync started with [`Self::begin_sync`] has succeeded.
    pub(in crate::io::store) fn was_synced(&mut self) {
        self.pack.note_synced(self.pack.synced.max(self.ordered.take().unwrap_or(0)));
    }

    /// Removes everything from the pack that was not synced. sled's files are filled again when the database is opened next.
    pub(in crate::io::store) fn give_up_unsynced(&mut self) {
        self.distrust();
        self.ordered = None;
        // Without this, changes that were reported as failed would reappear after a restart.
        self.pack.cut(self.pack.synced).ok();
    }

    /// Marks sled's files as damaged or possibly different from the pack, so that they are filled again when the database is
    /// opened next, even if this process is killed.
    pub(in crate::io::store) fn distrust(&mut self) {
        self.is_wrong = true;
        // sled goes on reading its open file. Another store may be at the path now.
        if self.check_place().is_ok() {
            fs::remove_file(self.index.join("db")).ok();
        }
    }

    /// Checks whether the database must be opened again before anything can be written.
    pub(in crate::io::store) const fn is_wrong(&self) -> bool {
        self.is_wrong
    }

    /// Checks what is at the path of the pack.
    pub(in crate::io::store) fn place(&self) -> PackPlace {
        self.pack.place()
    }

    /// Returns an error if the pack is no longer at its path, because changes to it would be lost.
    pub(in crate::io::store) fn check_place(&self) -> Result<(), StoreError> {
        if self.only_reads { Ok(()) } else { self.pack.check_place() }
    }

    /// Reads the whole pack to find damage.
    pub(in crate::io::store) fn scan(&self) -> Result<Scanned, StoreError> {
        Ok(self.pack.scan(0, self.pack.synced, &mut |_, _| {})?)
    }

    /// Returns the length of the pack in bytes.
    pub(in crate::io::store) const fn pack_length(&self) -> u64 {
        self.pack.end
    }

    /// Returns the size of the pack and of sled's files on disk, in bytes.
    pub(in crate::io::store) fn disk_bytes(&self) -> u64 {
        self.pack.end.saturating_add(self.db.size_on_disk().unwrap_or(0))
    }

    /// Returns the length of the pack and the number of its bytes that are still needed, both in bytes.
    pub(in crate::io::store) fn pack_bytes(&self) -> Result<(u64, u64), StoreError> {
        let mut live = 0_u64;
        for table in self.tables.all() {
            for record in table.lengths([]) {
                let (key, length) = record?;
                let in_directory = CHANGE.saturating_add(key.len()) as u64;
                live = live.saturating_add(length).saturating_add(in_directory);
            }
        }
        Ok((self.pack.end, live))
    }

    /// Stores in sled the note that it has all records of the pack, unless sled may differ from the pack.
    fn close(&mut self) -> Result<(), StoreError> {
        // Another store may be at the path now. sled's files of this store are filled again when it is opened next.
        if self.only_reads() || self.check_place().is_err() {
            return Ok(());
        }
        if self.is_wrong {
            self.distrust();
            return Ok(());
        }
        if self.is_noted {
            return Ok(());
        }
        self.sync()?;
        // The head of this empty frame states that all earlier frames are synced.
        if self.pack.end > 0 {
            self.pack.append(FrameBuilder::default())?;
            self.pack.file.sync_data()?;
        }
        self.db.flush()?;
        // sled does not sync its files. Sync them first, so that the note never reaches the disk before the records that it
        // confirms.
        File::open(self.index.join("db"))?.sync_data()?;
        self.db.insert(NOTE, &note(&self.pack))?;
        self.db.flush()?;
        Ok(())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // If this fails, there is no note, so sled's files are filled again.
        catch_sled_panic(|| self.close()).ok();
    }
}

/// Opens sled's files.
fn open_index(index: &Path, stay: SessionLength) -> Result<Db, sled::Error> {
    let config = sled::Config::new().path(index).mode(Mode::LowSpace);
    let config = config.cache_capacity(CACHE_BYTES).flush_every_ms(None);
    let is_locked =
        |error: &sled::Error| matches!(error, sled::Error::Io(error) if is_locked(error));
    try_again(TRIES, TRY_PAUSE, is_locked, || open_database(&config, stay))
}

/// Returns whether sled's files are still locked. This is temporary, because this process has locked the data folder.
fn is_locked(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.to_string().contains("acquire lock")
}

/// Returns whether sled's files belong to a pack. Otherwise they are the store of an older development version.
pub(in crate::io::store) fn is_of_pack(index: &Path) -> bool {
    index.join(OF_PACK).exists()
}

/// Location of the value of a record that is recovered from a damaged pack.
#[derive(Debug, Clone)]
enum Place {
    /// In the pack: its position and its length in bytes.
    Pack((u64, u32)),
    /// In sled: the value itself.
    Index(Vec<u8>),
}

/// The undamaged records of a pack that may be damaged.
#[derive(Debug)]
pub(in crate::io::store) struct SoundRecords {
    file: Option<Arc<File>>,
    records: BTreeMap<(TableName, Vec<u8>), Place>,
    /// The result of scanning the pack.
    pub(in crate::io::store) scanned: Scanned,
}

impl SoundRecords {
    /// Reads the pack of a data folder. Small records are taken from sled if its note covers the whole pack, or a longer pack
    /// whose end is now missing. If the pack itself is missing, only the records in sled are read.
    pub(in crate::io::store) fn read(data: &Path) -> Result<Self, StoreError> {
        let pack = match Pack::open(&data.join(PACK), false) {
            Ok(pack) => pack,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Self::without_pack(&data.join(INDEX));
            }
            Err(error) => return Err(error.into()),
        };
        // Without a valid frame, the number of the pack is not known.
        let number = Some(pack.number).filter(|_| pack.is_known);
        let noted = open_noted(number, &data.join(INDEX), SessionLength::Short);
        let noted = noted.filter(|(_, end)| *end >= pack.end || !pack.is_known);
        let (places, scanned) = pack.changes(0, noted.as_ref().map_or(0, |(_, end)| *end))?;
        let records = places.into_iter();
        let records =
            records.filter_map(|(name, place)| Some((name, Place::Pack(place?)))).collect();
        let mut sound = Self { file: Some(Arc::clone(&pack.file)), records, scanned };
        if let Some((db, _)) = noted {
            // If sled cannot be read, keep the records found in the pack.
            catch_sled_panic(|| sound.take_index(if pack.is_known { pack.end } else { 0 }, &db))
                .ok();
        }
        Ok(sound)
    }

    /// Reads the small records in sled, for a data folder without a pack.
    fn without_pack(index: &Path) -> Result<Self, StoreError> {
        let scanned = Scanned { unsound: 1, ..Scanned::default() };
        let mut sound = Self { file: None, records: BTreeMap::new(), scanned };
        if let Some((db, _)) = open_noted(None, index, SessionLength::Short) {
            catch_sled_panic(|| sound.take_index(0, &db)).ok();
        }
        Ok(sound)
    }

    /// Replaces the records found in the pack by the records in sled. If sled refers to a value beyond the end of the pack, the
    /// value found in the pack is kept.
    fn take_index(&mut self, end: u64, db: &Db) -> Result<(), StoreError> {
        let mut records = BTreeMap::new();
        for &name in TableName::ALL {
            for pair in &db.open_tree(name.text())? {
                let (key, bytes) = pair?;
                let key = (name, key.to_vec());
                let found = self.records.get(&key).cloned();
                let place = match StoredRecord::read(&bytes) {
                    StoredRecord::Inline(value) => Some(Place::Index(value.to_vec())),
                    StoredRecord::At(place, length)
                        if place.saturating_add(length.into()) <= end =>
                    {
                        Some(Place::Pack((place, length)))
                    }
                    StoredRecord::At(..) => found,
                };
                records.extend(place.map(|place| (key, place)));
            }
        }
        self.records = records;
        Ok(())
    }

    /// Returns the number of records.
    pub(in crate::io::store) fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns whether there are no records.
    pub(in crate::io::store) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the table of each record.
    pub(in crate::io::store) fn names(&self) -> impl Iterator<Item = TableName> {
        self.records.keys().map(|(table, _)| *table)
    }

    /// Returns whether there is a record.
    pub(in crate::io::store) fn contains(&self, table: TableName, key: &[u8]) -> bool {
        self.records.contains_key(&(table, key.to_vec()))
    }

    /// Calls a function with the table, key and value of each record, in order.
    pub(in crate::io::store) fn for_each(
        &self,
        each: &mut dyn FnMut(Record<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for ((table, key), place) in &self.records {
            match (place, &self.file) {
                (Place::Index(value), _) => each((*table, key, value))?,
                (Place::Pack((place, length)), Some(file)) => {
                    each((*table, key, &read_at(file, *place, *length)?))?;
                }
                (Place::Pack(_), None) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8] = b"only in sled";

    fn put(database: &mut Database, key: u8, value: Option<&[u8]>) {
        let mut batch = Batch::default();
        match value {
            Some(value) => batch.insert([key], value),
            None => batch.remove([key]),
        }
        database.commit(&[(TableName::Feeds, &batch)]).unwrap();
    }

    /// Opens the files as they are on the disk now, as after the process was killed, with this many bytes of the pack.
    fn open_as_killed(database: &Database, data: &Path, bytes: u64) -> (Vec<(u8, usize)>, bool) {
        let copy = tempfile::tempdir().unwrap();
        let index = copy.path().join(INDEX);
        fs::create_dir(&index).unwrap();
        for name in ["conf", "db", OF_PACK] {
            fs::copy(data.join(INDEX).join(name), index.join(name)).unwrap();
        }
        fs::copy(data.join(PACK), copy.path().join(PACK)).unwrap();
        assert!(bytes <= database.pack.end);
        let pack = File::options().write(true).open(copy.path().join(PACK)).unwrap();
        pack.set_len(bytes).unwrap();
        let opened = Database::open(copy.path(), SessionLength::Short).unwrap();
        let records = opened.tables.feeds.iter().map(|pair| {
            let (key, value) = pair.unwrap();
            (key[0], value.len())
        });
        (records.collect(), opened.tables.facts.contains_key(KEY).unwrap())
    }

    #[test]
    fn index_of_a_killed_process_is_completed() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Database::open(folder.path(), SessionLength::Short).unwrap();
        let only_here = StoredRecord::Inline(b"").bytes();
        database.tables.facts.tree.insert(KEY, only_here).unwrap();
        for key in 0..3 {
            put(&mut database, key, Some(b"first"));
        }
        database.db.flush().unwrap();
        let end = database.pack.end;
        // sled keeps these in memory; the killed process takes them along.
        put(&mut database, 0, None);
        put(&mut database, 1, Some(&[7; 2_000]));
        let is_known = database.boot.is_some();
        let expected = vec![(1, 2_000), (2, 5)];
        assert_eq!(
            open_as_killed(&database, folder.path(), database.pack.end),
            (expected.clone(), is_known)
        );
        let cut = database.pack.end - 1;
        let shorter = open_as_killed(&database, folder.path(), cut);
        assert_eq!(shorter, (vec![(1, 5), (2, 5)], is_known), "the last frame is incomplete");
        let before = open_as_killed(&database, folder.path(), end - 1);
        assert_eq!(before, (vec![(0, 5), (1, 5)], false), "sled has more than the pack");
        // The system was started again since.
        let last = database.db.get(LAST_CHANGE).unwrap();
        if let Some(last) = last.map(|last| codec::decode::<LastChange>(&last).unwrap()) {
            let earlier = LastChange { boot: !last.boot, ..last };
            database.db.insert(LAST_CHANGE, codec::encode(&earlier).unwrap()).unwrap();
            database.db.flush().unwrap();
        }
        assert_eq!(open_as_killed(&database, folder.path(), database.pack.end), (expected, false));
    }
}
