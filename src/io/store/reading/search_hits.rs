//! What a search finds, and what it remembers of the texts that it read.

use std::collections::BTreeMap;

use backissue_core::history::{EntryKey, IndexRow};
use backissue_core::search::TextTest;

/// Maximum number of verdicts that are remembered, about 50 bytes each.
const VERDICTS_MAX: usize = 100_000;

/// Whether a test holds for entries, each with the content that was read.
pub(super) type Verdicts = BTreeMap<EntryKey, (u64, bool)>;

/// Verdicts on the tests that were made last, the newest at the end: an open list and the counts of saved searches ask for the same
/// ones again and again.
#[derive(Debug, Default)]
pub(in crate::io::store) struct KnownVerdicts(Vec<(TextTest, Verdicts)>);

impl KnownVerdicts {
    /// Removes the verdicts on a test, which must be put back.
    pub(super) fn take(&mut self, test: &TextTest) -> Verdicts {
        let place = self.0.iter().position(|(known, _)| known == test);
        place.map(|place| self.0.remove(place).1).unwrap_or_default()
    }

    pub(super) fn put(&mut self, test: TextTest, verdicts: Verdicts) {
        self.0.retain(|(known, _)| *known != test);
        self.0.push((test, verdicts));
        while self.0.len() > 1
            && self.0.iter().map(|(_, of)| of.len()).sum::<usize>() > VERDICTS_MAX
        {
            self.0.remove(0);
        }
    }
}

/// An entry that a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchHit {
    pub key: EntryKey,
    /// The date that it is listed under, in Unix seconds.
    pub listed: i64,
    /// How well it matches; 0 if the query has no words.
    pub score: f32,
}

/// An entry for which the index does not decide whether it meets a condition.
#[derive(Debug, Clone)]
pub(super) struct UnsureHit {
    pub(super) hit: SearchHit,
    pub(super) row: IndexRow,
    /// What the index knows of each text test of the condition, in their order; empty if it was not asked.
    pub(super) known: Vec<Option<bool>>,
}

impl UnsureHit {
    /// Returns what the index or the text said about a test, if one of them did.
    pub(super) fn known_of(
        &self,
        test: &TextTest,
        tests: &[&TextTest],
        verdicts: &[Verdicts],
    ) -> Option<bool> {
        let place = tests.iter().position(|other| std::ptr::eq(*other, test))?;
        self.known.get(place).copied().flatten().or_else(|| {
            let (content, holds) = verdicts.get(place)?.get(&self.hit.key)?;
            (*content == self.row.content).then_some(*holds)
        })
    }
}
