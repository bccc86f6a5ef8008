//! The schema version of the store.

use std::path::Path;

use super::error::StoreError;
use super::handle::Store;
use crate::io::store::pack::TableName;

/// The schema this program reads and writes.
pub(super) const SCHEMA: u8 = 3;
/// The key of the schema version in the table of facts.
pub(super) const SCHEMA_KEY: &[u8] = b"schema";

impl Store {
    /// Notes the schema of a new store, and refuses a store with a newer one.
    pub(super) fn check_schema(&mut self, folder: &Path) -> Result<(), StoreError> {
        match self.facts.get(SCHEMA_KEY)?.and_then(|bytes| bytes.first().copied()) {
            Some(found) if found > SCHEMA => {
                Err(StoreError::Newer { folder: folder.into(), found, newest: SCHEMA })
            }
            Some(_) => Ok(()),
            None => {
                self.put(TableName::Facts, SCHEMA_KEY, [SCHEMA])?;
                self.sync()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_schema_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        store.put(TableName::Facts, SCHEMA_KEY, [SCHEMA + 1]).unwrap();
        drop(store);
        for _ in 0..2 {
            let error = Store::open(folder.path()).unwrap_err();
            assert!(matches!(error, StoreError::Newer { found, .. } if found == SCHEMA + 1));
            assert!(error.to_string().contains("newer backissue"));
        }
    }
}
