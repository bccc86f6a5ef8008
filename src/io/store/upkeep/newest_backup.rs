//! Single records as the newest daily backup has them that can be read: they take the place of damaged ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chrono::NaiveDate;

use super::backup::read_backup;
use super::daily_backup;
use crate::io::regular_files;
use crate::io::store::pack::TableName;

/// A table and a key.
pub(in crate::io::store) type RecordName = (TableName, Vec<u8>);

/// Records of a backup.
#[derive(Debug, Default)]
pub(in crate::io::store) struct BackedUp {
    /// The day of the backup; `None`: there is none that can be read.
    pub(in crate::io::store) day: Option<NaiveDate>,
    records: BTreeMap<RecordName, Vec<u8>>,
}

impl BackedUp {
    /// Reads some records.
    pub(in crate::io::store) fn read(data: &Path, wanted: &BTreeSet<RecordName>) -> Self {
        if wanted.is_empty() {
            return Self::default();
        }
        for daily in daily_backup::newest_first(data, NaiveDate::MAX) {
            let Ok(file) = regular_files::open(&daily.path) else { continue };
            let mut records = BTreeMap::new();
            let read = read_backup(file, &mut |(table, key, value)| {
                let name = (table, key.to_vec());
                if wanted.contains(&name) {
                    records.insert(name, value.to_vec());
                }
                Ok(())
            });
            if read.is_ok() {
                return Self { day: Some(daily.day), records };
            }
        }
        Self::default()
    }

    /// A record, with the day of the backup that has it.
    pub(in crate::io::store) fn get(
        &self,
        table: TableName,
        key: &[u8],
    ) -> Option<(NaiveDate, &[u8])> {
        let record = self.records.get(&(table, key.to_vec()))?;
        Some((self.day?, record))
    }
}
