//! Builds a segment in memory from a log of the words of each entry, and merges segments.

use std::hash::{BuildHasher, RandomState};

use roaring::RoaringBitmap;

use super::posting_list::take_varint;
use super::segment::{Field, IndexedEntry, Segment, SegmentError, SegmentWriter, Terms, cut_word};

/// Number of slots in the hash table of an empty builder, a power of two.
const SLOTS_FIRST: usize = 1 << 12;

/// Collects the words of entries and builds a segment from them.
///
/// Words are found with a hash table. Each builder has another seed for it, so that no feed can contain words that are known to
/// collide. The segment does not depend on the seed. A builder is meant for a few megabytes: write the segment when
/// [`bytes`](Self::bytes) returns more than about 4 MB.
#[derive(Debug)]
pub(in crate::io::search) struct SegmentBuilder {
    entries: Vec<IndexedEntry>,
    /// Ordinal of the entry that was started last.
    ordinal: u32,
    records: Vec<Record>,
    /// A hash table with open addressing. It contains numbers of records, counted from 1; 0 is a free slot.
    slots: Vec<u32>,
    seed: [u64; 2],
    /// Words that are longer than [`SHORT_BYTES`], one after the other.
    long_words: Vec<u8>,
    /// The numbers of the records of each entry.
    log: WordLog,
}

/// A word in a field. Keep its size at 32 bytes, because a builder spends much of its time loading records from memory.
#[derive(Debug, Clone, Copy)]
struct Record {
    /// The parts of a [`PackedWord`].
    head: u64,
    tail: u64,
    /// Ordinal of the last entry with this word.
    last: u32,
    /// Size of the gaps between its ordinals as varints, in bytes.
    gap_bytes: u32,
    /// Offset of the word in `long_words`.
    long_at: u32,
    field: u8,
    length: u8,
    /// Whether more than one entry has this word.
    recurs: bool,
}

impl Record {
    const fn word(&self) -> PackedWord {
        let Self { head, tail, field, length, .. } = *self;
        PackedWord { head, tail, field, length }
    }
}

impl Default for SegmentBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl SegmentBuilder {
    /// Creates a builder without entries.
    pub(in crate::io::search) fn new() -> Self {
        let random = RandomState::new();
        Self {
            entries: Vec::new(),
            ordinal: 0,
            records: Vec::new(),
            slots: vec![0; SLOTS_FIRST],
            seed: [random.hash_one(0_u8), random.hash_one(1_u8)],
            long_words: Vec::new(),
            log: WordLog::default(),
        }
    }

    /// Starts the next entry. Its ordinal is the number of entries before it.
    ///
    /// `key` has the number of the feed in the upper 32 bits and the sequence number of the entry in the lower ones. Keys that
    /// ascend in small steps take the least space. `stamp` identifies the indexed content of the entry.
    pub(in crate::io::search) fn start_entry(&mut self, key: u64, stamp: u64) {
        self.ordinal = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        make_room(&mut self.entries, 1);
        self.entries.push(IndexedEntry { key, stamp });
        self.log.push(NEXT_ENTRY, true);
    }

    /// Adds a word of the entry that was started last. A word that is longer than [`WORD_BYTES_MAX`] is cut at the end of a
    /// character. An empty word is ignored, and so is a word before the first entry.
    ///
    /// [`WORD_BYTES_MAX`]: super::segment::WORD_BYTES_MAX
    #[inline]
    pub(in crate::io::search) fn add(&mut self, field: Field, word: &str) {
        if word.is_empty() || self.entries.is_empty() {
            return;
        }
        let bytes = cut_word(word).as_bytes();
        let packed = PackedWord::new(field, bytes);
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = packed.hash(bytes, self.seed) & mask;
        loop {
            let number = self.slots.get(slot).copied().unwrap_or(0);
            let Some(index) = number.checked_sub(1) else { break };
            if let Some(record) = self.records.get_mut(index as usize)
                && record.word() == packed
                && (!packed.is_long() || long_word(&self.long_words, record) == bytes)
            {
                // The processor cannot predict whether an entry already has a word, so use no branch for it.
                let is_new = record.last != self.ordinal;
                let gap = self.ordinal.wrapping_sub(record.last).wrapping_sub(1);
                let bytes = if is_new { varint_bytes(gap) } else { 0 };
                record.last = self.ordinal;
                record.gap_bytes = record.gap_bytes.saturating_add(bytes);
                record.recurs |= is_new;
                self.log.push(number, is_new);
                return;
            }
            slot = slot.wrapping_add(1) & mask;
        }
        self.add_record(packed, bytes, slot);
    }

    /// Returns the memory that the builder uses, in bytes. Building the segment takes about as much again.
    pub(in crate::io::search) fn bytes(&self) -> usize {
        (self.entries.capacity().saturating_mul(size_of::<IndexedEntry>()))
            .saturating_add(self.records.capacity().saturating_mul(size_of::<Record>()))
            .saturating_add(self.slots.capacity().saturating_mul(size_of::<u32>()))
            .saturating_add(self.long_words.capacity())
            .saturating_add(self.log.capacity())
    }

    /// Returns the number of entries that were started.
    pub(in crate::io::search) fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Returns the bytes of the segment's file.
    pub(in crate::io::search) fn finish(mut self) -> Vec<u8> {
        self.slots = Vec::new();
        let order = self.order();
        let gaps = self.gaps(&order);
        let mut writer = SegmentWriter::new();
        let (mut term, mut ordinals, mut from) = (Vec::new(), Vec::new(), 0_usize);
        for index in order {
            let Some(record) = self.records.get(index as usize) else { continue };
            term.clear();
            self.push_term(record, &mut term);
            ordinals.clear();
            if record.recurs {
                let to = from.saturating_add(record.gap_bytes as usize);
                let mut bytes = gaps.get(from..to).unwrap_or_default();
                from = to;
                let mut least = 0_u32;
                while let Some(gap) = take_varint(&mut bytes) {
                    let ordinal = least.wrapping_add((gap & 0xffff_ffff) as u32);
                    ordinals.push(ordinal);
                    least = ordinal.wrapping_add(1);
                }
            } else {
                ordinals.push(record.last);
            }
            writer.push(&term, &ordinals);
        }
        writer.finish(&self.entries)
    }

    /// Returns the indexes of the records in the order of their terms.
    fn order(&self) -> Vec<u32> {
        let mut term = Vec::new();
        let keyed = (0_u32..).zip(&self.records).map(|(index, record)| {
            term.clear();
            self.push_term(record, &mut term);
            let mut beginning = [0_u8; 16];
            beginning.iter_mut().zip(&term).for_each(|(to, from)| *to = *from);
            (u128::from_be_bytes(beginning), index)
        });
        let mut keyed: Vec<(u128, u32)> = keyed.collect();
        keyed.sort_unstable_by(|(a, a_index), (b, b_index)| {
            a.cmp(b).then_with(|| self.term(*a_index).cmp(&self.term(*b_index)))
        });
        keyed.into_iter().map(|(_, index)| index).collect()
    }

    /// Returns the gaps of all words that several entries have, in this order, as varints.
    fn gaps(&mut self, order: &[u32]) -> Vec<u8> {
        let log = std::mem::take(&mut self.log);
        let mut places = vec![GapPlace::NONE; self.records.len()];
        let mut end = 0_u32;
        for index in order {
            if let Some(record) = self.records.get(*index as usize).filter(|one| one.recurs)
                && let Some(place) = places.get_mut(*index as usize)
            {
                *place = GapPlace::new(end);
                end = end.saturating_add(record.gap_bytes);
            }
        }
        log.into_gaps(&mut places, end as usize)
    }

    fn term(&self, index: u32) -> Vec<u8> {
        let mut term = Vec::new();
        if let Some(record) = self.records.get(index as usize) {
            self.push_term(record, &mut term);
        }
        term
    }

    /// Appends the field and the word of a record.
    fn push_term(&self, record: &Record, term: &mut Vec<u8>) {
        if record.word().is_long() {
            term.push(record.word().field);
            term.extend_from_slice(long_word(&self.long_words, record));
        } else {
            record.word().push_short(term);
        }
    }

    #[cold]
    fn add_record(&mut self, word: PackedWord, bytes: &[u8], slot: usize) {
        let long_at = u32::try_from(self.long_words.len()).unwrap_or(u32::MAX);
        if word.is_long() {
            self.long_words.extend_from_slice(bytes);
        }
        make_room(&mut self.records, 1);
        self.records.push(Record {
            head: word.head,
            tail: word.tail,
            field: word.field,
            length: word.length,
            last: self.ordinal,
            gap_bytes: varint_bytes(self.ordinal),
            long_at,
            recurs: false,
        });
        let number = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        if let Some(slot) = self.slots.get_mut(slot) {
            *slot = number;
        }
        self.log.push(number, true);
        if self.records.len().saturating_mul(4) > self.slots.len().saturating_mul(3) {
            self.grow_slots();
        }
    }

    fn grow_slots(&mut self) {
        let mut slots = vec![0_u32; self.slots.len().saturating_mul(2)];
        let mask = slots.len().wrapping_sub(1);
        for (number, record) in (1_u32..).zip(&self.records) {
            let hash = record.word().hash(long_word(&self.long_words, record), self.seed);
            let mut at = hash & mask;
            while slots.get(at).is_some_and(|number| *number != 0) {
                at = at.wrapping_add(1) & mask;
            }
            if let Some(slot) = slots.get_mut(at) {
                *slot = number;
            }
        }
        self.slots = slots;
    }
}

fn long_word<'w>(long_words: &'w [u8], record: &Record) -> &'w [u8] {
    let from = record.long_at as usize;
    let length = if record.word().is_long() { usize::from(record.word().length) } else { 0 };
    long_words.get(from..from.saturating_add(length)).unwrap_or_default()
}

/// Words up to this size in bytes are stored completely in two numbers.
const SHORT_BYTES: usize = 16;

/// A word and its field. The two numbers contain all of a short word, or the first and the last bytes of a long one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PackedWord {
    pub(super) head: u64,
    pub(super) tail: u64,
    pub(super) field: u8,
    pub(super) length: u8,
}

impl PackedWord {
    /// Packs a word of at most 255 bytes.
    #[inline]
    pub(super) fn new(field: Field, word: &[u8]) -> Self {
        let (head, tail) = match (word.first_chunk::<8>(), word.last_chunk::<8>()) {
            (Some(head), Some(tail)) => (u64::from_le_bytes(*head), u64::from_le_bytes(*tail)),
            _ => match (word.first_chunk::<4>(), word.last_chunk::<4>()) {
                (Some(head), Some(tail)) => {
                    (u32::from_le_bytes(*head).into(), u32::from_le_bytes(*tail).into())
                }
                _ => (word.iter().fold(0, |head, byte| head << 8 | u64::from(*byte)), 0),
            },
        };
        Self {
            head,
            tail,
            field: field.byte(),
            length: u8::try_from(word.len()).unwrap_or(u8::MAX),
        }
    }

    /// Checks whether the numbers contain only a part of the word.
    pub(super) const fn is_long(self) -> bool {
        self.length as usize > SHORT_BYTES
    }

    /// Appends the term of a short word: the byte of the field and the word.
    pub(super) fn push_short(self, term: &mut Vec<u8>) {
        let length = usize::from(self.length);
        let (head, tail) = (self.head.to_le_bytes(), self.tail.to_le_bytes());
        let width = if length < 8 { 4 } else { 8 };
        term.push(self.field);
        if length < 4 {
            term.extend_from_slice(last_of(&self.head.to_be_bytes(), length));
        } else {
            // The first and the last bytes overlap.
            let tail = tail.get(..width).unwrap_or_default();
            term.extend_from_slice(head.get(..width).unwrap_or_default());
            term.extend_from_slice(last_of(tail, length.saturating_sub(width)));
        }
    }

    /// Returns a hash of this word, whose bytes are `word`.
    #[inline]
    pub(super) fn hash(self, word: &[u8], seed: [u64; 2]) -> usize {
        let [head_seed, tail_seed] = seed;
        let kind = u64::from(self.field) << 8 | u64::from(self.length);
        let mut head = self.head ^ head_seed;
        if self.is_long() {
            for eight in word.as_chunks::<8>().0 {
                head = mixed(head ^ u64::from_le_bytes(*eight), tail_seed);
            }
        }
        let hash = mixed(head, self.tail ^ tail_seed ^ kind << 48);
        usize::try_from(hash & 0xffff_ffff).unwrap_or(0)
    }
}

fn last_of(bytes: &[u8], count: usize) -> &[u8] {
    bytes.get(bytes.len().saturating_sub(count)..).unwrap_or_default()
}

/// Multiplies two numbers and combines the halves of the product.
#[inline]
fn mixed(a: u64, b: u64) -> u64 {
    let product = u128::from(a).wrapping_mul(b.into());
    let folded = (product >> 64) ^ (product & u128::from(u64::MAX));
    u64::try_from(folded).unwrap_or(0)
}

/// Number in the log that starts the next entry.
const NEXT_ENTRY: u32 = 0;
/// Maximum size of a number in the log, in bytes.
const LOGGED_BYTES_MAX: usize = 4;
/// Maximum number of bytes by which memory grows at once.
const GROWTH_BYTES: usize = 1 << 18;

/// A log of numbers below 2^30. Each takes one to four bytes; its lowest two bits are the number of bytes after the first.
#[derive(Debug, Default)]
pub(super) struct WordLog {
    /// Memory of the log, of which only the first `written` bytes are used.
    bytes: Vec<u8>,
    written: usize,
}

impl WordLog {
    /// Writes a number to the end of the log, but keeps it only if it is wanted. This needs no branch.
    #[inline]
    pub(super) fn push(&mut self, number: u32, is_wanted: bool) {
        let (bytes, size) = logged(number);
        let at = self.written;
        let left = self.bytes.get_mut(at..);
        let Some(place) = left.and_then(|left| left.first_chunk_mut::<LOGGED_BYTES_MAX>()) else {
            return self.push_further(number, is_wanted);
        };
        *place = bytes;
        self.written = at.wrapping_add(if is_wanted { size } else { 0 });
    }

    #[cold]
    fn push_further(&mut self, number: u32, is_wanted: bool) {
        make_room(&mut self.bytes, LOGGED_BYTES_MAX);
        self.bytes.resize(self.bytes.capacity(), 0);
        let (bytes, size) = logged(number);
        let place = self.bytes.iter_mut().skip(self.written);
        place.zip(bytes).for_each(|(to, from)| *to = from);
        self.written = self.written.saturating_add(if is_wanted { size } else { 0 });
    }

    pub(super) const fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Sorts the log by words. Returns for each word the gaps between the ordinals of its entries as varints, `size` bytes in
    /// total. The first of `places` belongs to the word with number 1.
    pub(super) fn into_gaps(self, places: &mut [GapPlace], size: usize) -> Vec<u8> {
        let mut gaps = vec![0_u8; size];
        // The ordinal of the current entry plus 1.
        let mut behind = 0_u32;
        let mut at = 0;
        while at < self.written
            && let Some((number, size)) = read_logged(&self.bytes, at)
        {
            at = at.wrapping_add(size);
            let Some(index) = number.checked_sub(1) else {
                behind = behind.saturating_add(1);
                continue;
            };
            if let Some(place) = places.get_mut(index as usize).filter(|one| one.at < u32::MAX) {
                let gap = behind.wrapping_sub(1).wrapping_sub(place.least);
                place.least = behind;
                place.at = write_varint(&mut gaps, place.at, gap);
            }
        }
        gaps
    }
}

/// The position where the next gap of a word is written, and the smallest ordinal that may come next.
#[derive(Debug, Clone, Copy)]
pub(super) struct GapPlace {
    at: u32,
    least: u32,
}

impl GapPlace {
    /// The place of a word whose gaps are not written.
    pub(super) const NONE: Self = Self::new(u32::MAX);

    pub(super) const fn new(at: u32) -> Self {
        Self { at, least: 0 }
    }
}

/// Writes a number at an offset. Returns the offset after it.
#[inline]
fn write_varint(bytes: &mut [u8], mut at: u32, mut value: u32) -> u32 {
    loop {
        let more = value >= 0x80;
        if let Some(byte) = bytes.get_mut(at as usize) {
            *byte = (value & 0x7f) as u8 | u8::from(more) << 7;
        }
        at = at.wrapping_add(1);
        value >>= 7;
        if !more {
            return at;
        }
    }
}

/// Encodes a number for the log. Returns its bytes and its size.
#[inline]
fn logged(number: u32) -> ([u8; LOGGED_BYTES_MAX], usize) {
    let more = (number | 1).ilog2().wrapping_add(2) / 8;
    ((number << 2 | more.min(3)).to_le_bytes(), more.wrapping_add(1) as usize)
}

/// Decodes the number at an offset of a log. Returns it and its size.
#[inline]
fn read_logged(log: &[u8], at: usize) -> Option<(u32, usize)> {
    let word = u32::from_le_bytes(*log.get(at..)?.first_chunk::<LOGGED_BYTES_MAX>()?);
    let more = word & 3;
    let mask = u32::MAX >> 24_u32.wrapping_sub(more.wrapping_mul(8));
    Some(((word & mask) >> 2, more.wrapping_add(1) as usize))
}

/// Returns the size of a number as a varint, in bytes.
#[inline]
const fn varint_bytes(value: u32) -> u32 {
    match value {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        0x1000_0000.. => 5,
    }
}

/// Reserves memory for more items. Small vectors double, so that growing costs little. Large ones grow in fixed steps, so that
/// little memory is unused.
#[inline]
pub(super) fn make_room<T>(items: &mut Vec<T>, more: usize) {
    if items.capacity().saturating_sub(items.len()) < more {
        let step = GROWTH_BYTES.checked_div(size_of::<T>()).unwrap_or(1);
        items.reserve_exact(items.len().clamp(64, step.max(64)));
    }
}

/// Merges segments into one and returns the bytes of its file. Entries stay in the order of the segments.
///
/// Each segment is given with the ordinals of its wanted entries. The result is the same as if only these entries had been indexed.
/// In addition to the result, this takes memory for one posting list, for two windows of each segment (64 kB, or a larger posting
/// list), and four bytes for each entry.
///
/// # Errors
///
/// Returns [`SegmentError::Damaged`] if a segment is damaged, and [`SegmentError::Io`] if one cannot be read.
pub(in crate::io::search) fn merge(
    segments: &[(&Segment, RoaringBitmap)],
) -> Result<Vec<u8>, SegmentError> {
    let mut entries = Vec::new();
    let mut parts = Vec::with_capacity(segments.len());
    for (segment, live) in segments {
        let renumbering = Renumbering::new(segment, live, &mut entries);
        let mut part = Part { terms: Terms::all(segment), renumbering, is_over: false };
        part.advance()?;
        parts.push(part);
    }
    let mut writer = SegmentWriter::new();
    let (mut term, mut ordinals) = (Vec::new(), Vec::new());
    loop {
        let left = parts.iter().filter(|part| !part.is_over);
        let Some(least) = left.map(|part| part.terms.term()).min() else { break };
        term.clear();
        term.extend_from_slice(least);
        ordinals.clear();
        for part in &mut parts {
            if !part.is_over && part.terms.term() == term {
                let before = ordinals.len();
                part.terms.read_ordinals(&mut ordinals)?;
                part.renumbering.apply(&mut ordinals, before);
                part.advance()?;
            }
        }
        writer.push(&term, &ordinals);
    }
    Ok(writer.finish(&entries))
}

struct Part<'s> {
    terms: Terms<'s>,
    renumbering: Renumbering,
    is_over: bool,
}

impl Part<'_> {
    fn advance(&mut self) -> Result<(), SegmentError> {
        self.is_over = !self.terms.advance()?;
        Ok(())
    }
}

/// The new ordinal of each entry of a segment, or [`GONE`] if the entry is not wanted.
struct Renumbering(Vec<u32>);

/// In a [`Renumbering`], an entry that is not wanted.
const GONE: u32 = u32::MAX;

impl Renumbering {
    /// Appends the wanted entries of a segment to `entries`, which contains those of earlier segments.
    fn new(segment: &Segment, live: &RoaringBitmap, entries: &mut Vec<IndexedEntry>) -> Self {
        let renumbered = (0_u32..).zip(segment.entries()).map(|(ordinal, entry)| {
            if !live.contains(ordinal) {
                return GONE;
            }
            entries.push(*entry);
            u32::try_from(entries.len()).map_or(GONE, |count| count.saturating_sub(1))
        });
        Self(renumbered.collect())
    }

    /// Replaces the ordinals after an index by the new ones, and removes those of unwanted entries.
    fn apply(&self, ordinals: &mut Vec<u32>, from: usize) {
        let mut kept = from;
        for index in from..ordinals.len() {
            let old = ordinals.get(index).copied().unwrap_or(GONE);
            let new = self.0.get(old as usize).copied().unwrap_or(GONE);
            if let Some(place) = ordinals.get_mut(kept) {
                *place = new;
            }
            kept = kept.saturating_add(usize::from(new != GONE));
        }
        ordinals.truncate(kept);
    }
}
