//! Serializes the entries of an undo step as runs of consecutive entry numbers, so that the entries of a whole list take little
//! space.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use backissue_core::history::{EntryKey, FeedKey};

/// Maximum number of entries that are read from an undo step. The program never writes a step with that many entries (see
/// [`super::undo_stack`]).
const KEYS_MAX: u32 = 1_000_000;

/// The runs of one feed. A run is the number of its first entry and the count of its entries.
type FeedRuns = (FeedKey, Vec<(u32, u32)>);

/// Serializes sorted entries as the runs of each feed.
pub fn serialize<S: Serializer>(keys: &[EntryKey], serializer: S) -> Result<S::Ok, S::Error> {
    runs_of(keys.to_vec()).serialize(serializer)
}

/// Deserializes entries that [`serialize`] wrote.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<EntryKey>, D::Error> {
    let runs = Vec::<FeedRuns>::deserialize(deserializer)?;
    keys_of(&runs).ok_or_else(|| D::Error::custom("it names too many entries"))
}

fn runs_of(mut keys: Vec<EntryKey>) -> Vec<FeedRuns> {
    keys.sort_unstable();
    keys.dedup();
    let mut feeds: Vec<FeedRuns> = Vec::new();
    for key in keys {
        if feeds.last().is_none_or(|(feed, _)| *feed != key.feed) {
            feeds.push((key.feed, Vec::new()));
        }
        let Some((_, runs)) = feeds.last_mut() else { continue };
        match runs.last_mut() {
            Some((first, count)) if first.checked_add(*count) == Some(key.seq) => {
                *count = count.saturating_add(1);
            }
            Some(_) | None => runs.push((key.seq, 1)),
        }
    }
    feeds
}

/// Returns the entries of runs, or `None` if there are more than [`KEYS_MAX`].
fn keys_of(feeds: &[FeedRuns]) -> Option<Vec<EntryKey>> {
    let counts = feeds.iter().flat_map(|(_, runs)| runs).map(|(_, count)| *count);
    if counts.fold(0_u32, u32::saturating_add) > KEYS_MAX {
        return None;
    }
    let mut keys = Vec::new();
    for (feed, runs) in feeds {
        for &(first, count) in runs {
            let seqs = first..first.saturating_add(count);
            keys.extend(seqs.map(|seq| EntryKey { feed: *feed, seq }));
        }
    }
    Some(keys)
}

/// Serialization of changed marks with their new values, grouped by mark and value.
pub mod flags {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{FeedRuns, KEYS_MAX, keys_of, runs_of};
    use backissue_core::history::{EntryKey, Flag};

    type Changed = (EntryKey, Flag, bool);

    /// Serializes changed marks. The entries of each mark and value become runs.
    pub fn serialize<S: Serializer>(marks: &[Changed], serializer: S) -> Result<S::Ok, S::Error> {
        let mut kinds: Vec<((Flag, bool), Vec<EntryKey>)> = Vec::new();
        for &(key, flag, value) in marks {
            match kinds.iter_mut().find(|(kind, _)| *kind == (flag, value)) {
                Some((_, keys)) => keys.push(key),
                None => kinds.push(((flag, value), vec![key])),
            }
        }
        let kinds: Vec<((Flag, bool), Vec<FeedRuns>)> =
            kinds.into_iter().map(|(kind, keys)| (kind, runs_of(keys))).collect();
        kinds.serialize(serializer)
    }

    /// Deserializes changed marks that [`serialize`] wrote.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Changed>, D::Error> {
        let kinds = Vec::<((Flag, bool), Vec<FeedRuns>)>::deserialize(deserializer)?;
        let mut marks: Vec<Changed> = Vec::new();
        for ((flag, value), runs) in kinds {
            // Check the number of entries so far before each group, so that many groups together cannot exceed the limit by much.
            let keys = keys_of(&runs).filter(|_| marks.len() <= KEYS_MAX as usize);
            let keys = keys.ok_or_else(|| D::Error::custom("it names too many entries"))?;
            marks.extend(keys.into_iter().map(|key| (key, flag, value)));
        }
        Ok(marks)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use backissue_core::history::Flag;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Record {
        #[serde(with = "super")]
        keys: Vec<EntryKey>,
        #[serde(with = "super::flags")]
        flags: Vec<(EntryKey, Flag, bool)>,
    }

    #[derive(Debug, Deserialize)]
    struct Marks {
        #[serde(rename = "flags", with = "super::flags")]
        _flags: Vec<(EntryKey, Flag, bool)>,
    }

    fn key(feed: u32, seq: u32) -> EntryKey {
        EntryKey { feed: FeedKey(feed), seq }
    }

    fn read_back(record: &Record) -> (usize, Record) {
        let bytes = rmp_serde::to_vec_named(record).unwrap();
        (bytes.len(), rmp_serde::from_slice(&bytes).unwrap())
    }

    #[test]
    fn entry_and_mark_runs_round_trip_in_order() {
        let keys = vec![key(1, 7), key(1, 3), key(1, 4), key(2, u32::MAX), key(2, 0), key(1, 3)];
        let flags = vec![
            (key(1, 3), Flag::Hidden, true),
            (key(1, 4), Flag::Hidden, true),
            (key(1, 3), Flag::Starred, false),
        ];
        let (_, read) = read_back(&Record { keys, flags: flags.clone() });
        let sorted = [key(1, 3), key(1, 4), key(1, 7), key(2, 0)];
        assert_eq!(read.keys[..4], sorted);
        assert_eq!(read.flags, flags);
    }

    #[test]
    fn adjacent_entries_are_compact_and_endless_runs_refused() {
        let keys: Vec<EntryKey> = (0..100_000).map(|seq| key(1, seq)).collect();
        let (bytes, read) = read_back(&Record { keys: keys.clone(), flags: Vec::new() });
        assert!(bytes < 50 && read.keys == keys, "{bytes} bytes");
        assert_eq!(keys_of(&[(FeedKey(1), vec![(0, u32::MAX)])]), None);
        let marks = vec![((Flag::Read, true), vec![(FeedKey(1), vec![(0_u32, 900_000_u32)])]); 9];
        let bytes = rmp_serde::to_vec_named(&BTreeMap::from([("flags", marks)])).unwrap();
        let read: Result<Marks, _> = rmp_serde::from_slice(&bytes);
        assert!(read.unwrap_err().to_string().contains("too many"));
    }
}
