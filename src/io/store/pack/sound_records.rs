//! The sound records of a pack that may be damaged: what a repair starts from.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use sled::Db;

use super::database::{INDEX, PACK, open_noted};
use super::pack_file::{Pack, Scanned};
use super::rewrite::Record;
use super::table::{StoredRecord, TableName, read_at};
use crate::io::store::error::{StoreError, catch_sled_panic};
use crate::io::store::sleepy_threads::SessionLength;

/// Where the value of a record that is saved from a damaged pack is.
#[derive(Debug, Clone)]
enum Place {
    /// In the pack: its start and its length.
    Pack((u64, u32)),
    /// sled has it.
    Index(Vec<u8>),
}

/// The sound records of a pack that may be damaged.
#[derive(Debug)]
pub(in crate::io::store) struct SoundRecords {
    file: Option<Arc<File>>,
    records: BTreeMap<(TableName, Vec<u8>), Place>,
    /// What was found in the pack.
    pub(in crate::io::store) scanned: Scanned,
}

impl SoundRecords {
    /// Reads the pack of a data folder. None counts as empty. If sled's files know the whole pack, or a longer one of which the end
    /// is missing, small records are taken from there.
    pub(in crate::io::store) fn read(data: &Path) -> Result<Self, StoreError> {
        let pack = match Pack::open(&data.join(PACK), false) {
            Ok(pack) => pack,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Self::without_pack(&data.join(INDEX));
            }
            Err(error) => return Err(error.into()),
        };
        // Without a sound frame the number of the pack is not known.
        let number = Some(pack.number).filter(|_| pack.is_known);
        let noted = open_noted(number, &data.join(INDEX), SessionLength::Short);
        let noted = noted.filter(|(_, end)| *end >= pack.end || !pack.is_known);
        let (places, scanned) = pack.records(noted.as_ref().map_or(0, |(_, end)| *end))?;
        let records = places.into_iter().map(|(name, place)| (name, Place::Pack(place))).collect();
        let mut sound = Self { file: Some(Arc::clone(&pack.file)), records, scanned };
        if let Some((db, _)) = noted {
            // What sled cannot read is left as it was found in the pack.
            catch_sled_panic(|| sound.take_index(if pack.is_known { pack.end } else { 0 }, &db))
                .ok();
        }
        Ok(sound)
    }

    /// Reads the small records that sled has, where the pack is missing.
    fn without_pack(index: &Path) -> Result<Self, StoreError> {
        let scanned = Scanned { unsound: 1, ..Scanned::default() };
        let mut sound = Self { file: None, records: BTreeMap::new(), scanned };
        if let Some((db, _)) = open_noted(None, index, SessionLength::Short) {
            catch_sled_panic(|| sound.take_index(0, &db)).ok();
        }
        Ok(sound)
    }

    /// Takes the records as sled has them. Of a large one whose newest value is beyond the end of the pack, the value that was
    /// found in the pack stays.
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

    /// Returns whether there is none.
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
