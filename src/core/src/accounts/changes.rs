//! What to list again on a server that names the entries that changed, and counts those of each feed.
//!
//! The changes since the last sync are merged first. Then the counts of both sides must be equal; if they are not, the feed is listed.
//! So nothing is lost if the clock of the server was set back or entries were deleted there.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Time before the last sync of which changes are requested again, in seconds: a change can become visible a little later.
pub const OVERLAP: i64 = 30;

/// What is remembered between syncs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeState {
    /// Time of the last sync by the clock of the server, in Unix seconds; `None` before the first complete listing.
    pub stamp: Option<i64>,
    /// A listing of all entries that was interrupted.
    pub pass: Option<Pass>,
    /// Differences of the counts that were left when the feed was listed, by stream.
    pub odd: BTreeMap<String, Difference>,
    /// Number of starred entries that are on the server and not here.
    pub odd_stars: i64,
    /// Streams that are no feed here, although subscriptions were compared.
    pub ignored: BTreeSet<String>,
}

/// A listing of all entries, newest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// Time of its start by the clock of the server, in Unix seconds.
    pub stamp: i64,
    /// Entries with a smaller id remain to be listed.
    pub before: u64,
}

/// Number of unread and of read entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference(pub i64, pub i64);

impl Difference {
    /// Counts an entry.
    pub const fn count(&mut self, is_read: bool) {
        let number = if is_read { &mut self.1 } else { &mut self.0 };
        *number = number.saturating_add(1);
    }

    /// Returns the difference to other counts.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0), self.1.saturating_sub(other.1))
    }
}

/// Counts of entries by stream.
pub type Counts = BTreeMap<String, Difference>;

impl ChangeState {
    /// Returns the time from which changes are to be requested, if the server says that it is `now`. `None` if all entries are to be
    /// listed, because none were yet or because the clock of the server was set back.
    pub fn changed_after(&self, now: Option<i64>) -> Option<i64> {
        let stamp = self.stamp.filter(|_| self.pass.is_none())?;
        let is_back = now.is_some_and(|now| now.saturating_add(OVERLAP) < stamp);
        (!is_back).then(|| stamp.saturating_sub(OVERLAP))
    }

    /// Returns the streams whose counts differ, except for a difference that was left by the last listing.
    pub fn to_list<'s>(
        &self,
        streams: impl IntoIterator<Item = &'s String>,
        there: &Counts,
        here: &Counts,
    ) -> Vec<String> {
        let differs = |stream: &&String| {
            let left = self.odd.get(*stream).copied().unwrap_or_default();
            difference(stream, there, here) != left
        };
        streams.into_iter().filter(differs).cloned().collect()
    }

    /// Notes the difference that a listing left.
    pub fn listed(&mut self, stream: &str, there: &Counts, here: &Counts) {
        let left = difference(stream, there, here);
        if left == Difference::default() {
            self.odd.remove(stream);
        } else {
            self.odd.insert(stream.to_owned(), left);
        }
    }
}

fn difference(stream: &str, there: &Counts, here: &Counts) -> Difference {
    let of = |counts: &Counts| counts.get(stream).copied().unwrap_or_default();
    of(there).minus(of(here))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_requested_by_the_clock_of_the_server() {
        let year = 365 * 86_400;
        let pass = Some(Pass::default());
        for (stamp, pass, now, expected) in [
            (None, None, Some(1_000), None),
            (Some(1_000), None, Some(1_000), Some(970)),
            (Some(1_000), None, None, Some(970)),
            (Some(1_000), None, Some(980), Some(970)),
            (Some(1_000), None, Some(1_000 + year), Some(970)),
            (Some(1_000 + year), None, Some(1_000), None),
            (Some(1_000), pass, Some(1_000), None),
        ] {
            let state = ChangeState { stamp, pass, ..ChangeState::default() };
            assert_eq!(state.changed_after(now), expected, "{stamp:?} {pass:?} {now:?}");
        }
    }

    #[test]
    fn a_feed_is_listed_once_for_a_difference_that_stays() {
        let counts = |unread, read| Counts::from([("feed/1".to_owned(), Difference(unread, read))]);
        let streams = ["feed/1".to_owned(), "feed/2".to_owned()];
        let mut state = ChangeState::default();
        assert!(state.to_list(&streams, &counts(3, 4), &counts(3, 4)).is_empty());
        assert_eq!(state.to_list(&streams, &counts(3, 4), &counts(4, 3)), ["feed/1"]);
        assert_eq!(state.to_list(&streams, &Counts::new(), &counts(0, 1)), ["feed/1"]);
        // One entry there is not taken here.
        state.listed("feed/1", &counts(4, 4), &counts(3, 4));
        assert!(state.to_list(&streams, &counts(3, 5), &counts(2, 5)).is_empty());
        assert_eq!(state.to_list(&streams, &counts(4, 5), &counts(2, 5)), ["feed/1"]);
        state.listed("feed/1", &counts(4, 5), &counts(4, 5));
        assert!(state.odd.is_empty());
    }
}
