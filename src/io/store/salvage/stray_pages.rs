//! Which tree a page belonged to of which nothing is known but its records: every kind of record can be told by its form.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::pages::{Content, Page};
use crate::engine::change::undo_stack::SavedStep;
use crate::engine::entries::full_text::FullText;
use crate::engine::entries::loaded_entry::ReadingPosition;
use crate::engine::feeds::subscription::{FeedState, SubscriptionRecord};
use crate::engine::poll::poll_times::PollTimes;
use crate::io::codec;
use crate::io::store::chunks::are_texts;
use crate::io::store::poll_logs::LogRecord;
use crate::io::store::upkeep::daily_backup::LAST_BACKUP;
use backissue_core::history::{Counters, HistoryRecord, KeptEntry};
use backissue_core::schedule::learning::Publications;

/// The facts that a store holds.
pub(super) const FACTS: [&[u8]; 10] = [
    b"salt",
    b"schema",
    b"last_feed",
    b"searches",
    b"rules",
    b"folded",
    b"texts_measured",
    b"compact_bytes",
    b"texts_lost",
    LAST_BACKUP,
];
/// A record of fields belongs to the kind that has at least this part of them.
const FITTING_PERCENT: usize = 80;
/// So many records of a page are looked at.
const LOOKED_AT: usize = 8;

/// The names of the fields of a kind of record.
type Fields = BTreeSet<String>;

/// Returns the tree of each page that can be told.
pub(super) fn guess_trees(strays: &[(u64, Page)]) -> Vec<(u64, &'static [u8])> {
    if strays.is_empty() {
        return Vec::new();
    }
    let kinds = kinds();
    let guessed = strays.iter().filter_map(|(number, page)| {
        let Content::Records(records) = &page.content else { return None };
        let mut votes: BTreeMap<&'static [u8], usize> = BTreeMap::new();
        for (key, value) in records.iter().take(LOOKED_AT) {
            if let Some(tree) = guess_tree(&kinds, key, value) {
                let votes = votes.entry(tree).or_default();
                *votes = votes.saturating_add(1);
            }
        }
        votes.into_iter().max_by_key(|(_, votes)| *votes).map(|(tree, _)| (*number, tree))
    });
    guessed.collect()
}

/// The kinds of records whose fields have names, of which every one has a tree of its own.
fn kinds() -> Vec<(&'static [u8], usize, Fields)> {
    vec![
        (b"feeds", 4, fields_of(&SubscriptionRecord::default())),
        (b"state", 4, fields_of(&FeedState::default())),
        (b"times", 4, fields_of(&PollTimes::default())),
        (b"counters", 4, fields_of(&Counters::default())),
        (b"history", 4, fields_of(&HistoryRecord::default())),
        (b"rhythms", 4, fields_of(&Publications::default())),
    ]
}

fn fields_of(record: &impl Serialize) -> Fields {
    codec::encode(record).ok().and_then(|bytes| named_fields(&bytes)).unwrap_or_default()
}

/// Fields of which nothing but the name is read.
type Named<V> = BTreeMap<String, V>;

fn names_in<V>(fields: Named<V>) -> Fields {
    fields.into_keys().collect()
}

fn named_fields(bytes: &[u8]) -> Option<Fields> {
    codec::decode(bytes).ok().map(names_in::<IgnoredAny>)
}

fn guess_tree(
    kinds: &[(&'static [u8], usize, Fields)],
    key: &[u8],
    value: &[u8],
) -> Option<&'static [u8]> {
    if FACTS.contains(&key) {
        return Some(b"about");
    }
    if !codec::is_sound(value) {
        return None;
    }
    match key.len() {
        4 if codec::decode::<Vec<(u32, ReadingPosition)>>(value)
            .is_ok_and(|places| !places.is_empty()) =>
        {
            Some(b"places")
        }
        4 => {
            let found = named_fields(value)?;
            let fits = |fields: &Fields| {
                found.intersection(fields).count().saturating_mul(100)
                    >= found.len().max(fields.len()).saturating_mul(FITTING_PERCENT)
            };
            kinds.iter().find(|(_, _, fields)| fits(fields)).map(|(tree, ..)| *tree)
        }
        // Small numbers can be read as texts that are not there.
        8 if codec::decode_compressed::<BTreeSet<u32>>(value)
            .is_ok_and(|hits| !hits.is_empty()) =>
        {
            Some(b"rulings")
        }
        8 if codec::decode_compressed::<SavedStep>(value).is_ok() => Some(b"undo"),
        8 if LogRecord::read(value).is_ok() => Some(b"polls"),
        8 | 12 if are_texts(value, key.len() > 8) => Some(b"bodies"),
        8 if holds::<KeptEntry>(value) => Some(b"meta"),
        8 if packed_fields(value).is_some_and(|found| found == fields_of(&FullText::default())) => {
            Some(b"pages")
        }
        8 if codec::decode_rows(value).is_ok_and(|rows| !rows.is_empty()) => Some(b"index"),
        _ if key.get(4..).is_some_and(|address| address.starts_with(b"http")) => Some(b"nodes"),
        _ => None,
    }
}

/// Whether a packed record holds something of a kind.
fn holds<T: DeserializeOwned>(value: &[u8]) -> bool {
    let slots: Result<Vec<Option<T>>, _> = codec::decode_compressed(value);
    slots.is_ok_and(|slots| slots.iter().any(Option::is_some))
}

fn packed_fields(value: &[u8]) -> Option<Fields> {
    codec::decode_compressed(value).ok().map(names_in::<IgnoredAny>)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::change::MarkChange;
    use crate::engine::change::undo_stack::Step;
    use crate::engine::change::value::ChangeId;
    use crate::io::store::chunks::{BodyChunk, BodySlot};
    use backissue_core::history::{EntryBody, EntryKey, FeedKey, Flag, Flags, IndexRow};

    #[test]
    fn page_owner_is_determined_from_its_records() {
        let keys = vec![EntryKey { feed: FeedKey(1), seq: 3 }];
        let step = Step::Marked(MarkChange { flag: Flag::Read, value: true, keys });
        let saved = SavedStep { id: ChangeId(9), at: chrono::DateTime::UNIX_EPOCH, step };
        let place = vec![(3_u32, ReadingPosition { offset: 7, of: 1000 })];
        let row = IndexRow { identity: 7, content: 8, listed: 9, flags: Flags(1) };
        let text: BodyChunk = vec![BodySlot::Here(EntryBody::default())];
        let hits: Vec<BTreeSet<u32>> =
            (1..40).map(|hits| (0..hits).map(|seq| seq * 70_000).collect()).collect();
        let mut cases: Vec<(&[u8], usize, Vec<u8>)> = vec![
            (b"undo", 8, codec::encode_compressed(&saved).unwrap()),
            (b"places", 4, codec::encode(&place).unwrap()),
            (b"bodies", 8, codec::encode_compressed(&text).unwrap()),
            (b"feeds", 4, codec::encode(&SubscriptionRecord::default()).unwrap()),
        ];
        cases.extend((1..40).map(|rows| (&b"index"[..], 8, codec::encode_rows(&vec![row; rows]))));
        cases.extend(
            hits.iter().map(|hits| (&b"rulings"[..], 8, codec::encode_compressed(hits).unwrap())),
        );
        for (number, (tree, length, value)) in (1_u64..).zip(cases) {
            let content = Content::Records(BTreeMap::from([(vec![1; length], value)]));
            let page = Page { content, ..Page::default() };
            assert_eq!(guess_trees(&[(number, page)]), [(number, tree)]);
        }
    }
}
