//! The files in which what is sound is looked for, made from bytes that were changed at random: a log as it is, a log whose
//! messages pass their checksums, a snapshot. Only for `cargo test` and for cargo-fuzz.
#![allow(
    clippy::unwrap_used,
    clippy::allow_attributes,
    reason = "it is no part of the program: a test may panic"
)]

use std::fs;
use std::path::Path;

use super::inspection::{Snapshot, inspect, prepare};
use super::log_bytes::LogBytes;
use super::log_scan::{Kind, LogFiles, MASK, SEGMENT, SUM_MASK};
use super::pages::{Page, PageChange, read_names};
use super::salvage;

/// Bytes of an example of a log as it is.
const BEGIN: usize = 16 * 1024;
/// A page leaves out so many bytes of each of its keys at most; whoever reads it puts them in again.
const LEFT_OUT_MAX: usize = 256;
/// Examples of messages of each kind.
const OF_ONE_KIND: usize = 8;

/// Reads bytes as each of the files.
pub(in crate::io::store) fn check_files(bytes: &[u8]) {
    if let Some(mut page) = Page::read(bytes) {
        page.bounds_below();
        if let Some(change) = PageChange::read(bytes) {
            page.apply(change);
        }
    }
    read_names(bytes);
    Snapshot::read(&sealed_snapshot(bytes), 512);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("blobs")).unwrap();
    let blob = [&[0], bytes].concat();
    let blob = [&crc32fast::hash(&blob).to_le_bytes()[..], &blob].concat();
    fs::write(folder.path().join("blobs/0"), blob).unwrap();
    check_log(folder.path(), bytes);
    check_log(folder.path(), &log_of(bytes));
    fs::write(folder.path().join("snap.0"), sealed_snapshot(bytes)).unwrap();
    inspect(folder.path(), &mut Vec::new()).unwrap();
    fs::write(folder.path().join("snap.0"), bytes).unwrap();
    fs::write(folder.path().join("conf"), bytes).unwrap();
    prepare(folder.path()).unwrap();
    inspect(folder.path(), &mut Vec::new()).unwrap();
}

/// Looks for what is sound in a log.
fn check_log(files: &Path, log: &[u8]) {
    fs::write(files.join("db"), log).unwrap();
    let (mut told, mut records) = (0, 0);
    let salvaged = salvage(files, &mut |_, key, value, _| {
        told += key.len() + value.len();
        records += 1;
        Ok(())
    });
    assert_eq!(salvaged.unwrap().records, records);
    // Also what stands in a file of its own, which each message of the log may name.
    let blob = fs::metadata(files.join("blobs/0")).unwrap().len();
    let most = log.len() * LEFT_OUT_MAX * (usize::try_from(blob).unwrap() + 1);
    assert!(told <= most, "{told} bytes of {}", log.len());
    inspect(files, &mut Vec::new()).unwrap();
}

fn sealed_snapshot(bytes: &[u8]) -> Vec<u8> {
    let tail = (bytes.len() as u64).to_le_bytes();
    [bytes, &tail, &crc32fast::hash(bytes).to_le_bytes()].concat()
}

/// A log of one segment, with the messages that bytes name.
fn log_of(bytes: &[u8]) -> Vec<u8> {
    let numbers = [MASK.to_le_bytes(), MASK.to_le_bytes()].concat();
    let mut log = (crc32fast::hash(&numbers) ^ SUM_MASK).to_le_bytes().to_vec();
    log.extend(numbers);
    let mut rest = LogBytes(bytes);
    while let Some((kind, page, length)) = message_head(&mut rest) {
        let content = rest.take(length.min(rest.0.len())).unwrap_or_default();
        let mut head = vec![kind % 12];
        head.extend(sled_number(content.len()));
        head.extend([0, page % 12]);
        let mut sum = crc32fast::Hasher::new();
        sum.update(content);
        sum.update(&head);
        log.extend((sum.finalize() ^ SUM_MASK).to_le_bytes());
        log.extend(head);
        log.extend_from_slice(content);
    }
    log.truncate(SEGMENT);
    log
}

fn message_head(rest: &mut LogBytes<'_>) -> Option<(u8, u8, usize)> {
    let (kind, page) = (rest.byte()?, rest.byte()?);
    Some((kind, page, usize::from(u16::from_le_bytes([rest.byte()?, rest.byte()?]))))
}

/// A number as sled writes it; not the shortest way.
fn sled_number(number: usize) -> Vec<u8> {
    match u8::try_from(number) {
        Ok(small @ 0..=240) => vec![small],
        Ok(_) | Err(_) => [&[255], &(number as u64).to_le_bytes()[..]].concat(),
    }
}

/// Bytes that name the messages of the log in a folder, and each of these alone.
pub(in crate::io::store) fn example_files(files: &Path) -> Vec<Vec<u8>> {
    let log = LogFiles::open(files).unwrap();
    let (mut all, mut examples) = (Vec::new(), Vec::new());
    for (kind, number) in [(Kind::Names, 6), (Kind::Whole, 8), (Kind::Change, 10), (Kind::Free, 4)]
    {
        let messages = log.scan().unwrap().messages;
        let of_kind = messages.iter().filter(|message| message.kind == kind);
        for message in of_kind.take(OF_ONE_KIND) {
            let content = log.content(message).unwrap();
            let length = u16::try_from(content.len().min(0xffff)).unwrap().to_le_bytes();
            let page = u8::try_from(message.page % 12).unwrap();
            all.extend([&[number, page], &length[..], &content].concat());
            examples.push(content);
        }
    }
    let mut begin = fs::read(files.join("db")).unwrap();
    begin.truncate(BEGIN);
    examples.extend([all, begin]);
    let snapshots = fs::read_dir(files).unwrap().map(|file| file.unwrap().path());
    let snapshots = snapshots.filter(|path| path.to_string_lossy().contains("snap."));
    for path in snapshots {
        let mut snapshot = fs::read(path).unwrap();
        snapshot.truncate(snapshot.len().saturating_sub(12));
        examples.push(snapshot);
    }
    examples
}
