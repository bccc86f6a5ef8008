//! Compares segments with a plain model, and reads damaged segments.

#![expect(clippy::cast_possible_truncation, reason = "numbers of tests are small")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};

use roaring::RoaringBitmap;

use super::posting_list::{PostingList, push_list};
use super::segment::{Field, IndexedEntry, Segment, SegmentError, WORD_BYTES_MAX, cut_word};
use super::segment_builder::{SegmentBuilder, merge};

const FIELDS: [Field; 3] = [Field::Title, Field::Author, Field::Text];

/// Entries with their words.
type Model = Vec<(IndexedEntry, Vec<(Field, String)>)>;

struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    /// Returns a word from a small vocabulary. Small numbers are much more frequent than large ones.
    fn word(&mut self) -> String {
        let bits = 1 + self.below(12);
        let number = self.below(1 << bits);
        let length = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 40, 59][(number % 14) as usize];
        let letters = ["a", "b", "é", "字", "z"];
        let mut word = String::new();
        let mut rest = number;
        while word.len() < length {
            word.push_str(letters[(rest % 5) as usize]);
            rest = rest / 5 + number % 3;
        }
        word
    }
}

fn random_model(seed: u64, entries: u64, words: u64) -> Model {
    let mut chance = Chance(seed);
    (0..entries)
        .map(|number| {
            let key = chance.below(5) << 32 | number;
            let entry = IndexedEntry { key, stamp: chance.below(1 << 40) };
            let count = chance.below(words);
            let words = (0..count).map(|_| (FIELDS[chance.below(3) as usize], chance.word()));
            (entry, words.collect())
        })
        .collect()
}

fn built(model: &Model) -> Vec<u8> {
    let mut builder = SegmentBuilder::new();
    for (entry, words) in model {
        builder.start_entry(entry.key, entry.stamp);
        for (field, word) in words {
            builder.add(*field, word);
        }
    }
    assert_eq!(builder.entries(), model.len());
    builder.finish()
}

/// Writes bytes to a file and removes its name.
fn file_of(bytes: &[u8]) -> File {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("segment-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let mut options = File::options();
    let mut file = options.read(true).write(true).create_new(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn opened(bytes: &[u8]) -> Segment {
    Segment::open(file_of(bytes)).unwrap()
}

/// Returns a segment with the ordinals of all entries.
fn whole(segment: &Segment) -> (&Segment, RoaringBitmap) {
    (segment, (0..segment.entries().len() as u32).collect())
}

fn postings(model: &Model) -> BTreeMap<(Field, String), BTreeSet<u32>> {
    let mut postings: BTreeMap<(Field, String), BTreeSet<u32>> = BTreeMap::new();
    for (ordinal, (_, words)) in (0..).zip(model) {
        for (field, word) in words {
            postings.entry((*field, cut_word(word).to_owned())).or_default().insert(ordinal);
        }
    }
    postings
}

fn assert_holds(segment: &Segment, model: &Model) {
    let entries: Vec<IndexedEntry> = model.iter().map(|(entry, _)| *entry).collect();
    assert_eq!(segment.entries(), entries);
    let postings = postings(model);
    let mut by_prefix: BTreeMap<(Field, &str), RoaringBitmap> = BTreeMap::new();
    for ((field, word), ordinals) in &postings {
        let ordinals: RoaringBitmap = ordinals.iter().collect();
        assert_eq!(segment.word(*field, word).unwrap(), ordinals, "{field:?} {word}");
        for (end, char) in word.char_indices().take(3) {
            let prefix = &word[..end + char.len_utf8()];
            *by_prefix.entry((*field, prefix)).or_default() |= &ordinals;
        }
        *by_prefix.entry((*field, "")).or_default() |= &ordinals;
    }
    for ((field, prefix), ordinals) in by_prefix {
        assert_eq!(segment.prefix(field, prefix).unwrap(), ordinals, "{field:?} {prefix}");
    }
    for field in FIELDS {
        assert!(segment.word(field, "not there").unwrap().is_empty());
        assert!(segment.prefix(field, "zzzzzzzzzzzzzzzzz~").unwrap().is_empty());
    }
}

#[test]
fn a_segment_holds_what_was_added() {
    for (seed, entries, words) in
        [(1, 1, 9), (2, 7, 40), (3, 300, 60), (4, 1_000, 20), (5, 20, 1_000)]
    {
        let model = random_model(seed, entries, words);
        let bytes = built(&model);
        let segment = opened(&bytes);
        assert_eq!(segment.bytes_on_disk(), bytes.len() as u64);
        assert_holds(&segment, &model);
        // This builder has another seed for its hash table.
        assert_eq!(built(&model), bytes);
    }
}

#[test]
fn an_empty_segment_is_whole() {
    let mut builder = SegmentBuilder::new();
    builder.add(Field::Text, "before any entry");
    let empty = opened(&builder.finish());
    assert_holds(&empty, &vec![]);
    assert!(empty.prefix(Field::Text, "").unwrap().is_empty());
    let merged = merge(&[whole(&empty), whole(&empty)]).unwrap();
    assert_holds(&opened(&merged), &vec![]);
    assert_holds(&opened(&merge(&[]).unwrap()), &vec![]);
    // Entries without words.
    let model = random_model(6, 5, 1);
    assert_holds(&opened(&built(&model)), &model);
}

#[test]
fn long_words_are_found_by_their_beginning() {
    let long = "字".repeat(30);
    assert_eq!(cut_word(&long).len(), WORD_BYTES_MAX);
    let odd = format!("a{long}");
    assert_eq!(cut_word(&odd).len(), WORD_BYTES_MAX - 2);
    let words = vec![(Field::Text, long.clone()), (Field::Title, odd.clone())];
    let model = vec![(IndexedEntry { key: u64::MAX, stamp: u64::MAX }, words)];
    let segment = opened(&built(&model));
    assert_eq!(segment.word(Field::Text, &long).unwrap().len(), 1);
    assert_eq!(segment.prefix(Field::Title, &odd).unwrap().len(), 1);
    assert!(segment.word(Field::Text, &odd).unwrap().is_empty());
}

#[test]
fn a_segment_may_have_many_entries() {
    let mut builder = SegmentBuilder::new();
    let count = 160_000_u32;
    for ordinal in 0..count {
        builder.start_entry(u64::from(ordinal) << 20, u64::from(ordinal % 7));
        builder.add(Field::Text, "all");
        builder.add(Field::Text, "all");
        for (step, word) in [(3, "third"), (1_000, "few"), (65_536, "rare"), (150_000, "two")] {
            if ordinal % step == 0 {
                builder.add(Field::Text, word);
            }
        }
    }
    builder.add(Field::Text, "last");
    let first = opened(&builder.finish());
    let merged = opened(&merge(&[whole(&first), whole(&first)]).unwrap());
    for (word, step) in
        [("all", 1), ("third", 3), ("few", 1_000), ("rare", 65_536), ("two", 150_000)]
    {
        let expected: RoaringBitmap = (0..count).step_by(step).collect();
        assert_eq!(first.word(Field::Text, word).unwrap(), expected);
        assert_eq!(first.prefix(Field::Text, word).unwrap(), expected);
        let twice: RoaringBitmap =
            expected.iter().chain(expected.iter().map(|one| one + count)).collect();
        assert_eq!(merged.word(Field::Text, word).unwrap(), twice);
    }
    assert_eq!(
        merged.word(Field::Text, "last").unwrap().iter().collect::<Vec<_>>(),
        [count - 1, 2 * count - 1]
    );
}

#[test]
fn a_merge_equals_a_fresh_build() {
    let mut chance = Chance(11);
    for parts in 1..6_u64 {
        let models: Vec<Model> =
            (0..parts).map(|part| random_model(20 + part, 10 + 300 * (part % 2), 30)).collect();
        let segments: Vec<Segment> = models.iter().map(|model| opened(&built(model))).collect();
        for dead in [0, 1, 50, 100] {
            let mut live = Vec::new();
            let mut left: Model = Vec::new();
            for model in &models {
                let kept = (0..).zip(model).filter(|_| chance.below(100) >= dead);
                let kept: Vec<_> = kept.collect();
                live.push(
                    kept.iter().map(|(ordinal, _)| *ordinal).chain([4_000_000_000]).collect(),
                );
                left.extend(kept.into_iter().map(|(_, entry)| entry.clone()));
            }
            let segments: Vec<(&Segment, RoaringBitmap)> = segments.iter().zip(live).collect();
            assert_eq!(merge(&segments).unwrap(), built(&left));
        }
    }
}

/// Checks that each answer is correct or an error.
fn assert_right_or_damaged(bytes: &[u8], model: &Model) {
    let segment = match Segment::open(file_of(bytes)) {
        Ok(segment) => segment,
        Err(error) => return assert!(matches!(error, SegmentError::Damaged)),
    };
    assert!(segment.entries().iter().eq(model.iter().map(|(entry, _)| entry)));
    let mut is_damaged = false;
    for ((field, word), ordinals) in postings(model) {
        match segment.word(field, &word) {
            Ok(found) => assert!(found.iter().eq(ordinals), "{word}"),
            Err(error) => is_damaged |= matches!(error, SegmentError::Damaged),
        }
    }
    let merged = merge(&[whole(&segment)]);
    assert!(is_damaged && matches!(merged, Err(SegmentError::Damaged)));
}

#[test]
fn every_flipped_bit_is_noticed() {
    let model = random_model(31, 12, 9);
    let mut bytes = built(&model);
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_right_or_damaged(&bytes, &model);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    assert_holds(&opened(&bytes), &model);
}

#[test]
fn cuts_zeros_and_other_bytes_are_noticed() {
    let model = random_model(32, 400, 60);
    let bytes = built(&model);
    assert!(bytes.len() > 30_000);
    let mut chance = Chance(33);
    for _ in 0..15 {
        let from = chance.below(bytes.len() as u64) as usize;
        let to = (from + 1 + chance.below(9_000) as usize).min(bytes.len());
        assert_right_or_damaged(&bytes[..from], &model);
        let mut other = bytes.clone();
        other[from..to].fill(0);
        if other != bytes {
            assert_right_or_damaged(&other, &model);
        }
        other[from..to].fill_with(|| chance.below(256) as u8);
        assert_right_or_damaged(&other, &model);
        let without = [&bytes[..from], &bytes[to..]].concat();
        assert_right_or_damaged(&without, &model);
        let with_more = [&bytes[..], &bytes[from..to]].concat();
        assert_right_or_damaged(&with_more, &model);
    }
}

#[test]
fn a_file_that_is_cut_while_open_is_noticed() {
    let model = random_model(34, 400, 60);
    let file = file_of(&built(&model));
    let segment = Segment::open(file.try_clone().unwrap()).unwrap();
    file.set_len(100).unwrap();
    assert!(matches!(segment.prefix(Field::Text, "a"), Err(SegmentError::Damaged)));
    assert!(matches!(merge(&[whole(&segment)]), Err(SegmentError::Damaged)));
}

/// Corrects the checksums of a changed segment.
fn with_right_checksums(mut bytes: Vec<u8>) -> Vec<u8> {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let tail =
        number(8).wrapping_add(number(16)).saturating_add(56).min(bytes.len() as u64) as usize;
    let blocks = (tail - 56).div_ceil(8_192);
    for block in 0..blocks {
        let from = 56 + block * 8_192;
        let sum = crc32fast::hash(&bytes[from..tail.min(from + 8_192)]).to_le_bytes();
        let at = tail + block * 4;
        if at + 4 <= bytes.len() {
            bytes[at..at + 4].copy_from_slice(&sum);
        }
    }
    let sum = crc32fast::hash(&bytes[tail..]).to_le_bytes();
    bytes[48..52].copy_from_slice(&sum);
    let sum = crc32fast::hash(&bytes[..52]).to_le_bytes();
    bytes[52..56].copy_from_slice(&sum);
    bytes
}

#[test]
fn wrong_bytes_with_right_checksums_do_no_harm() {
    let model = random_model(35, 60, 30);
    let bytes = built(&model);
    assert_holds(&opened(&with_right_checksums(bytes.clone())), &model);
    let mut chance = Chance(36);
    let mut opened = 0;
    for _ in 0..1_500 {
        let mut other = bytes.clone();
        for _ in 0..=chance.below(3) {
            let at = chance.below(bytes.len() as u64) as usize;
            other[at] = [0, 1, 0x7f, 0x80, 0xff, chance.below(256) as u8][chance.below(6) as usize];
        }
        let Ok(segment) = Segment::open(file_of(&with_right_checksums(other))) else { continue };
        opened += 1;
        // Any answer is fine; it only must not panic.
        for field in FIELDS {
            segment.word(field, "a").ok();
            segment.prefix(field, "").ok();
        }
        merge(&[whole(&segment), whole(&segment)]).ok();
    }
    assert!(opened > 100);
}

#[test]
fn random_bytes_do_no_harm_as_a_list() {
    let mut chance = Chance(37);
    for _ in 0..20_000 {
        let length = chance.below(40);
        let kind = [0, 3, 8, 17, 31, 32, 255][chance.below(7) as usize];
        let byte = |chance: &mut Chance| [0, 0, chance.below(256) as u8][chance.below(3) as usize];
        let bytes: Vec<u8> =
            std::iter::once(kind).chain((0..length).map(|_| byte(&mut chance))).collect();
        let (mut ordinals, mut set) = (Vec::new(), vec![0; 125]);
        let list = PostingList::parse(&bytes);
        let read = list.and_then(|list| list.push_to(&mut ordinals, 1_000));
        assert!(ordinals.is_sorted_by(|a, b| a < b) && ordinals.iter().all(|one| *one < 1_000));
        assert_eq!(list.and_then(|list| list.set_in(&mut set, 1_000)), read);
    }
}

#[test]
fn lists_of_any_density_are_read_back() {
    let mut chance = Chance(38);
    for round in 0..500_u64 {
        let step = 1 + chance.below(1 << (round % 31));
        let (mut ordinals, mut next) = (Vec::new(), chance.below(step));
        for _ in 0..=chance.below(200) {
            let jump =
                if chance.below(50) == 0 { chance.below(1 << 31) } else { chance.below(step) };
            ordinals.extend(u32::try_from(next).ok().filter(|one| *one < u32::MAX));
            next += 1 + jump;
        }
        if ordinals.is_empty() {
            continue;
        }
        let (mut bytes, mut read) = (Vec::new(), Vec::new());
        push_list(&mut bytes, &ordinals);
        let limit = ordinals.last().unwrap() + 1;
        PostingList::parse(&bytes).unwrap().push_to(&mut read, limit).unwrap();
        assert_eq!(read, ordinals);
        assert!(PostingList::parse(&bytes).unwrap().push_to(&mut read, limit - 1).is_none());
    }
}
