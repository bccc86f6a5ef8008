//! Which copy of an entry wins: a total order (SPEC C.5).

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// The rank of one copy of an entry. Compared left to right, larger wins; `None` is smaller than any time.
///
/// A tuple and not a chain of conditions, because comparing times only where both copies have one is not
/// transitive: a dated, an undated and another dated copy could form a circle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rank {
    /// When the entry says it was updated.
    pub entry_time: Option<DateTime<Utc>>,
    /// When the document that carried the copy says it was updated.
    pub document_time: Option<DateTime<Utc>>,
    /// Where that document stands in the logical feed.
    pub position: Position,
    /// When that document was fetched.
    pub fetched_at: DateTime<Utc>,
}

/// Where a document stands in the logical feed. Later variants are newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Position {
    /// A copy that somebody else made of the feed, at that time in seconds: the publisher's own copies are always
    /// newer.
    Capture {
        /// Seconds since 1970.
        taken: i64,
    },
    /// A page of a paged feed (RFC 5005 §3).
    Page,
    /// An archive document: the walk that reached it, and minus its distance from the walk's start.
    Archive {
        /// Walks that start at the subscription document are counted; a later one is newer.
        epoch: u32,
        /// Minus the depth: 0 is the newest archive of its walk.
        depth: i32,
    },
    /// The subscription document.
    Subscription,
}

impl Rank {
    /// The rank of a copy. A time more than a day after `fetched_at` counts as missing: a date in 2099 must
    /// not freeze an entry against its later correction.
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
    fn a_copy_that_is_not_the_publishers_never_wins_against_one_that_is() {
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
    fn positions_order_pages_below_archives_below_the_subscription_document() {
        let newest = Position::Archive { epoch: 1, depth: 0 };
        let older = Position::Archive { epoch: 1, depth: -1 };
        let next_walk = Position::Archive { epoch: 2, depth: -7 };
        assert!(Position::Page < older && older < newest && newest < next_walk);
        assert!(next_walk < Position::Subscription);
    }
}
