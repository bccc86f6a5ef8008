//! Long texts in files of their own of which the log does not say any more whose they are: the message that named the
//! file is damaged. sled leaves out of a key what all keys of its page begin with; and of the page all is known that the log says,
//! so that nobody would ask for more.
//!
//! The records of texts say which texts stand alone, and the row of an entry has a hash of its content: what is missing,
//! ends so and has that hash is found.

use std::collections::{BTreeMap, BTreeSet};

use super::log_scan::LEFT_BEHIND;
use super::pages::{Content, Page};
use crate::io::codec;
use crate::io::store::chunks::{
    ALONE_KEY, BODIES, BodyChunk, BodySlot, ENTRIES, EntryChunk, ROWS, alone_key, slot,
};
use crate::io::store::record_keys::{feed_of, number_of, numbered_key};
use backissue_core::history::{EntryBody, EntryKey, IndexRow, KeptEntry, kept_content_hash};

/// A text of whose key the end is known, or all of it.
#[derive(Debug)]
struct LoneText {
    /// The place of the endless log that named it.
    lsn: u64,
    end: Vec<u8>,
    value: Vec<u8>,
}

/// What is known of an entry whose text has a record of its own.
#[derive(Debug, Default)]
struct EntryAlone {
    content: Option<u64>,
    kept: Option<KeptEntry>,
}

/// The texts that were found, and what is known of the entries that they may be of.
#[derive(Debug, Default)]
pub(super) struct LoneTexts {
    texts: Vec<LoneText>,
    wanted: BTreeMap<EntryKey, EntryAlone>,
    /// The keys of texts whose records are there.
    there: BTreeSet<Vec<u8>>,
}

impl LoneTexts {
    /// Finds them among the pages of which no tree is known.
    pub(super) fn among(strays: &[(u64, Page)]) -> Self {
        let left_behind = strays.iter().filter(|(number, _)| *number >= LEFT_BEHIND);
        let texts = left_behind.filter_map(|(number, page)| {
            let Content::Records(records) = &page.content else { return None };
            let (end, value) = records.first_key_value()?;
            let is_text =
                end.len() <= ALONE_KEY && codec::decode_compressed::<EntryBody>(value).is_ok();
            let lsn = number & !LEFT_BEHIND;
            is_text.then(|| LoneText { lsn, end: end.clone(), value: value.clone() })
        });
        Self { texts: texts.collect(), ..Self::default() }
    }

    /// Takes note of a record. Those of texts come before those of rows and of entries, as the names of their trees do.
    pub(super) fn note(&mut self, tree: &[u8], key: &[u8], value: &[u8]) {
        if self.texts.is_empty() {
            return;
        }
        match tree {
            b"bodies" if key.len() == ALONE_KEY => {
                self.there.insert(key.to_vec());
            }
            b"bodies" => {
                let alone = entries_alone(key, value).into_iter();
                self.wanted.extend(alone.map(|entry| (entry, EntryAlone::default())));
            }
            b"index" => {
                for (entry, wanted) in &mut self.wanted {
                    if key == numbered_key(entry.feed, entry.seq / ROWS) {
                        wanted.content = row_at(value, entry.seq).map(|row| row.content);
                    }
                }
            }
            b"meta" => {
                for (entry, wanted) in &mut self.wanted {
                    if key == numbered_key(entry.feed, entry.seq / ENTRIES) {
                        wanted.kept = kept_at(value, entry.seq);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the texts that were found to be of an entry, each with its key and the place of the log that named it.
    pub(super) fn named(self) -> Vec<(Vec<u8>, Vec<u8>, u64)> {
        let missing = self.wanted.into_iter().filter_map(|(entry, wanted)| {
            let key = alone_key(entry);
            let known = (wanted.content?, wanted.kept?);
            (!self.there.contains(&key)).then_some((key, known))
        });
        let texts = &self.texts;
        let named = missing.filter_map(|(key, (content, kept))| {
            let of_entry = texts.iter().filter(|text| key.ends_with(&text.end)).find(|text| {
                let body = codec::decode_compressed(&text.value).unwrap_or_default();
                kept_content_hash(&kept, body) == content
            });
            of_entry.map(|text| (key, text.value.clone(), text.lsn))
        });
        named.collect()
    }
}

/// The entries whose texts have records of their own, as a record of several texts says.
fn entries_alone(key: &[u8], record: &[u8]) -> Vec<EntryKey> {
    let chunk: BodyChunk = codec::decode_compressed(record).unwrap_or_default();
    let (Some(feed), Some(number)) = (feed_of(key), number_of(key)) else { return Vec::new() };
    let numbered = (number.saturating_mul(BODIES)..).zip(&chunk);
    let alone = numbered.filter(|(_, slot)| matches!(slot, BodySlot::Alone));
    alone.map(|(seq, _)| EntryKey { feed, seq }).collect()
}

/// What a record of entries says of one of its slots.
fn kept_at(record: &[u8], seq: u32) -> Option<KeptEntry> {
    let mut chunk: EntryChunk = codec::decode_compressed(record).ok()?;
    chunk.get_mut(slot(seq, ENTRIES))?.take()
}

/// What a record of rows says of one of its slots.
fn row_at(record: &[u8], seq: u32) -> Option<IndexRow> {
    codec::decode_rows(record).ok()?.get(slot(seq, ROWS)).copied()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::io::store::salvage::log_scan::LogFiles;
    use crate::io::store::salvage::salvage;
    use backissue_core::feed::entry::Entry;
    use backissue_core::history::rank::Position;
    use backissue_core::history::{FeedKey, Flags, Rank};

    /// An entry with its long text, as it is kept.
    struct Example {
        key: EntryKey,
        body: EntryBody,
        kept: KeptEntry,
    }

    impl Example {
        fn new(feed: u32, seq: u32) -> Self {
            Self::with_text(feed, seq, format!("{feed} {seq}"))
        }

        fn with_text(feed: u32, seq: u32, text: String) -> Self {
            let title = Some(format!("{seq} of {feed}"));
            let entry = Entry { title, content: Some(text), ..Entry::default() };
            let now = DateTime::UNIX_EPOCH;
            let kept =
                KeptEntry::from_copy(&entry, now, Rank::new(None, None, Position::Page, now));
            let key = EntryKey { feed: FeedKey(feed), seq };
            Self { key, body: EntryBody::from_copy(&entry), kept }
        }

        fn text(&self) -> Vec<u8> {
            codec::encode_compressed(&self.body).unwrap()
        }

        /// Its file, of which nothing but the end of the key is known.
        fn stray(&self, lsn: u64, end: usize) -> (u64, Page) {
            let key = alone_key(self.key).split_off(ALONE_KEY - end);
            let content = Content::Records(BTreeMap::from([(key, self.text())]));
            (LEFT_BEHIND | lsn, Page { content, ..Page::default() })
        }

        /// The records that the text is not in: of texts, of rows, of entries.
        fn records(&self) -> [(&'static [u8], [u8; 8], Vec<u8>); 3] {
            let (feed, seq) = (self.key.feed, self.key.seq);
            let slots = |each: u32| usize::try_from(seq % each).unwrap();
            let mut chunk: BodyChunk = vec![BodySlot::Empty; slots(4)];
            chunk.push(BodySlot::Alone);
            let content = kept_content_hash(&self.kept, self.body.clone());
            let row = IndexRow { identity: 1, content, listed: 0, flags: Flags(0) };
            let mut kept = vec![None; slots(ENTRIES)];
            kept.push(Some(self.kept.clone()));
            [
                (b"bodies", numbered_key(feed, seq / 4), codec::encode_compressed(&chunk).unwrap()),
                (
                    b"index",
                    numbered_key(feed, seq / ROWS),
                    codec::encode_rows(&vec![row; slots(ROWS) + 1]),
                ),
                (
                    b"meta",
                    numbered_key(feed, seq / ENTRIES),
                    codec::encode_compressed(&kept).unwrap(),
                ),
            ]
        }

        fn note_records(&self, texts: &mut LoneTexts) {
            for (tree, key, value) in self.records() {
                texts.note(tree, &key, &value);
            }
        }
    }

    #[test]
    fn unnamed_text_is_matched_by_key_end_and_hash() {
        let [one, two, other] =
            [(1, 133), (2, 133), (2, 5)].map(|(feed, seq)| Example::new(feed, seq));
        // The end alone may be of either feed; the first is of an entry that is not there.
        let strays = [
            Example::new(3, 133).stray(7, 4),
            two.stray(9, 4),
            one.stray(11, 1),
            Example::new(1, 5).stray(12, 4),
        ];
        let mut texts = LoneTexts::among(&strays);
        for example in [&one, &two, &other] {
            example.note_records(&mut texts);
        }
        assert_eq!(
            texts.named(),
            [(alone_key(one.key), one.text(), 11), (alone_key(two.key), two.text(), 9)]
        );
        // One that is there needs no other.
        let mut texts = LoneTexts::among(&strays);
        one.note_records(&mut texts);
        texts.note(b"bodies", &alone_key(one.key), &one.text());
        assert_eq!(texts.named(), []);
    }

    #[test]
    fn text_with_sound_file_and_damaged_log_name_is_restored() {
        let folder = tempfile::tempdir().unwrap();
        // What cannot be packed, more than a part of the log holds.
        let mut number = 1_u64;
        let mut digits = || {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'0'.wrapping_add(u8::try_from(number >> 60).unwrap()))
        };
        let text: String = (0..2_000_000).map(|_| digits()).collect();
        let example = Example::with_text(5, 43, text);
        let db = sled::open(folder.path()).unwrap();
        for (tree, key, value) in example.records() {
            db.open_tree(tree).unwrap().insert(key, value).unwrap();
        }
        let (texts, key) = (db.open_tree(b"bodies").unwrap(), alone_key(example.key));
        texts.insert(&key, example.text()).unwrap();
        db.flush().unwrap();
        drop((texts, db));
        let log = LogFiles::open(folder.path()).unwrap();
        let messages = log.scan().unwrap().messages;
        let named: Vec<_> = messages.iter().filter(|message| message.blob().is_some()).collect();
        let [name] = named[..] else { panic!("{named:?}") };
        let path = folder.path().join("db");
        let mut bytes = std::fs::read(&path).unwrap();
        let at = usize::try_from(name.lsn).unwrap();
        assert!(bytes[at..at + 8].iter().any(|byte| *byte != 0));
        bytes[at..at + 8].fill(0);
        std::fs::write(&path, bytes).unwrap();
        let mut found = Vec::new();
        let told = salvage(folder.path(), &mut |tree, key, value, earlier| {
            if (tree, key) == (b"bodies", &alone_key(example.key)) {
                found.push((value.to_vec(), earlier));
            }
            Ok(())
        });
        assert!(told.unwrap().is_partial);
        assert!(found == [(example.text(), Some(name.lsn))], "{}", found.len());
    }
}
