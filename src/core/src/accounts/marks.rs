//! Merges the marks of both sides. For each entry, the marks on which both sides last agreed are stored. If a mark of one side
//! differs from them, that side changed it, no matter when, and the other side takes it over. No clocks are compared, and no mark
//! is sent twice.
//!
//! Labels are merged in the same way: each label of an entry is treated like a mark.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::api_call::{ItemId, MarkAction};

/// Marks of an entry that both sides have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Marks {
    /// Whether it is read.
    pub is_read: bool,
    /// Whether it is starred.
    pub is_starred: bool,
}

/// No mark.
const NO_MARKS: Marks = Marks { is_read: false, is_starred: false };

/// The marks of an entry, as far as this side knows them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KnownMarks {
    /// Marks on which both sides last agreed.
    pub agreed: Marks,
    /// Marks here.
    pub local: Marks,
    /// Marks whose change was sent, or was about to be sent, but not yet confirmed by the server.
    pub sent: Marks,
    /// Marks of a restored backup that differ from the agreed ones. They are sent only after the user confirms it, because the
    /// server may have changed since the backup.
    pub held: Marks,
}

impl KnownMarks {
    /// Applies the marks of the server. Marks that were changed here are kept, and still count as unsent until the server has
    /// them.
    #[must_use]
    pub fn merged(self, remote: Marks) -> Self {
        let read = Mark {
            agreed: self.agreed.is_read,
            local: self.local.is_read,
            sent: self.sent.is_read,
        };
        let star = Mark {
            agreed: self.agreed.is_starred,
            local: self.local.is_starred,
            sent: self.sent.is_starred,
        };
        let (read, star) = (read.merged(remote.is_read), star.merged(remote.is_starred));
        Self {
            agreed: Marks { is_read: read.agreed, is_starred: star.agreed },
            local: Marks { is_read: read.local, is_starred: star.local },
            sent: Marks::default(),
            held: Marks {
                is_read: self.held.is_read && read.local != read.agreed,
                is_starred: self.held.is_starred && star.local != star.agreed,
            },
        }
    }

    /// Returns the marks for an entry of a restored backup: marks that differ from the agreed ones are held until the user
    /// answers.
    #[must_use]
    pub fn restored(self) -> Self {
        let held = Self { held: Marks::default(), ..self }.changed();
        Self { held, sent: Marks::default(), ..self }
    }

    /// Applies the user's answer about the held marks: either they are sent, or the agreed marks are restored here.
    #[must_use]
    pub const fn answered(self, is_sent: bool) -> Self {
        let Self { agreed, local, held, .. } = self;
        let local = if is_sent {
            local
        } else {
            Marks {
                is_read: if held.is_read { agreed.is_read } else { local.is_read },
                is_starred: if held.is_starred { agreed.is_starred } else { local.is_starred },
            }
        };
        Self { local, held: NO_MARKS, ..self }
    }

    /// Returns the state of an entry that both sides have but that was never compared. It is read here if it is read on either
    /// side, and starred here if it is starred on either side.
    pub const fn first(local: Marks, remote: Marks) -> Self {
        let both = Marks {
            is_read: local.is_read || remote.is_read,
            is_starred: local.is_starred || remote.is_starred,
        };
        Self { agreed: remote, local: both, sent: NO_MARKS, held: NO_MARKS }
    }

    /// Checks whether both sides have the same marks, as far as this side knows.
    pub fn is_settled(&self) -> bool {
        self.changed() == NO_MARKS && self.sent == NO_MARKS
    }

    /// Returns the marks that differ here from the agreed ones and are not held. They must be sent unless the server already has
    /// them.
    pub const fn changed(self) -> Marks {
        let Self { agreed, local, held, .. } = self;
        Marks {
            is_read: local.is_read != agreed.is_read && !held.is_read,
            is_starred: local.is_starred != agreed.is_starred && !held.is_starred,
        }
    }
}

/// One mark of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) agreed: bool,
    pub(super) local: bool,
    pub(super) sent: bool,
}

impl Mark {
    pub(super) const fn merged(self, remote: bool) -> Self {
        let Self { agreed, local, sent } = self;
        let is_own_change = sent && remote != agreed;
        let (agreed, local) = if local == remote {
            (remote, remote)
        } else if is_own_change {
            // The server has what was sent, and the mark was changed here again since then.
            (remote, local)
        } else if local == agreed {
            (remote, remote)
        } else {
            (agreed, local)
        };
        Self { agreed, local, sent: false }
    }
}

/// The marks on the server, as the lists of unread and starred entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerMarks {
    /// Unread entries.
    pub unread: BTreeSet<ItemId>,
    /// Starred entries.
    pub starred: BTreeSet<ItemId>,
}

impl ServerMarks {
    /// Returns the marks of an entry that exists on the server.
    pub fn of(&self, id: &ItemId) -> Marks {
        Marks { is_read: !self.unread.contains(id), is_starred: self.starred.contains(id) }
    }

    /// Returns the entries that may no longer exist on the server: those that were unread or starred and are now in neither list.
    /// The lists alone do not show whether such an entry was deleted, or was read or lost its star.
    pub fn doubtful(&self, known: &BTreeMap<ItemId, KnownMarks>) -> Vec<ItemId> {
        let vanished = |id: &ItemId, marks: &KnownMarks| {
            let there = self.of(id);
            (there.is_read && !marks.agreed.is_read || !there.is_starred && marks.agreed.is_starred)
                && !self.starred.contains(id)
                && !self.unread.contains(id)
        };
        known.iter().filter(|(id, marks)| vanished(id, marks)).map(|(id, _)| id.clone()).collect()
    }

    /// Returns the changes to send: marks that were changed here and that the server does not have. A mark that the server
    /// already has is never sent, because some servers toggle marks.
    pub fn to_send(
        &self,
        known: &BTreeMap<ItemId, KnownMarks>,
    ) -> BTreeMap<MarkAction, Vec<ItemId>> {
        let mut changes: BTreeMap<MarkAction, Vec<ItemId>> = BTreeMap::new();
        for (id, marks) in known {
            let (local, differs, there) = (marks.local, marks.changed(), self.of(id));
            let mut send = |action| changes.entry(action).or_default().push(id.clone());
            if differs.is_read && local.is_read != there.is_read {
                send(if local.is_read { MarkAction::Read } else { MarkAction::Unread });
            }
            if differs.is_starred && local.is_starred != there.is_starred {
                send(if local.is_starred { MarkAction::Star } else { MarkAction::Unstar });
            }
        }
        changes
    }
}

/// A label, as both sides last agreed on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgreedLabel {
    /// Entries with the label.
    pub entries: BTreeSet<ItemId>,
    /// Entries whose change was sent, or was about to be sent, but not yet confirmed by the server.
    pub sent: BTreeSet<ItemId>,
    /// Entries of a restored backup whose label differs from the agreed state. As with marks, it is sent only after the user
    /// confirms it.
    pub held: BTreeSet<ItemId>,
}

/// A label as this side knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownLabel {
    /// The label, as both sides last agreed on it.
    pub agreed: AgreedLabel,
    /// Entries that have the label here.
    pub local: BTreeSet<ItemId>,
}

impl KnownLabel {
    /// Applies the labels of the server. `is_shared` checks whether an entry exists on both sides. Other entries are left out.
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

    /// Returns the label for a restored backup: what differs from the agreed state is held until the user answers.
    #[must_use]
    pub fn restored(&self) -> AgreedLabel {
        let entries = self.agreed.entries.clone();
        let held = self.local.symmetric_difference(&entries).cloned().collect();
        AgreedLabel { entries, held, sent: BTreeSet::new() }
    }

    /// Applies the user's answer. If it is no, the local state of the held entries counts as agreed, so that the next sync takes
    /// over what the server has.
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

    /// Returns the entries that must get the label on the server, and those that must lose it. Call [`Self::merged`] first, so
    /// that the result contains no change that the server already has.
    pub fn to_send(&self) -> [(bool, Vec<ItemId>); 2] {
        let entries = &self.agreed.entries;
        let wanted = |id: &&ItemId| !self.agreed.held.contains(*id);
        let set = self.local.difference(entries).filter(wanted).cloned().collect();
        [(true, set), (false, entries.difference(&self.local).filter(wanted).cloned().collect())]
    }

    /// Checks whether there may be changes to send.
    pub fn is_changed(&self) -> bool {
        !self.agreed.sent.is_empty() || self.to_send().iter().any(|(_, ids)| !ids.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_that_changed_a_mark_counts() {
        // Each row: agreed, local, sent and remote before; then agreed and local after a pull.
        for (agreed, local, sent, remote, after) in [
            (false, false, false, false, (false, false)),
            (false, false, false, true, (true, true)),
            (false, true, false, false, (false, true)),
            (false, true, true, false, (false, true)),
            (false, true, false, true, (true, true)),
            (false, true, true, true, (true, true)),
            (false, false, true, true, (true, false)),
            (true, true, false, true, (true, true)),
            (true, true, false, false, (false, false)),
            (true, true, true, false, (false, true)),
            (true, false, false, true, (true, false)),
            (true, false, false, false, (false, false)),
        ] {
            let marks = |value| Marks { is_read: value, is_starred: !value };
            let sent = Marks { is_read: sent, is_starred: sent };
            let held = Marks::default();
            let known = KnownMarks { agreed: marks(agreed), local: marks(local), sent, held };
            let (agreed, local) = (marks(after.0), marks(after.1));
            let expected = KnownMarks { agreed, local, ..KnownMarks::default() };
            assert_eq!(known.merged(marks(remote)), expected, "{known:?} {remote}");
        }
    }

    #[test]
    fn unsent_marks_of_a_backup_wait_for_an_answer() {
        // Each row: agreed and local in the backup, and remote now; then whether the mark is held, and local after the answers
        // yes and no.
        for (agreed, local, remote, waits, sent, dropped) in [
            (false, true, false, true, true, false),
            (true, false, true, true, false, true),
            (false, true, true, false, true, true),
            (false, false, true, false, true, true),
            (true, true, true, false, true, true),
        ] {
            let marks = |value| Marks { is_read: value, is_starred: value };
            let (agreed, local, sending) = (marks(agreed), marks(local), marks(true));
            let backup = KnownMarks { agreed, local, sent: sending, ..KnownMarks::default() };
            let known = backup.restored().merged(marks(remote)).merged(marks(remote));
            assert_eq!(known.held, marks(waits), "{backup:?}");
            let changed = known.changed();
            assert_eq!(changed, Marks::default(), "{backup:?}: nothing is sent before");
            assert_eq!(known.answered(true).local, marks(sent), "{backup:?}");
            assert_eq!(known.answered(false).local, marks(dropped), "{backup:?}");
            assert_eq!(known.answered(true).changed(), marks(waits), "{backup:?}");
        }
    }

    #[test]
    fn only_what_the_server_does_not_have_is_sent() {
        let id = |number: u32| ItemId::read(&number.to_string()).unwrap();
        let read = |agreed, local| KnownMarks {
            agreed: Marks { is_read: agreed, is_starred: false },
            local: Marks { is_read: local, is_starred: !local },
            ..KnownMarks::default()
        };
        let known = BTreeMap::from([
            (id(1), read(false, true)),
            (id(2), read(false, true)),
            (id(3), read(true, false)),
            (id(4), read(true, true)),
        ]);
        let unread = BTreeSet::from([id(1), id(4)]);
        let server = ServerMarks { unread, starred: BTreeSet::new() };
        let sent = server.to_send(&known);
        assert_eq!(
            sent,
            BTreeMap::from([
                (MarkAction::Read, vec![id(1)]),
                (MarkAction::Unread, vec![id(3)]),
                (MarkAction::Star, vec![id(3)]),
            ])
        );
        assert_eq!(server.doubtful(&known), [id(2)], "it was unread and is in no list");
    }

    fn ids(numbers: &[u32]) -> BTreeSet<ItemId> {
        numbers.iter().filter_map(|number| ItemId::read(&number.to_string())).collect()
    }

    #[test]
    fn the_side_that_changed_a_label_counts() {
        // Each row: agreed, sent, local and remote before; then agreed and local afterwards.
        for (agreed, sent, local, remote, after) in [
            (&[][..], &[][..], &[1][..], &[2][..], (&[2][..], &[1, 2][..])),
            (&[1, 2], &[], &[1], &[2], (&[2], &[])),
            (&[1], &[], &[1], &[], (&[], &[])),
            (&[1], &[], &[], &[1], (&[1], &[])),
            // The server has what was sent, and the change was reverted here in the meantime.
            (&[], &[1], &[], &[1], (&[1], &[])),
            (&[1], &[1], &[1], &[], (&[], &[1])),
            // Entry 9 does not exist here.
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
