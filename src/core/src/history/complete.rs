//! Complete feeds: entries missing from the document are withdrawn and can be restored (SPEC C.6).

use std::collections::{BTreeMap, BTreeSet};

use super::counters::Counters;
use super::row::{Flags, IndexRow};
use crate::feed::FeedDocument;
use crate::feed::identity::identity_hash;

/// The changes to make to entries that a complete document does not contain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Withdrawal {
    /// Entries whose flags change: sequence number and new flags.
    pub flags: BTreeMap<u32, Flags>,
    /// Sequence numbers of the withdrawn entries, kept so that the user can undo the withdrawal.
    pub withdrawn: Vec<u32>,
    /// The feed's counters after the change.
    pub counters: Counters,
}

/// Withdraws the feed's entries that are not in a complete document, and restores withdrawn entries that are in it. `rows`
/// are the feed's rows after the document was merged. Never called for a 226 response, which contains only new entries
/// (SPEC D.7).
pub fn withdraw(document: &FeedDocument, rows: &[IndexRow], counters: Counters) -> Withdrawal {
    let held: BTreeSet<u64> =
        document.entries.iter().map(|entry| identity_hash(&entry.id)).collect();
    let mut change = Withdrawal { counters, ..Withdrawal::default() };
    for (seq, row) in (0_u32..).zip(rows) {
        let after = row.flags.withdrawn(!held.contains(&row.identity));
        if after == row.flags {
            continue;
        }
        change.counters.shift(Some(row.flags), Some(after));
        change.flags.insert(seq, after);
        if after.is_withdrawn() {
            change.withdrawn.push(seq);
        }
    }
    change
}

/// Undoes a withdrawal: the withdrawn entries are part of the feed again.
pub fn restore(withdrawn: &[u32], rows: &[IndexRow], counters: Counters) -> Withdrawal {
    let mut change = Withdrawal { counters, ..Withdrawal::default() };
    for &seq in withdrawn {
        let row = usize::try_from(seq).ok().and_then(|place| rows.get(place));
        let Some(row) = row.filter(|row| row.flags.is_withdrawn()) else { continue };
        let after = row.flags.withdrawn(false);
        change.counters.shift(Some(row.flags), Some(after));
        change.flags.insert(seq, after);
    }
    change
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::Entry;
    use crate::history::Flag;

    fn document(ids: &[&str]) -> FeedDocument {
        let entries =
            ids.iter().map(|id| Entry { id: (*id).to_owned(), ..Entry::default() }).collect();
        FeedDocument { entries, ..FeedDocument::default() }
    }

    fn row(id: &str, flags: Flags) -> IndexRow {
        IndexRow { identity: identity_hash(id), content: 0, listed: 0, flags }
    }

    fn apply(rows: &mut [IndexRow], change: &Withdrawal) {
        for (seq, flags) in &change.flags {
            rows[*seq as usize].flags = *flags;
        }
    }

    #[test]
    fn entries_absent_from_a_complete_document_are_hidden() {
        let starred = Flags::NEW.with(Flag::Starred, true);
        let mut rows = [row("a", Flags::NEW), row("b", Flags::NEW), row("c", starred)];
        let before = Counters { unread: 3, total: 3, starred: 1, next_seq: 3 };
        let change = withdraw(&document(&["a"]), &rows, before);
        assert_eq!(change.withdrawn, [1, 2]);
        assert_eq!(change.counters, Counters { unread: 1, total: 1, starred: 1, next_seq: 3 });
        apply(&mut rows, &change);
        assert!(rows[2].flags.is_shown(), "a starred entry stays among the starred");
        assert!(!rows[1].flags.is_shown());

        let undone = restore(&change.withdrawn, &rows, change.counters);
        assert_eq!(undone.counters, before);
        apply(&mut rows, &undone);
        assert!(rows.iter().all(|row| row.flags.is_live()));
    }

    #[test]
    fn returning_entry_is_part_of_the_feed_again() {
        let mut rows = [row("a", Flags::NEW), row("b", Flags::NEW)];
        let sums = Counters { unread: 2, total: 2, starred: 0, next_seq: 2 };
        let none = withdraw(&document(&[]), &rows, sums);
        apply(&mut rows, &none);
        let again = withdraw(&document(&["b"]), &rows, none.counters);
        assert_eq!((again.counters.total, again.withdrawn.len()), (1, 0));
        apply(&mut rows, &again);
        assert!(rows[1].flags.is_live() && !rows[0].flags.is_live());
    }
}
