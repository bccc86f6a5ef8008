//! Reading the body of a segment: a walk through its terms, and blocks that are verified.

use std::os::unix::fs::FileExt;

use super::posting_list::{PostingList, set_bit, take_varint};
use super::segment::{Segment, SegmentError};
use super::segment_writer::{BLOCK_BYTES, HEADER_BYTES};

/// Number of bytes that are read at once where words are read one after the other.
pub(super) const READ_AHEAD_BYTES: usize = 65_536;

/// Walks through the terms of a segment in ascending order.
pub(super) struct Terms<'s> {
    segment: &'s Segment,
    names: Window<'s>,
    lists: Window<'s>,
    /// Index of the next group.
    next_group: usize,
    /// What is left of the current group in the body.
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

    /// Creates a walk that begins with the group in which a term is, or would be. At least `ahead` bytes are read at once.
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

    /// Goes on to the next term. Returns `false` if there is none.
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

    /// Goes on to the next term that begins with these bytes. Returns `false` if there is none.
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
        // Terms ascend.
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

/// A part of a segment's body that is in memory: whole blocks, each of them verified.
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

    /// Returns a part of the body.
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
            // What was read is not verified: nothing of it may be found there later.
            self.bytes.clear();
        }
        read?;
        if is_sound { Ok(()) } else { Err(SegmentError::Damaged) }
    }
}
