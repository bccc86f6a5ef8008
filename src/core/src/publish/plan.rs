//! Divides a history into a subscription document and archives, and links them.
//!
//! Archives are stable: their addresses and the division depend only on the dates of the entries, and grow at the new end. A gap
//! always lies between two documents, so that a link can lead to it.
//!
//! The subscription document has the newest entries, and archived ones that earlier subscribers would miss.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};

use crate::history::kept::Position;
use crate::history::{EntryBody, Gap, HistoryRecord, HistoryStatus, IndexRow, KeptEntry};

/// The parts of an entry that determine its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// The caller's number of the entry.
    pub key: u32,
    /// Date under which the entry is listed.
    pub listed: DateTime<Utc>,
    /// Size of its texts, in bytes.
    pub bytes: usize,
    /// Time at which its publisher edited or deleted the entry, as far as known.
    pub changed: Option<DateTime<Utc>>,
    /// Time at which a poll of the feed found it first; `None` if it is known only from an archive of the publisher.
    pub polled: Option<DateTime<Utc>>,
    /// Whether its publisher deleted the entry. Only its id is published then (RFC 6721).
    pub is_deleted: bool,
}

/// What is known of a feed's history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryOutline {
    /// All entries that are part of the logical feed, and those that its publisher deleted.
    pub entries: Vec<Outline>,
    /// For each gap the date of the oldest entry above it. Entries of the same date are above the gap.
    pub gaps: BTreeSet<DateTime<Utc>>,
    /// Whether it is known that there are no entries older than the oldest one.
    pub has_beginning: bool,
}

impl Outline {
    /// Creates the outline of an entry; `None` if the entry is not part of its feed, because a complete document left it out.
    pub fn of(
        key: u32,
        row: &IndexRow,
        kept: &KeptEntry,
        body: Option<&EntryBody>,
    ) -> Option<Self> {
        let is_deleted = row.flags.is_deleted();
        if row.flags.is_withdrawn() && !is_deleted {
            return None;
        }
        let previous = body.and_then(|body| body.previous.as_ref());
        let edited = previous.map(|previous| previous.at);
        let texts = body.map_or(0, |body| {
            [&body.summary, &body.content].into_iter().flatten().map(String::len).sum()
        });
        Some(Self {
            key,
            listed: kept.listed(),
            bytes: if is_deleted { 0 } else { texts },
            changed: if is_deleted { kept.deleted } else { edited },
            polled: (kept.rank.position == Position::Subscription).then_some(kept.first_seen),
            is_deleted,
        })
    }
}

impl HistoryOutline {
    /// Returns what a feed's record tells of its history, without entries. A history has a beginning only if the walk through its
    /// archives reached their end, or if a complete document contained it.
    pub fn of_record(record: &HistoryRecord) -> Self {
        let gaps = record.gaps.values().filter(|gap| gap.counts()).map(Gap::listed);
        let unread = record.frontiers.iter().filter(|next| next.gap.is_none() && !next.again);
        let unread = unread.filter_map(|next| next.edge.newer.oldest);
        let has_beginning = match record.status() {
            HistoryStatus::Complete(_) | HistoryStatus::CompleteExcept(_) => true,
            HistoryStatus::Partial { .. } => record.frontiers.is_empty(),
            HistoryStatus::OnlyAnArchive
            | HistoryStatus::NotOffered
            | HistoryStatus::Paged
            | HistoryStatus::Adapted(..)
            | HistoryStatus::Doubtful(..) => false,
        };
        Self { entries: Vec::new(), gaps: gaps.chain(unread).collect(), has_beginning }
    }
}

/// File name of the subscription document.
pub const SUBSCRIPTION_NAME: &str = "feed.atom";
/// File name to which the oldest document links if entries before it may exist. No such document is written.
const EARLIER_NAME: &str = "earlier.atom";
/// Smallest number of entries in an archive of whole months: an archive each for fewer entries would cost readers many requests.
const MONTH_ENTRIES_MIN: usize = 15;
/// Largest number of archives whose entries are all in the subscription document too.
const REPEATED_ARCHIVES_MAX: usize = 2;
/// Largest number of entries in an archive of a month.
const MONTH_ENTRIES_MAX: usize = 500;
/// Largest size of the texts in an archive and in the subscription document, in bytes.
pub(super) const TEXT_BYTES_MAX: usize = 512 * 1024;
/// Number of newest entries that the subscription document contains, if it has as many, including archived ones.
const WINDOW_ENTRIES: usize = 30;
/// Largest number of entries of a feed that is published as one complete document, and the largest size of their texts in bytes.
const COMPLETE_MAX: (usize, usize) = (50, 128 * 1024);
/// A month counts as over after this number of hours, because readers may find its last entries late.
const MONTH_GRACE_HOURS: i64 = 24;

/// How entries are divided into archives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveSize {
    /// One archive for each month; several if the month has many entries, and one for several months if they have few.
    Month,
    /// One archive for each number of entries.
    Entries(usize),
}

/// A document to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPlan {
    /// File name of the document.
    pub name: String,
    /// What the document is.
    pub rank: DocumentRank,
    /// Numbers of its entries, in the order in which they are written.
    pub entries: Vec<u32>,
    /// Numbers of the entries that it lists as deleted.
    pub deleted: Vec<u32>,
    /// Link to the next older archive.
    pub prev: Option<PlannedLink>,
    /// Link to the next newer archive.
    pub next: Option<PlannedLink>,
}

/// What a document is within its feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentRank {
    /// The document to subscribe to, which contains the newest entries.
    Subscription,
    /// The only document, which contains the whole feed (RFC 5005 section 2).
    Complete,
    /// An archive (RFC 5005 section 4).
    Archive,
}

/// A link from one document to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedLink {
    /// File name of the target.
    pub name: String,
    /// Whether the target is a missing part of the history, so that no such document exists.
    pub is_missing: bool,
}

impl PlannedLink {
    fn to(name: &str) -> Self {
        Self { name: name.to_owned(), is_missing: false }
    }

    fn to_missing(name: String) -> Self {
        Self { name, is_missing: true }
    }
}

impl DocumentPlan {
    /// Plans all documents of a feed. Archives come first, the oldest one first, and the subscription document is the last. If they
    /// are written in this order, no link ever leads to a document that is still to be written.
    pub fn all(history: &HistoryOutline, size: ArchiveSize, now: DateTime<Utc>) -> Vec<Self> {
        let mut entries = history.entries.clone();
        // Of one date, the lists show the lower number first.
        entries.sort_unstable_by_key(|entry| (entry.listed.timestamp(), Reverse(entry.key)));
        let division = Division { entries: &entries, size, now };
        let stretches = stretches(&entries, &history.gaps);
        let mut archives: Vec<Archive> = Vec::new();
        let mut open = 0..0;
        for (place, stretch) in stretches.iter().enumerate() {
            let is_last = place + 1 == stretches.len();
            let (closed, rest) = division.archives(stretch.range.clone(), is_last);
            if is_last {
                open = division.window(&closed, rest);
            }
            archives.extend(
                closed
                    .into_iter()
                    .enumerate()
                    .map(|(at, range)| Archive { range, below: stretch.below.filter(|_| at == 0) }),
            );
        }
        let last = stretches.last();
        let has_own_archive = last.is_some_and(|last| {
            archives.last().is_some_and(|archive| archive.range.start >= last.range.start)
        });
        let below_open = last.and_then(|last| last.below).filter(|_| !has_own_archive);
        let is_small =
            entries.len() <= COMPLETE_MAX.0 && division.bytes(0..entries.len()) <= COMPLETE_MAX.1;
        let is_whole = history.has_beginning && history.gaps.is_empty();
        if is_whole && (is_small || archives.is_empty()) {
            // Without a link to archives, only this mark tells readers that nothing is missing.
            return vec![Self {
                name: SUBSCRIPTION_NAME.to_owned(),
                rank: DocumentRank::Complete,
                entries: division.keys(0..entries.len(), false),
                deleted: division.keys(0..entries.len(), true),
                prev: None,
                next: None,
            }];
        }
        let earlier = (!history.has_beginning).then(|| EARLIER_NAME.to_owned());
        division.link(&archives, open, below_open, earlier)
    }
}

/// A range of entries without a gap inside, and the date of the gap below it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stretch {
    range: Range<usize>,
    below: Option<DateTime<Utc>>,
}

/// An archive: its entries, and the date of the gap directly below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Archive {
    pub(super) range: Range<usize>,
    below: Option<DateTime<Utc>>,
}

/// Divides sorted entries at the gaps, oldest first. The last stretch is empty if nothing newer than the newest gap is known.
fn stretches(entries: &[Outline], gaps: &BTreeSet<DateTime<Utc>>) -> Vec<Stretch> {
    let mut found = vec![Stretch { range: 0..0, below: None }];
    for &gap in gaps {
        let cut = entries.partition_point(|entry| entry.listed < gap);
        let Some(last) = found.last_mut() else { continue };
        last.range.end = cut;
        if last.range.is_empty() && last.below.is_some() {
            // Two gaps without a known entry between them are one.
            continue;
        }
        if last.range.is_empty() {
            last.below = Some(gap);
        } else {
            found.push(Stretch { range: cut..cut, below: Some(gap) });
        }
    }
    if let Some(last) = found.last_mut() {
        last.range.end = entries.len();
    }
    found
}

/// The sorted entries, and how they are divided.
pub(super) struct Division<'e> {
    pub(super) entries: &'e [Outline],
    size: ArchiveSize,
    pub(super) now: DateTime<Utc>,
}

impl Division<'_> {
    pub(super) fn of(&self, range: Range<usize>) -> &[Outline] {
        self.entries.get(range).unwrap_or_default()
    }

    fn bytes(&self, range: Range<usize>) -> usize {
        self.of(range).iter().map(|entry| entry.bytes).fold(0, usize::saturating_add)
    }

    /// Returns the numbers of the entries, or of the deleted entries, newest first.
    pub(super) fn keys(&self, range: Range<usize>, is_deleted: bool) -> Vec<u32> {
        let wanted = self.of(range).iter().rev().filter(|entry| entry.is_deleted == is_deleted);
        wanted.map(|entry| entry.key).collect()
    }

    /// Divides a stretch into archives, oldest first, and the rest that is not archived yet. Only the last stretch has such a rest.
    fn archives(&self, range: Range<usize>, is_last: bool) -> (Vec<Range<usize>>, Range<usize>) {
        let mut closed = Vec::new();
        let mut start = range.start;
        while start < range.end {
            let group = start..self.group_end(start, range.end);
            let is_open = is_last && self.is_open(&group, range.end);
            let mut from = group.start;
            while from < group.end {
                let to = self.part_end(from, group.end);
                if is_open && to == group.end {
                    return (closed, from..range.end);
                }
                closed.push(from..to);
                from = to;
            }
            start = group.end;
        }
        (closed, range.end..range.end)
    }

    /// Returns the end of the entries that share an archive with the one at `start`, apart from the limits of an archive.
    fn group_end(&self, start: usize, end: usize) -> usize {
        if let ArchiveSize::Entries(_) = self.size {
            return end;
        }
        let mut at = start;
        while at < end && at < start + MONTH_ENTRIES_MIN {
            let rest = self.of(at..end);
            let first = rest.first().map(month);
            at += rest.iter().take_while(|entry| Some(month(entry)) == first).count().max(1);
        }
        at
    }

    /// Checks whether a group of entries can still grow.
    fn is_open(&self, group: &Range<usize>, end: usize) -> bool {
        match self.size {
            ArchiveSize::Entries(_) => group.end == end,
            ArchiveSize::Month => {
                let settled = self.now - TimeDelta::hours(MONTH_GRACE_HOURS);
                let newest = self.of(group.clone()).last().map(month);
                let is_over = newest.is_some_and(|newest| newest < month_of(settled));
                !is_over || group.len() < MONTH_ENTRIES_MIN
            }
        }
    }

    /// Returns the end of the archive that starts at `from`. Entries of the same date stay together, because readers use equal
    /// dates to recognise an entry whose id changed.
    fn part_end(&self, from: usize, end: usize) -> usize {
        let (entries_max, bytes_max) = match self.size {
            ArchiveSize::Month => (MONTH_ENTRIES_MAX, TEXT_BYTES_MAX),
            ArchiveSize::Entries(count) => (count.max(1), TEXT_BYTES_MAX),
        };
        let (mut bytes, mut date, mut last_change) = (0_usize, None, None);
        for (count, entry) in self.of(from..end).iter().enumerate() {
            bytes = bytes.saturating_add(entry.bytes);
            if count > 0 && date != Some(entry.listed) {
                last_change = Some(count);
            }
            if count >= entries_max || (count > 0 && bytes > bytes_max) {
                let is_huge = count >= entries_max.saturating_mul(4);
                if let Some(end) = last_change.or(Some(count).filter(|_| is_huge)) {
                    return from + end;
                }
            }
            date = Some(entry.listed);
        }
        end
    }

    /// Returns the entries of the subscription document: all that are not archived, and the newest archived ones of the same
    /// stretch up to the usual number. It repeats at most two whole archives, because readers stop at three archives without new
    /// entries.
    fn window(&self, closed: &[Range<usize>], rest: Range<usize>) -> Range<usize> {
        let repeated = closed.get(closed.len().saturating_sub(REPEATED_ARCHIVES_MAX));
        let lowest = repeated.map_or(rest.start, |archive| archive.start);
        let mut from = rest.start;
        let mut live = self.of(rest.clone()).iter().filter(|entry| !entry.is_deleted).count();
        let mut bytes = self.bytes(rest.clone());
        while from > lowest && live < WINDOW_ENTRIES {
            let Some(entry) = self.entries.get(from - 1) else { break };
            bytes = bytes.saturating_add(entry.bytes);
            if bytes > TEXT_BYTES_MAX {
                break;
            }
            live += usize::from(!entry.is_deleted);
            from -= 1;
        }
        from..rest.end
    }

    /// Returns the documents with their names and links. `below_open` is the date of the gap between the newest archive and the
    /// subscription document; `earlier` is the file name for unknown entries before the oldest one.
    fn link(
        &self,
        archives: &[Archive],
        window: Range<usize>,
        below_open: Option<DateTime<Utc>>,
        earlier: Option<String>,
    ) -> Vec<DocumentPlan> {
        let names = self.names(archives);
        let oldest_gap = match archives.first() {
            Some(archive) => archive.below,
            None => below_open,
        };
        let end = oldest_gap.map(missing_name).or(earlier).map(PlannedLink::to_missing);
        let mut documents = Vec::with_capacity(archives.len() + 1);
        for (place, (archive, name)) in archives.iter().zip(&names).enumerate() {
            let newer = archives.get(place + 1);
            let gap = newer.map_or(below_open, |newer| newer.below);
            let next = match gap {
                Some(gap) => Some(PlannedLink::to_missing(missing_name(gap))),
                None => names.get(place + 1).map(|name| PlannedLink::to(name)),
            };
            let older = place.checked_sub(1).and_then(|older| names.get(older));
            documents.push(DocumentPlan {
                name: name.clone(),
                rank: DocumentRank::Archive,
                entries: self.keys(archive.range.clone(), false),
                deleted: self.keys(archive.range.clone(), true),
                prev: older.map(|name| PlannedLink::to(name)).or_else(|| end.clone()),
                next,
            });
        }
        let (entries, deleted) = self.subscription_keys(archives, window);
        documents.push(DocumentPlan {
            name: SUBSCRIPTION_NAME.to_owned(),
            rank: DocumentRank::Subscription,
            entries,
            deleted,
            prev: names.last().map(|name| PlannedLink::to(name)).or(end),
            next: None,
        });
        documents
    }

    /// Returns the file names of the archives: `2026-03.atom`, and `2026-03-2.atom` for a second one of the month.
    fn names(&self, archives: &[Archive]) -> Vec<String> {
        let mut names: Vec<String> = Vec::with_capacity(archives.len());
        let mut last: Option<(String, usize)> = None;
        for (place, archive) in archives.iter().enumerate() {
            if let ArchiveSize::Entries(_) = self.size {
                names.push(format!("archive-{:04}.atom", place + 1));
                continue;
            }
            let first = self.entries.get(archive.range.start);
            let month = first.map(month).unwrap_or_default();
            let part = match &last {
                Some((same, part)) if *same == month => part + 1,
                Some(_) | None => 1,
            };
            names.push(match part {
                1 => format!("{month}.atom"),
                part => format!("{month}-{part}.atom"),
            });
            last = Some((month, part));
        }
        names
    }
}

fn month(entry: &Outline) -> String {
    month_of(entry.listed)
}

fn month_of(at: DateTime<Utc>) -> String {
    at.format("%Y-%m").to_string()
}

/// Returns the file name to which the documents around a gap link. No such document is written.
fn missing_name(gap: DateTime<Utc>) -> String {
    gap.format("missing-%Y%m%dT%H%M%SZ.atom").to_string()
}

/// Number of days for which the subscription document repeats an archived entry that its publisher edited or deleted, or that
/// arrived late.
const REPEATED_DAYS: i64 = 30;
/// Largest number of archived entries that are repeated for that reason, and the largest size of their texts in bytes.
const REPEATED_MAX: (usize, usize) = (100, TEXT_BYTES_MAX / 4);

impl Division<'_> {
    /// Returns the numbers of the entries and of the deleted entries in the subscription document. Older entries that changed
    /// lately come first: readers recognise them as pinned, and do not take their dates for the end of the document. `window` are
    /// the newest entries.
    pub(super) fn subscription_keys(
        &self,
        archives: &[Archive],
        mut window: Range<usize>,
    ) -> (Vec<u32>, Vec<u32>) {
        let mut repeated = self.repeated(archives, &window, false);
        self.break_rows(archives, &mut window, &mut repeated);
        let keys = |repeated: &BTreeSet<usize>, is_deleted| {
            let older = repeated.range(..window.start).rev();
            let older = older.filter_map(|place| self.entries.get(*place)).map(|entry| entry.key);
            older.chain(self.keys(window.clone(), is_deleted)).collect()
        };
        (keys(&repeated, false), keys(&self.repeated(archives, &window, true), true))
    }

    /// Returns the places of the archived entries to repeat. If too many are older than the window, these are the latest changes.
    fn repeated(
        &self,
        archives: &[Archive],
        window: &Range<usize>,
        is_deleted: bool,
    ) -> BTreeSet<usize> {
        let since = self.now - TimeDelta::days(REPEATED_DAYS);
        let mut missed = self.missed(archives);
        missed.retain(|(at, _, entry)| *at >= since && entry.is_deleted == is_deleted);
        missed.sort_by_key(|(at, place, _)| Reverse((*at, *place)));
        let (mut count, mut bytes) = (0_usize, 0_usize);
        missed.retain(|(_, place, entry)| {
            if window.contains(place) {
                return true;
            }
            let with_it = bytes.saturating_add(entry.bytes);
            let has_room = count < REPEATED_MAX.0 && with_it <= REPEATED_MAX.1;
            if has_room {
                (count, bytes) = (count.saturating_add(1), with_it);
            }
            has_room
        });
        missed.into_iter().map(|(_, place, _)| place).collect()
    }

    /// Returns the archived entries that readers do not get from the archives if they fetched them earlier, with the time of the
    /// change and their place: the publisher edited or deleted the entry, or a poll found it later than one that found an entry
    /// newer than its archive, which may have been closed by then.
    fn missed(&self, archives: &[Archive]) -> Vec<(DateTime<Utc>, usize, &Outline)> {
        let first_poll =
            |entries: &[Outline]| entries.iter().filter_map(|entry| entry.polled).min();
        let end = archives.last().map_or(0, |archive| archive.range.end);
        let mut closed = first_poll(self.of(end..self.entries.len()));
        let mut missed = Vec::new();
        for Archive { range, .. } in archives.iter().rev() {
            let entries = self.of(range.clone());
            for (place, entry) in range.clone().zip(entries) {
                let late = entry.polled.filter(|at| closed.is_some_and(|closed| *at > closed));
                missed.extend(entry.changed.max(late).map(|at| (at, place, entry)));
            }
            closed = closed.into_iter().chain(first_poll(entries)).min();
        }
        missed
    }

    /// Leaves out entries until at most two archives in a row are repeated as a whole, because readers stop at three archives
    /// without new entries: first the oldest entries of the window, which subscribers get from the archives too, then repeated ones.
    fn break_rows(
        &self,
        archives: &[Archive],
        window: &mut Range<usize>,
        repeated: &mut BTreeSet<usize>,
    ) {
        while let Some(row) = self.repeated_row(archives, window, repeated) {
            let mut only_here =
                window.clone().filter(|at| self.is_live(*at) && !repeated.contains(at));
            if let Some(at) = only_here.next().filter(|at| row.contains(at)) {
                window.start = at + 1;
            } else if let Some(dropped) = repeated.range(row).next().copied() {
                repeated.remove(&dropped);
            } else {
                return;
            }
        }
    }

    /// Returns the places of the newest archives in a row, one more than allowed, whose entries are all in the subscription
    /// document. Archives with deleted entries only count as part of a row.
    fn repeated_row(
        &self,
        archives: &[Archive],
        window: &Range<usize>,
        repeated: &BTreeSet<usize>,
    ) -> Option<Range<usize>> {
        let is_known = |at: usize| window.contains(&at) || repeated.contains(&at);
        let (mut count, mut end) = (0_usize, 0);
        for Archive { range, .. } in archives.iter().rev() {
            let mut live = range.clone().filter(|at| self.is_live(*at)).peekable();
            if live.peek().is_none() {
                continue;
            }
            if !live.all(is_known) {
                count = 0;
                continue;
            }
            if count == 0 {
                end = range.end;
            }
            count += 1;
            if count > REPEATED_ARCHIVES_MAX {
                return Some(range.start..end);
            }
        }
        None
    }

    fn is_live(&self, place: usize) -> bool {
        self.entries.get(place).is_some_and(|entry| !entry.is_deleted)
    }
}
