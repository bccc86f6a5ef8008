//! The order of the rows of a list.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::same_links::JOINED_MAX;
use crate::engine::entries::rows::{GapMark, JoinBy, ListQuery, RowKey, RowOrder};
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::search::{SameArticles, folded};

impl Store {
    /// Returns entries, each with the date that it is listed under, in the order of a list, with its gaps among them. If the list is
    /// not ordered by date, its gaps come last.
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
                    // An entry whose record is lost comes first, as one without a title.
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
    /// Takes entries that are the same article as an earlier one of the open list out of its order, and returns them by the entry
    /// that remains. Lists of more than [`JOINED_MAX`] rows stay as they are.
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
        if self.order.len() > JOINED_MAX {
            return Ok(joined);
        }
        let repeated = self.repeated_links()?;
        let mut order = Vec::with_capacity(self.order.len());
        for row in std::mem::take(&mut self.order) {
            let Some(key) = row.entry() else {
                order.push(row);
                continue;
            };
            let names_article =
                self.hash_of_link(key)?.is_some_and(|hash| !repeated.contains(&hash));
            let entry = self.listed_entry(key)?;
            let shown = entry.and_then(|entry| {
                let link = entry.link.as_deref().filter(|_| names_article);
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

    /// Returns the hashes of the links that a feed gives to several entries of the open list: such a link names no article.
    fn repeated_links(&mut self) -> Result<BTreeSet<u32>, StoreError> {
        let (mut seen, mut repeated) = (BTreeSet::new(), BTreeSet::new());
        let entries: Vec<EntryKey> = self.order.iter().filter_map(|row| row.entry()).collect();
        for key in entries {
            if let Some(hash) = self.hash_of_link(key)?
                && !seen.insert((key.feed, hash))
            {
                repeated.insert(hash);
            }
        }
        Ok(repeated)
    }

    /// Returns the row that shows an entry of the open list: its own, or the row of the same article.
    pub(super) fn shown_as(&self, row: RowKey) -> RowKey {
        let shown = row.entry().and_then(|key| {
            self.joined.iter().find_map(|(shown, also)| also.contains(&key).then_some(*shown))
        });
        shown.map_or(row, RowKey::Entry)
    }
}

/// The place of an entry in a list, newest first. Of one date the entry seen first stands first: feeds list their newest first. One
/// number is compared faster than three, and there may be hundreds of thousands of them.
fn place_of_entry(listed: i64, key: EntryKey) -> u128 {
    let age = i64::MAX.abs_diff(listed);
    u128::from(age) << 64 | u128::from(key.feed.0) << 32 | u128::from(key.seq)
}

/// A list of sorted entries with gaps among them; of one date a gap comes after all entries.
fn with_gaps(entries: &[(i64, EntryKey)], gaps: &[GapMark]) -> Vec<RowKey> {
    let mut gaps: Vec<&GapMark> = gaps.iter().collect();
    gaps.sort_unstable_by_key(|mark| (Reverse(mark.listed.timestamp()), mark.feed, mark.gap));
    // It stays as long as the list is shown: it takes no more room than it needs.
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
