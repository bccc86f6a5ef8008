//! A query as the store answers it: terms for the index, and what is judged by each entry's row.

use std::collections::BTreeSet;

use super::query::{EntryState, Term};
use crate::history::{FeedKey, Flags};

/// What is looked for, with names resolved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matching {
    /// Words and phrases; none: every entry that the rest takes.
    pub terms: Vec<Term>,
    /// The feeds that are searched.
    pub feeds: BTreeSet<FeedKey>,
    /// What entries must be, or must not be.
    pub states: Vec<(EntryState, bool)>,
    /// Listed at this instant or later, in Unix seconds.
    pub after: Option<i64>,
    /// Listed before this instant, in Unix seconds.
    pub before: Option<i64>,
    /// Labels that filters give.
    pub labels: Labels,
}

/// Tags that are looked for where they are also labels of entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    /// An entry is of one of these feeds, or was hit by one of these filters; `None`: any entry.
    pub wanted: Option<(BTreeSet<FeedKey>, BTreeSet<u32>)>,
    /// It was hit by none of these filters.
    pub excluded: BTreeSet<u32>,
    /// And is of none of these feeds.
    pub barred: BTreeSet<FeedKey>,
}

impl Labels {
    /// Whether an entry of a feed fits. `hit`: whether one of some filters hit it.
    pub fn fit(&self, feed: FeedKey, hit: impl Fn(&BTreeSet<u32>) -> bool) -> bool {
        let wanted = self.wanted.as_ref();
        wanted.is_none_or(|(feeds, rules)| feeds.contains(&feed) || hit(rules))
            && !self.barred.contains(&feed)
            && !hit(&self.excluded)
    }
}

impl Matching {
    /// Whether the marks and the date of an entry fit. Feed and words are not looked at.
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

    /// Whether a date fits.
    pub fn fits_date(&self, listed: i64) -> bool {
        self.after.is_none_or(|after| listed >= after)
            && self.before.is_none_or(|before| listed < before)
    }

    /// Whether an entry with these marks can be meant: a hidden one only where hidden ones are looked for.
    pub fn shows(&self, flags: Flags) -> bool {
        flags.is_findable()
            && (!flags.is_hidden() || self.states.contains(&(EntryState::Hidden, true)))
    }

    /// Whether gaps are looked for, not entries.
    pub fn wants_gaps(&self) -> bool {
        self.states.contains(&(EntryState::Gap, true))
    }
}
