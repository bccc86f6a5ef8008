//! A segment of the search index: an immutable file with the words of some entries.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

use roaring::RoaringBitmap;

use super::posting_list::take_varint;
use super::segment_terms::{READ_AHEAD_BYTES, Terms};
use super::segment_writer::{BLOCK_BYTES, HEADER_BYTES, HEADER_CRC_AT, MAGIC, unzigzag};

/// Maximum size of a word in bytes. A longer word is indexed, and looked up, by its beginning.
pub(in crate::io::search) const WORD_BYTES_MAX: usize = 60;

/// The field in which a word occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(in crate::io::search) enum Field {
    /// The title of an entry.
    Title = 1,
    /// The names of an entry's authors.
    Author = 2,
    /// The text of an entry.
    Text = 3,
    /// The categories of an entry.
    Category = 4,
}

impl Field {
    /// Returns the byte of the field in a segment. It must never change.
    pub(super) const fn byte(self) -> u8 {
        self as u8
    }
}

/// Why a segment cannot be read.
#[derive(Debug, thiserror::Error)]
pub(in crate::io::search) enum SegmentError {
    /// It is damaged or cut, or it is of another version.
    #[error("a part of the search index is damaged")]
    Damaged,
    /// The system could not read the file.
    #[error(transparent)]
    Io(std::io::Error),
}

impl From<std::io::Error> for SegmentError {
    fn from(error: std::io::Error) -> Self {
        // The size of the file was checked: it was cut since.
        if error.kind() == ErrorKind::UnexpectedEof { Self::Damaged } else { Self::Io(error) }
    }
}

/// An entry as it was indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::io::search) struct IndexedEntry {
    /// Identifies the entry: the number of its feed in the upper 32 bits, its sequence number in the lower ones.
    pub(in crate::io::search) key: u64,
    /// Identifies the content that was indexed.
    pub(in crate::io::search) stamp: u64,
}

/// A segment that is open for reading. Only its header and its tail are in memory.
#[derive(Debug)]
pub(in crate::io::search) struct Segment {
    pub(super) file: File,
    file_bytes: u64,
    /// Size of the posting lists, which is where the terms begin in the body.
    pub(super) lists_bytes: u64,
    pub(super) body_bytes: u64,
    /// Checksum of each block of the body.
    pub(super) checksums: Vec<u32>,
    pub(super) groups: Vec<TermGroup>,
    /// The first terms of all groups.
    first_terms: Vec<u8>,
    entries: Vec<IndexedEntry>,
}

/// A group of terms: where its first term is, and where it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct TermGroup {
    first_from: usize,
    first_to: usize,
    /// Offset and size of its terms in the body.
    pub(super) terms_at: u64,
    pub(super) terms_bytes: usize,
    /// Offset of its posting lists in the body.
    pub(super) lists_at: u64,
}

impl Segment {
    /// Opens a segment. Verifies its header, the table of entries, and the table of terms; every other part is verified when
    /// it is read.
    ///
    /// # Errors
    ///
    /// Returns [`SegmentError::Damaged`] if the file is not a whole segment of this version, and [`SegmentError::Io`] if it
    /// cannot be read.
    pub(in crate::io::search) fn open(file: File) -> Result<Self, SegmentError> {
        let file_bytes = file.metadata()?.len();
        let mut header = [0_u8; HEADER_BYTES];
        file.read_exact_at(&mut header, 0)?;
        let layout = Layout::parse(&header, file_bytes).ok_or(SegmentError::Damaged)?;
        let mut tail = vec![0; layout.tail_bytes];
        file.read_exact_at(&mut tail, layout.tail_at)?;
        if crc32fast::hash(&tail) != layout.tail_checksum {
            return Err(SegmentError::Damaged);
        }
        Self::from_tail(file, file_bytes, &layout, &tail).ok_or(SegmentError::Damaged)
    }

    fn from_tail(file: File, file_bytes: u64, layout: &Layout, tail: &[u8]) -> Option<Self> {
        let (checksums, rest) = tail.split_at_checked(layout.checksums_bytes)?;
        let (groups, entries) = rest.split_at_checked(layout.groups_bytes)?;
        let checksums = checksums.as_chunks::<4>().0.iter().map(|sum| u32::from_le_bytes(*sum));
        let mut segment = Self {
            file,
            file_bytes,
            lists_bytes: layout.lists_bytes,
            body_bytes: layout.lists_bytes.checked_add(layout.terms_bytes)?,
            checksums: checksums.collect(),
            groups: Vec::new(),
            first_terms: Vec::new(),
            entries: read_entries(entries, layout.entries)?,
        };
        segment.read_groups(groups)?;
        Some(segment)
    }

    fn read_groups(&mut self, mut bytes: &[u8]) -> Option<()> {
        let (mut terms_at, mut lists_at) = (self.lists_bytes, 0_u64);
        while !bytes.is_empty() {
            let (length, rest) = bytes.split_first()?;
            let (first, rest) = rest.split_at_checked((*length).into())?;
            bytes = rest;
            let terms_bytes = take_varint(&mut bytes)?;
            let first_from = self.first_terms.len();
            self.first_terms.extend_from_slice(first);
            let group = TermGroup {
                first_from,
                first_to: self.first_terms.len(),
                terms_at,
                terms_bytes: usize::try_from(terms_bytes).ok()?,
                lists_at,
            };
            if self.groups.last().is_some_and(|before| self.first_of(before) >= first) {
                return None;
            }
            self.groups.push(group);
            terms_at = terms_at.checked_add(terms_bytes)?;
            lists_at = lists_at.checked_add(take_varint(&mut bytes)?)?;
        }
        (terms_at == self.body_bytes && lists_at == self.lists_bytes).then_some(())
    }

    pub(super) fn first_of(&self, group: &TermGroup) -> &[u8] {
        self.first_terms.get(group.first_from..group.first_to).unwrap_or_default()
    }

    /// Returns the entries of the segment; an entry's ordinal is its index.
    pub(in crate::io::search) fn entries(&self) -> &[IndexedEntry] {
        &self.entries
    }

    /// Returns the size of the file in bytes.
    pub(in crate::io::search) fn bytes_on_disk(&self) -> u64 {
        self.file_bytes
    }

    /// Returns the ordinals of the entries that contain a word in a field.
    ///
    /// # Errors
    ///
    /// Returns [`SegmentError::Damaged`] if what was read is damaged, and [`SegmentError::Io`] if it cannot be read.
    pub(in crate::io::search) fn word(
        &self,
        field: Field,
        word: &str,
    ) -> Result<RoaringBitmap, SegmentError> {
        let wanted = term_of(field, word);
        let mut terms = Terms::from(self, &wanted, 0);
        while terms.advance()? {
            match terms.term().cmp(&wanted) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => {
                    let mut ordinals = Vec::new();
                    terms.read_ordinals(&mut ordinals)?;
                    return RoaringBitmap::from_sorted_iter(ordinals)
                        .map_err(|_| SegmentError::Damaged);
                }
                std::cmp::Ordering::Greater => break,
            }
        }
        Ok(RoaringBitmap::new())
    }

    /// Returns the ordinals of the entries that contain a word with this prefix in a field. Every word has the empty prefix.
    ///
    /// # Errors
    ///
    /// Returns [`SegmentError::Damaged`] if what was read is damaged, and [`SegmentError::Io`] if it cannot be read.
    pub(in crate::io::search) fn prefix(
        &self,
        field: Field,
        prefix: &str,
    ) -> Result<RoaringBitmap, SegmentError> {
        let wanted = term_of(field, prefix);
        let mut set = vec![0; self.entries.len().div_ceil(8)];
        let mut terms = Terms::from(self, &wanted, READ_AHEAD_BYTES);
        while terms.advance_within(&wanted)? {
            terms.set_ordinals(&mut set)?;
        }
        Ok(RoaringBitmap::from_lsb0_bytes(0, &set))
    }

    pub(super) fn entries_limit(&self) -> u32 {
        u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }
}

/// Returns the beginning of a word that is indexed: at most [`WORD_BYTES_MAX`] bytes, whole characters.
#[inline]
pub(super) fn cut_word(word: &str) -> &str {
    if word.len() <= WORD_BYTES_MAX {
        return word;
    }
    word.get(..word.floor_char_boundary(WORD_BYTES_MAX)).unwrap_or_default()
}

fn term_of(field: Field, word: &str) -> Vec<u8> {
    let mut term = vec![field.byte()];
    term.extend_from_slice(cut_word(word).as_bytes());
    term
}

/// What the header says, checked against the size of the file.
struct Layout {
    lists_bytes: u64,
    terms_bytes: u64,
    checksums_bytes: usize,
    groups_bytes: usize,
    entries: usize,
    tail_at: u64,
    tail_bytes: usize,
    tail_checksum: u32,
}

impl Layout {
    fn parse(header: &[u8; HEADER_BYTES], file_bytes: u64) -> Option<Self> {
        let (checked, checksum) = header.split_at_checked(HEADER_CRC_AT)?;
        if u32::from_le_bytes(*checksum.first_chunk()?) != crc32fast::hash(checked) {
            return None;
        }
        let mut numbers = checked.strip_prefix(&MAGIC)?;
        let mut next = || {
            let (number, rest) = numbers.split_first_chunk::<8>()?;
            numbers = rest;
            Some(u64::from_le_bytes(*number))
        };
        let (lists_bytes, terms_bytes) = (next()?, next()?);
        let (groups_bytes, entries_bytes, entries) = (next()?, next()?, next()?);
        let tail_checksum = u32::from_le_bytes(*numbers.first_chunk()?);
        let body_bytes = lists_bytes.checked_add(terms_bytes)?;
        let checksums_bytes = body_bytes.div_ceil(BLOCK_BYTES as u64).checked_mul(4)?;
        let tail_bytes = checksums_bytes.checked_add(groups_bytes)?.checked_add(entries_bytes)?;
        let tail_at = body_bytes.checked_add(HEADER_BYTES as u64)?;
        // Each entry takes at least a byte.
        let is_sound = tail_at.checked_add(tail_bytes)? == file_bytes
            && entries <= entries_bytes
            && entries <= u32::MAX.into();
        is_sound.then_some(Self {
            lists_bytes,
            terms_bytes,
            checksums_bytes: usize::try_from(checksums_bytes).ok()?,
            groups_bytes: usize::try_from(groups_bytes).ok()?,
            entries: usize::try_from(entries).ok()?,
            tail_at,
            tail_bytes: usize::try_from(tail_bytes).ok()?,
            tail_checksum,
        })
    }
}

fn read_entries(bytes: &[u8], count: usize) -> Option<Vec<IndexedEntry>> {
    let (width, mut bytes) = bytes.split_first()?;
    let mut entries = Vec::with_capacity(count);
    let mut key = 0_u64;
    for _ in 0..count {
        key = key.wrapping_add(unzigzag(take_varint(&mut bytes)?));
        let (stamp, rest) = bytes.split_at_checked((*width).into())?;
        bytes = rest;
        let mut number = [0; 8];
        number.get_mut(..stamp.len())?.copy_from_slice(stamp);
        entries.push(IndexedEntry { key, stamp: u64::from_le_bytes(number) });
    }
    bytes.is_empty().then_some(entries)
}
