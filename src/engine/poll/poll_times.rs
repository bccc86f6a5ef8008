//! Values that every poll of a feed changes: the times of the last request and response, and the number of polls.
//!
//! These values have a separate small record next to the feed's state, so that polls of unchanged feeds do not rewrite the whole
//! state of each feed.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::engine::feeds::subscription::FeedState;
use backissue_core::schedule::LearnedAnswer;

/// Times of a feed's last polls, stored in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PollTimes {
    /// Time of the last request.
    #[serde(rename = "t", with = "chrono::serde::ts_milliseconds_option")]
    pub last_try: Option<DateTime<Utc>>,
    /// Time of the last successful poll.
    #[serde(rename = "o", with = "chrono::serde::ts_milliseconds_option")]
    pub last_ok: Option<DateTime<Utc>>,
    /// Time of the response whose cache lifetime applies.
    #[serde(rename = "r", with = "chrono::serde::ts_milliseconds_option")]
    pub received_at: Option<DateTime<Utc>>,
    /// `Date` header of the response whose cache lifetime applies.
    #[serde(rename = "d", with = "chrono::serde::ts_milliseconds_option")]
    pub date: Option<DateTime<Utc>>,
    /// Number of polls so far.
    #[serde(rename = "n")]
    pub polls: u32,
    /// Next poll time that the learned plan computed after the last successful poll.
    #[serde(rename = "l", skip_serializing_if = "Option::is_none")]
    pub learned: Option<LearnedAnswer>,
}

impl PollTimes {
    /// Copies the times from the state of a feed.
    pub fn of(state: &FeedState) -> Self {
        let cache = state.facts.cache;
        Self {
            last_try: state.facts.last_try,
            last_ok: state.facts.last_ok,
            received_at: cache.map(|cache| cache.received_at),
            date: cache.and_then(|cache| cache.date),
            polls: state.polls,
            learned: state.facts.learned.as_ref().and_then(|learned| learned.answered),
        }
    }

    /// Writes the times to the state of a feed.
    pub fn set_in(&self, state: &mut FeedState) {
        state.facts.last_try = self.last_try;
        state.facts.last_ok = self.last_ok;
        if let Some(cache) = &mut state.facts.cache {
            cache.received_at = self.received_at.unwrap_or(cache.received_at);
            cache.date = self.date;
        }
        if let Some(learned) = &mut state.facts.learned {
            learned.answered = self.learned;
        }
        state.polls = self.polls;
    }

    /// Checks whether two states of a feed differ only in the values that this record contains.
    pub fn are_all_that_differs(before: &FeedState, after: &FeedState) -> bool {
        if before.facts.cache.is_some() != after.facts.cache.is_some() {
            return false;
        }
        let mut before = before.clone();
        // Ignore settings and learned plans, because the stored state does not contain them.
        before.facts.settings = after.facts.settings.clone();
        if let (Some(before), Some(after)) = (&mut before.facts.learned, &after.facts.learned) {
            before.plan.clone_from(&after.plan);
        }
        Self::of(after).set_in(&mut before);
        before == *after
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::poll::poll_times::*;
    use backissue_core::schedule::{CacheState, Learned, Lifetime};

    fn state(second: i64) -> FeedState {
        let at = DateTime::from_timestamp(1_770_000_000 + second, 0);
        let mut state = FeedState { polls: 7, status: Some(304), ..FeedState::default() };
        state.facts.last_try = at;
        state.facts.last_ok = at;
        state.facts.cache = at.map(|received_at| CacheState {
            received_at,
            lifetime: Lifetime::MaxAge(60),
            date: at,
            age_seconds: 0,
        });
        state
    }

    #[test]
    fn poll_times_update_an_unchanged_state() {
        let (mut before, mut after) = (state(0), state(3600));
        after.polls = 8;
        assert!(PollTimes::are_all_that_differs(&before, &after));
        PollTimes::of(&after).set_in(&mut before);
        assert_eq!(before, after);
    }

    #[test]
    fn learned_plan_result_is_part_of_the_times() {
        let (mut before, mut after) = (state(0), state(3600));
        let answered =
            |last: i64| LearnedAnswer { last, next: [last + 900, last + 1800, last + 3600] };
        let learned = |last| Learned { answered: Some(answered(last)), ..Learned::every(1800) };
        before.facts.learned = Some(learned(0));
        after.facts.learned = Some(learned(3600));
        after.facts.settings.min_seconds = 60;
        assert!(PollTimes::are_all_that_differs(&before, &after));
        PollTimes::of(&after).set_in(&mut before);
        assert_eq!(before.facts.learned, after.facts.learned);
        after.facts.learned = Some(Learned::every(60));
        assert!(!PollTimes::are_all_that_differs(&before, &after));
    }

    #[test]
    fn any_other_difference_is_more_than_times() {
        let before = state(0);
        let edits: [fn(&mut FeedState); 4] = [
            |state| state.status = Some(200),
            |state| state.facts.cache = None,
            |state| state.facts.failures = 1,
            |state| state.trouble = Some("it timed out".into()),
        ];
        for edit in edits {
            let mut after = state(3600);
            edit(&mut after);
            assert!(!PollTimes::are_all_that_differs(&before, &after), "{after:?}");
            assert!(!PollTimes::are_all_that_differs(&after, &before), "{after:?}");
        }
    }
}
