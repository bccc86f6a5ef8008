//! Building of a segment in memory.

use std::hash::{BuildHasher, RandomState};

use super::packed_word::PackedWord;
use super::posting_list::take_varint;
use super::segment::{Field, IndexedEntry, cut_word};
use super::segment_writer::SegmentWriter;
use super::word_log::{GapPlace, NEXT_ENTRY, WordLog, make_room, varint_bytes};

/// Number of places in the table of an empty builder: a power of two.
const SLOTS_FIRST: usize = 1 << 12;

/// Collects the words of entries and makes a segment of them.
///
/// Words are found by a hash table whose seed is a different one in each builder, so that no feed can provide words that
/// collide. The segment does not depend on the seed. A builder is meant for some megabytes: write a segment when
/// [`bytes`](Self::bytes) is more than about 4 MB.
#[derive(Debug)]
pub(in crate::io::search) struct SegmentBuilder {
    entries: Vec<IndexedEntry>,
    /// Ordinal of the entry that was started last.
    ordinal: u32,
    records: Vec<Record>,
    /// A hash table with open addressing: numbers of records, counted from 1; 0 is a free place.
    slots: Vec<u32>,
    seed: [u64; 2],
    /// Words that are longer than [`SHORT_BYTES`](super::packed_word::SHORT_BYTES), one after the other.
    long_words: Vec<u8>,
    /// For each entry, the numbers of its records.
    log: WordLog,
}

/// A word in a field. 32 bytes: much of the time of a builder is spent waiting for them.
#[derive(Debug, Clone, Copy)]
struct Record {
    /// The parts of a [`PackedWord`].
    head: u64,
    tail: u64,
    /// Ordinal of the last entry with this word.
    last: u32,
    /// Size of the gaps between its ordinals as varints.
    gap_bytes: u32,
    /// Offset of the word among the long ones.
    long_at: u32,
    field: u8,
    length: u8,
    /// More than one entry has this word.
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
    /// `key` is the number of the feed in the upper 32 bits and the sequence number of the entry in the lower ones; keys that
    /// ascend in small steps take least room. `stamp` tells which content of the entry is indexed.
    pub(in crate::io::search) fn start_entry(&mut self, key: u64, stamp: u64) {
        self.ordinal = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        make_room(&mut self.entries, 1);
        self.entries.push(IndexedEntry { key, stamp });
        self.log.push(NEXT_ENTRY, true);
    }

    /// Adds a word of the entry that was started last. A word that is longer than [`WORD_BYTES_MAX`] is cut at the end of a
    /// character. An empty word, or one without an entry, is ignored.
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
                // Whether the word is a new one in this entry cannot be predicted: no branch.
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

    /// Returns the memory that the builder holds, in bytes. Making the segment needs about as much again.
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

    /// Returns the gaps of all common words in this order, as varints.
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
