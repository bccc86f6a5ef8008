//! What the store reads, made from bytes that were changed at random: records of every kind under a checksum that fits, backups,
//! and packs. Only for `cargo test` and for cargo-fuzz (`tests/fuzz/`).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::allow_attributes,
    reason = "it is no part of the program: a test may panic"
)]

mod examples;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use examples::examples;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::chunks::BodyChunk;
use super::pack::database::PACK;
use super::pack::sound_records::SoundRecords;
use super::pack::{Database, Table};
use super::poll_logs::LogRecord;
use super::sleepy_threads::SessionLength;
use super::upkeep::backup::read_backup;
use crate::engine::change::undo_stack::SavedStep;
use crate::engine::downloads::record::Download;
use crate::engine::entries::full_text::FullText;
use crate::engine::entries::loaded_entry::ReadingPosition;
use crate::engine::feeds::subscription::{FeedState, SubscriptionRecord};
use crate::engine::poll::poll_times::PollTimes;
use crate::engine::saved_searches::SavedSearch;
use crate::io::codec::{self, CodecError};
use backissue_core::filters::EntryFilter;
use backissue_core::history::{ArchiveNode, Counters, EntryBody, HistoryRecord, KeptEntry};
use backissue_core::schedule::learning::{LearnedRecord, Publications};

/// What means something in a record, in a backup or in a log.
pub const PIECES: &[&[u8]] = &[
    b"\xdd\xff\xff\xff\xff",
    b"\xdb\x7f\xff\xff\xff",
    b"\xdf\x00\x01\x00\x00",
    b"\xc6\xff\xff\xff\xff",
    b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\xd3\x80\x00\x00\x00\x00\x00\x00\x00",
    b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
    b"\xca\x7f\x80\x00\x00",
    b"\xc0",
    b"\xc1",
    b"\x90",
    b"\x91",
    b"\x81",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\xff\0\0\0",
    b"\xf0\xff\xff\xff",
    b"9999-12-31T23:59:59Z",
    b"\xad-262143-01-01",
    b"\0\0\0\0",
];

/// Reads bytes as everything that the store reads; fails if something that was read cannot be written and read again, or if a
/// file holds more than can be in it.
pub fn check(bytes: &[u8]) {
    for sealed in [codec::seal(bytes), codec::seal(&codec::pack(bytes).unwrap())] {
        check_records(&sealed);
    }
    check_backup(bytes);
    check_pack(bytes);
}

fn check_records(sealed: &[u8]) {
    plain::<SubscriptionRecord>(sealed);
    plain::<FeedState>(sealed);
    plain::<PollTimes>(sealed);
    plain::<Counters>(sealed);
    written_again(LogRecord::read(sealed), codec::encode, LogRecord::read);
    plain::<Publications>(sealed);
    plain::<LearnedRecord>(sealed);
    plain::<HistoryRecord>(sealed);
    plain::<ArchiveNode>(sealed);
    plain::<Vec<(u32, ReadingPosition)>>(sealed);
    plain::<Vec<SavedSearch>>(sealed);
    plain::<Vec<Download>>(sealed);
    plain::<Vec<EntryFilter>>(sealed);
    plain::<BTreeSet<String>>(sealed);
    packed::<Vec<Option<KeptEntry>>>(sealed);
    packed::<BodyChunk>(sealed);
    packed::<EntryBody>(sealed);
    packed::<FullText>(sealed);
    packed::<BTreeSet<u32>>(sealed);
    packed::<SavedStep>(sealed);
    if let Ok(rows) = codec::decode_rows(sealed) {
        assert_eq!(codec::encode_rows(&rows), sealed, "rows");
    }
}

fn plain<T: Serialize + DeserializeOwned>(sealed: &[u8]) {
    written_again(codec::decode(sealed), codec::encode::<T>, codec::decode);
}

fn packed<T: Serialize + DeserializeOwned>(sealed: &[u8]) {
    written_again(
        codec::decode_compressed(sealed),
        codec::encode_compressed::<T>,
        codec::decode_compressed,
    );
}

/// What was read is written, and read again as the same.
fn written_again<T>(
    read: Result<T, CodecError>,
    write: fn(&T) -> Result<Vec<u8>, CodecError>,
    read_again: fn(&[u8]) -> Result<T, CodecError>,
) {
    let Ok(record) = read else { return };
    let what = std::any::type_name::<T>();
    let written = write(&record).unwrap_or_else(|_| panic!("{what} cannot be written"));
    let again = read_again(&written).unwrap_or_else(|_| panic!("{what} cannot be read again"));
    assert!(write(&again).as_ref() == Ok(&written), "{what} is another one");
}

/// Reads bytes as a backup.
fn check_backup(bytes: &[u8]) {
    let (mut told, mut records) = (0, 0);
    let read = read_backup(bytes, &mut |(_, key, value)| {
        told += key.len() + value.len();
        records += 1;
        Ok(())
    });
    assert!(told <= bytes.len(), "{told} bytes of {}", bytes.len());
    if let Ok(backup) = read {
        assert!(backup.records >= records);
    }
}

/// Reads bytes as a pack that may be damaged.
fn check_pack(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(PACK), bytes).unwrap();
    let sound = SoundRecords::read(folder.path()).unwrap();
    let mut told = 0;
    sound
        .for_each(&mut |(_, key, value)| {
            told += key.len() + value.len();
            Ok(())
        })
        .unwrap();
    assert!(told <= bytes.len(), "{told} bytes of {}", bytes.len());
    // What opens as sound holds the same.
    if let Ok(database) = Database::open(folder.path(), SessionLength::Short) {
        let records = database.tables().iter().flat_map(Table::iter);
        let held = records.map(Result::unwrap).map(|(key, value)| key.len() + value.len());
        assert_eq!(held.sum::<usize>(), told);
    }
}
