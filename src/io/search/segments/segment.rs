//! A segment of the search index: an immutable file with the words of some entries, its layout, and the blocks of its body, which
//! are verified when they are read.
//!
//! A segment consists of a header, a body, and a tail. The body contains the posting lists of all terms, in the order of the terms,
//! followed by the terms. A term is the byte of a field and a word. The tail contains what is needed to find a term in the body: a
//! checksum for each block of the body, the first term of each group of terms, and the table of entries. The header has two
//! checksums, of itself and of the tail.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

use roaring::RoaringBitmap;

use super::posting_list::{PostingList, push_list, push_varint, set_bit, take_varint};
use crate::io::search::IndexError;

/// Maximum size of a word in bytes. Only the beginning of a longer word is indexed and looked up.
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
    /// The file is damaged or cut off, or it is of another version.
    #[error("a part of the search index is damaged")]
    Damaged,
    /// The system could not read the file.
    #[error(transparent)]
    Io(std::io::Error),
}

impl From<SegmentError> for IndexError {
    fn from(error: SegmentError) -> Self {
        match error {
            SegmentError::Damaged => Self::Unusable("its files are damaged".into()),
            SegmentError::Io(error) => error.into(),
        }
    }
}

impl From<std::io::Error> for SegmentError {
    fn from(error: std::io::Error) -> Self {
        // The size of the file was checked earlier, so the file was cut off since then.
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

/// A group of terms: its first term, and the position of the group in the body.
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
    /// Opens a segment. Verifies its header and its tail; the body is verified when it is read.
    ///
    /// # Errors
    ///
    /// Returns [`SegmentError::Damaged`] if the file is not a complete segment of this version, and [`SegmentError::Io`] if it
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

    /// Returns the entries of the segment. The index of an entry is its ordinal.
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

    /// Returns the ordinals of the entries that contain a word with this prefix in a field. The empty prefix is a prefix of every
    /// word.
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

/// Returns the part of a word that is indexed: whole characters, at most [`WORD_BYTES_MAX`] bytes.
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

/// The content of the header, checked against the size of the file.
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
        // Each entry takes at least one byte.
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

/// Number of bytes that are read at once when many terms are read in order.
const READ_AHEAD_BYTES: usize = 65_536;

/// Walks through the terms of a segment in ascending order.
pub(super) struct Terms<'s> {
    segment: &'s Segment,
    names: Window<'s>,
    lists: Window<'s>,
    /// Index of the next group.
    next_group: usize,
    /// Position of the rest of the current group in the body, and its size in bytes.
    at: u64,
    left: usize,
    term: Vec<u8>,
    postings: Postings,
    lists_at: u64,
}

/// The posting list of a term.
#[derive(Clone, Copy)]
enum Postings {
    One(u32),
    List { at: u64, bytes: usize },
}

impl<'s> Terms<'s> {
    /// Creates a walk over all terms.
    pub(super) fn all(segment: &'s Segment) -> Self {
        Self::from(segment, &[], READ_AHEAD_BYTES)
    }

    /// Creates a walk that begins with the group that contains a term, or would contain it. At least `ahead` bytes are read at
    /// once.
    pub(super) fn from(segment: &'s Segment, term: &[u8], ahead: usize) -> Self {
        let behind = segment.groups.partition_point(|group| segment.first_of(group) <= term);
        Self {
            segment,
            names: Window::new(segment, ahead),
            lists: Window::new(segment, ahead),
            next_group: behind.saturating_sub(1),
            at: 0,
            left: 0,
            term: Vec::new(),
            postings: Postings::One(0),
            lists_at: 0,
        }
    }

    /// Returns the current term.
    pub(super) fn term(&self) -> &[u8] {
        &self.term
    }

    /// Advances to the next term. Returns `false` if there is none.
    pub(super) fn advance(&mut self) -> Result<bool, SegmentError> {
        if self.left == 0 {
            let Some(group) = self.segment.groups.get(self.next_group) else { return Ok(false) };
            if self.segment.first_of(group) <= self.term.as_slice() {
                return Err(SegmentError::Damaged);
            }
            self.next_group = self.next_group.saturating_add(1);
            (self.at, self.left, self.lists_at) =
                (group.terms_at, group.terms_bytes, group.lists_at);
            self.term.clear();
        }
        self.read_term().ok_or(SegmentError::Damaged)?
    }

    /// Advances to the next term that begins with these bytes. Returns `false` if there is none.
    pub(super) fn advance_within(&mut self, beginning: &[u8]) -> Result<bool, SegmentError> {
        while self.advance()? {
            if self.term.starts_with(beginning) {
                return Ok(true);
            }
            if self.term.as_slice() > beginning {
                break;
            }
        }
        Ok(false)
    }

    fn read_term(&mut self) -> Option<Result<bool, SegmentError>> {
        let group = match self.names.read(self.at, self.left) {
            Ok(group) => group,
            Err(error) => return Some(Err(error)),
        };
        let (&[same, length], rest) = group.split_first_chunk::<2>()?;
        let (rest, mut after) = rest.split_at_checked(length.into())?;
        // Terms must ascend.
        if self.term.get(same.into()..)? >= rest {
            return None;
        }
        self.term.truncate(same.into());
        self.term.extend_from_slice(rest);
        let place = take_varint(&mut after)?;
        let read = group.len().checked_sub(after.len())?;
        self.at = self.at.checked_add(read as u64)?;
        self.left = after.len();
        self.postings = if place & 1 == 1 {
            let ordinal = u32::try_from(place >> 1).ok()?;
            (ordinal < self.segment.entries_limit()).then_some(Postings::One(ordinal))?
        } else {
            let at = self.lists_at;
            self.lists_at = at.checked_add(place >> 1)?;
            (self.lists_at <= self.segment.lists_bytes)
                .then_some(Postings::List { at, bytes: usize::try_from(place >> 1).ok()? })?
        };
        Some(Ok(true))
    }

    /// Appends the ordinals of the entries that contain the current term.
    pub(super) fn read_ordinals(&mut self, ordinals: &mut Vec<u32>) -> Result<(), SegmentError> {
        match self.postings {
            Postings::One(ordinal) => {
                ordinals.push(ordinal);
                Ok(())
            }
            Postings::List { at, bytes } => {
                let list = PostingList::parse(self.lists.read(at, bytes)?);
                list.and_then(|list| list.push_to(ordinals, self.segment.entries_limit()))
                    .ok_or(SegmentError::Damaged)
            }
        }
    }

    pub(super) fn set_ordinals(&mut self, set: &mut [u8]) -> Result<(), SegmentError> {
        match self.postings {
            Postings::One(ordinal) => {
                set_bit(set, ordinal);
                Ok(())
            }
            Postings::List { at, bytes } => {
                let list = PostingList::parse(self.lists.read(at, bytes)?);
                list.and_then(|list| list.set_in(set, self.segment.entries_limit()))
                    .ok_or(SegmentError::Damaged)
            }
        }
    }
}

/// A part of a segment's body in memory: whole blocks that were verified.
struct Window<'s> {
    segment: &'s Segment,
    /// Offset in the body.
    from: u64,
    bytes: Vec<u8>,
    ahead: usize,
}

impl<'s> Window<'s> {
    const fn new(segment: &'s Segment, ahead: usize) -> Self {
        Self { segment, from: 0, bytes: Vec::new(), ahead }
    }

    /// Returns a part of the body, and reads it if it is not in memory.
    fn read(&mut self, at: u64, length: usize) -> Result<&[u8], SegmentError> {
        let to = at.checked_add(length as u64).filter(|to| *to <= self.segment.body_bytes);
        let to = to.ok_or(SegmentError::Damaged)?;
        let is_there = self.from <= at && to <= self.from.saturating_add(self.bytes.len() as u64);
        if !is_there {
            self.load(at, to)?;
        }
        let from = usize::try_from(at.saturating_sub(self.from)).unwrap_or(usize::MAX);
        self.bytes.get(from..from.saturating_add(length)).ok_or(SegmentError::Damaged)
    }

    fn load(&mut self, at: u64, to: u64) -> Result<(), SegmentError> {
        let block = BLOCK_BYTES as u64;
        let index = at.checked_div(block).unwrap_or(0);
        let from = index.saturating_mul(block);
        let to = to.max(from.saturating_add(self.ahead as u64));
        let to = to.div_ceil(block).saturating_mul(block).min(self.segment.body_bytes);
        let size = usize::try_from(to.saturating_sub(from)).map_err(|_| SegmentError::Damaged)?;
        self.from = from;
        self.bytes.resize(size, 0);
        let place = from.saturating_add(HEADER_BYTES as u64);
        let read = self.segment.file.read_exact_at(&mut self.bytes, place);
        let first = usize::try_from(index).unwrap_or(usize::MAX);
        let sums = self.segment.checksums.get(first..).unwrap_or_default();
        let blocks = self.bytes.chunks(BLOCK_BYTES);
        let is_sound = sums.len() >= blocks.len()
            && blocks.zip(sums).all(|(block, sum)| crc32fast::hash(block) == *sum);
        if read.is_err() || !is_sound {
            // Discard bytes that were not verified, so that they are not used later.
            self.bytes.clear();
        }
        read?;
        if is_sound { Ok(()) } else { Err(SegmentError::Damaged) }
    }
}

/// First bytes of a segment. The last byte is the version of the format.
pub(super) const MAGIC: [u8; 8] = *b"bi-seg\0\x02";
/// Size of the header in bytes.
const HEADER_BYTES: usize = 56;
/// Offset of the header's checksum of itself.
const HEADER_CRC_AT: usize = 52;
/// Size in bytes of a block of the body, which is read and verified as a whole. The last block may be shorter.
const BLOCK_BYTES: usize = 8192;
/// Number of terms in a group. The last group may be smaller.
const GROUP_TERMS: usize = 64;

/// Receives the terms of a segment in ascending order and creates its file.
pub(super) struct SegmentWriter {
    /// Space for the header, followed by the posting lists.
    file: Vec<u8>,
    terms: Vec<u8>,
    groups: Vec<u8>,
    terms_in_group: usize,
    /// Where the current group begins in `terms` and in `file`.
    group_terms_at: usize,
    group_lists_at: usize,
    term_before: Vec<u8>,
}

impl SegmentWriter {
    pub(super) fn new() -> Self {
        Self {
            file: vec![0; HEADER_BYTES],
            terms: Vec::new(),
            groups: Vec::new(),
            terms_in_group: 0,
            group_terms_at: 0,
            group_lists_at: HEADER_BYTES,
            term_before: Vec::new(),
        }
    }

    /// Appends a term that occurs in these entries. Terms and ordinals must be ascending; a term has at most 255 bytes.
    pub(super) fn push(&mut self, term: &[u8], ordinals: &[u32]) {
        let Some(first) = ordinals.first() else { return };
        if self.terms_in_group == GROUP_TERMS {
            self.end_group();
        }
        if self.terms_in_group == 0 {
            push_term_rest(&mut self.groups, term);
            self.term_before.clear();
        }
        self.terms_in_group = self.terms_in_group.saturating_add(1);
        let same = term.iter().zip(&self.term_before).take_while(|(a, b)| a == b).count();
        let same = u8::try_from(same).unwrap_or(u8::MAX);
        self.terms.push(same);
        push_term_rest(&mut self.terms, term.get(same.into()..).unwrap_or_default());
        self.term_before.clear();
        self.term_before.extend_from_slice(term);
        let place = if ordinals.len() == 1 {
            u64::from(*first) << 1 | 1
        } else {
            let before = self.file.len();
            push_list(&mut self.file, ordinals);
            (self.file.len().saturating_sub(before) as u64) << 1
        };
        push_varint(&mut self.terms, place);
    }

    fn end_group(&mut self) {
        let terms = self.terms.len().saturating_sub(self.group_terms_at);
        let lists = self.file.len().saturating_sub(self.group_lists_at);
        push_varint(&mut self.groups, terms as u64);
        push_varint(&mut self.groups, lists as u64);
        self.terms_in_group = 0;
        self.group_terms_at = self.terms.len();
        self.group_lists_at = self.file.len();
    }

    /// Returns the bytes of the file.
    pub(super) fn finish(mut self, entries: &[IndexedEntry]) -> Vec<u8> {
        if self.terms_in_group > 0 {
            self.end_group();
        }
        let Self { mut file, terms, groups, .. } = self;
        let lists_len = file.len().saturating_sub(HEADER_BYTES);
        file.extend_from_slice(&terms);
        let tail_at = file.len();
        let mut checksums = Vec::new();
        for block in file.get(HEADER_BYTES..).unwrap_or_default().chunks(BLOCK_BYTES) {
            checksums.extend_from_slice(&crc32fast::hash(block).to_le_bytes());
        }
        file.extend_from_slice(&checksums);
        file.extend_from_slice(&groups);
        let entries_at = file.len();
        push_entries(&mut file, entries);
        let entries_len = file.len().saturating_sub(entries_at);

        let mut header = Vec::with_capacity(HEADER_BYTES);
        header.extend_from_slice(&MAGIC);
        for number in [lists_len, terms.len(), groups.len(), entries_len, entries.len()] {
            header.extend_from_slice(&(number as u64).to_le_bytes());
        }
        let tail = file.get(tail_at..).unwrap_or_default();
        header.extend_from_slice(&crc32fast::hash(tail).to_le_bytes());
        header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes());
        file.iter_mut().zip(&header).for_each(|(to, from)| *to = *from);
        file
    }
}

fn push_term_rest(out: &mut Vec<u8>, rest: &[u8]) {
    out.push(u8::try_from(rest.len()).unwrap_or(u8::MAX));
    out.extend(rest.iter().take(u8::MAX.into()));
}

/// Appends the table of entries: the size of a stamp in bytes, then for each entry the distance of its key from the previous key,
/// and its stamp.
fn push_entries(out: &mut Vec<u8>, entries: &[IndexedEntry]) {
    let highest = entries.iter().map(|entry| entry.stamp).max().unwrap_or(0);
    let width = highest.checked_ilog2().map_or(0, |top| (top / 8).saturating_add(1));
    out.push((width & 0xff) as u8);
    let mut before = 0_u64;
    for entry in entries {
        push_varint(out, zigzag(entry.key.wrapping_sub(before)));
        before = entry.key;
        out.extend(entry.stamp.to_le_bytes().iter().take(width as usize));
    }
}

/// Maps a distance to a number that is small if the distance is small in either direction.
const fn zigzag(distance: u64) -> u64 {
    let sign = (distance >> 63).wrapping_neg();
    (distance << 1) ^ sign
}

/// Returns the distance that was mapped to this number.
const fn unzigzag(number: u64) -> u64 {
    let sign = (number & 1).wrapping_neg();
    (number >> 1) ^ sign
}
