//! Merges the labels that entries have on both sides. Each label of an entry is merged as a mark is.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::item_id::ItemId;
use super::marks::Mark;

/// A label as both sides had it last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgreedLabel {
    /// Entries with the label.
    pub entries: BTreeSet<ItemId>,
    /// Entries of which a change was sent, or was about to be sent, without a look at the server since then.
    pub sent: BTreeSet<ItemId>,
    /// Entries whose label in a restored backup differs: it is sent only if the user says so, as for marks.
    pub held: BTreeSet<ItemId>,
}

/// A label as this side knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownLabel {
    /// The label as both sides had it last.
    pub agreed: AgreedLabel,
    /// Entries that have the label here.
    pub local: BTreeSet<ItemId>,
}

impl KnownLabel {
    /// Applies what the server has. `is_shared` tells whether an entry is on both sides; others are left out.
    #[must_use]
    pub fn merged(&self, remote: &BTreeSet<ItemId>, is_shared: impl Fn(&ItemId) -> bool) -> Self {
        let mut merged = Self::default();
        let entries = &self.agreed.entries;
        let all: BTreeSet<&ItemId> = entries.iter().chain(&self.local).chain(remote).collect();
        for id in all.into_iter().filter(|id| is_shared(id)) {
            let (agreed, local) = (entries.contains(id), self.local.contains(id));
            let mark = Mark { agreed, local, sent: self.agreed.sent.contains(id) };
            let mark = mark.merged(remote.contains(id));
            if mark.agreed {
                merged.agreed.entries.insert(id.clone());
            }
            if mark.local {
                merged.local.insert(id.clone());
            }
            if mark.agreed != mark.local && self.agreed.held.contains(id) {
                merged.agreed.held.insert(id.clone());
            }
        }
        merged
    }

    /// Returns the label as a restored backup has it: what the server did not have waits for an answer of the user.
    #[must_use]
    pub fn restored(&self) -> AgreedLabel {
        let entries = self.agreed.entries.clone();
        let held = self.local.symmetric_difference(&entries).cloned().collect();
        AgreedLabel { entries, held, sent: BTreeSet::new() }
    }

    /// Applies the answer of the user. If it is a no, what waits counts as agreed, so that the next sync takes what the server has.
    #[must_use]
    pub fn answered(&self, is_sent: bool) -> AgreedLabel {
        let mut agreed = AgreedLabel { held: BTreeSet::new(), ..self.agreed.clone() };
        for id in self.agreed.held.iter().filter(|_| !is_sent) {
            if self.local.contains(id) {
                agreed.entries.insert(id.clone());
            } else {
                agreed.entries.remove(id);
            }
        }
        agreed
    }

    /// Returns the entries to label on the server, and those to remove the label from. After [`Self::merged`], the server has none of
    /// these changes.
    pub fn to_send(&self) -> [(bool, Vec<ItemId>); 2] {
        let entries = &self.agreed.entries;
        let wanted = |id: &&ItemId| !self.agreed.held.contains(*id);
        let set = self.local.difference(entries).filter(wanted).cloned().collect();
        [(true, set), (false, entries.difference(&self.local).filter(wanted).cloned().collect())]
    }

    /// Checks whether there may be something to send.
    pub fn is_changed(&self) -> bool {
        !self.agreed.sent.is_empty() || self.to_send().iter().any(|(_, ids)| !ids.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(numbers: &[u32]) -> BTreeSet<ItemId> {
        numbers.iter().filter_map(|number| ItemId::read(&number.to_string())).collect()
    }

    #[test]
    fn the_side_that_changed_a_label_counts() {
        // Agreed, sent, here, there; agreed and here afterwards.
        for (agreed, sent, local, remote, after) in [
            (&[][..], &[][..], &[1][..], &[2][..], (&[2][..], &[1, 2][..])),
            (&[1, 2], &[], &[1], &[2], (&[2], &[])),
            (&[1], &[], &[1], &[], (&[], &[])),
            (&[1], &[], &[], &[1], (&[1], &[])),
            // What was sent arrived, and was reverted here meanwhile.
            (&[], &[1], &[], &[1], (&[1], &[])),
            (&[1], &[1], &[1], &[], (&[], &[1])),
            // Entry 9 is not here.
            (&[], &[], &[], &[9], (&[], &[])),
        ] {
            let agreed =
                AgreedLabel { entries: ids(agreed), sent: ids(sent), ..AgreedLabel::default() };
            let known = KnownLabel { agreed, local: ids(local) };
            let merged = known.merged(&ids(remote), |id| !ids(&[9]).contains(id));
            let entries = (merged.agreed.entries.clone(), merged.local.clone());
            assert_eq!(entries, (ids(after.0), ids(after.1)), "{known:?} {remote:?}");
            assert!(merged.agreed.sent.is_empty());
        }
        let agreed = AgreedLabel { entries: ids(&[1, 2]), ..AgreedLabel::default() };
        let known = KnownLabel { agreed, local: ids(&[2, 3]) };
        let list = |numbers| ids(numbers).into_iter().collect();
        assert_eq!(known.to_send(), [(true, list(&[3])), (false, list(&[1]))]);
        assert!(known.is_changed() && !KnownLabel::default().is_changed());
    }
}
