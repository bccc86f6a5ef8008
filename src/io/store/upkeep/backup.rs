//! Backups: everything in one compressed file, and back.
//!
//! The file is gzip. Unpacked it begins with the line `backissue backup 1`, followed by the schema and the
//! configuration that was in force, then each tree with its records, and at the end their number.

use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sled::{Db, IVec};

use super::disk_room::{FREE_MIN, check_free};
use super::free_room::MeasureRoom;
use super::fresh_store::{FreshStore, mend_swap};
use crate::io::private_files::create_private_folder;
use crate::io::store::error::StoreError;
use crate::io::store::folder_lock::lock_folder;
use crate::io::store::handle::Store;
use crate::io::store::record_keys::tree_names;
use crate::io::store::schema::SCHEMA;
use crate::io::system::words::system_words;

/// The first line of the unpacked file; the number is the version of the format.
const MAGIC: &[u8] = b"backissue backup 1\n";
const TEXTS: [&[u8]; 2] = [b"bodies", b"pages"];
/// The tree of facts about the store.
pub(super) const ABOUT: &[u8] = b"about";
/// A key in the tree of facts of a backup without texts, until the store that is made from it has taken note.
pub(in crate::io::store) const TEXTS_LOST: &[u8] = b"texts_lost";
/// Tags of the parts of the file.
const TREE: u8 = b'T';
const RECORD: u8 = b'R';
const END: u8 = b'E';
/// Largest key, value, tree name or configuration; none of ours comes near.
const PART_MAX: u32 = 256 * 1024 * 1024;

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
    /// All but the texts, which can be fetched again.
    WithoutTexts,
}

/// A view of the whole store for another thread. It may or may not include what is written meanwhile.
#[derive(Debug)]
pub struct BackupSource {
    db: Db,
    data: PathBuf,
    measure_room: MeasureRoom,
}

impl BackupSource {
    /// Writes the whole store and the configuration, as [`Store::back_up`] does. `goes_on` is asked at each record; it
    /// is an error if it returns false.
    pub fn write_whole(
        &self,
        to: impl Write,
        configuration: Option<&str>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Backup, StoreError> {
        self.write(to, configuration, Extent::Whole, goes_on)
    }

    /// Writes a fact about the store, unless the disk is full.
    pub(super) fn set_fact(&self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        check_free((self.measure_room)(&self.data), FREE_MIN)?;
        self.db.open_tree(ABOUT)?.insert(key, value)?;
        Ok(())
    }

    /// Writes a backup. `goes_on` is asked at each record; it is an error if it returns false.
    pub(in crate::io::store) fn write(
        &self,
        to: impl Write,
        configuration: Option<&str>,
        extent: Extent,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Backup, StoreError> {
        let mut out = GzEncoder::new(BufWriter::new(to), Compression::fast());
        let mut records = 0_u64;
        out.write_all(MAGIC).map_err(cannot_write)?;
        out.write_all(&[SCHEMA]).map_err(cannot_write)?;
        part(&mut out, configuration.unwrap_or_default().as_bytes())?;
        let mut put = |out: &mut _, key: &[u8], value: &[u8]| {
            records = records.saturating_add(1);
            Write::write_all(out, &[RECORD]).map_err(cannot_write)?;
            part(out, key)?;
            part(out, value)
        };
        for name in in_order(tree_names(&self.db)) {
            if extent == Extent::WithoutTexts && TEXTS.contains(&name.as_ref()) {
                continue;
            }
            out.write_all(&[TREE]).map_err(cannot_write)?;
            part(&mut out, &name)?;
            for pair in &self.db.open_tree(&name)? {
                if !goes_on() {
                    return Err(StoreError::Backup("it was interrupted".into()));
                }
                let (key, value) = pair?;
                put(&mut out, &key, &value)?;
            }
            if extent == Extent::WithoutTexts && name == ABOUT {
                put(&mut out, TEXTS_LOST, &[])?;
            }
        }
        out.write_all(&[END]).map_err(cannot_write)?;
        out.write_all(&records.to_be_bytes()).map_err(cannot_write)?;
        out.finish().and_then(|mut out| out.flush()).map_err(cannot_write)?;
        Ok(Backup { records, configuration: configuration.map(str::to_owned) })
    }
}

/// Returns the trees in the order in which they are read. The store may be written meanwhile: trees that refer to
/// records are read before those records, so that no reference dangles, and the feeds last, so that no number is
/// reused under which there are records.
fn in_order(mut names: Vec<IVec>) -> Vec<IVec> {
    const FIRST: [&[u8]; 8] =
        [b"undo", b"history", b"nodes", b"state", b"times", b"counters", b"rulings", b"index"];
    const LAST: [&[u8]; 2] = [b"meta", b"feeds"];
    names.sort_by_cached_key(|name| {
        let place = |names: &[&[u8]]| names.iter().position(|other| *other == name.as_ref());
        let first = place(&FIRST).unwrap_or(FIRST.len());
        (first, place(&LAST).map_or(0, |place| place.saturating_add(1)), name.clone())
    });
    names
}

impl Store {
    /// Returns a view of the whole store for a backup.
    pub fn backup_source(&self) -> BackupSource {
        BackupSource {
            db: self.db.clone(),
            data: self.data.clone(),
            measure_room: self.measure_room,
        }
    }

    /// Writes the whole store and the configuration to a file. An error leaves no file behind that looks complete.
    pub fn back_up(
        &self,
        to: impl Write,
        configuration: Option<&str>,
    ) -> Result<Backup, StoreError> {
        self.backup_source().write(to, configuration, Extent::Whole, &|| true)
    }

    /// Creates the store of a data folder from a backup. An existing store is renamed to `aside`, and only once the
    /// backup has been read to its end.
    pub fn restore_backup(data: &Path, from: impl Read, aside: &str) -> Result<Backup, StoreError> {
        let folder =
            |why: io::Error| StoreError::Folder { folder: data.into(), why: system_words(&why) };
        create_private_folder(data).map_err(folder)?;
        let held = lock_folder(data)?;
        mend_swap(data)?;
        let mut fresh = FreshStore::begin(data)?;
        let read = read_backup(from, &mut |part| match part {
            BackupPart::Tree(name) => fresh.tree(name),
            BackupPart::Record(key, value) => fresh.put(key, value),
        })?;
        fresh.take_over(Some(aside))?;
        drop(held);
        Ok(read)
    }
}

/// A part of a backup.
#[derive(Debug)]
pub(in crate::io::store) enum BackupPart<'a> {
    /// The tree that the records behind it belong to.
    Tree(&'a [u8]),
    Record(&'a [u8], &'a [u8]),
}

/// Reads a backup to its end; tells each part. Only with its end is known that it is sound.
pub(in crate::io::store) fn read_backup(
    from: impl Read,
    tell: &mut dyn FnMut(BackupPart<'_>) -> Result<(), StoreError>,
) -> Result<Backup, StoreError> {
    let mut input = GzDecoder::new(BufReader::new(from));
    let mut magic = [0_u8; MAGIC.len()];
    let begun = input.read_exact(&mut magic);
    begun.map_err(|error| unreadable(&error).unwrap_or_else(no_backup))?;
    if !magic.starts_with(b"backissue backup ") {
        return Err(no_backup());
    }
    if magic != *MAGIC {
        return Err(StoreError::Backup(
            "it was written by a newer backissue; use that version".into(),
        ));
    }
    if byte(&mut input)? > SCHEMA {
        return Err(StoreError::Backup(
            "its store is from a newer backissue; use that version".into(),
        ));
    }
    let configuration =
        String::from_utf8(read_part(&mut input)?).ok().filter(|text| !text.is_empty());
    let mut records = 0_u64;
    loop {
        match byte(&mut input)? {
            TREE => tell(BackupPart::Tree(&read_part(&mut input)?))?,
            RECORD => {
                let (key, value) = (read_part(&mut input)?, read_part(&mut input)?);
                tell(BackupPart::Record(&key, &value))?;
                records = records.saturating_add(1);
            }
            END => break,
            _ => return Err(damaged("a part has an unknown type")),
        }
    }
    let mut counted = [0_u8; 8];
    input.read_exact(&mut counted).map_err(cannot_read)?;
    // Reading to the end makes the decoder compare its checksum.
    let behind = io::copy(&mut input, &mut io::sink()).map_err(cannot_read)?;
    if u64::from_be_bytes(counted) != records || behind > 0 {
        return Err(damaged("its number of records is wrong"));
    }
    Ok(Backup { records, configuration })
}

fn part(out: &mut impl Write, bytes: &[u8]) -> Result<(), StoreError> {
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= PART_MAX);
    let length = length.ok_or_else(|| StoreError::Backup("a record is too large for it".into()))?;
    out.write_all(&length.to_be_bytes()).and_then(|()| out.write_all(bytes)).map_err(cannot_write)
}

fn byte(input: &mut impl Read) -> Result<u8, StoreError> {
    let mut byte = [0_u8; 1];
    input.read_exact(&mut byte).map_err(cannot_read)?;
    let [byte] = byte;
    Ok(byte)
}

fn read_part(input: &mut impl Read) -> Result<Vec<u8>, StoreError> {
    let mut length = [0_u8; 4];
    input.read_exact(&mut length).map_err(cannot_read)?;
    let length = u32::from_be_bytes(length);
    if length > PART_MAX {
        return Err(damaged("a part is too large"));
    }
    let mut bytes = Vec::new();
    let read = input.take(u64::from(length)).read_to_end(&mut bytes).map_err(cannot_read)?;
    if u32::try_from(read) == Ok(length) { Ok(bytes) } else { Err(damaged("its end is missing")) }
}

fn no_backup() -> StoreError {
    StoreError::Backup("it was not written by 'backissue backup'".into())
}

fn damaged(what: &str) -> StoreError {
    StoreError::Backup(format!("it is damaged: {what}; use another one"))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn cannot_read(error: io::Error) -> StoreError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return damaged("its end is missing");
    }
    unreadable(&error).unwrap_or_else(|| damaged(&system_words(&error)))
}

/// What the system refuses to read; it says nothing about the backup itself.
fn unreadable(error: &io::Error) -> Option<StoreError> {
    error.raw_os_error()?;
    Some(StoreError::Backup(format!("it cannot be read: {}", system_words(error))))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn cannot_write(error: io::Error) -> StoreError {
    StoreError::Backup(format!("it cannot be written: {}", system_words(&error)))
}

#[cfg(test)]
mod tests {
    use crate::io::store::upkeep::backup::*;

    #[test]
    fn referring_trees_are_read_before_their_records() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let names = in_order(tree_names(&store.db));
        let names: Vec<_> = names.iter().map(|name| String::from_utf8_lossy(name)).collect();
        let place = |wanted: &str| names.iter().position(|name| name == wanted).unwrap();
        for [before, after] in [
            ["undo", "index"],
            ["history", "index"],
            ["nodes", "index"],
            ["state", "index"],
            ["counters", "index"],
            ["rulings", "index"],
            ["index", "bodies"],
            ["bodies", "meta"],
            ["meta", "feeds"],
        ] {
            assert!(place(before) < place(after), "{names:?}");
        }
    }

    /// Gives what it has, and then a disk that does not answer.
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
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.salt(7).unwrap(), 7);
        // Not compressible, so that a changed byte of the file is one of the record.
        let mut seed = 1_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed.to_be_bytes()[0]
        };
        let value: Vec<u8> = (0..300_000).map(|_| next()).collect();
        store.bodies.insert(b"a", value).unwrap();
        let mut file = Vec::new();
        let written = store.back_up(&mut file, Some("[poll]\n")).unwrap();
        (file, written.records)
    }

    #[test]
    fn backup_is_restored_and_previous_store_is_kept() {
        let (file, records) = backup();
        let folder = tempfile::tempdir().unwrap();
        Store::open(folder.path()).unwrap().bodies.insert(b"old", b"x").unwrap();
        let read = Store::restore_backup(folder.path(), file.as_slice(), "aside").unwrap();
        assert_eq!((read.records, read.configuration.as_deref()), (records, Some("[poll]\n")));
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.salt(1).unwrap(), 7);
        assert_eq!(store.bodies.get(b"a").unwrap().unwrap().len(), 300_000);
        assert_eq!(store.bodies.get(b"old").unwrap(), None);
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
        broken.push(b"no gzip at all".to_vec());
        for (place, file) in broken.iter().enumerate() {
            let read = Store::restore_backup(folder.path(), file.as_slice(), "aside");
            assert!(matches!(read, Err(StoreError::Backup(_))), "{place}: {read:?}");
        }
        assert_eq!(Store::open(folder.path()).unwrap().salt(1).unwrap(), 5);
        assert!(!folder.path().join("aside").exists());
    }
}
