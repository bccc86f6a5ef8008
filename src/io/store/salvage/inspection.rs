//! Looks at the files of a store before sled opens them: what can be made anew is made anew, and damage at which sled
//! would cut its log off is found while everything is still there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::log_bytes::LogBytes;
use super::log_scan::{
    FIRST, LogFiles, SEGMENT, SegmentEnd, find_number, follow_messages, next_message,
};

/// What sled keeps of its settings; they never change.
const SETTINGS: &str = "segment_size: 524288\nuse_compression: false\nversion: 0.34\n";
/// What stands behind the content of a snapshot: its length and its checksum.
const SNAPSHOT_TAIL: usize = 12;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::io::store) enum Finding {
    /// sled reads everything, as far as can be told quickly.
    Sound,
    /// sled would throw something away; why, as a fragment.
    Damaged(String),
}

/// Makes anew what sled needs and is damaged: its settings, which never change, and its snapshot, which it makes by
/// itself.
pub(in crate::io::store) fn prepare(files: &Path) -> io::Result<()> {
    if !files.join("db").exists() {
        return Ok(());
    }
    let settings = files.join("conf");
    if fs::read(&settings).is_ok_and(|found| !is_sealed(&found)) {
        let mut file = fs::File::create(&settings)?;
        file.write_all(SETTINGS.as_bytes())?;
        file.write_all(&crc32fast::hash(SETTINGS.as_bytes()).to_le_bytes())?;
        file.sync_all()?;
    }
    for path in snapshots(files)? {
        let is_sound =
            fs::read(&path).is_ok_and(|bytes| Snapshot::read(&bytes, u64::MAX).is_some());
        if !is_sound {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Whether settings end with their checksum. Sound ones of another version of sled are not ours to change.
fn is_sealed(found: &[u8]) -> bool {
    let Some((content, sum)) = found.split_last_chunk::<4>() else { return false };
    found.len() > 8 && crc32fast::hash(content) == u32::from_le_bytes(*sum)
}

fn snapshots(files: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for file in fs::read_dir(files)? {
        let file = file?;
        if file.file_name().to_string_lossy().starts_with("snap.") {
            found.push(file.path());
        }
    }
    found.sort();
    Ok(found)
}

/// What a snapshot says of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// Everything before this place is in the snapshot.
    stable: u64,
    /// Pages of which it names a place that lies behind the end of the log's file. sled shortens the file when the last parts of
    /// it are free: the log then says of these pages where they are now.
    behind_end: BTreeSet<u64>,
    /// Where in the endless log each page was written whole.
    whole_at: BTreeMap<u64, u64>,
}

impl Snapshot {
    /// Reads a snapshot of a log whose file has so many bytes; `None`: it is damaged.
    pub(super) fn read(bytes: &[u8], length: u64) -> Option<Self> {
        let (content, tail) = bytes.split_at_checked(bytes.len().checked_sub(SNAPSHOT_TAIL)?)?;
        let sum = LogBytes(tail.get(8..)?).four()?;
        if content.is_empty() || crc32fast::hash(content) != sum {
            return None;
        }
        let mut read = LogBytes(content);
        // It is stored increased by one; 0 is none.
        let stable = read.eight()?.saturating_sub(1);
        read.number()?;
        let mut snapshot = Self { stable, ..Self::default() };
        for page in 0.. {
            if read.0.is_empty() {
                break;
            }
            let (whole_at, last_place) = read_places(&mut read)?;
            if last_place >= length {
                snapshot.behind_end.insert(page);
            }
            snapshot.whole_at.extend(whole_at.map(|whole_at| (page, whole_at)));
        }
        Some(snapshot)
    }
}

/// Reads what a snapshot says of a page: where in the endless log it was written whole, if it is in use, and the highest place in
/// the log's file that it names.
fn read_places(read: &mut LogBytes<'_>) -> Option<(Option<u64>, u64)> {
    let (messages, mut last, mut whole_at) = (read.byte()?, 0, None);
    for _ in 0..messages.max(1) {
        let at = read.eight()?;
        // The page comes first, and then what changed it.
        whole_at = whole_at.or((messages > 0).then_some(at));
        let is_blob = read.byte()? != 0;
        last = last.max(read.number()?);
        if is_blob {
            read.eight()?;
        }
        if messages > 0 {
            read.number()?;
        }
    }
    Some((whole_at, last))
}

/// Where in the endless log each page was written whole, as the newest snapshot that can be read has it.
pub(super) fn pages_in_snapshot(files: &Path) -> io::Result<BTreeMap<u64, u64>> {
    let newest = snapshots(files)?.pop();
    let read = newest.and_then(|path| Snapshot::read(&fs::read(path).ok()?, u64::MAX));
    Ok(read.map(|snapshot| snapshot.whole_at).unwrap_or_default())
}

/// Looks for damage behind which there is something, in the part of the log that sled reads when it opens it. Parts of the log
/// are read into the buffer.
pub(in crate::io::store) fn inspect(files: &Path, buffer: &mut Vec<u8>) -> io::Result<Finding> {
    if !files.join("db").is_file() {
        return Ok(Finding::Sound);
    }
    let log = LogFiles::open(files)?;
    let snapshot = match snapshots(files)?.last() {
        Some(path) => Snapshot::read(&fs::read(path)?, log.length).unwrap_or_default(),
        None => Snapshot::default(),
    };
    let told = inspect_log(&log, snapshot, buffer);
    Ok(told.map_or(Finding::Sound, |why| Finding::Damaged(why.into())))
}

fn inspect_log(
    log: &LogFiles,
    mut snapshot: Snapshot,
    buffer: &mut Vec<u8>,
) -> Option<&'static str> {
    let size = SEGMENT as u64;
    let mut heads = BTreeMap::new();
    for number in 0..log.segments() {
        match log.head(number) {
            Some(head) => {
                heads.insert(head.lsn, number);
            }
            // A segment that was never used, or was given up, is empty.
            None if has_messages(log.read_segment(number, buffer)) => {
                return Some("the header of a part of its log is damaged");
            }
            None => {}
        }
    }
    let Some((&newest, _)) = heads.last_key_value() else {
        return (snapshot.stable > 0).then_some("its log cannot be read");
    };
    if newest.saturating_add(size) < snapshot.stable {
        return Some("the end of its log is missing");
    }
    let begin = snapshot.stable / size * size;
    for (&lsn, &number) in heads.range(begin..) {
        let bytes = log.read_segment(number, buffer);
        let mut is_whole = true;
        let end = follow_messages(bytes, lsn / size, FIRST, |at, found| {
            is_whole &= log.has_whole_blob(&found);
            if found.is_all_of_page && lsn.saturating_add(at as u64) >= snapshot.stable {
                snapshot.behind_end.remove(&found.page);
            }
        });
        if !is_whole {
            return Some("a large record is damaged");
        }
        let SegmentEnd::Broken(at) = end else { continue };
        let behind = next_message(bytes, lsn / size, at.saturating_add(1)).is_some();
        let known_to_go_on = lsn.saturating_add(at as u64) < snapshot.stable;
        if behind || lsn != newest || known_to_go_on {
            return Some("a part of its log is damaged");
        }
    }
    (!snapshot.behind_end.is_empty()).then_some("its log is shorter than before")
}

/// Whether there is a message in a segment whose head cannot be read.
fn has_messages(bytes: &[u8]) -> bool {
    // By parts, which the compiler turns into a few wide instructions.
    let is_empty = bytes.chunks(4096).all(|part| part.iter().fold(0, |all, byte| all | byte) == 0);
    !is_empty && find_number(bytes, u64::MAX).is_some()
}
