//! What another reader knew about the entries of a feed: which of them were read, starred or labelled there. Most entries arrive
//! only after the import, so this is kept for a limited time until they arrive.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::feed::Entry;
use crate::feed::identity::identity_hash;
use crate::history::{Flag, Flags, KeptEntry};

/// How long the program waits for the entries of an import.
const KEPT: TimeDelta = TimeDelta::days(90);

/// An entry as another reader knew it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ElsewhereEntry {
    /// The entry. Its id is the id that the other reader uses, or empty.
    pub entry: Entry,
    /// Whether it was read there.
    pub is_read: bool,
    /// Whether it was starred or flagged there.
    pub is_starred: bool,
    /// Its labels there.
    pub labels: Vec<String>,
}

impl ElsewhereEntry {
    /// Checks whether the user wanted to keep the entry. If its feed does not contain such an entry, it is added with its text.
    pub const fn is_kept(&self) -> bool {
        self.is_starred || !self.labels.is_empty()
    }
}

/// What another reader knew about entries, by the address of the feed.
pub type KnownEntries = BTreeMap<String, Vec<ElsewhereEntry>>;

/// Entries of a feed that another reader knew and that have not arrived yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenElsewhere {
    /// Time of the last import.
    noted_at: DateTime<Utc>,
    entries: Vec<SeenEntry>,
    /// Imports that were undone and can be redone, as [`SeenEntry::import`]. Their entries are kept but not waited for.
    #[serde(default)]
    undone: BTreeSet<i64>,
}

/// Hashes of the properties that identify an entry, in descending order of reliability: its id, its link, and its title with its
/// date. 0 means that the property is missing.
type Marks = [u64; 3];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SeenEntry {
    marks: Marks,
    is_read: bool,
    is_starred: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    labels: Vec<String>,
    /// Time of the import, in microseconds since 1970.
    #[serde(default)]
    import: i64,
}

impl SeenEntry {
    fn seen(&self) -> Seen {
        let Self { is_read, is_starred, labels, .. } = self;
        Seen { is_read: *is_read, is_starred: *is_starred, labels: labels.clone() }
    }
}

impl SeenElsewhere {
    /// Notes entries. If an entry occurs several times, the occurrence that was read, starred or labelled counts.
    pub fn new(entries: &[ElsewhereEntry], now: DateTime<Utc>) -> Self {
        let noted = entries.iter().map(|it| SeenEntry {
            marks: marks_of_entry(&it.entry),
            is_read: it.is_read,
            is_starred: it.is_starred,
            labels: it.labels.clone(),
            import: now.timestamp_micros(),
        });
        let mut entries: Vec<SeenEntry> = noted.collect();
        // The last occurrence counts, so sort marked ones to the end.
        entries.sort_by_key(|it| it.is_read || it.is_starred || !it.labels.is_empty());
        Self { noted_at: now, entries, undone: BTreeSet::new() }
    }

    /// Adds the entries of a later import.
    pub fn extend(&mut self, later: Self) {
        self.noted_at = self.noted_at.max(later.noted_at);
        // After a later import, an undone import cannot be redone, so drop its entries.
        let undone = std::mem::take(&mut self.undone);
        self.entries.retain(|it| !undone.contains(&it.import));
        let known: BTreeMap<Marks, Seen> =
            self.entries.iter().map(|it| (it.marks, it.seen())).collect();
        // Entries with the same marks in an earlier import stay part of that import, so that its undo covers them.
        let is_new = |it: &SeenEntry| known.get(&it.marks) != Some(&it.seen());
        self.entries.extend(later.entries.into_iter().filter(is_new));
        self.undone.extend(later.undone);
    }

    /// Stops waiting for the entries of an import that is undone, or waits for them again if it is redone.
    pub fn set_undone(&mut self, import: DateTime<Utc>, is_undone: bool) {
        if is_undone {
            self.undone.insert(import.timestamp_micros());
        } else {
            self.undone.remove(&import.timestamp_micros());
        }
    }

    /// Checks whether the program waits for this entry.
    pub fn waits_for(&self, entry: &Entry) -> bool {
        let marks = marks_of_entry(entry);
        self.waiting().any(|(_, waiting)| waiting.marks == marks)
    }

    /// Returns the entries that the program waits for, with their positions.
    fn waiting(&self) -> impl Iterator<Item = (usize, &SeenEntry)> {
        let numbered = (0..).zip(&self.entries);
        numbered.filter(|(_, entry)| !self.undone.contains(&entry.import))
    }

    /// Returns the number of read entries and the number of starred entries that the program waits for.
    pub fn counts(&self) -> (usize, usize) {
        let count = |is: fn(&SeenEntry) -> bool| self.waiting().filter(|(_, it)| is(it)).count();
        (count(|it| it.is_read), count(|it| it.is_starred))
    }

    /// Checks whether no entries are noted.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Checks whether the time for waiting is over.
    pub fn is_outdated(&self, now: DateTime<Utc>) -> bool {
        now.signed_duration_since(self.noted_at) > KEPT
    }

    /// Removes the entries that have arrived. Returns what was known about them, by the number of the entry here. Compares the
    /// ids of all entries first, then links, then titles with dates. An entry whose id matches is therefore never assigned to
    /// another entry with the same link.
    pub fn take<'k>(
        &mut self,
        met: impl Iterator<Item = (u32, &'k KeptEntry)>,
    ) -> BTreeMap<u32, Seen> {
        let mut met: Vec<(u32, Marks)> = met
            .map(|(seq, kept)| {
                let date = kept.published.or(kept.updated);
                (seq, marks_of(&kept.id, kept.link.as_deref(), kept.title.as_deref(), date))
            })
            .collect();
        let (mut taken, mut found) = (BTreeSet::new(), BTreeMap::new());
        for kind in 0..3 {
            let mark = |marks: &Marks| marks.get(kind).copied().filter(|mark| *mark != 0);
            let waiting: BTreeMap<u64, &SeenEntry> = self
                .waiting()
                .filter(|(_, entry)| !taken.contains(&entry.marks))
                .filter_map(|(_, entry)| Some((mark(&entry.marks)?, entry)))
                .collect();
            met.retain(|(seq, marks)| {
                let entry = mark(marks).and_then(|mark| waiting.get(&mark));
                let Some(entry) = entry.filter(|entry| taken.insert(entry.marks)) else {
                    return true;
                };
                found.insert(*seq, entry.seen());
                false
            });
        }
        self.entries.retain(|entry| !taken.contains(&entry.marks));
        found
    }
}

/// What another reader knew about an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Whether it was read.
    pub is_read: bool,
    /// Whether it was starred.
    pub is_starred: bool,
    /// Its labels.
    pub labels: Vec<String>,
}

impl Seen {
    /// Adds the marks to those of an entry here. No entry becomes unread or loses its star.
    pub const fn added_to(&self, flags: Flags) -> Flags {
        let read = if self.is_read { flags.with(Flag::Read, true) } else { flags };
        if self.is_starred { read.with(Flag::Starred, true) } else { read }
    }

    /// Sets the marks of an entry that is new here. If it was not read in the other reader, it becomes unread, even if it came
    /// from an archive and therefore counted as read.
    pub const fn set_on_new(&self, flags: Flags) -> Flags {
        let flags = self.added_to(flags);
        if self.is_read { flags } else { flags.with(Flag::Read, false) }
    }
}

fn marks_of_entry(entry: &Entry) -> Marks {
    let date = entry.published.or(entry.updated);
    marks_of(&entry.id, entry.link.as_deref(), entry.title.as_deref(), date)
}

fn marks_of(
    id: &str,
    link: Option<&str>,
    title: Option<&str>,
    date: Option<DateTime<Utc>>,
) -> Marks {
    let hash = |text: &str| if text.is_empty() { 0 } else { identity_hash(text) };
    let link = link.unwrap_or_default().trim();
    // Ignore the scheme, because one side may have used `http` and the other one `https`.
    let link = link.split_once("://").map_or(link, |(_, address)| address);
    let dated =
        title.zip(date).map(|(title, date)| format!("{}\n{}", title.trim(), date.timestamp()));
    [hash(id.trim()), hash(link), hash(&dated.unwrap_or_default())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::kept::{Position, Rank};

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
    }

    fn known(id: &str, link: &str, title: &str, seconds: i64, starred: bool) -> ElsewhereEntry {
        let entry = Entry {
            id: id.into(),
            link: Some(link.into()),
            title: Some(title.into()),
            published: Some(at(seconds)),
            ..Entry::default()
        };
        ElsewhereEntry { entry, is_read: true, is_starred: starred, labels: Vec::new() }
    }

    fn kept(id: &str, link: &str, title: &str, seconds: i64) -> KeptEntry {
        let entry = known(id, link, title, seconds, false).entry;
        let rank = Rank::new(None, None, Position::Subscription, at(0));
        KeptEntry::from_copy(&entry, at(0), rank)
    }

    #[test]
    fn an_import_after_an_undone_one_is_waited_for() {
        let entries = [known("a", "https://site.example/a", "A", 1, true)];
        let mut seen = SeenElsewhere::new(&entries, at(0));
        seen.set_undone(at(0), true);
        assert_eq!(seen.counts(), (0, 0));
        seen.extend(SeenElsewhere::new(&entries, at(9)));
        assert_eq!(seen.counts(), (1, 1));
        let met = kept("a", "https://site.example/a", "A", 1);
        assert_eq!(seen.take([(4, &met)].into_iter()).len(), 1);
        assert!(seen.is_empty());
    }

    #[test]
    fn entries_are_found_by_id_then_link_then_title_and_date() {
        let noted = [
            known("1", "http://a.example/1", "one", 1, true),
            known("2", "http://a.example/2", "two", 2, false),
            known("", "http://a.example/x", "three", 3, false),
            known("4", "http://a.example/4", "four", 4, false),
        ];
        let mut seen = SeenElsewhere::new(&noted, at(0));
        let met = [
            // This entry has the link of the second entry, but the id of the first.
            kept("1", "https://a.example/2", "1", 0),
            kept("other", "https://a.example/2", "2", 0),
            kept("third", "https://b.example/", "three", 3),
            kept("new", "https://b.example/new", "three", 4),
        ];
        let found = seen.take((0..).zip(&met));
        let starred: Vec<_> = found.iter().map(|(seq, flags)| (*seq, flags.is_starred)).collect();
        assert_eq!(starred, [(0, true), (1, false), (2, false)]);
        assert_eq!(seen.counts(), (1, 0), "the fourth is waited for");
        assert!(seen.take((0..).zip(&met)).is_empty(), "each is found once");
        let flags = found[&0].added_to(Flags::NEW);
        assert!(flags.was_opened() && flags.is_starred());
        assert!(!seen.is_outdated(at(90 * 86_400)) && seen.is_outdated(at(90 * 86_400 + 1)));
    }

    #[test]
    fn marked_copies_and_later_imports_count() {
        let unread = ElsewhereEntry { is_read: false, ..known("1", "", "", 0, false) };
        let copies = [known("1", "", "", 0, false), unread.clone()];
        let entry = kept("1", "", "", 0);
        let met = || [(7, &entry)].into_iter();
        assert!(SeenElsewhere::new(&copies, at(0)).take(met())[&7].is_read);
        let mut seen = SeenElsewhere::new(&[unread], at(0));
        assert_eq!(seen.counts(), (0, 0));
        seen.extend(SeenElsewhere::new(&[known("1", "", "", 0, false)], at(1)));
        let labelled =
            ElsewhereEntry { labels: vec!["later".into()], ..known("1", "", "", 0, true) };
        seen.extend(SeenElsewhere::new(&[labelled], at(2)));
        let mut without = seen.clone();
        without.set_undone(at(2), true);
        assert!(!without.take(met())[&7].is_starred, "the last import was undone");
        let mut redone = seen.clone();
        redone.set_undone(at(2), true);
        redone.set_undone(at(2), false);
        let found = redone.take(met());
        assert!(found[&7].is_starred && found[&7].labels == ["later"]);
        assert!(redone.is_empty(), "earlier copies are dropped");
        let mut again = SeenElsewhere::new(&copies[..1], at(0));
        again.extend(SeenElsewhere::new(&copies[..1], at(1)));
        again.set_undone(at(1), true);
        assert_eq!(again.counts(), (1, 0), "the first import still waits for it");
    }

    #[test]
    fn new_entries_get_the_marks_of_the_other_reader() {
        let seen = |is_read| Seen { is_read, ..Seen::default() };
        assert!(!seen(false).set_on_new(Flags::OLD).is_read());
        assert!(
            seen(false).added_to(Flags::OLD).is_read()
                && seen(true).set_on_new(Flags::NEW).is_read()
        );
    }
}
