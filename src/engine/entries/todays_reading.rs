//! Today's reading: a portion of the unread entries that is chosen once a day and stays until the next day.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use backissue_core::history::{EntryKey, FeedKey};
use serde::{Deserialize, Serialize};

/// Maximum number of entries in a portion.
pub const PORTION_MAX: u16 = 200;
/// Maximum number of entries of one feed in a portion.
const OF_FEED_MAX: usize = 3;
/// Days after which a feed with unread entries has its turn again, however often the others publish.
const TURN_DAYS: i32 = 6;
/// Days for which it is noted when a feed had its turn.
const NOTED_DAYS: i32 = 60;

/// Which portion is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortionWanted {
    /// Number of the day, counted from any fixed day.
    pub day: i32,
    /// Number of entries.
    pub entries: u16,
}

/// The portion of a day, and when each feed had its turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Portion {
    /// Number of the day.
    pub day: i32,
    /// The entries of the portion.
    pub entries: Vec<EntryKey>,
    /// The last day on which an entry of a feed was in a portion.
    turns: BTreeMap<FeedKey, i32>,
}

/// An unread entry that can be in a portion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    pub key: EntryKey,
    /// Place of its feed among others: the ones that rarely publish first.
    pub rank: usize,
    /// Date that the entry is listed under, in Unix seconds.
    pub listed: i64,
}

impl Portion {
    /// Chooses the portion of a day: first the newest entry of each feed that had no turn for six days, the longest wait first; then
    /// entries of feeds that rarely publish, the newest first, at most three of a feed. Which entries were opened does not count.
    pub fn choose(&mut self, wanted: PortionWanted, mut candidates: Vec<Candidate>) {
        let count = usize::from(wanted.entries.min(PORTION_MAX));
        candidates.sort_unstable_by_key(|entry| (entry.rank, Reverse(entry.listed), entry.key));
        let mut due = BTreeMap::new();
        for (place, entry) in candidates.iter().enumerate() {
            let last = self.turns.get(&entry.key.feed).copied().unwrap_or(i32::MIN);
            if wanted.day.saturating_sub(last) >= TURN_DAYS {
                due.entry(entry.key.feed).or_insert((last, place, entry.key));
            }
        }
        let mut due: Vec<_> = due.into_values().collect();
        due.sort_unstable();
        let mut of_feeds: BTreeMap<FeedKey, usize> = BTreeMap::new();
        self.entries.clear();
        let due = due.into_iter().map(|(_, _, key)| key);
        for key in due.chain(candidates.iter().map(|entry| entry.key)) {
            if self.entries.len() >= count {
                break;
            }
            let of_feed = of_feeds.entry(key.feed).or_default();
            if *of_feed < OF_FEED_MAX && !self.entries.contains(&key) {
                *of_feed = of_feed.saturating_add(1);
                self.entries.push(key);
                self.turns.insert(key.feed, wanted.day);
            }
        }
        self.day = wanted.day;
        self.turns.retain(|_, day| wanted.day.saturating_sub(*day) <= NOTED_DAYS);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Entries of feeds, given as the number of the feed, its rank, and its number of unread entries.
    fn unread(feeds: &[(u32, usize, u32)]) -> Vec<Candidate> {
        let entries = feeds.iter().flat_map(|&(feed, rank, entries)| {
            (0..entries).map(move |seq| Candidate {
                key: EntryKey { feed: FeedKey(feed), seq },
                rank,
                listed: i64::from(seq),
            })
        });
        entries.collect()
    }

    fn chosen(portion: &mut Portion, day: i32, candidates: &[Candidate]) -> Vec<(u32, u32)> {
        portion.choose(PortionWanted { day, entries: 5 }, candidates.to_vec());
        portion.entries.iter().map(|key| (key.feed.0, key.seq)).collect()
    }

    #[test]
    fn rare_feeds_come_first_and_no_feed_has_more_than_three() {
        let entries = unread(&[(1, 7, 900), (2, 0, 1), (3, 3, 5)]);
        let mut portion = Portion::default();
        assert_eq!(chosen(&mut portion, 10, &entries), [(2, 0), (3, 4), (1, 899), (3, 3), (3, 2)]);
        assert_eq!(chosen(&mut portion, 11, &entries), [(2, 0), (3, 4), (3, 3), (3, 2), (1, 899)]);
        let one = unread(&[(1, 7, 900)]);
        assert_eq!(chosen(&mut portion, 12, &one).len(), OF_FEED_MAX);
    }

    #[test]
    fn each_feed_has_its_turn_in_a_week_whatever_was_opened() {
        // Thirty feeds for five entries a day, of which the first ones always have more than enough.
        let feeds: Vec<_> = (1..=30).map(|feed| (feed, usize::from(feed > 3), 40)).collect();
        let entries = unread(&feeds);
        let mut portion = Portion::default();
        let mut days: Vec<BTreeSet<u32>> = Vec::new();
        for day in 100..140 {
            days.push(chosen(&mut portion, day, &entries).iter().map(|(feed, _)| *feed).collect());
        }
        for week in days.windows(7) {
            let seen: BTreeSet<u32> = week.iter().flatten().copied().collect();
            assert_eq!(seen.len(), 30, "{week:?}");
        }
    }
}
