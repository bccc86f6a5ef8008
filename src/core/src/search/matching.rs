//! Queries in the form used by the store: terms to look up in the index, and conditions on each entry's row.

use std::collections::BTreeSet;

use super::query::{EntryState, Term};
use crate::history::{FeedKey, Flags};

/// A query in which the names of feeds and tags have been resolved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matching {
    /// Words and phrases to search for. If there are none, every entry that meets the other conditions matches.
    pub terms: Vec<Term>,
    /// Feeds in which to search.
    pub feeds: BTreeSet<FeedKey>,
    /// States that entries must have (`true`) or must not have (`false`).
    pub states: Vec<(EntryState, bool)>,
    /// Entries must be listed at this instant or later, in Unix seconds.
    pub after: Option<i64>,
    /// Entries must be listed before this instant, in Unix seconds.
    pub before: Option<i64>,
    /// Conditions on labels added by filters.
    pub labels: Labels,
}

/// Conditions on tags that may also be labels added to entries by filters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    /// Feeds and filters: an entry must belong to one of the feeds, or be matched by one of the filters. `None` if every
    /// entry qualifies.
    pub wanted: Option<(BTreeSet<FeedKey>, BTreeSet<u32>)>,
    /// Filters that must not match an entry.
    pub excluded: BTreeSet<u32>,
    /// Feeds that an entry must not belong to.
    pub barred: BTreeSet<FeedKey>,
}

impl Labels {
    /// Checks whether an entry of a feed meets the conditions. `hit` must return whether any of the given filters matches
    /// the entry.
    pub fn fit(&self, feed: FeedKey, hit: impl Fn(&BTreeSet<u32>) -> bool) -> bool {
        let wanted = self.wanted.as_ref();
        wanted.is_none_or(|(feeds, rules)| feeds.contains(&feed) || hit(rules))
            && !self.barred.contains(&feed)
            && !hit(&self.excluded)
    }
}

impl Matching {
    /// Checks whether an entry's flags and date meet the conditions. Does not check the feed and the words.
    pub fn fits(&self, flags: Flags, listed: i64) -> bool {
        let is = |state: EntryState| match state {
            EntryState::Unread => flags.is_unread(),
            EntryState::Read => flags.is_read(),
            EntryState::Starred => flags.is_starred(),
            EntryState::Hidden => flags.is_hidden(),
            EntryState::Gap => false,
        };
        self.shows(flags)
            && self.fits_date(listed)
            && self.states.iter().all(|(state, wanted)| is(*state) == *wanted)
    }

    /// Checks whether the date under which an entry is listed meets the conditions.
    pub fn fits_date(&self, listed: i64) -> bool {
        self.after.is_none_or(|after| listed >= after)
            && self.before.is_none_or(|before| listed < before)
    }

    /// Checks whether an entry with these flags can be a search result. A hidden entry can be one only if the query searches
    /// for hidden entries.
    pub fn shows(&self, flags: Flags) -> bool {
        flags.is_findable()
            && (!flags.is_hidden() || self.states.contains(&(EntryState::Hidden, true)))
    }

    /// Checks whether the query searches for gaps instead of entries.
    pub fn wants_gaps(&self) -> bool {
        self.states.contains(&(EntryState::Gap, true))
    }
}
