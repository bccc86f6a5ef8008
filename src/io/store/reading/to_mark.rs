//! Finds the entries that a mark would change.

use std::collections::BTreeSet;

use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use backissue_core::history::{EntryKey, Flag};
use backissue_core::search::Matching;

/// What of the entries that fit a mark would change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkPlan {
    /// The entries that fit.
    pub fitting: usize,
    /// Those of them that it would change.
    pub changing: Vec<EntryKey>,
    /// None of those was opened by the reader: they count as read only because history brought them.
    pub all_from_history: bool,
}

impl Store {
    /// Finds the entries of a query that a mark would change. With `joins` these are also the same articles of other feeds, if they
    /// would be read.
    pub fn find_to_mark(
        &mut self,
        matching: &Matching,
        (flag, value, joins): (Flag, bool, bool),
    ) -> Result<MarkPlan, StoreError> {
        let found = self.unranked(matching, |flags| matching.shows(flags))?;
        let keys: Vec<EntryKey> = found.into_iter().map(|hit| hit.key).collect();
        self.plan_mark(&keys, (flag, value, joins))
    }

    /// Finds those of these entries that a mark would change, as [`Self::find_to_mark`] does. Entries that are not there do not fit.
    pub fn plan_mark(
        &mut self,
        keys: &[EntryKey],
        (flag, value, joins): (Flag, bool, bool),
    ) -> Result<MarkPlan, StoreError> {
        let mut plan = MarkPlan { all_from_history: true, ..MarkPlan::default() };
        for &key in keys {
            let row = self.rows_of(key.feed)?.get(key.seq as usize);
            let Some(flags) = row.map(|row| row.flags) else { continue };
            plan.fitting = plan.fitting.saturating_add(1);
            if flags.get(flag) != value {
                plan.changing.push(key);
                plan.all_from_history &= flags.is_from_history() && !flags.was_opened();
            }
        }
        if joins && (flag, value) == (Flag::Read, true) {
            let found = self.unread_with_same_links(&plan.changing)?.into_values().flatten();
            let known: BTreeSet<EntryKey> = plan.changing.iter().copied().collect();
            let elsewhere: BTreeSet<EntryKey> = found.map(|(key, _)| key).collect();
            plan.changing.extend(elsewhere.difference(&known));
        }
        Ok(plan)
    }

    /// The date that an entry is listed under, in Unix seconds; `None`: there is no such entry, or its feed was unsubscribed.
    pub fn date_of(&mut self, key: EntryKey) -> Result<Option<i64>, StoreError> {
        if self.ended.contains(&key.feed) {
            return Ok(None);
        }
        Ok(self.rows_of(key.feed)?.get(key.seq as usize).map(|row| row.listed))
    }
}
