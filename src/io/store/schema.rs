//! The schema of the store: its version, and the migrations from older ones.

use std::path::Path;

use super::error::StoreError;
use super::handle::Store;

/// The schema this program writes.
pub(super) const SCHEMA: u8 = 2;
/// The key of the schema version in the tree of facts.
const SCHEMA_KEY: &[u8] = b"schema";
/// A migration from one schema to the next.
pub(super) type Migration = fn(&Store) -> Result<(), StoreError>;
/// `MIGRATIONS[n]` brings schema n + 1 to n + 2.
pub(super) const MIGRATIONS: [Migration; SCHEMA as usize - 1] = [pack_poll_logs_later];

/// Schema 2: records of the poll log hold several lines. Those of one line are read as well, and packed when the next record
/// begins; an older program could not read what is written from now on.
#[expect(clippy::unnecessary_wraps, reason = "a migration")]
const fn pack_poll_logs_later(_: &Store) -> Result<(), StoreError> {
    Ok(())
}

impl Store {
    /// Migrates the store to the newest schema, step by step. Each step is durable before the next begins, so that an
    /// interrupted migration continues where it stopped.
    pub(super) fn bring_up_to_date(
        &mut self,
        folder: &Path,
        migrations: &[Migration],
    ) -> Result<(), StoreError> {
        let newest = u8::try_from(migrations.len()).unwrap_or(u8::MAX).saturating_add(1);
        let stored = self.facts.get(SCHEMA_KEY)?.and_then(|bytes| bytes.first().copied());
        // A store that was made a moment ago has nothing to bring up to date.
        let fresh = stored.is_none() && self.feeds.is_empty();
        let found = if fresh { newest } else { stored.unwrap_or(1) };
        if found > newest {
            return Err(StoreError::Newer { folder: folder.into(), found, newest });
        }
        let steps = (1_u8..).zip(migrations).filter(|(from, _)| *from >= found);
        for (from, migrate) in steps {
            migrate(self)?;
            self.facts.insert(SCHEMA_KEY, &[from.saturating_add(1)])?;
            self.sync()?;
        }
        if fresh {
            self.facts.insert(SCHEMA_KEY, &[newest])?;
            self.sync()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_schema_is_refused_with_a_sentence_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        Store::open(folder.path()).unwrap().facts.insert(SCHEMA_KEY, &[SCHEMA + 1]).unwrap();
        let error = Store::open(folder.path()).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found, .. } if found == SCHEMA + 1), "{error}");
        assert!(error.to_string().contains("newer backissue"));
    }

    /// A migration that leaves its number behind.
    fn mark(store: &Store, step: u8) -> Result<(), StoreError> {
        let mut done = store.facts.get(b"steps")?.map(|bytes| bytes.to_vec()).unwrap_or_default();
        done.push(step);
        store.facts.insert(b"steps", done)?;
        Ok(())
    }

    #[test]
    fn an_older_schema_is_migrated_step_by_step_and_only_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let migrations: [Migration; 2] = [|store| mark(store, 1), |store| mark(store, 2)];
        for (stored, expected) in [(1, vec![1, 2]), (2, vec![2]), (3, vec![])] {
            store.facts.insert(SCHEMA_KEY, &[stored]).unwrap();
            store.facts.insert(b"steps", vec![]).unwrap();
            for _ in 0..2 {
                store.bring_up_to_date(folder.path(), &migrations).unwrap();
            }
            assert_eq!(
                store.facts.get(b"steps").unwrap().unwrap(),
                expected,
                "from schema {stored}"
            );
            assert_eq!(store.facts.get(SCHEMA_KEY).unwrap().unwrap(), [3]);
        }
    }
}
