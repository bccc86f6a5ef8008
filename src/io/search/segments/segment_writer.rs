//! The file of a segment: its layout, and writing it.
//!
//! A segment is a header, a body, and a tail. The body is the posting lists of all terms in the order of the terms, followed by
//! the terms. A term is the byte of a field and a word. The tail contains what is needed to find a term in the body: a
//! checksum for each block of the body, the first term of each group of terms, and the table of entries. The header has a
//! checksum of itself and one of the tail.

use super::posting_list::{push_list, push_varint};
use super::segment::IndexedEntry;

/// First bytes of a segment. The last byte is the version of the format.
pub(super) const MAGIC: [u8; 8] = *b"bi-seg\0\x02";
/// Size of the header in bytes.
pub(super) const HEADER_BYTES: usize = 56;
/// Offset of the header's checksum of itself.
pub(super) const HEADER_CRC_AT: usize = 52;
/// Size in bytes of a block of the body, which is read and verified as a whole. The last block may be shorter.
pub(super) const BLOCK_BYTES: usize = 8192;
/// Number of terms in a group. The last group may be smaller.
const GROUP_TERMS: usize = 64;

/// Receives the terms of a segment in ascending order, and puts together its file.
pub(super) struct SegmentWriter {
    /// The header, not filled in, and the posting lists.
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

/// Appends the table of entries: the width of a stamp in bytes, then the distance of each key from the one before and each
/// stamp.
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
pub(super) const fn unzigzag(number: u64) -> u64 {
    let sign = (number & 1).wrapping_neg();
    (number >> 1) ^ sign
}
