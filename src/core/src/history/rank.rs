//! The rank of an entry's copies: a total order that decides which copy wins (SPEC C.5).

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// The rank of one copy of an entry. The fields are compared in order, and the copy with the larger rank wins. `None` is
/// smaller than any time.
///
/// The order is lexicographic rather than a chain of conditions. Comparing times only if both copies have one would not be
/// transitive: a dated, an undated and another dated copy could form a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rank {
    /// Update time stated by the entry.
    pub entry_time: Option<DateTime<Utc>>,
    /// Update time stated by the document that contains the copy.
    pub document_time: Option<DateTime<Utc>>,
    /// Position in the logical feed of the document that contains the copy.
    pub position: Position,
    /// Time at which the document that contains the copy was fetched.
    pub fetched_at: DateTime<Utc>,
}

/// The position of a document in the logical feed. Later variants of this enum are newer than earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Position {
    /// A capture of the feed by a third party at the given time. The publisher's own copies always count as newer.
    Capture {
        /// Unix time in seconds.
        taken: i64,
    },
    /// A page of a paged feed (RFC 5005 §3).
    Page,
    /// An archive document, ordered by the archive walk that reached it and by its distance from the start of that walk.
    Archive {
        /// Number of the archive walk that reached the archive; archives of later walks are newer.
        epoch: u32,
        /// Negated number of archives between this one and the subscription document: 0 is the newest archive of its walk.
        depth: i32,
    },
    /// The subscription document.
    Subscription,
}

impl Rank {
    /// Creates the rank of a copy. A time more than a day after `fetched_at` counts as missing. Otherwise, an entry with a
    /// date in the year 2099 could never be replaced by a corrected copy.
    pub fn new(
        entry_time: Option<DateTime<Utc>>,
        document_time: Option<DateTime<Utc>>,
        position: Position,
        fetched_at: DateTime<Utc>,
    ) -> Self {
        let latest = fetched_at.checked_add_signed(TimeDelta::days(1)).unwrap_or(fetched_at);
        let foreign = matches!(position, Position::Capture { .. });
        let plausible =
            |time: Option<DateTime<Utc>>| time.filter(|&time| time <= latest && !foreign);
        let fallback = (position == Position::Subscription).then_some(fetched_at);
        Self {
            entry_time: plausible(entry_time),
            document_time: plausible(document_time).or(fallback),
            position,
            fetched_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    #[test]
    fn the_entry_time_decides_before_the_document_time() {
        let older = Rank::new(Some(at(10)), Some(at(900)), Position::Subscription, at(1000));
        let newer = Rank::new(Some(at(20)), Some(at(100)), Position::Page, at(1000));
        assert!(newer > older);
    }

    #[test]
    fn third_party_copy_never_beats_the_publishers() {
        let taken = |taken| Position::Capture { taken };
        let copy = Rank::new(Some(at(900)), Some(at(950)), taken(960), at(1000));
        for position in [Position::Page, Position::Archive { epoch: 0, depth: -9 }] {
            assert!(copy < Rank::new(None, None, position, at(1)), "{position:?}");
        }
        assert!(copy < Rank::new(Some(at(1)), None, Position::Subscription, at(1)));
        assert!(copy > Rank::new(Some(at(990)), None, taken(959), at(2000)), "of two the later");
    }

    #[test]
    fn a_missing_entry_time_is_smaller_than_any() {
        let undated = Rank::new(None, Some(at(900)), Position::Subscription, at(1000));
        let dated = Rank::new(Some(at(1)), None, Position::Page, at(1000));
        assert!(dated > undated);
    }

    #[test]
    fn a_date_far_in_the_future_counts_as_missing() {
        let frozen = Rank::new(Some(at(4_000_000_000)), None, Position::Subscription, at(1000));
        assert_eq!(frozen.entry_time, None);
    }

    #[test]
    fn pages_rank_below_archives_below_the_feed_document() {
        let newest = Position::Archive { epoch: 1, depth: 0 };
        let older = Position::Archive { epoch: 1, depth: -1 };
        let next_walk = Position::Archive { epoch: 2, depth: -7 };
        assert!(Position::Page < older && older < newest && newest < next_walk);
        assert!(next_walk < Position::Subscription);
    }
}
