//! Chooses the entries of the subscription document: the newest ones, and archived ones that earlier subscribers would miss.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};

use super::outline::Outline;
use super::plan::{Archive, Division, REPEATED_ARCHIVES_MAX, TEXT_BYTES_MAX};

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
