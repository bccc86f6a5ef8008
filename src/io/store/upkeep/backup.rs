//! Backups: writes the whole store to one file, and restores it.
//!
//! Like a pack, a backup is a stream of frames ([`crate::io::store::pack::frame`]). It has one additional record for the
//! configuration.

use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

use super::disk_room::{NewPack, finish_replacement, replace_pack};
use crate::io::private_files::{create_private_folder, find_bad_link};
use crate::io::store::error::StoreError;
use crate::io::store::folder_lock::{SCHEMA, SCHEMA_KEY, lock_folder};
use crate::io::store::given_numbers::NUMBERS_KEY;
use crate::io::store::handle::Store;
use crate::io::store::pack::frame::{FrameWriter, MAGIC, Record, StreamFault, read_frames};
use crate::io::store::pack::{TableName, Tables};
use crate::io::system::system_words;

/// Key of the note, in a backup without texts, that texts are missing. When the store restored from this backup is opened, it
/// removes the note.
pub(in crate::io::store) const TEXTS_LOST: &[u8] = b"texts_lost";
/// Key of the configuration in its table.
const CONFIGURATION_KEY: &[u8] = b"config";
/// The order in which tables are read. It matters because the store may be written in the meantime: tables that refer to records
/// are read before these records, so that each reference has its record. Subscriptions are read last, so that the number of a
/// feed whose records were read is not used again.
const READ_ORDER: [TableName; 19] = [
    TableName::Facts,
    TableName::Configuration,
    TableName::Undo,
    TableName::Elsewhere,
    TableName::Syncs,
    TableName::History,
    TableName::Nodes,
    TableName::State,
    TableName::Times,
    TableName::Counters,
    TableName::FilterHits,
    TableName::Index,
    TableName::Polls,
    TableName::Rhythms,
    TableName::Places,
    TableName::Pages,
    TableName::Bodies,
    TableName::Meta,
    TableName::Feeds,
];

/// The result of writing or reading a backup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Backup {
    pub records: u64,
    /// The configuration file, as text.
    pub configuration: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::io::store) enum Extent {
    Whole,
    /// Everything except the texts, which can be fetched again.
    WithoutTexts,
}

/// Returns whether a file begins like a backup.
pub fn is_backup(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}

/// A view of the whole store for another thread. Changes made while a backup is written may or may not be included.
#[derive(Debug)]
pub struct BackupSource {
    tables: Arc<Tables>,
    /// Whether the last write failed. If so, the tables may contain changes that the pack does not.
    is_wrong: bool,
}

impl BackupSource {
    /// Writes the whole store and the configuration, like [`Store::back_up`]. Calls `goes_on` before each record, and returns an
    /// error if it returned false.
    pub fn write_whole(
        &self,
        to: impl Write,
        configuration: Option<&str>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Backup, StoreError> {
        self.write(to, configuration, Extent::Whole, goes_on)
    }

    /// Writes a backup. Calls `goes_on` before each record, and returns an error if it returned false.
    pub(in crate::io::store) fn write(
        &self,
        to: impl Write,
        configuration: Option<&str>,
        extent: Extent,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Backup, StoreError> {
        if self.is_wrong {
            return Err(StoreError::Backup("the last write to the store failed".into()));
        }
        let mut out = FrameWriter::new(BufWriter::new(to));
        if let Some(text) = configuration {
            out.put(TableName::Configuration, CONFIGURATION_KEY, text.as_bytes())
                .map_err(cannot_write)?;
        }
        if extent == Extent::WithoutTexts {
            out.put(TableName::Facts, TEXTS_LOST, &[]).map_err(cannot_write)?;
        }
        for name in READ_ORDER {
            let is_text = matches!(name, TableName::Bodies | TableName::Pages);
            if is_text && extent == Extent::WithoutTexts {
                continue;
            }
            for record in self.tables.of(name).iter() {
                if !goes_on() {
                    return Err(StoreError::Backup("it was interrupted".into()));
                }
                let (key, value) = record?;
                if name == TableName::Facts && key.starts_with(NUMBERS_KEY) {
                    // A number that was given after the backup must not be given again, so numbers are not in backups.
                    continue;
                }
                out.put(name, &key, &value).map_err(cannot_write)?;
            }
        }
        let (_, records) = out.end().map_err(cannot_write)?;
        Ok(Backup { records, configuration: configuration.map(str::to_owned) })
    }
}

impl Store {
    /// Returns a view of the whole store for a backup.
    pub fn backup_source(&self) -> BackupSource {
        BackupSource { tables: Arc::clone(&self.tables), is_wrong: self.db.is_wrong() }
    }

    /// Writes the whole store and the configuration. After an error, the output lacks its end, so it is not accepted as a backup.
    pub fn back_up(
        &self,
        to: impl Write,
        configuration: Option<&str>,
    ) -> Result<Backup, StoreError> {
        self.backup_source().write(to, configuration, Extent::Whole, &|| true)
    }

    /// Creates the store of a data folder from a backup. After the whole backup was read, an existing store is moved to the folder
    /// `aside`.
    pub fn restore_backup(data: &Path, from: impl Read, aside: &str) -> Result<Backup, StoreError> {
        let folder =
            |why: io::Error| StoreError::Folder { folder: data.into(), why: system_words(&why) };
        if let Some(why) = find_bad_link(data) {
            return Err(StoreError::Folder { folder: data.into(), why });
        }
        create_private_folder(data).map_err(folder)?;
        let held = lock_folder(data)?;
        finish_replacement(data)?;
        let mut fresh = NewPack::begin(data)?;
        let read = read_backup(from, &mut |(table, key, value)| {
            // The configuration is not part of the store.
            if table != TableName::Configuration {
                fresh.put(table, key, value)?;
            }
            Ok(())
        })?;
        replace_pack(fresh, Some(aside))?;
        drop(held);
        Ok(read)
    }
}

/// Reads a backup to its end, and passes each record to `tell`. Only the end shows that the backup is complete.
pub(in crate::io::store) fn read_backup(
    from: impl Read,
    tell: &mut dyn FnMut(Record<'_>) -> Result<(), StoreError>,
) -> Result<Backup, StoreError> {
    let mut configuration = None;
    let records = read_frames::<StoreError>(BufReader::new(from), &mut |record| {
        let (table, key, value) = record;
        if table == TableName::Configuration && key == CONFIGURATION_KEY {
            configuration = String::from_utf8(value.to_vec()).ok();
        }
        let schema = value.first().filter(|_| table == TableName::Facts && key == SCHEMA_KEY);
        if schema.is_some_and(|schema| *schema > SCHEMA) {
            let why = "its store is from a newer backissue; use that version";
            return Err(StoreError::Backup(why.into()));
        }
        tell(record)
    })?;
    Ok(Backup { records, configuration })
}

impl From<StreamFault> for StoreError {
    fn from(fault: StreamFault) -> Self {
        Self::Backup(match fault {
            StreamFault::Removal => {
                "it is the file of a store, not a backup: to use it, put it into a data folder as store.pack".into()
            }
            StreamFault::Gzip => {
                "it was written by an older development version of backissue".into()
            }
            StreamFault::NotFrames => "it was not written by 'backissue backup'".into(),
            StreamFault::Damaged(what) => format!("it is damaged: {what}; use another one"),
            StreamFault::Io(error) => format!("it cannot be read: {}", system_words(&error)),
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn cannot_write(error: io::Error) -> StoreError {
    StoreError::Backup(format!("it cannot be written: {}", system_words(&error)))
}

#[cfg(test)]
mod tests {
    use crate::io::store::upkeep::backup::*;

    #[test]
    fn referring_tables_are_read_before_their_records() {
        let place = |wanted: TableName| READ_ORDER.iter().position(|name| *name == wanted).unwrap();
        for [before, after] in [
            [TableName::Undo, TableName::Index],
            [TableName::History, TableName::Index],
            [TableName::Nodes, TableName::Index],
            [TableName::State, TableName::Index],
            [TableName::Counters, TableName::Index],
            [TableName::FilterHits, TableName::Index],
            [TableName::Index, TableName::Bodies],
            [TableName::Bodies, TableName::Meta],
            [TableName::Meta, TableName::Feeds],
        ] {
            assert!(place(before) < place(after), "{before:?} {after:?}");
        }
        assert!(TableName::ALL.iter().all(|name| READ_ORDER.contains(name)));
    }

    /// A reader that returns its bytes and then an error of the disk.
    struct BadDisk<'a>(&'a [u8]);

    impl Read for BadDisk<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() { Err(io::Error::from_raw_os_error(5)) } else { self.0.read(into) }
        }
    }

    #[test]
    fn unreadable_backup_is_not_called_damaged() {
        let (file, _) = backup();
        for length in [0, 3, file.len() / 2] {
            let read = read_backup(BadDisk(&file[..length]), &mut |_| Ok(()));
            let why = read.unwrap_err().to_string();
            assert!(why.contains("cannot be read: the disk reports an error"), "{why}");
            assert!(!why.contains("damaged") && !why.contains("os error"), "{why}");
        }
    }

    fn backup() -> (Vec<u8>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        assert_eq!(store.salt(7).unwrap(), 7);
        // Use bytes that cannot be compressed, so that a changed byte of the file belongs to a record.
        let mut seed = 1_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed.to_be_bytes()[0]
        };
        let value: Vec<u8> = (0..300_000).map(|_| next()).collect();
        store.put(TableName::Bodies, b"a", value).unwrap();
        let mut file = Vec::new();
        let written = store.back_up(&mut file, Some("[poll]\n")).unwrap();
        (file, written.records)
    }

    #[test]
    fn backup_is_restored_and_previous_store_is_kept() {
        let (file, records) = backup();
        let folder = tempfile::tempdir().unwrap();
        Store::open(folder.path()).unwrap().put(TableName::Bodies, b"old", b"x").unwrap();
        let read = Store::restore_backup(folder.path(), file.as_slice(), "aside").unwrap();
        assert_eq!((read.records, read.configuration.as_deref()), (records, Some("[poll]\n")));
        let mut store = Store::open(folder.path()).unwrap();
        assert_eq!(store.salt(1).unwrap(), 7);
        assert_eq!(store.tables.bodies.get(b"a").unwrap().unwrap().len(), 300_000);
        assert!(!store.tables.bodies.contains_key(b"old").unwrap());
        assert!(folder.path().join("aside").exists());
    }

    #[test]
    fn a_backup_that_is_damaged_anywhere_changes_nothing() {
        let (file, _) = backup();
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Store::open(folder.path()).unwrap().salt(5).unwrap(), 5);
        let mut broken: Vec<Vec<u8>> =
            (1..12).map(|part| file[..file.len() * part / 12].to_vec()).collect();
        broken.extend((file.len() / 4..file.len()).step_by(file.len() / 8).map(|at| {
            let mut file = file.clone();
            file[at] ^= 0x55;
            file
        }));
        broken.push(b"no frames at all".to_vec());
        for (place, file) in broken.iter().enumerate() {
            let read = Store::restore_backup(folder.path(), file.as_slice(), "aside");
            assert!(matches!(read, Err(StoreError::Backup(_))), "{place}: {read:?}");
        }
        assert_eq!(Store::open(folder.path()).unwrap().salt(1).unwrap(), 5);
        assert!(!folder.path().join("aside").exists());
    }
}
