//! Reads sled's log without sled: every message that passes its checksum, also from the middle of a damaged file.
//!
//! The log is a file of segments. Each begins with a head (checksum, place of its first byte in the endless log) and
//! holds messages: a checksum, a kind, a length, the number of the segment, the number of a page, and what happened to
//! that page. Opening a damaged log with sled cuts it off at the first fault; this reader goes on behind it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::log_bytes::LogBytes;

/// Bytes of a segment.
pub(super) const SEGMENT: usize = 512 * 1024;
/// Bytes of its head.
const SEGMENT_HEAD: usize = 20;
/// Where in a message its kind stands, behind its checksum.
const KIND_AT: usize = 4;
/// The largest number of a kind; none has 0.
const KIND_MAX: u8 = 11;
/// No message begins closer to the end of a segment.
const RED_ZONE: usize = 32;
/// So many segments behind the newest one whose head is sound may have a damaged one.
const BEYOND: u64 = 64;
/// The head's numbers are stored under this mask.
pub(super) const MASK: u64 = 0x7FFF_FFFF_FFFF_FFFF;
/// The checksums are stored under this mask.
pub(super) const SUM_MASK: u32 = 0xFFFF_FFFF;

/// Files of their own that no message names any more have the numbers of pages from here on.
pub(super) const LEFT_BEHIND: u64 = 1 << 63;
/// The numbers of the kinds of such files: a whole page, a change.
const WHOLE_ALONE: u8 = 9;
const CHANGE_ALONE: u8 = 11;

/// What a message says of its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing.
    Skip,
    /// The rest of the segment is empty.
    Cap,
    /// The page is given up.
    Free,
    /// The names of the trees.
    Names,
    /// The whole page.
    Whole,
    /// A change of the page.
    Change,
}

/// Where the bytes of a message are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Inline {
        at: u64,
        length: usize,
    },
    /// In a file of its own with this number.
    Blob(u64),
}

/// A message that is sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Message {
    /// Its place in the endless log: later ones are higher.
    pub(super) lsn: u64,
    pub(super) page: u64,
    pub(super) kind: Kind,
    /// It stands in a segment that was used again since.
    pub(super) stale: bool,
    place: Place,
}

impl Message {
    /// The number of the file of its own in which its content stands.
    pub(super) const fn blob(&self) -> Option<u64> {
        match self.place {
            Place::Inline { .. } => None,
            Place::Blob(number) => Some(number),
        }
    }
}

/// The sound messages of a log, and what is between them.
#[derive(Debug, Default)]
pub(super) struct LogScan {
    pub(super) messages: Vec<Message>,
    /// Bytes that belong to no sound message, and should.
    pub(super) damaged_bytes: u64,
    /// There are sound messages behind damage.
    pub(super) is_damaged: bool,
}

/// The head of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentHead {
    pub(super) lsn: u64,
    /// Everything before this was on the disk when the segment was begun.
    pub(super) stable: u64,
}

/// The files of a store, read only.
#[derive(Debug)]
pub(super) struct LogFiles {
    log: File,
    pub(super) length: u64,
    blobs: PathBuf,
}

impl LogFiles {
    pub(super) fn open(files: &Path) -> io::Result<Self> {
        let log = File::open(files.join("db"))?;
        let length = log.metadata()?.len();
        Ok(Self { log, length, blobs: files.join("blobs") })
    }

    /// The number of segments, a begun one too.
    pub(super) fn segments(&self) -> u64 {
        self.length.div_ceil(SEGMENT as u64)
    }

    /// The head of a segment; `None`: it is damaged or was never written.
    pub(super) fn head(&self, segment: u64) -> Option<SegmentHead> {
        let mut bytes = [0; SEGMENT_HEAD];
        self.log.read_exact_at(&mut bytes, segment.checked_mul(SEGMENT as u64)?).ok()?;
        read_head(&bytes)
    }

    /// Reads the bytes of a segment into a buffer, from which they are given back; fewer at the end of the file.
    pub(super) fn read_segment<'a>(&self, segment: u64, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        let at = segment.saturating_mul(SEGMENT as u64);
        let length = self.length.saturating_sub(at).min(SEGMENT as u64);
        buffer.resize(usize::try_from(length).unwrap_or(SEGMENT), 0);
        read_patiently(&self.log, buffer, at);
        buffer
    }

    /// What a message holds; `None`: a file of its own is damaged.
    pub(super) fn content(&self, message: &Message) -> Option<Vec<u8>> {
        match message.place {
            Place::Inline { at, length } => {
                let mut bytes = vec![0; length];
                self.log.read_exact_at(&mut bytes, at).ok()?;
                Some(bytes)
            }
            Place::Blob(number) => self.blob(number),
        }
    }

    /// Whether what a message holds can be read.
    pub(super) fn has_content(&self, message: &Message) -> bool {
        match message.place {
            // Its checksum was looked at when it was found.
            Place::Inline { .. } => true,
            Place::Blob(number) => self.blob(number).is_some(),
        }
    }

    /// Whether a message holds itself what it says, or the file of its own in which that stands is sound or gone.
    pub(super) fn has_whole_blob(&self, found: &FoundMessage) -> bool {
        let Some(number) = found.blob else { return true };
        self.blob(number).is_some() || !self.blobs.join(number.to_string()).exists()
    }

    fn blob(&self, number: u64) -> Option<Vec<u8>> {
        Some(self.blob_of_kind(number)?.1)
    }

    fn blob_of_kind(&self, number: u64) -> Option<(u8, Vec<u8>)> {
        let mut bytes = std::fs::read(self.blobs.join(number.to_string())).ok()?;
        let sum = LogBytes(&bytes).four()?;
        let behind = bytes.split_off(bytes.len().min(4));
        let (kind, content) = behind.split_first()?;
        (crc32fast::hash(&behind) == sum).then(|| (*kind, content.to_vec()))
    }

    /// The files of their own that no message names any more, each as the message that it was: sled leaves them behind when it
    /// uses a part of its log again. Each is of a page of its own, because which it was of is not known.
    pub(super) fn left_behind(&self, messages: &[Message]) -> Vec<Message> {
        let named: BTreeSet<u64> = messages.iter().filter_map(Message::blob).collect();
        let files = std::fs::read_dir(&self.blobs).into_iter().flatten().flatten();
        let numbers = files.filter_map(|file| file.file_name().to_str()?.parse().ok());
        let left = numbers.filter(|number| *number < LEFT_BEHIND && !named.contains(number));
        let message = |number| {
            let kind = match self.blob_of_kind(number)?.0 {
                WHOLE_ALONE => Kind::Whole,
                CHANGE_ALONE => Kind::Change,
                _ => return None,
            };
            // The number is the place at which it was named.
            let (lsn, page, place) = (number, LEFT_BEHIND | number, Place::Blob(number));
            Some(Message { lsn, page, kind, stale: true, place })
        };
        left.filter_map(message).collect()
    }

    /// Reads every message of the log.
    pub(super) fn scan(&self) -> io::Result<LogScan> {
        let mut scan = LogScan::default();
        let heads: Vec<Option<SegmentHead>> =
            (0..self.segments()).map(|number| self.head(number)).collect();
        let newest = heads.iter().flatten().map(|head| head.lsn).max().unwrap_or(0);
        let mut buffer = Vec::new();
        for (number, head) in (0_u64..).zip(heads) {
            let bytes = self.read_segment(number, &mut buffer);
            scan.add_segment(number, head, bytes, newest);
        }
        scan.messages.sort_by_key(|message| message.lsn);
        Ok(scan)
    }
}

/// Reads what can be read: a disk may refuse a part of a file.
fn read_patiently(log: &File, bytes: &mut [u8], at: u64) {
    if log.read_exact_at(bytes, at).is_ok() {
        return;
    }
    let mut from = at;
    for part in bytes.chunks_mut(4096) {
        if log.read_exact_at(part, from).is_err() {
            part.fill(0);
        }
        from = from.saturating_add(part.len() as u64);
    }
}

fn read_head(bytes: &[u8; SEGMENT_HEAD]) -> Option<SegmentHead> {
    let mut read = LogBytes(bytes);
    let (sum, summed) = (read.four()?, read.0);
    let (lsn, stable) = (read.eight()? ^ MASK, read.eight()? ^ MASK);
    let is_sound = crc32fast::hash(summed) == sum ^ SUM_MASK && lsn % SEGMENT as u64 == 0;
    is_sound.then_some(SegmentHead { lsn, stable })
}

/// A message as it stands in a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundMessage {
    kind: Kind,
    /// The number of the file of its own in which its content stands.
    blob: Option<u64>,
    /// The number of the segment that it was written for.
    segment: u64,
    pub(super) page: u64,
    /// It says everything of its page: nothing before it counts any more.
    pub(super) is_all_of_page: bool,
    head_length: usize,
    length: usize,
}

impl FoundMessage {
    /// Reads the message at a place of a segment; `None`: there is no sound one.
    fn at(bytes: &[u8], at: usize, segment_max: u64) -> Option<Self> {
        let rest = bytes.get(at..)?;
        let mut read = LogBytes(rest);
        let (sum, kind) = (read.four()?, read.byte()?);
        if kind == 0 || kind > KIND_MAX {
            return None;
        }
        let length = read.count()?;
        let (segment, page) = (read.number()?, read.number()?);
        if segment > segment_max {
            return None;
        }
        let (content, behind) = read.0.split_at_checked(length)?;
        let head_length = rest.len().checked_sub(content.len())?.checked_sub(behind.len())?;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(content);
        hasher.update(rest.get(4..head_length)?);
        if hasher.finalize() ^ SUM_MASK != sum {
            return None;
        }
        let kind_of = match kind {
            2 => Kind::Cap,
            4 => Kind::Free,
            6 | 7 => Kind::Names,
            8 | 9 => Kind::Whole,
            10 | 11 => Kind::Change,
            _ => Kind::Skip,
        };
        let is_blob = matches!(kind, 7 | 9 | 11);
        // Also that of sled's own counter, kind 5.
        let is_all_of_page = matches!(kind, 4..=9);
        let blob = if is_blob { Some(LogBytes(content).eight()?) } else { None };
        Some(Self { kind: kind_of, blob, segment, page, is_all_of_page, head_length, length })
    }

    const fn whole_length(&self) -> usize {
        self.head_length.saturating_add(self.length)
    }
}

/// How the messages of a segment end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SegmentEnd {
    /// It is full.
    Full,
    /// No message stands at this place.
    Broken(usize),
}

/// Follows the messages of a segment from its head; tells each with its place.
pub(super) fn follow_messages(
    bytes: &[u8],
    number: u64,
    from: usize,
    mut tell: impl FnMut(usize, FoundMessage),
) -> SegmentEnd {
    let mut at = from;
    while at.saturating_add(RED_ZONE) <= SEGMENT {
        let found = FoundMessage::at(bytes, at, number).filter(|found| found.segment == number);
        let Some(found) = found else { return SegmentEnd::Broken(at) };
        if found.kind == Kind::Cap {
            return SegmentEnd::Full;
        }
        tell(at, found);
        at = at.saturating_add(found.whole_length());
    }
    SegmentEnd::Full
}

/// The place of the next message of a segment behind a fault.
pub(super) fn next_message(bytes: &[u8], number: u64, from: usize) -> Option<usize> {
    // Most of what is looked through is empty: the kind of a message is looked at first.
    let kinds = bytes.get(from.saturating_add(KIND_AT)..).unwrap_or_default();
    let may_begin = kinds.iter().enumerate().filter(|(_, kind)| (1..=KIND_MAX).contains(*kind));
    may_begin.map(|(behind, _)| from.saturating_add(behind)).find(|&at| {
        FoundMessage::at(bytes, at, number).is_some_and(|found| found.segment == number)
    })
}

/// Where the first message of a segment stands.
pub(super) const FIRST: usize = SEGMENT_HEAD;

impl LogScan {
    fn add_segment(&mut self, place: u64, head: Option<SegmentHead>, bytes: &[u8], newest: u64) {
        let segment_max = (newest / SEGMENT as u64).saturating_add(BEYOND);
        let number = head.map_or_else(
            || find_number(bytes, segment_max),
            |head| Some(head.lsn / SEGMENT as u64),
        );
        let Some(number) = number else { return };
        let mut found_here: Vec<(usize, FoundMessage)> = Vec::new();
        let mut from = FIRST;
        if head.is_none() {
            self.is_damaged = true;
        }
        loop {
            let end =
                follow_messages(bytes, number, from, |at, found| found_here.push((at, found)));
            let SegmentEnd::Broken(at) = end else { break };
            let next = next_message(bytes, number, at.saturating_add(1));
            let to = next.unwrap_or(bytes.len());
            self.add_stale(place, bytes, at..to, number);
            let is_open_end = next.is_none() && head.is_some_and(|head| head.lsn == newest);
            if !is_open_end {
                self.is_damaged = true;
                let gap = to.saturating_sub(at) as u64;
                self.damaged_bytes = self.damaged_bytes.saturating_add(gap);
            }
            let Some(next) = next else { break };
            from = next;
        }
        self.messages.extend(
            found_here.into_iter().filter_map(|(at, found)| message(place, at, &found, false)),
        );
    }

    /// Adds messages of an earlier use of the segment: they help where something is missing.
    fn add_stale(&mut self, place: u64, bytes: &[u8], range: std::ops::Range<usize>, number: u64) {
        let mut at = range.start;
        while at < range.end {
            let found = FoundMessage::at(bytes, at, number).filter(|found| found.segment < number);
            self.messages.extend(found.and_then(|found| message(place, at, &found, true)));
            at = at.saturating_add(found.as_ref().map_or(1, FoundMessage::whole_length));
        }
    }
}

/// The number of a segment whose head is damaged: that of the newest message in it.
pub(super) fn find_number(bytes: &[u8], segment_max: u64) -> Option<u64> {
    let (mut at, mut newest) = (0, None);
    while at < bytes.len() {
        let found = FoundMessage::at(bytes, at, segment_max);
        newest = newest.max(found.map(|found| found.segment));
        at = at.saturating_add(found.as_ref().map_or(1, FoundMessage::whole_length));
    }
    newest
}

fn message(place: u64, at: usize, found: &FoundMessage, stale: bool) -> Option<Message> {
    if matches!(found.kind, Kind::Skip | Kind::Cap) {
        return None;
    }
    let content = at.checked_add(found.head_length)?;
    let place = if let Some(number) = found.blob {
        Place::Blob(number)
    } else {
        let begin = place.checked_mul(SEGMENT as u64)?;
        Place::Inline { at: begin.checked_add(content as u64)?, length: found.length }
    };
    let lsn = found.segment.checked_mul(SEGMENT as u64)?.checked_add(at as u64)?;
    Some(Message { lsn, page: found.page, kind: found.kind, stale, place })
}
