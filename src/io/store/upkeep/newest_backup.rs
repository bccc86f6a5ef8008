//! Single records as the newest daily backup has them that can be read: they take the place of damaged ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use chrono::NaiveDate;

use super::backup::{ABOUT, BackupPart, read_backup};
use super::daily_backup;
use crate::engine::feeds::subscription::FeedState;
use crate::io::codec;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::poll_logs::LogRecord;
use backissue_core::history::KeptEntry;

/// The facts that the reader made, which have a checksum of their own: filters, saved searches, folded tags.
pub(in crate::io::store) const READERS_FACTS: [&[u8]; 3] = [b"rules", b"searches", b"folded"];

/// A tree and a key.
pub(in crate::io::store) type RecordName = (Vec<u8>, Vec<u8>);

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
            let Ok(file) = File::open(&daily.path) else { continue };
            let (mut tree, mut records) = (Vec::new(), BTreeMap::new());
            let read = read_backup(file, &mut |part| {
                match part {
                    BackupPart::Tree(name) => tree = name.to_vec(),
                    BackupPart::Record(key, value) => {
                        let name = (tree.clone(), key.to_vec());
                        if wanted.contains(&name) {
                            records.insert(name, value.to_vec());
                        }
                    }
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
    pub(in crate::io::store) fn get(&self, tree: &[u8], key: &[u8]) -> Option<(NaiveDate, &[u8])> {
        let record = self.records.get(&(tree.to_vec(), key.to_vec()))?;
        Some((self.day?, record))
    }
}

/// What is kept of a record of which nothing but an earlier state was `found`, if a backup has it too; `None`: what was found.
///
/// Whether the earlier state was written before the backup or behind it is not known. Where it says by itself that it is the later
/// one it stays, else the backup goes before it; entries stay from either.
pub(super) fn later_record(
    tree: &[u8],
    key: &[u8],
    found: &[u8],
    backed_up: &[u8],
) -> Option<Vec<u8>> {
    let is_later = match tree {
        // Rows are added and never taken away.
        b"index" => match (codec::decode_rows(found), codec::decode_rows(backed_up)) {
            (Ok(found), Ok(backed_up)) => backed_up.len() >= found.len(),
            (Err(_), Ok(_)) => true,
            (Ok(_) | Err(_), Err(_)) => false,
        },
        b"meta" => return joined_entries(found, backed_up),
        b"state" => {
            let polls = |bytes| codec::decode::<FeedState>(bytes).map_or(0, |state| state.polls);
            polls(backed_up) >= polls(found)
        }
        b"polls" => {
            let order = |bytes| LogRecord::read(bytes).ok().map(|record| record.order());
            order(backed_up) >= order(found)
        }
        // Of the facts some are about the files, and the largest number that a subscription had never becomes smaller.
        ABOUT => READERS_FACTS.contains(&key),
        _ => true,
    };
    (is_later && found != backed_up).then(|| backed_up.to_vec())
}

/// The entries of either record; those of a backup go first.
fn joined_entries(found: &[u8], backed_up: &[u8]) -> Option<Vec<u8>> {
    let read = |bytes| codec::decode_compressed::<Vec<Option<KeptEntry>>>(bytes).ok();
    let mut joined = read(backed_up)?;
    for (place, entry) in read(found).unwrap_or_default().into_iter().enumerate() {
        match joined.get_mut(place) {
            Some(known) if known.is_none() => *known = entry,
            Some(_) => {}
            None => joined.push(entry),
        }
    }
    codec::encode_compressed(&joined).ok()
}

/// What became of a damaged fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::io::store) enum FactBack {
    /// Nothing was done.
    Left,
    /// It is what it was in the backup of this day.
    BackedUp(NaiveDate),
    /// No backup has it.
    Dropped,
}

impl Store {
    /// Puts a damaged fact back as the newest backup has it, or drops it where none does; nothing without `repair`.
    pub(in crate::io::store) fn put_fact_back(
        &self,
        key: &[u8],
        repair: bool,
        is_sound: impl Fn(&[u8]) -> bool,
    ) -> Result<FactBack, StoreError> {
        if !repair {
            return Ok(FactBack::Left);
        }
        let backup = BackedUp::read(&self.data, &[(ABOUT.to_vec(), key.to_vec())].into());
        if let Some((day, bytes)) = backup.get(ABOUT, key).filter(|(_, bytes)| is_sound(bytes)) {
            self.facts.insert(key, bytes)?;
            return Ok(FactBack::BackedUp(day));
        }
        self.facts.remove(key)?;
        Ok(FactBack::Dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backissue_core::feed::Entry;
    use backissue_core::history::rank::{Position, Rank};
    use backissue_core::history::{Flags, IndexRow};

    fn rows(count: u64, flags: Flags) -> Vec<u8> {
        let row = |identity| IndexRow { identity, content: 1, listed: 1, flags };
        codec::encode_rows(&(0..count).map(row).collect::<Vec<_>>())
    }

    fn entries(titles: &[Option<&str>]) -> Vec<u8> {
        let kept = titles.iter().map(|title| {
            title.map(|title| {
                let copy = Entry { title: Some(title.into()), ..Entry::default() };
                let seen = chrono::DateTime::UNIX_EPOCH;
                let rank = Rank::new(None, None, Position::Subscription, seen);
                KeptEntry::from_copy(&copy, seen, rank)
            })
        });
        codec::encode_compressed(&kept.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn backup_wins_over_an_undated_earlier_state() {
        let (starred, plain) = (Flags(2), Flags::NEW);
        let later = |found: &[u8], backed_up: &[u8]| later_record(b"index", b"k", found, backed_up);
        assert_eq!(later(&rows(3, plain), &rows(3, starred)), Some(rows(3, starred)));
        assert_eq!(later(&rows(3, plain), &rows(9, starred)), Some(rows(9, starred)));
        assert_eq!(later(&rows(4, plain), &rows(3, starred)), None, "it has a newer entry");
        let state = |polls| codec::encode(&FeedState { polls, ..FeedState::default() }).unwrap();
        assert_eq!(later_record(b"state", b"k", &state(8), &state(7)), None);
        assert_eq!(later_record(b"state", b"k", &state(7), &state(8)), Some(state(8)));
        assert_eq!(later_record(b"about", b"last_feed", &[9], &[8]), None);
        assert_eq!(later_record(b"about", b"rules", &[9], &[8]), Some(vec![8]));
        assert_eq!(later_record(b"feeds", b"k", &[9], &[8]), Some(vec![8]));
    }

    #[test]
    fn entries_of_both_states_are_merged() {
        let (found, backed_up) = (
            entries(&[Some("a"), Some("b"), None, Some("d")]),
            entries(&[Some("A"), None, Some("c")]),
        );
        let joined = entries(&[Some("A"), Some("b"), Some("c"), Some("d")]);
        assert_eq!(later_record(b"meta", b"k", &found, &backed_up), Some(joined));
    }
}
