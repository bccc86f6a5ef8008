//! Streams of frames: a pack that is written as a whole, and backups, which have the same form.

use std::io::{self, Read, Write};

use super::frame::{FrameBuilder, HEAD, Head, changes, random};
use super::table::TableName;

/// Bytes of records in a frame.
const FRAME_BYTES: usize = 256 * 1024;
/// Longest directory and longest value that are read from a stream, in bytes: what is longer is damaged.
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

    /// Writes a frame. What is before it is synced before anybody reads the stream as a pack.
    fn write(&mut self) -> io::Result<()> {
        let (bytes, _) = std::mem::take(&mut self.frame).finish(self.number, self.written);
        self.written = self.written.saturating_add(bytes.len() as u64);
        self.out.write_all(&bytes)
    }

    /// Ends the stream with an empty frame, which says that everything before it is complete. Returns the sink, and the number of
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
    /// It is compressed, as backups of older development versions.
    Gzip,
    /// It is a pack in which records were removed.
    Removal,
    /// The system does not read it.
    Io(io::Error),
    /// A part is damaged or missing; a fragment of a sentence.
    Damaged(&'static str),
}

/// A record of a stream: its table, key and value.
pub(in crate::io::store) type Record<'r> = (TableName, &'r [u8], &'r [u8]);

/// Reads a stream of frames to its end. Only with its end is known that it is complete. Returns the number of records.
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
            // Tables of later versions are left alone.
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

/// Reads bytes and adds them to others. The length may be wrong, so memory grows with what is there.
fn take(from: &mut impl Read, length: u64, to: &mut Vec<u8>) -> Result<(), StreamFault> {
    if length > READ_MAX {
        return Err(StreamFault::Damaged("a part is too large"));
    }
    let read = from.take(length).read_to_end(to).map_err(StreamFault::Io)?;
    if read as u64 == length { Ok(()) } else { Err(StreamFault::Damaged("its end is missing")) }
}
