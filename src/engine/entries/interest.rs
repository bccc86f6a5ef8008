//! What the user read, counted by feed and day on this computer, so that the user can decide about feeds. Nothing is noted of an entry,
//! nothing here leaves this computer, and no order follows from it.

use std::collections::BTreeMap;

use backissue_core::history::FeedKey;
use serde::{Deserialize, Serialize};

/// Number of days that are kept and shown: eight weeks.
pub const DAYS: i32 = 56;

/// What happened to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Its row was on the screen while it was unread.
    Shown,
    /// It was opened.
    Opened,
    /// The end of its text was on the screen.
    Finished,
    Starred,
    /// Its page was opened in the browser.
    Browsed,
    /// It was marked read without having been opened.
    Skipped,
    /// Such a mark was undone.
    NotSkipped,
}

/// The numbers of a day, or of several days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadingCounts {
    pub shown: u32,
    pub opened: u32,
    pub finished: u32,
    pub starred: u32,
    pub browsed: u32,
    pub skipped: u32,
}

impl ReadingCounts {
    const fn of_mut(&mut self, reading: Reading) -> &mut u32 {
        match reading {
            Reading::Shown => &mut self.shown,
            Reading::Opened => &mut self.opened,
            Reading::Finished => &mut self.finished,
            Reading::Starred => &mut self.starred,
            Reading::Browsed => &mut self.browsed,
            Reading::Skipped | Reading::NotSkipped => &mut self.skipped,
        }
    }

    const fn and(self, other: Self) -> Self {
        Self {
            shown: self.shown.saturating_add(other.shown),
            opened: self.opened.saturating_add(other.opened),
            finished: self.finished.saturating_add(other.finished),
            starred: self.starred.saturating_add(other.starred),
            browsed: self.browsed.saturating_add(other.browsed),
            skipped: self.skipped.saturating_add(other.skipped),
        }
    }
}

/// The numbers of each feed, by the number of the day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Interest(BTreeMap<FeedKey, BTreeMap<i32, ReadingCounts>>);

impl Interest {
    /// Counts an entry of a feed on a day, and forgets the days that are no longer shown.
    pub fn count(&mut self, feed: FeedKey, day: i32, reading: Reading) {
        let days = self.0.entry(feed).or_default();
        let count = days.entry(day).or_default().of_mut(reading);
        *count = match reading {
            Reading::NotSkipped => count.saturating_sub(1),
            Reading::Shown
            | Reading::Opened
            | Reading::Finished
            | Reading::Starred
            | Reading::Browsed
            | Reading::Skipped => count.saturating_add(1),
        };
        days.retain(|other, _| day.saturating_sub(*other) < DAYS);
    }

    /// Returns the sums of a feed in the days that are kept.
    pub fn of(&self, feed: FeedKey, today: i32) -> ReadingCounts {
        let days = self.0.get(&feed).into_iter().flatten();
        let days = days.filter(|(day, _)| today.saturating_sub(**day) < DAYS);
        days.fold(ReadingCounts::default(), |sum, (_, counts)| sum.and(*counts))
    }

    /// Checks whether nothing is counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_summed_for_eight_weeks() {
        let (mut interest, feed) = (Interest::default(), FeedKey(3));
        for (day, reading) in [
            (100, Reading::Opened),
            (101, Reading::Opened),
            (101, Reading::Finished),
            (130, Reading::Skipped),
            (130, Reading::Skipped),
            (130, Reading::NotSkipped),
        ] {
            interest.count(feed, day, reading);
        }
        let sums = |interest: &Interest, today| {
            let sums = interest.of(feed, today);
            (sums.opened, sums.finished, sums.skipped)
        };
        assert_eq!(sums(&interest, 130), (2, 1, 1));
        assert_eq!(sums(&interest, 156), (1, 1, 1));
        assert_eq!(interest.of(FeedKey(4), 130), ReadingCounts::default());
        interest.count(feed, 157, Reading::Opened);
        assert_eq!(interest.0[&feed].len(), 2, "older days are forgotten");
        let stored = serde_json::to_string(&interest).unwrap();
        assert_eq!(serde_json::from_str::<Interest>(&stored).unwrap(), interest);
    }
}
