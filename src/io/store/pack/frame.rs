//! Frames: the parts of a pack. Either all changes in a frame are written, or none.
//!
//! | bytes | what |
//! | --- | --- |
//! | 4 | [`MAGIC`] |
//! | 4 | CRC-32 of the rest of the head and of the directory |
//! | 8 | number of the pack, random |
//! | 8 | number of bytes of the pack that were synced before this frame was written |
//! | 4 | length of the directory, in bytes |
//! | 8 | length of the values, in bytes |
//! | … | directory |
//! | … | values |
//!
//! The directory contains for each change: the number of the table (1 byte), the length of the key (2), the length of the value or
//! [`REMOVED`] (4), the CRC-32 of the value (4), and the key. Numbers are little-endian.
//!
//! A stream of frames is a pack that was written at once, or a backup.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};

use super::table::{Batch, TableName};

/// Start of each frame.
pub(in crate::io::store) const MAGIC: [u8; 4] = *b"Bi\xf1\x01";
/// Length of the head, in bytes.
pub(super) const HEAD: usize = 36;
/// Length of the fixed part of a change in the directory, in bytes.
pub(super) const CHANGE: usize = 11;
/// Length of the value of a change that removes a record.
const REMOVED: u32 = u32::MAX;

/// Returns a random number for a new pack.
pub(super) fn random() -> u64 {
    RandomState::new().hash_one(0_u8)
}

/// A frame that is being built.
#[derive(Debug, Default)]
pub(super) struct FrameBuilder {
    directory: Vec<u8>,
    values: Vec<u8>,
    /// For each change, the position of its value in `values`.
    places: Vec<u64>,
}

impl FrameBuilder {
    /// Adds the changes of a table. Returns `false` if a key or value is too long for a frame.
    pub(super) fn add(&mut self, table: TableName, batch: &Batch) -> bool {
        batch.changes().all(|(key, value)| self.put(table, key, value))
    }

    /// Adds a change; `None` removes the record. Returns `false` if the key or value is too long.
    pub(super) fn put(&mut self, table: TableName, key: &[u8], value: Option<&[u8]>) -> bool {
        let Ok(key_length) = u16::try_from(key.len()) else { return false };
        let bytes = value.unwrap_or_default();
        let length = match value.map(|value| u32::try_from(value.len())) {
            None => REMOVED,
            Some(Ok(length)) if length < REMOVED => length,
            Some(_) => return false,
        };
        self.directory.push(table.number());
        self.directory.extend_from_slice(&key_length.to_le_bytes());
        self.directory.extend_from_slice(&length.to_le_bytes());
        self.directory.extend_from_slice(&crc32fast::hash(bytes).to_le_bytes());
        self.directory.extend_from_slice(key);
        self.places.push(self.values.len() as u64);
        self.values.extend_from_slice(bytes);
        true
    }

    /// Returns whether the frame contains no change.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the length of the directory and the values so far, in bytes.
    pub(super) fn length(&self) -> usize {
        self.values.len().saturating_add(self.directory.len())
    }

    /// Returns the bytes of the frame, and the positions of the values in it, in the order of the changes.
    pub(super) fn finish(self, pack: u64, synced: u64) -> (Vec<u8>, Vec<u64>) {
        let Self { directory, values, mut places } = self;
        let length = HEAD.saturating_add(directory.len());
        let mut out = Vec::with_capacity(length.saturating_add(values.len()));
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&pack.to_le_bytes());
        out.extend_from_slice(&synced.to_le_bytes());
        out.extend_from_slice(&u32::try_from(directory.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend_from_slice(&(values.len() as u64).to_le_bytes());
        out.extend_from_slice(&directory);
        let sum = crc32fast::hash(out.get(8..).unwrap_or_default());
        if let Some(place) = out.get_mut(4..8) {
            place.copy_from_slice(&sum.to_le_bytes());
        }
        out.extend_from_slice(&values);
        for place in &mut places {
            *place = place.saturating_add(length as u64);
        }
        (out, places)
    }
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    sum: u32,
    /// Number of the pack.
    pub(super) pack: u64,
    /// Number of bytes of the pack that were synced before this frame was written.
    pub(super) synced: u64,
    /// Length of the directory, in bytes.
    pub(super) directory: usize,
    /// Length of the values, in bytes.
    pub(super) values: u64,
}

impl Head {
    /// Reads a head. Returns `None` if the bytes are not a head. Use [`Self::is_sound`] to verify it, which also needs the
    /// directory.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let four = |at: usize| bytes.get(at..)?.first_chunk().map(|it| u32::from_le_bytes(*it));
        let eight = |at: usize| bytes.get(at..)?.first_chunk().map(|it| u64::from_le_bytes(*it));
        bytes.starts_with(&MAGIC).then_some(())?;
        Some(Self {
            sum: four(4)?,
            pack: eight(8)?,
            synced: eight(16)?,
            directory: usize::try_from(four(24)?).ok()?,
            values: eight(28)?,
        })
    }

    /// Returns the length of the whole frame, in bytes.
    pub(super) fn length(&self) -> u64 {
        (HEAD as u64).saturating_add(self.directory as u64).saturating_add(self.values)
    }

    /// Checks whether the head and the directory match the checksum. `bytes` contains both.
    pub(super) fn is_sound(&self, bytes: &[u8]) -> bool {
        crc32fast::hash(bytes.get(8..).unwrap_or_default()) == self.sum
    }
}

/// A change in the directory of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameChange<'f> {
    /// Number of the table.
    pub(super) table: u8,
    pub(super) key: &'f [u8],
    /// Position of the value in the frame, and its length, in bytes; `None` removes the record.
    pub(super) value: Option<(u64, u32)>,
    /// CRC-32 of the value.
    pub(super) sum: u32,
}

/// Returns the changes in a directory.
pub(super) fn changes(directory: &[u8]) -> impl Iterator<Item = FrameChange<'_>> {
    let mut rest = directory;
    let mut place = (HEAD as u64).saturating_add(directory.len() as u64);
    std::iter::from_fn(move || {
        let (fixed, behind) = rest.split_first_chunk::<CHANGE>()?;
        let [table, k0, k1, v0, v1, v2, v3, s0, s1, s2, s3] = *fixed;
        let (key, behind) = behind.split_at_checked(u16::from_le_bytes([k0, k1]).into())?;
        rest = behind;
        let length = u32::from_le_bytes([v0, v1, v2, v3]);
        let value = (length != REMOVED).then_some((place, length));
        if let Some((_, length)) = value {
            place = place.saturating_add(length.into());
        }
        Some(FrameChange { table, key, value, sum: u32::from_le_bytes([s0, s1, s2, s3]) })
    })
}

/// Size in bytes at which a frame of a stream is complete and is written.
const FRAME_BYTES: usize = 256 * 1024;
/// Maximum length in bytes of a directory or a value in a stream. A longer one is damaged.
const READ_MAX: u64 = 512 * 1024 * 1024;

/// Writes records as frames.
#[derive(Debug)]
pub(in crate::io::store) struct FrameWriter<W> {
    out: W,
    number: u64,
    frame: FrameBuilder,
    written: u64,
    records: u64,
}

impl<W: Write> FrameWriter<W> {
    /// Begins a stream.
    pub(in crate::io::store) fn new(out: W) -> Self {
        Self { out, number: random(), frame: FrameBuilder::default(), written: 0, records: 0 }
    }

    /// Adds a record.
    pub(in crate::io::store) fn put(
        &mut self,
        table: TableName,
        key: &[u8],
        value: &[u8],
    ) -> io::Result<()> {
        if !self.frame.put(table, key, Some(value)) {
            return Err(io::Error::other("a record is too long"));
        }
        self.records = self.records.saturating_add(1);
        if self.frame.length() >= FRAME_BYTES { self.write() } else { Ok(()) }
    }

    /// Writes a frame. Its head states that all earlier frames are synced, because the whole stream is synced before it is used as
    /// a pack.
    fn write(&mut self) -> io::Result<()> {
        let (bytes, _) = std::mem::take(&mut self.frame).finish(self.number, self.written);
        self.written = self.written.saturating_add(bytes.len() as u64);
        self.out.write_all(&bytes)
    }

    /// Ends the stream with an empty frame, which shows that everything before it is complete. Returns the output and the number of
    /// records.
    pub(in crate::io::store) fn end(mut self) -> io::Result<(W, u64)> {
        if !self.frame.is_empty() {
            self.write()?;
        }
        self.write()?;
        self.out.flush()?;
        Ok((self.out, self.records))
    }
}

/// A fault in a stream of frames.
#[derive(Debug)]
pub(in crate::io::store) enum StreamFault {
    /// It does not begin with a frame.
    NotFrames,
    /// It is compressed, like backups of older development versions.
    Gzip,
    /// It is a pack in which records were removed.
    Removal,
    /// The system cannot read it.
    Io(io::Error),
    /// A part is damaged or missing; a fragment of a sentence.
    Damaged(&'static str),
}

/// A record of a stream: its table, key and value.
pub(in crate::io::store) type Record<'r> = (TableName, &'r [u8], &'r [u8]);

/// Reads a stream of frames to its end and passes each record to `each`. Only the end shows that the stream is complete. Returns
/// the number of records.
pub(in crate::io::store) fn read_frames<E: From<StreamFault>>(
    mut from: impl Read,
    each: &mut dyn FnMut(Record<'_>) -> Result<(), E>,
) -> Result<u64, E> {
    let (mut records, mut read, mut is_ended) = (0_u64, 0_u64, false);
    let mut head = [0; HEAD];
    loop {
        let got = read_up_to(&mut from, &mut head).map_err(StreamFault::Io)?;
        if got == 0 && is_ended {
            return Ok(records);
        }
        let parsed = head.get(..got).and_then(Head::read);
        let Some(found) = parsed else {
            let fault = match (read, got) {
                (0, _) if head.starts_with(&[0x1f, 0x8b]) => StreamFault::Gzip,
                (0, _) => StreamFault::NotFrames,
                (_, HEAD) => StreamFault::Damaged("a part has an unknown type"),
                (_, _) => StreamFault::Damaged("its end is missing"),
            };
            return Err(fault.into());
        };
        let mut bytes = head.to_vec();
        take(&mut from, found.directory as u64, &mut bytes)?;
        if !found.is_sound(&bytes) {
            return Err(StreamFault::Damaged("a checksum does not match").into());
        }
        is_ended = found.directory == 0 && found.synced == read;
        let directory = bytes.get(HEAD..).unwrap_or_default();
        let mut value = Vec::new();
        for change in changes(directory) {
            let Some((_, length)) = change.value else { return Err(StreamFault::Removal.into()) };
            value.clear();
            take(&mut from, length.into(), &mut value)?;
            if crc32fast::hash(&value) != change.sum {
                return Err(StreamFault::Damaged("a checksum does not match").into());
            }
            // Ignore tables of later versions.
            if let Some(table) = TableName::numbered(change.table) {
                each((table, change.key, &value))?;
            }
            records = records.saturating_add(1);
        }
        read = read.saturating_add(found.length());
    }
}

/// Reads until the buffer is full or the stream ends. Returns the number of bytes.
fn read_up_to(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while let Some(rest) = buffer.get_mut(got..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(read) => got = got.saturating_add(read),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// Reads `length` bytes and appends them to `to`. The length may be damaged, so memory grows only with the bytes that exist.
fn take(from: &mut impl Read, length: u64, to: &mut Vec<u8>) -> Result<(), StreamFault> {
    if length > READ_MAX {
        return Err(StreamFault::Damaged("a part is too large"));
    }
    let read = from.take(length).read_to_end(to).map_err(StreamFault::Io)?;
    if read as u64 == length { Ok(()) } else { Err(StreamFault::Damaged("its end is missing")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> (Vec<u8>, Vec<u64>) {
        let mut frame = FrameBuilder::default();
        assert!(frame.put(TableName::Feeds, b"one", Some(b"first")));
        assert!(frame.put(TableName::Polls, b"two", None));
        assert!(frame.put(TableName::Bodies, b"", Some(b"")));
        assert!(!frame.put(TableName::Feeds, &vec![0; 70_000], None), "a key that is too long");
        frame.finish(7, 100)
    }

    #[test]
    fn a_frame_reads_back() {
        let (bytes, places) = frame();
        let head = Head::read(&bytes).unwrap();
        assert_eq!((head.pack, head.synced, head.length()), (7, 100, bytes.len() as u64));
        let end = HEAD + head.directory;
        assert!(head.is_sound(&bytes[..end]));
        let read: Vec<_> = changes(&bytes[HEAD..end]).collect();
        assert_eq!(read.len(), 3);
        let (place, length) = read[0].value.unwrap();
        assert_eq!(place, places[0]);
        let place = usize::try_from(place).unwrap();
        assert_eq!(&bytes[place..place + length as usize], b"first");
        assert_eq!((read[0].key, read[0].sum), (&b"one"[..], crc32fast::hash(b"first")));
        assert_eq!((read[1].key, read[1].value), (&b"two"[..], None));
        assert_eq!(read[2].value, Some((places[2], 0)));
    }

    #[test]
    fn each_flipped_bit_of_head_and_directory_is_noticed() {
        let (bytes, _) = frame();
        let end = HEAD + Head::read(&bytes).unwrap().directory;
        for bit in 0..end * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let sound = Head::read(&damaged).is_some_and(|head| {
                damaged.get(..HEAD + head.directory).is_some_and(|bytes| head.is_sound(bytes))
            });
            assert!(!sound, "bit {bit}");
        }
    }
}
