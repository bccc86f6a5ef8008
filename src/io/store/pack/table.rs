//! Tables: named sets of records, and batches of changes to them.

use std::fs::File;
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use sled::{IVec, Tree};

use crate::io::store::error::StoreError;

/// Maximum length in bytes of a value that sled stores itself. A longer value is read from the pack when it is needed.
const INLINE_MAX: usize = 512;
/// The maximum for rows. It is larger because marks are the user's own work, and because lists read all rows of their feeds.
const INLINE_ROWS_MAX: usize = 2_048;
/// First bytes of a value in sled. After `INLINE` comes the value itself, after `PLACE` its position in the pack (8 bytes) and its
/// length (4 bytes).
const INLINE: u8 = 0;
const PLACE: u8 = 1;

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident($field:ident) = $number:literal, $text:literal;)+) => {
        /// The tables.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(in crate::io::store) enum TableName {
            $($(#[$doc])* $name = $number,)+
        }

        impl TableName {
            /// All tables.
            pub(in crate::io::store) const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the table with a number.
            pub(in crate::io::store) const fn numbered(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)+
                    _ => None,
                }
            }

            /// Returns the name of the table in sled.
            pub(super) const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }

            /// Returns the number of the table in frames.
            pub(in crate::io::store) const fn number(self) -> u8 {
                self as u8
            }
        }

        /// The tables of an open database, for reading.
        #[derive(Debug)]
        pub(in crate::io::store) struct Tables {
            $($(#[$doc])* pub(in crate::io::store) $field: Table,)+
        }

        impl Tables {
            /// Opens each table.
            pub(super) fn open(
                mut open: impl FnMut(TableName) -> Result<Table, StoreError>,
            ) -> Result<Self, StoreError> {
                Ok(Self { $($field: open(TableName::$name)?,)+ })
            }

            /// Returns the table with a name.
            pub(in crate::io::store) const fn of(&self, name: TableName) -> &Table {
                match name {
                    $(TableName::$name => &self.$field,)+
                }
            }

            /// Returns all tables, in the order of [`TableName::ALL`].
            pub(in crate::io::store) fn all(&self) -> impl Iterator<Item = &Table> {
                TableName::ALL.iter().map(|name| self.of(*name))
            }
        }
    };
}

tables! {
    /// Facts about the store.
    Facts(facts) = 1, "about";
    /// Subscriptions.
    Feeds(feeds) = 2, "feeds";
    /// The state of each feed.
    State(state) = 3, "state";
    /// Times of each feed's last polls, if they are later than those in its state.
    Times(times) = 4, "times";
    /// Counters of each feed.
    Counters(counters) = 5, "counters";
    /// Rows of entries.
    Index(index) = 6, "index";
    /// Entries.
    Meta(meta) = 7, "meta";
    /// Texts of entries.
    Bodies(bodies) = 8, "bodies";
    /// Poll logs.
    Polls(polls) = 9, "polls";
    /// Publication times and learned plans.
    Rhythms(rhythms) = 10, "rhythms";
    /// Texts of pages that entries link to.
    Pages(pages) = 11, "pages";
    /// Reading positions.
    Places(places) = 12, "places";
    /// Histories.
    History(history) = 13, "history";
    /// Archives.
    Nodes(nodes) = 14, "nodes";
    /// Entries that filters matched.
    FilterHits(filter_hits) = 15, "rulings";
    /// Undo steps.
    Undo(undo) = 16, "undo";
    /// The configuration, in a backup.
    Configuration(configuration) = 17, "configuration";
    /// Entries that another reader knew, with their marks, until they arrive.
    Elsewhere(elsewhere) = 18, "elsewhere";
    /// Last synced state of the feeds of accounts.
    Syncs(syncs) = 19, "syncs";
}

/// Changes of a table, in order. If several change the same record, the last one takes effect.
#[derive(Debug, Clone, Default)]
pub(in crate::io::store) struct Batch(Vec<(Vec<u8>, Option<Vec<u8>>)>);

impl Batch {
    /// Sets a record.
    pub(in crate::io::store) fn insert(
        &mut self,
        key: impl AsRef<[u8]>,
        value: impl Into<Vec<u8>>,
    ) {
        self.0.push((key.as_ref().to_vec(), Some(value.into())));
    }

    /// Removes a record.
    pub(in crate::io::store) fn remove(&mut self, key: impl AsRef<[u8]>) {
        self.0.push((key.as_ref().to_vec(), None));
    }

    /// Returns the changes, in order; `None` removes a record.
    pub(super) fn changes(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        self.0.iter().map(|(key, value)| (key.as_slice(), value.as_deref()))
    }
}

/// The value of a record.
#[derive(Debug, Clone)]
pub(in crate::io::store) enum Value {
    /// The value is in sled, after a tag of one byte.
    Inline(IVec),
    /// The value was read from the pack.
    Read(Vec<u8>),
}

impl Deref for Value {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Inline(bytes) => bytes.get(1..).unwrap_or_default(),
            Self::Read(bytes) => bytes,
        }
    }
}

/// How sled stores a value: the value itself, or its position in the pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoredRecord<'v> {
    Inline(&'v [u8]),
    At(u64, u32),
}

impl StoredRecord<'_> {
    /// Decides where a value is stored. `place` is its position in the pack.
    pub(super) fn choose(table: TableName, value: &[u8], place: u64) -> StoredRecord<'_> {
        match u32::try_from(value.len()) {
            Ok(length) if !Self::is_inline(table, length) => StoredRecord::At(place, length),
            Ok(_) | Err(_) => StoredRecord::Inline(value),
        }
    }

    /// Returns whether sled holds a value of this size itself.
    pub(super) const fn is_inline(table: TableName, length: u32) -> bool {
        let max = if matches!(table, TableName::Index) { INLINE_ROWS_MAX } else { INLINE_MAX };
        length as usize <= max
    }

    /// Reads the bytes of a record in sled.
    pub(super) fn read(bytes: &[u8]) -> StoredRecord<'_> {
        let (tag, rest) = bytes.split_first().unwrap_or((&INLINE, &[]));
        let place = rest.split_first_chunk::<8>().filter(|_| *tag == PLACE);
        let place = place.and_then(|(place, length)| Some((place, length.first_chunk()?)));
        place.map_or(StoredRecord::Inline(rest), |(place, length)| {
            StoredRecord::At(u64::from_le_bytes(*place), u32::from_le_bytes(*length))
        })
    }

    /// Returns the bytes of a record for sled.
    pub(super) fn bytes(self) -> Vec<u8> {
        match self {
            Self::Inline(value) => [&[INLINE], value].concat(),
            Self::At(place, length) => {
                [&[PLACE][..], &place.to_le_bytes(), &length.to_le_bytes()].concat()
            }
        }
    }
}

/// Reads the place of a value from its bytes in sled. Returns `None` if sled holds the value itself.
fn place_of(bytes: &[u8]) -> Option<(u64, u32)> {
    if let StoredRecord::At(place, length) = StoredRecord::read(bytes) {
        Some((place, length))
    } else {
        None
    }
}

/// A table. Clones read the same records; only the database writes ([`super::Database::commit`]).
#[derive(Debug, Clone)]
pub(in crate::io::store) struct Table {
    name: TableName,
    pub(super) tree: Tree,
    pub(in crate::io::store) pack: Arc<File>,
}

/// A record with its key.
pub(in crate::io::store) type Pair = (IVec, Value);

impl Table {
    pub(super) const fn new(name: TableName, tree: Tree, pack: Arc<File>) -> Self {
        Self { name, tree, pack }
    }

    /// Returns the name of the table.
    pub(in crate::io::store) const fn name(&self) -> TableName {
        self.name
    }

    /// Returns a record.
    pub(in crate::io::store) fn get(
        &self,
        key: impl AsRef<[u8]>,
    ) -> Result<Option<Value>, StoreError> {
        self.tree.get(key)?.map(|bytes| self.read(bytes)).transpose()
    }

    /// Returns whether there is a record with a key.
    pub(in crate::io::store) fn contains_key(
        &self,
        key: impl AsRef<[u8]>,
    ) -> Result<bool, StoreError> {
        Ok(self.tree.contains_key(key)?)
    }

    /// Returns the number of records.
    pub(in crate::io::store) fn len(&self) -> usize {
        self.tree.len()
    }

    /// Returns whether there is no record.
    pub(in crate::io::store) fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// Returns all records, in order of their keys. The iterator cannot run backwards, because sled's code for that would add a
    /// key of a mebibyte to the program.
    pub(in crate::io::store) fn iter(&self) -> impl Iterator<Item = Result<Pair, StoreError>> {
        self.tree.iter().map(|pair| self.pair(pair))
    }

    /// Returns all keys, in order.
    pub(in crate::io::store) fn keys(&self) -> impl Iterator<Item = Result<IVec, StoreError>> {
        self.tree.iter().keys().map(|key| Ok(key?))
    }

    /// Returns the records whose keys begin with a prefix.
    pub(in crate::io::store) fn scan(
        &self,
        prefix: impl AsRef<[u8]>,
    ) -> impl Iterator<Item = Result<Pair, StoreError>> {
        self.tree.scan_prefix(prefix).map(|pair| self.pair(pair))
    }

    /// Returns the keys that begin with a prefix.
    pub(in crate::io::store) fn keys_of(
        &self,
        prefix: impl AsRef<[u8]>,
    ) -> impl Iterator<Item = Result<IVec, StoreError>> {
        self.tree.scan_prefix(prefix).keys().map(|key| Ok(key?))
    }

    /// Returns the keys that begin with a prefix, with the lengths of the values in bytes, without reading these.
    pub(in crate::io::store) fn lengths(
        &self,
        prefix: impl AsRef<[u8]>,
    ) -> impl Iterator<Item = Result<(IVec, u64), StoreError>> {
        self.tree.scan_prefix(prefix).map(|pair| {
            let (key, bytes) = pair?;
            let inline = bytes.len().saturating_sub(1) as u64;
            let length = place_of(&bytes).map_or(inline, |(_, length)| length.into());
            Ok((key, length))
        })
    }

    fn pair(&self, pair: sled::Result<(IVec, IVec)>) -> Result<Pair, StoreError> {
        let (key, bytes) = pair?;
        Ok((key, self.read(bytes)?))
    }

    /// Returns the value. The checksum in the frame is not compared, because records have checksums of their own. A position beyond
    /// the end of a damaged pack gives an empty value, which is not a valid record.
    fn read(&self, bytes: IVec) -> Result<Value, StoreError> {
        let Some((place, length)) = place_of(&bytes) else { return Ok(Value::Inline(bytes)) };
        Ok(Value::Read(read_at(&self.pack, place, length)?))
    }
}

/// Records up to this length in bytes are read without a look at the length of the file.
const UNCHECKED_MAX: u32 = 1024 * 1024;

/// Reads bytes of a file. Returns no bytes if the file is too short.
pub(super) fn read_at(file: &File, place: u64, length: u32) -> std::io::Result<Vec<u8>> {
    // A larger length may come from a damaged file, so do not allocate it in vain.
    if length > UNCHECKED_MAX && place.saturating_add(length.into()) > file.metadata()?.len() {
        return Ok(Vec::new());
    }
    let mut bytes = vec![0; length as usize];
    match file.read_exact_at(&mut bytes, place) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(Vec::new()),
        read => read.map(|()| bytes),
    }
}
