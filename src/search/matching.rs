//! A query as the store answers it: terms for the index, and what is judged by each entry's row.

use std::collections::BTreeSet;

use super::query::{State, Term};
use crate::history::{FeedKey, Flags};

/// What is looked for, with names resolved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matching {
    /// Words and phrases; none: every entry that the rest takes.
    pub terms: Vec<Term>,
    /// The feeds that are searched.
    pub feeds: BTreeSet<FeedKey>,
    /// What entries must be, or must not be.
    pub states: Vec<(State, bool)>,
    /// Listed at this instant or later, in Unix seconds.
    pub after: Option<i64>,
    /// Listed before this instant, in Unix seconds.
    pub before: Option<i64>,
}

impl Matching {
    /// Whether the marks and the date of an entry fit. Feed and words are not looked at.
    pub fn takes(&self, flags: Flags, listed: i64) -> bool {
        let is = |state: State| match state {
            State::Unread => flags.is_unread(),
            State::Read => flags.is_read(),
            State::Starred => flags.is_starred(),
            State::Gap => false,
        };
        flags.is_shown()
            && self.takes_date(listed)
            && self.states.iter().all(|(state, wanted)| is(*state) == *wanted)
    }

    /// Whether a date fits.
    pub fn takes_date(&self, listed: i64) -> bool {
        self.after.is_none_or(|after| listed >= after)
            && self.before.is_none_or(|before| listed < before)
    }

    /// Whether gaps are looked for, not entries.
    pub fn wants_gaps(&self) -> bool {
        self.states.contains(&(State::Gap, true))
    }
}
