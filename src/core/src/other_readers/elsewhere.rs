//! What another reader knew of a feed's entries: which of them were read or starred there. Most entries are met only after the
//! import, so this is kept until they are, for a limited time.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::feed::Entry;
use crate::feed::identity::identity_hash;
use crate::history::{Flag, Flags, KeptEntry};

/// Time for which entries are waited for.
const KEPT: TimeDelta = TimeDelta::days(90);

/// An entry as another reader knew it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ElsewhereEntry {
    /// The entry. Its id is what the other reader takes for the identity, or empty.
    pub entry: Entry,
    /// Whether it was read there.
    pub is_read: bool,
    /// Whether it was starred or flagged there.
    pub is_starred: bool,
}

/// What is known of entries, by the address of the feed.
pub type KnownEntries = BTreeMap<String, Vec<ElsewhereEntry>>;

/// Entries of a feed that another reader knew as read or starred.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenElsewhere {
    /// Time of the import.
    noted_at: DateTime<Utc>,
    entries: Vec<SeenEntry>,
}

/// Hashes of what identifies an entry, best first: its id, its link, its title and date. 0 stands for nothing.
type Marks = [u64; 3];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct SeenEntry {
    marks: Marks,
    is_read: bool,
    is_starred: bool,
}

impl SeenElsewhere {
    /// Notes the entries that were read or starred. Of several copies of an entry, one that was read or starred counts.
    pub fn new(entries: &[ElsewhereEntry], now: DateTime<Utc>) -> Self {
        let noted = entries.iter().filter(|it| it.is_read || it.is_starred).map(|it| SeenEntry {
            marks: marks_of_entry(&it.entry),
            is_read: it.is_read,
            is_starred: it.is_starred,
        });
        Self { noted_at: now, entries: noted.collect() }
    }

    /// Adds what a later import says.
    pub fn extend(&mut self, later: Self) {
        self.noted_at = self.noted_at.max(later.noted_at);
        let known: BTreeSet<Marks> = later.entries.iter().map(|it| it.marks).collect();
        self.entries.retain(|it| !known.contains(&it.marks));
        self.entries.extend(later.entries);
    }

    /// Returns whether this entry is waited for.
    pub fn waits_for(&self, entry: &Entry) -> bool {
        let marks = marks_of_entry(entry);
        self.entries.iter().any(|waiting| waiting.marks == marks)
    }

    /// Returns the numbers of read and of starred entries that are waited for.
    pub fn counts(&self) -> (usize, usize) {
        let count = |is: fn(&SeenEntry) -> bool| self.entries.iter().filter(|it| is(it)).count();
        (count(|it| it.is_read), count(|it| it.is_starred))
    }

    /// Returns whether no entry is waited for.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether the time for which entries are waited for is over.
    pub fn is_outdated(&self, now: DateTime<Utc>) -> bool {
        now.signed_duration_since(self.noted_at) > KEPT
    }

    /// Takes the entries that were met. Returns the flags to set, by the number of the entry here. The ids of all entries are compared
    /// first, then links, then titles with dates, so that a repeated link takes nothing from the entry whose id is known.
    pub fn take<'k>(
        &mut self,
        met: impl Iterator<Item = (u32, &'k KeptEntry)>,
    ) -> BTreeMap<u32, SeenFlags> {
        let mut met: Vec<(u32, Marks)> = met
            .map(|(seq, kept)| {
                let date = kept.published.or(kept.updated);
                (seq, marks_of(&kept.id, kept.link.as_deref(), kept.title.as_deref(), date))
            })
            .collect();
        let (mut taken, mut found) = (BTreeSet::new(), BTreeMap::new());
        for kind in 0..3 {
            let mark = |marks: &Marks| marks.get(kind).copied().filter(|mark| *mark != 0);
            let waiting: BTreeMap<u64, usize> = (0..)
                .zip(&self.entries)
                .filter(|(place, _)| !taken.contains(place))
                .filter_map(|(place, entry)| Some((mark(&entry.marks)?, place)))
                .collect();
            met.retain(|(seq, marks)| {
                let place = mark(marks).and_then(|mark| waiting.get(&mark));
                let Some(entry) = place.and_then(|&place| {
                    taken.insert(place).then(|| self.entries.get(place)).flatten()
                }) else {
                    return true;
                };
                let (is_read, is_starred) = (entry.is_read, entry.is_starred);
                found.insert(*seq, SeenFlags { is_read, is_starred });
                false
            });
        }
        let mut place = 0;
        self.entries.retain(|_| {
            place += 1;
            !taken.contains(&(place - 1))
        });
        found
    }
}

/// What another reader says about an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenFlags {
    /// It was read.
    pub is_read: bool,
    /// It was starred.
    pub is_starred: bool,
}

impl SeenFlags {
    /// Adds the flags to those that the entry has here. Nothing becomes unread or loses its star.
    pub fn added_to(self, flags: Flags) -> Flags {
        let read = if self.is_read { flags.with(Flag::Read, true) } else { flags };
        if self.is_starred { read.with(Flag::Starred, true) } else { read }
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
    // Other readers may have asked for the page over the other of the two.
    let link = link.split_once("://").map_or(link, |(_, address)| address);
    let dated =
        title.zip(date).map(|(title, date)| format!("{}\n{}", title.trim(), date.timestamp()));
    [hash(id.trim()), hash(link), hash(&dated.unwrap_or_default())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::rank::{Position, Rank};

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
        ElsewhereEntry { entry, is_read: true, is_starred: starred }
    }

    fn kept(id: &str, link: &str, title: &str, seconds: i64) -> KeptEntry {
        let entry = known(id, link, title, seconds, false).entry;
        let rank = Rank::new(None, None, Position::Subscription, at(0));
        KeptEntry::from_copy(&entry, at(0), rank)
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
            // The link of another one, but the id of the first.
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
    fn unread_entries_are_not_noted_and_a_later_import_counts() {
        let unread = ElsewhereEntry { is_read: false, ..known("1", "", "", 0, false) };
        let mut seen = SeenElsewhere::new(&[unread], at(0));
        assert!(seen.is_empty());
        seen.extend(SeenElsewhere::new(&[known("1", "", "", 0, false)], at(1)));
        seen.extend(SeenElsewhere::new(&[known("1", "", "", 0, true)], at(2)));
        assert_eq!(seen.counts(), (1, 1));
        let found = seen.take([(7, &kept("1", "", "", 0))].into_iter());
        assert!(found[&7].is_starred);
    }
}
