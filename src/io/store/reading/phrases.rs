//! Verifies phrases: the index knows which entries have the words, and the texts say whether these follow each other.

use std::collections::{BTreeMap, BTreeSet};

use super::search::SearchHit;
use crate::io::store::chunks::read_in;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use backissue_core::feed::text::strip_markup;
use backissue_core::history::{EntryBody, EntryKey};
use backissue_core::search::{EntryTexts, Term};

/// Entries whose texts are read together.
const SLICE: usize = 128;
/// Maximum number of verdicts that are remembered, about 50 bytes each.
const VERDICTS_MAX: usize = 100_000;

/// Whether a phrase occurs in entries, each with the content that was read.
type Verdicts = BTreeMap<EntryKey, (u64, bool)>;

/// Verdicts on the phrases that were searched last, the newest at the end: an open list and the counts of saved searches ask for
/// the same ones again and again.
#[derive(Debug, Default)]
pub(in crate::io::store) struct VerifiedPhrases(Vec<(Term, Verdicts)>);

impl VerifiedPhrases {
    /// Removes the verdicts on a phrase, which must be put back.
    fn take(&mut self, phrase: &Term) -> Verdicts {
        let place = self.0.iter().position(|(known, _)| known == phrase);
        place.map(|place| self.0.remove(place).1).unwrap_or_default()
    }

    fn put(&mut self, phrase: Term, verdicts: Verdicts) {
        self.0.push((phrase, verdicts));
        while self.0.len() > 1
            && self.0.iter().map(|(_, of)| of.len()).sum::<usize>() > VERDICTS_MAX
        {
            self.0.remove(0);
        }
    }
}

impl Store {
    /// Keeps the hits in whose texts the words of a phrase follow each other, or do not if it is excluded.
    pub(super) fn verify_phrase(
        &mut self,
        phrase: &Term,
        found: &mut Vec<SearchHit>,
    ) -> Result<(), StoreError> {
        let included = Term { excluded: false, ..phrase.clone() };
        let candidates = if phrase.excluded { Some(self.candidates(&included)?) } else { None };
        let may_have =
            |key: EntryKey| candidates.as_ref().is_none_or(|candidates| candidates.contains(&key));
        let mut verdicts = self.verified.take(&included);
        let content =
            |key: EntryKey| Some(self.rows.get(&key.feed)?.get(key.seq as usize)?.content);
        let mut unknown: Vec<(EntryKey, u64)> = (found.iter())
            .filter(|hit| may_have(hit.key))
            .filter_map(|hit| Some((hit.key, content(hit.key)?)))
            .filter(|(key, content)| verdicts.get(key).is_none_or(|(read, _)| read != content))
            .collect();
        // Neighbours share records.
        unknown.sort_unstable();
        for of_feed in unknown.chunk_by(|(one, _), (other, _)| one.feed == other.feed) {
            for slice in of_feed.chunks(SLICE) {
                self.read_verdicts(&included, slice, &mut verdicts);
            }
        }
        found.retain(|hit| {
            if !may_have(hit.key) {
                return true;
            }
            verdicts.get(&hit.key).is_some_and(|(_, occurs)| *occurs != phrase.excluded)
        });
        self.verified.put(included, verdicts);
        Ok(())
    }

    /// Returns the entries that have all words of a phrase.
    fn candidates(&self, phrase: &Term) -> Result<BTreeSet<EntryKey>, StoreError> {
        let mut candidates = BTreeSet::new();
        if let Some(index) = self.search_index.get() {
            index.find(std::slice::from_ref(phrase), &mut |key, _| {
                candidates.insert(key);
            })?;
        }
        Ok(candidates)
    }

    /// Reads whether a phrase occurs in entries of one feed, each given with its content. One that cannot be read gets no verdict.
    fn read_verdicts(&self, phrase: &Term, entries: &[(EntryKey, u64)], verdicts: &mut Verdicts) {
        let Some((first, _)) = entries.first() else { return };
        let seqs = entries.iter().map(|(key, _)| key.seq);
        let read = read_in(&self.meta, &self.bodies, first.feed, seqs);
        for (key, content) in entries {
            let Some((kept, body)) = read.get(&key.seq) else {
                verdicts.remove(key);
                continue;
            };
            let text = body.as_ref().and_then(EntryBody::text).unwrap_or_default();
            let text = strip_markup(text);
            let occurs = phrase.occurs_in(&EntryTexts::new(kept, &text));
            verdicts.insert(*key, (*content, occurs));
        }
    }
}
