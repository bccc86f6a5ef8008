//! Lists of entries: their order, and the rows around a position. Also reads entries with their texts, and finds the entries that
//! a mark would change.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use backissue_core::feed::fingerprint::PageHash;
use backissue_core::history::{EntryKey, FeedKey, Flag, Flags, GapKey, KeptEntry, TEXT_LOST};
use backissue_core::search::{Matching, SameArticles, folded};
use chrono::{DateTime, Utc};

use super::same_links::JOINED_MAX;
use crate::engine::entries::entry_view::LoadedEntry;
use crate::engine::entries::rows::{
    GapMark, JoinBy, ListPart, ListQuery, ROWS_AT_ONCE_MAX, Row, RowKey, RowOrder, RowsLoaded,
    RowsWanted, Scope, Seek, Show,
};
use crate::engine::entries::todays_reading::{Candidate, Portion, PortionWanted};
use crate::io::codec;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::pack::TableName;

/// The key of today's reading in the table of facts.
const PORTION_KEY: &[u8] = b"portion";

impl Store {
    /// Returns the requested rows of a list. If the request contains a query, builds the list first.
    pub fn rows_wanted(&mut self, wanted: &RowsWanted) -> Result<RowsLoaded, StoreError> {
        if let Some(query) = &wanted.rebuild {
            if query.rare.is_none() || wanted.list != self.list_number {
                self.frequencies.clear();
            }
            for (&feed, &frequency) in query.rare.iter().flat_map(|rare| &rare.frequencies) {
                self.frequencies.entry(feed).or_insert(frequency);
            }
            self.order = self.ordered(query)?;
            self.joined = self.join(query.join.as_ref())?;
            self.joins = query.join.is_some();
            self.fold_inside(query)?;
            self.gaps.clone_from(&query.gaps);
            self.list_number = wanted.list;
        }
        let found = match (wanted.seek, wanted.date) {
            (Some(seek), _) => self.find_next(seek)?,
            (None, Some(date)) => self.place_of(date)?,
            (None, None) => {
                let wanted = wanted.around.map(|key| self.shown_as(key));
                wanted.and_then(|key| self.order.iter().position(|&other| other == key))
            }
        };
        let count = wanted.rows.min(ROWS_AT_ONCE_MAX);
        let wish = found.map_or(wanted.offset, |place| place.saturating_sub(count / 2));
        let offset = wish.min(self.order.len().saturating_sub(count));
        let keys: Vec<RowKey> = self.order.iter().skip(offset).take(count).copied().collect();
        let rows = self.rows(&keys)?;
        let (list, total, seek) = (wanted.list, self.order.len(), wanted.seek.is_some());
        let opened = match &wanted.rebuild {
            Some(query) if query.order == RowOrder::FromBeginning => Some(self.count_opened()?),
            Some(_) | None => None,
        };
        let dated = wanted.date.is_some();
        let joined = self.joined.values().map(Vec::len).sum::<usize>();
        let folded = self.folded_inside.values().map(|fold| fold.entries.len()).sum::<usize>();
        Ok(RowsLoaded {
            list,
            total,
            sharing: joined.saturating_add(folded),
            offset,
            rows,
            found,
            asked: wanted.asked,
            seek,
            dated,
            opened,
        })
    }

    /// Returns the entries in a part of the open list, including entries that share a row with another entry and, if the list joins
    /// entries of the same article, unread entries of other feeds with the same link. Returns nothing if another list was opened in
    /// the meantime.
    pub fn listed(&mut self, list: u64, part: ListPart) -> Result<Vec<EntryKey>, StoreError> {
        if self.list_number != list {
            return Ok(Vec::new());
        }
        let place = |row| self.order.iter().position(|&other| other == row);
        let rows = match part {
            ListPart::All | ListPart::Before(_) => Some(0..self.order.len()),
            ListPart::Above(row) => place(row).map(|place| 0..place),
            ListPart::Below(row) => {
                place(row).map(|place| place.saturating_add(1)..self.order.len())
            }
        };
        let rows = rows.and_then(|rows| self.order.get(rows)).unwrap_or_default();
        let mut entries: Vec<EntryKey> = rows.iter().filter_map(|key| key.entry()).collect();
        let joined = entries.iter().filter_map(|key| self.joined.get(key)).flatten().copied();
        let folded = entries.iter().filter_map(|key| self.folded_inside.get(key));
        let joined: Vec<EntryKey> =
            joined.chain(folded.flat_map(|fold| &fold.entries).copied()).collect();
        entries.extend(joined);
        if let ListPart::Before(date) = part {
            let mut dated = Vec::with_capacity(entries.len());
            for key in entries {
                if self.listed_at(RowKey::Entry(key))? < date.timestamp() {
                    dated.push(key);
                }
            }
            entries = dated;
        }
        if self.joins {
            let elsewhere = self.unread_with_same_links(&entries)?.into_values().flatten();
            entries.extend(elsewhere.map(|(key, _)| key));
        }
        Ok(entries)
    }

    /// Counts the entries of the list that were opened.
    fn count_opened(&mut self) -> Result<usize, StoreError> {
        let keys: Vec<EntryKey> = self.order.iter().filter_map(|key| key.entry()).collect();
        let mut opened = 0_usize;
        for key in keys {
            opened = opened.saturating_add(usize::from(self.flags(key)?.was_opened()));
        }
        Ok(opened)
    }

    /// Returns the position of the first row that has this date or comes after it in the order of the list, or the last position
    /// if there is no such row.
    fn place_of(&mut self, date: DateTime<Utc>) -> Result<Option<usize>, StoreError> {
        let (mut from, mut to) = (0, self.order.len());
        let mut newest_first = true;
        if let [first, .., last] = self.order.as_slice() {
            let (first, last) = (*first, *last);
            newest_first = self.listed_at(first)? >= self.listed_at(last)?;
        }
        while from < to {
            let middle = usize::midpoint(from, to);
            let Some(&key) = self.order.get(middle) else { break };
            let listed = self.listed_at(key)?;
            let before =
                if newest_first { listed > date.timestamp() } else { listed < date.timestamp() };
            if before {
                from = middle.saturating_add(1);
            } else {
                to = middle;
            }
        }
        Ok(self.order.len().checked_sub(1).map(|last| from.min(last)))
    }

    /// Returns the date that a row is listed under, in Unix seconds.
    fn listed_at(&mut self, key: RowKey) -> Result<i64, StoreError> {
        match key {
            RowKey::Entry(key) => {
                let row = self.rows_of(key.feed)?.get(key.seq as usize);
                Ok(row.map_or(0, |row| row.listed))
            }
            RowKey::Gap(feed, gap) => {
                Ok(self.gap_row(feed, gap).map_or(0, |row| row.listed.timestamp()))
            }
        }
    }

    /// Returns the position of the next entry of a kind in the list.
    fn find_next(&mut self, seek: Seek) -> Result<Option<usize>, StoreError> {
        let mut place = seek.from;
        while let Some(&key) = self.order.get(place) {
            let flags = key.entry().map(|key| self.flags(key)).transpose()?;
            if flags.is_some_and(|flags| seek.what.takes(flags)) {
                return Ok(Some(place));
            }
            let next = if seek.down { place.checked_add(1) } else { place.checked_sub(1) };
            let Some(next) = next else { break };
            place = next;
        }
        Ok(None)
    }

    /// Returns the entries and gaps that a query selects, in the order of the query.
    pub fn ordered(&mut self, query: &ListQuery) -> Result<Vec<RowKey>, StoreError> {
        if let Scope::Found(matching) = &query.scope {
            return self.ordered_search(matching, query);
        }
        if let Scope::Portion(wanted) = query.scope {
            let entries = self.portion(wanted, query)?;
            return self.in_order(entries, query);
        }
        let since = query.since.map(|instant| instant.timestamp());
        let feeds = self.feeds_in(&query.scope, query.show, query.keep.is_empty())?;
        let mut entries: Vec<(i64, EntryKey)> = Vec::new();
        if query.show == Show::All {
            // Reserve the exact size for the longest lists, so that growing leaves no unused memory.
            let mut count = |feed| self.rows_of(feed).map_or(0, |rows| rows.len());
            entries.reserve_exact(feeds.iter().map(|&feed| count(feed)).sum());
        }
        let lately = if query.show == Show::Ended { self.ended_lately()? } else { BTreeSet::new() };
        for feed in feeds {
            // Skip a feed whose index is damaged, so that the list shows the entries of other feeds.
            let Ok(rows) = self.rows_of(feed) else { continue };
            for (seq, row) in (0_u32..).zip(rows.iter()) {
                let key = EntryKey { feed, seq };
                let young = since.is_none_or(|since| row.listed >= since);
                let young = young && (query.show != Show::Ended || lately.contains(&key));
                if (query.show.takes(row.flags) && young) || query.keep.contains(&key) {
                    entries.push((row.listed, key));
                }
            }
        }
        self.in_order(entries, query)
    }

    /// Returns the feeds of a scope. If `skip_empty` is set, leaves out feeds that have no row in the list according to their counters,
    /// so that their rows are not read. Feeds whose rows are in memory are not left out.
    pub(in crate::io::store) fn feeds_in(
        &self,
        scope: &Scope,
        show: Show,
        skip_empty: bool,
    ) -> Result<Vec<FeedKey>, StoreError> {
        let feeds = match scope {
            Scope::Feeds(feeds) => feeds.clone(),
            Scope::Portion(_) => Vec::new(),
            Scope::Found(matching) => matching.feeds.iter().copied().collect(),
            Scope::Everything => {
                let keys = self.tables.feeds.keys();
                let feeds = keys.map(|key| Ok(crate::io::store::handle::feed_of(&key?)));
                let feeds = feeds.collect::<Result<Vec<_>, StoreError>>()?;
                feeds.into_iter().flatten().filter(|feed| !self.ended.contains(feed)).collect()
            }
        };
        let mut with_rows = Vec::with_capacity(feeds.len());
        for feed in feeds {
            if !skip_empty || self.rows.contains_key(&feed) {
                with_rows.push(feed);
                continue;
            }
            let counters = self.counters_of(feed)?;
            let rows = match show {
                Show::All | Show::Hidden | Show::Ended => counters.next_seq,
                Show::Unread => counters.unread,
                Show::Starred => counters.starred,
            };
            if rows > 0 {
                with_rows.push(feed);
            }
        }
        Ok(with_rows)
    }

    fn rows(&mut self, keys: &[RowKey]) -> Result<Vec<Row>, StoreError> {
        let mut rows = Vec::with_capacity(keys.len());
        let entries: Vec<EntryKey> = keys.iter().filter_map(|key| key.entry()).collect();
        let mut elsewhere = BTreeMap::new();
        if self.joins {
            elsewhere = self.unread_with_same_links(&entries)?;
        }
        for &key in keys {
            match key {
                RowKey::Entry(key) => {
                    let elsewhere = elsewhere.remove(&key).unwrap_or_default();
                    rows.push(self.row(key, elsewhere)?);
                }
                RowKey::Gap(feed, gap) => rows.extend(self.gap_row(feed, gap)),
            }
        }
        Ok(rows)
    }

    fn row(&mut self, key: EntryKey, elsewhere: Vec<(EntryKey, Flags)>) -> Result<Row, StoreError> {
        let (flags, ruled) = (self.flags(key)?, self.filters_that_hit(key));
        let mut also = Vec::new();
        for key in self.joined.get(&key).cloned().unwrap_or_default() {
            also.push((key, self.flags(key)?));
        }
        let frequency = self.frequencies.get(&key.feed).copied();
        let frequency = frequency.filter(|_| self.unranked.binary_search(&key).is_err());
        let is_new = |(key, _): &(EntryKey, Flags)| also.iter().all(|(known, _)| known != key);
        let elsewhere: Vec<_> = elsewhere.into_iter().filter(is_new).collect();
        also.extend(elsewhere);
        let inside = self.folded_inside.get(&key).cloned().unwrap_or_default();
        let key = RowKey::Entry(key);
        // An entry whose record is lost keeps its row, so that no entry disappears silently.
        let lost = Row::bare(key, flags, DateTime::UNIX_EPOCH, "(damaged record)");
        let entry = match key.entry() {
            Some(key) => self.listed_entry(key)?,
            None => None,
        };
        Ok(entry.map_or(lost, |shown| Row {
            key,
            flags,
            listed: shown.listed,
            title: shown.title.to_string(),
            link: shown.link.as_deref().map(str::to_owned),
            author: shown.author.as_deref().map(str::to_owned),
            ruled,
            also,
            inside,
            frequency,
        }))
    }

    /// Returns the row of a gap. Its title is empty, because the screen shows the text of the gap.
    fn gap_row(&self, feed: FeedKey, gap: GapKey) -> Option<Row> {
        let mark = self.gaps.iter().find(|mark| (mark.feed, mark.gap) == (feed, gap))?;
        Some(Row::bare(RowKey::Gap(feed, gap), Flags::OLD, mark.listed, ""))
    }

    pub(in crate::io::store) fn flags(&mut self, key: EntryKey) -> Result<Flags, StoreError> {
        Ok(self.rows_of(key.feed)?.get(key.seq as usize).map(|row| row.flags).unwrap_or_default())
    }

    /// Checks whether the text of an entry is gone: it was dropped, or lost when the store was damaged.
    pub fn is_text_gone(&mut self, key: EntryKey) -> Result<bool, StoreError> {
        let row = self.rows_of(key.feed)?.get(key.seq as usize);
        let lost = row.is_some_and(|row| row.content == TEXT_LOST);
        Ok(lost || self.is_dropped(key)?)
    }

    /// Returns an entry with its marks; `None` if there is no such entry.
    pub fn entry(&mut self, key: EntryKey) -> Result<Option<(KeptEntry, Flags)>, StoreError> {
        let kept = self.read_entries(&[key])?.remove(&key);
        let flags = self.flags(key)?;
        Ok(kept.map(|kept| (kept, flags)))
    }

    /// Returns entries without their texts, in the given order; those that cannot be read are left out.
    pub fn entries(&mut self, keys: &[EntryKey]) -> Result<Vec<LoadedEntry>, StoreError> {
        let mut kept = self.readable_entries(keys)?;
        let mut entries = Vec::with_capacity(keys.len());
        for &key in keys {
            if let Some(kept) = kept.remove(&key) {
                let (flags, ruled) = (self.flags(key)?, self.filters_that_hit(key));
                entries.push(LoadedEntry::without_text(key, kept, flags, ruled));
            }
        }
        Ok(entries)
    }

    /// Counts the unread entries of all feeds that are listed at or after an instant.
    pub fn unread_since(&mut self, since: DateTime<Utc>) -> Result<u32, StoreError> {
        let mut sum = 0_u32;
        for feed in self.feeds_in(&Scope::Everything, Show::Unread, true)? {
            let rows = self.rows_of(feed)?;
            let young =
                rows.iter().filter(|row| row.flags.is_unread() && row.listed >= since.timestamp());
            sum = sum.saturating_add(u32::try_from(young.count()).unwrap_or(u32::MAX));
        }
        Ok(sum)
    }
}

impl Store {
    /// Sorts entries, given with their dates in Unix seconds, in the order of the list, and adds the gaps of the list. If the list
    /// is not ordered by date, the gaps come last.
    pub(super) fn in_order(
        &mut self,
        mut entries: Vec<(i64, EntryKey)>,
        query: &ListQuery,
    ) -> Result<Vec<RowKey>, StoreError> {
        entries.sort_unstable_by_key(|&(listed, key)| place_of_entry(listed, key));
        match query.order {
            RowOrder::NewestFirst | RowOrder::BestFirst => {
                return Ok(with_gaps(&entries, &query.gaps));
            }
            RowOrder::OldestFirst | RowOrder::FromBeginning => {
                let mut order = with_gaps(&entries, &query.gaps);
                order.reverse();
                return Ok(order);
            }
            RowOrder::ByTitle => {
                let mut titles = BTreeMap::new();
                for &(_, key) in &entries {
                    // An entry whose record is lost comes first, like an entry without a title.
                    let entry = self.listed_entry(key)?;
                    titles.insert(key, entry.map_or(String::new(), |it| folded(&it.title)));
                }
                entries.sort_by(|(_, a), (_, b)| titles.get(a).cmp(&titles.get(b)));
            }
            RowOrder::ByReceived => {
                let mut seen = BTreeMap::new();
                for &(_, key) in &entries {
                    seen.insert(key, self.listed_entry(key)?.map(|entry| entry.first_seen));
                }
                entries.sort_by_key(|(_, key)| Reverse(seen.get(key).copied().flatten()));
            }
            RowOrder::RareFirst => {
                self.find_unranked(&entries, query)?;
                let place = |key: EntryKey| match self.unranked.binary_search(&key) {
                    Ok(_) => usize::MAX,
                    Err(_) => self.frequencies.get(&key.feed).map_or(0, |known| known.rank()),
                };
                entries.sort_by_cached_key(|(_, key)| place(*key));
            }
            RowOrder::ByFeed => {
                let records = self.records()?.into_iter();
                let titles: BTreeMap<FeedKey, String> =
                    records.map(|(feed, record)| (feed, folded(record.shown_title()))).collect();
                entries.sort_by(|(_, a), (_, b)| {
                    let title = |key: &EntryKey| titles.get(&key.feed);
                    (title(a), a.feed).cmp(&(title(b), b.feed))
                });
            }
        }
        let gaps = query.gaps.iter().map(|mark| RowKey::Gap(mark.feed, mark.gap));
        Ok(entries.into_iter().map(|(_, key)| RowKey::Entry(key)).chain(gaps).collect())
    }
}

impl Store {
    /// Returns the entries of today's reading for a day, each with its date. The first call on a day chooses and stores them.
    fn portion(
        &mut self,
        wanted: PortionWanted,
        query: &ListQuery,
    ) -> Result<Vec<(i64, EntryKey)>, StoreError> {
        let mut portion = self.stored_portion()?;
        if portion.day != wanted.day {
            let mut unread = Vec::new();
            for feed in self.feeds_in(&Scope::Everything, Show::Unread, true)? {
                let Ok(rows) = self.rows_of(feed) else { continue };
                let rows = (0_u32..).zip(rows).filter(|(_, row)| row.flags.is_unread());
                unread.extend(rows.map(|(seq, row)| (row.listed, EntryKey { feed, seq })));
            }
            self.find_unranked(&unread, query)?;
            unread.retain(|(_, key)| self.unranked.binary_search(key).is_err());
            let rank = |feed| self.frequencies.get(&feed).map_or(0, |known| known.rank());
            let candidate =
                |(listed, key): (i64, EntryKey)| Candidate { key, rank: rank(key.feed), listed };
            portion.choose(wanted, unread.into_iter().map(candidate).collect());
            if !portion.entries.is_empty() {
                self.put(TableName::Facts, PORTION_KEY, codec::encode(&portion)?)?;
            }
        }
        let mut entries = Vec::with_capacity(portion.entries.len());
        for key in portion.entries {
            if self.ended.contains(&key.feed) {
                continue;
            }
            let row = self.rows_of(key.feed).ok().and_then(|rows| rows.get(key.seq as usize));
            entries
                .extend(row.filter(|row| query.show.takes(row.flags)).map(|row| (row.listed, key)));
        }
        Ok(entries)
    }

    fn stored_portion(&self) -> Result<Portion, StoreError> {
        let stored = self.tables.facts.get(PORTION_KEY)?;
        Ok(stored.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// Counts the unread entries in today's reading for a day, or 0 if it was not chosen yet.
    pub fn unread_in_portion(&mut self, day: i32) -> Result<u32, StoreError> {
        let portion = self.stored_portion()?;
        let mut unread = 0;
        for key in portion.entries.into_iter().filter(|_| portion.day == day) {
            unread += u32::from(!self.ended.contains(&key.feed) && self.flags(key)?.is_unread());
        }
        Ok(unread)
    }

    /// Finds the entries that are not ordered by how often their feeds publish: entries that were already read when the list was
    /// opened, and entries of quiet feeds.
    fn find_unranked(
        &mut self,
        entries: &[(i64, EntryKey)],
        query: &ListQuery,
    ) -> Result<(), StoreError> {
        self.unranked.clear();
        let Some(rare) = &query.rare else { return Ok(()) };
        for &(_, key) in entries {
            if rare.quiet.contains(&key.feed)
                || (self.flags(key)?.is_read() && !query.keep.contains(&key))
            {
                self.unranked.push(key);
            }
        }
        self.unranked.sort_unstable();
        Ok(())
    }

    /// Removes entries from the open list that are the same article as an earlier entry. Returns them by the entry that stays in
    /// the list. Lists of a single feed and lists of more than [`JOINED_MAX`] rows are not changed.
    pub(super) fn join(
        &mut self,
        by: Option<&JoinBy>,
    ) -> Result<BTreeMap<EntryKey, Vec<EntryKey>>, StoreError> {
        let mut joined: BTreeMap<EntryKey, Vec<EntryKey>> = BTreeMap::new();
        let mut same = SameArticles::new(match by {
            Some(JoinBy::Link) => None,
            Some(JoinBy::Title(tags)) => Some(tags),
            None => return Ok(joined),
        });
        let mut entries = self.order.iter().filter_map(|row| row.entry());
        let first = entries.next();
        let is_of_one_feed = entries.all(|key| Some(key.feed) == first.map(|first| first.feed));
        if is_of_one_feed || self.order.len() > JOINED_MAX {
            return Ok(joined);
        }
        let shared = self.shared_links()?;
        let mut order = Vec::with_capacity(self.order.len());
        for row in std::mem::take(&mut self.order) {
            let Some(key) = row.entry() else {
                order.push(row);
                continue;
            };
            let is_shared = self.page_of(key)?.is_some_and(|page| shared.contains(&page));
            if !is_shared && by == Some(&JoinBy::Link) {
                order.push(row);
                continue;
            }
            let entry = self.listed_entry(key)?;
            let shown = entry.and_then(|entry| {
                let link = entry.link.as_deref().filter(|_| is_shared);
                same.take(key, link, &entry.title, entry.listed.timestamp())
            });
            match shown {
                Some(shown) => joined.entry(shown).or_default().push(key),
                None => order.push(row),
            }
        }
        self.order = order;
        Ok(joined)
    }

    /// Returns the hashes of the pages to which several feeds link, each in exactly one entry of the open list. A link that appears
    /// in several entries of a feed does not identify an article.
    fn shared_links(&mut self) -> Result<BTreeSet<PageHash>, StoreError> {
        let mut feeds: BTreeMap<PageHash, Vec<FeedKey>> = BTreeMap::new();
        let entries: Vec<EntryKey> = self.order.iter().filter_map(|row| row.entry()).collect();
        for key in entries {
            if let Some(page) = self.page_of(key)? {
                feeds.entry(page).or_default().push(key.feed);
            }
        }
        feeds.retain(|_, feeds| {
            let different: BTreeSet<&FeedKey> = feeds.iter().collect();
            feeds.len() > 1 && different.len() == feeds.len()
        });
        Ok(feeds.into_keys().collect())
    }

    /// Returns the row that shows an entry of the open list: its own, or the row of the same article.
    pub(super) fn shown_as(&self, row: RowKey) -> RowKey {
        let shown = row.entry().and_then(|key| {
            let joined = self.joined.iter();
            let folded = self.folded_inside.iter().map(|(shown, fold)| (shown, &fold.entries));
            joined.chain(folded).find_map(|(shown, also)| also.contains(&key).then_some(*shown))
        });
        shown.map_or(row, RowKey::Entry)
    }
}

/// Returns a number that sorts entries by date, newest first. Entries of a feed with the same date stay in the order in which they
/// were first seen, because feeds list their newest entry first. Comparing one number is faster than comparing three, and a list
/// may have hundreds of thousands of entries.
fn place_of_entry(listed: i64, key: EntryKey) -> u128 {
    let age = i64::MAX.abs_diff(listed);
    u128::from(age) << 64 | u128::from(key.feed.0) << 32 | u128::from(key.seq)
}

/// Inserts gaps into a list of sorted entries. A gap comes after all entries with its date.
fn with_gaps(entries: &[(i64, EntryKey)], gaps: &[GapMark]) -> Vec<RowKey> {
    let mut gaps: Vec<&GapMark> = gaps.iter().collect();
    gaps.sort_unstable_by_key(|mark| (Reverse(mark.listed.timestamp()), mark.feed, mark.gap));
    // The list stays in memory while it is shown, so allocate no more than it needs.
    let mut order = Vec::with_capacity(entries.len().saturating_add(gaps.len()));
    let mut rest = entries;
    for mark in gaps {
        let listed = mark.listed.timestamp();
        let (before, behind) = rest.split_at(rest.partition_point(|(date, _)| *date >= listed));
        order.extend(before.iter().map(|&(_, key)| RowKey::Entry(key)));
        order.push(RowKey::Gap(mark.feed, mark.gap));
        rest = behind;
    }
    order.extend(rest.iter().map(|&(_, key)| RowKey::Entry(key)));
    order
}

impl Store {
    /// Reads an entry with everything that the reader pane shows. If the record of the entry is lost, the inner error is a
    /// sentence for the user.
    pub fn read_entry(&mut self, key: EntryKey) -> Result<Result<LoadedEntry, String>, StoreError> {
        let (found, body) = (self.entry(key)?, self.body(key)?);
        let Some((kept, flags)) = found else {
            return Ok(Err(format!("the record of entry {key} is lost; run 'backissue doctor'")));
        };
        let (place, full, ruled) =
            (self.place(key)?, self.full_text(key)?, self.filters_that_hit(key));
        let text_gone = body.is_none() && self.is_text_gone(key)?;
        Ok(Ok(LoadedEntry { key, kept, flags, body, text_gone, place, full, ruled }))
    }

    /// Reads entries with their texts, by feed and range of numbers; leaves out entries that cannot be read.
    pub fn news(
        &mut self,
        ranges: &[(FeedKey, Range<u32>)],
    ) -> Result<Vec<LoadedEntry>, StoreError> {
        let texts = self.texts();
        let mut news = Vec::new();
        for (feed, range) in ranges {
            for (seq, (kept, body)) in texts.read(*feed, range.clone()) {
                let key = EntryKey { feed: *feed, seq };
                let entry = LoadedEntry::without_text(key, kept, Flags::OLD, Vec::new());
                news.push(self.with_marks(LoadedEntry { body, ..entry })?);
            }
        }
        Ok(news)
    }

    /// Returns an entry that was read elsewhere with its marks and filters.
    pub fn with_marks(&mut self, entry: LoadedEntry) -> Result<LoadedEntry, StoreError> {
        let (flags, ruled) = (self.flags(entry.key)?, self.filters_that_hit(entry.key));
        Ok(LoadedEntry { flags, ruled, ..entry })
    }
}

/// The changes that a mark would make to selected entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkPlan {
    /// Number of selected entries that exist.
    pub fitting: usize,
    /// Entries that the mark would change.
    pub changing: Vec<EntryKey>,
    /// Whether all entries that would change were never opened, and count as read only because they came from history.
    pub all_from_history: bool,
}

impl Store {
    /// Finds the entries that match a query and that a mark would change. If `joins` is set and the mark is read, the result
    /// includes unread entries of other feeds that are the same article.
    pub fn find_to_mark(
        &mut self,
        matching: &Matching,
        (flag, value, joins): (Flag, bool, bool),
    ) -> Result<MarkPlan, StoreError> {
        let found = self.unranked(matching, |flags| matching.shows(flags))?;
        let keys: Vec<EntryKey> = found.into_iter().map(|hit| hit.key).collect();
        self.plan_mark(&keys, (flag, value, joins))
    }

    /// Like [`Self::find_to_mark`], but for the entries with these keys. Keys without an entry are ignored.
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

    /// Returns the date that an entry is listed under, in Unix seconds, or `None` if there is no such entry or its feed was
    /// unsubscribed.
    pub fn date_of(&mut self, key: EntryKey) -> Result<Option<i64>, StoreError> {
        if self.ended.contains(&key.feed) {
            return Ok(None);
        }
        Ok(self.rows_of(key.feed)?.get(key.seq as usize).map(|row| row.listed))
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use backissue_core::history::GapKey;

    #[test]
    fn entries_are_newest_first_and_precede_gaps() {
        let entry = |feed, seq| EntryKey { feed: FeedKey(feed), seq };
        let mut entries = [
            (5, entry(2, 0)),
            (-7, entry(1, 0)),
            (9, entry(1, 1)),
            (5, entry(1, 2)),
            (5, entry(2, 1)),
            (i64::MIN, entry(1, 3)),
            (i64::MAX, entry(9, 9)),
        ];
        entries.sort_unstable_by_key(|&(listed, key)| place_of_entry(listed, key));
        let gap = |feed, gap, listed| {
            let listed = DateTime::from_timestamp(listed, 999).unwrap();
            GapMark { feed: FeedKey(feed), gap: GapKey(gap), listed }
        };
        let gaps = [gap(2, 1, 5), gap(1, 8, 5), gap(1, 2, -100), gap(3, 3, 7)];
        let numbers = |key: &RowKey| match *key {
            RowKey::Entry(key) => (key.feed.0, u64::from(key.seq)),
            RowKey::Gap(feed, gap) => (feed.0, gap.0),
        };
        let order: Vec<_> = with_gaps(&entries, &gaps).iter().map(numbers).collect();
        assert_eq!(
            order,
            [
                (9, 9),
                (1, 1),
                (3, 3),
                (1, 2),
                (2, 0),
                (2, 1),
                (1, 8),
                (2, 1),
                (1, 0),
                (1, 2),
                (1, 3)
            ]
        );
    }
}
