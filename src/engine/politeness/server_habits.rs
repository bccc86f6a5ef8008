//! What polls taught us of a server's habits, and how a request goes along with them (SPEC D.2, D.4, D.7).

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::engine::poll::fetch::Validators;
use backissue_core::feed::sparse::is_default;
use backissue_core::schedule::Learned;

/// Nothing but 304 for this long: one unconditional request (SPEC 0, `VALIDATOR_MAX_AGE`).
const VALIDATOR_MAX_AGE: TimeDelta = TimeDelta::days(8);
/// A habit that was found wanting is tried again after this (SPEC D.4 rule 10, D.7).
const DISTRUST: TimeDelta = TimeDelta::days(30);
/// Nothing but 404 for this long: the feed counts as dead (SPEC D.2).
const DEAD_AFTER: TimeDelta = TimeDelta::days(30);
/// Answers in a row that repeat the tag we sent, after which the tag is not sent (SPEC D.4 rule 10).
const SAME_TAGS_MAX: u8 = 2;

/// A server's habits, as far as one feed has met them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerHabits {
    /// Since when every good answer was a 304 (SPEC D.4 rule 9).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_304_since: Option<DateTime<Utc>>,
    /// Answers 200 in a row that carried the very tag we sent (SPEC D.4 rule 10).
    #[serde(skip_serializing_if = "is_default")]
    pub same_tags: u8,
    /// Until then only `If-Modified-Since` is sent (SPEC D.4 rule 10).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag_distrusted_until: Option<DateTime<Utc>>,
    /// Until then no delta is asked for (SPEC D.7).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_refused_until: Option<DateTime<Utc>>,
    /// How the answer's form is asked for.
    #[serde(skip_serializing_if = "is_default")]
    pub accepting: Accepting,
    /// Since when nothing but 404 came (SPEC D.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_found_since: Option<DateTime<Utc>>,
}

/// Which `Accept` is sent (SPEC D.2: 406 and 415).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Accepting {
    /// The list of SPEC D.1.
    #[default]
    Usual,
    /// `*/*` with the next request, after a 406 or 415 to the list.
    Anything,
    /// The list again: `*/*` did not help either.
    InVain,
}

impl ServerHabits {
    /// Whether the server has said nothing but 304 for so long that it is asked once without validators
    /// (SPEC D.4 rule 9): 8 days, or four times what is known of the feed's rhythm.
    pub fn is_stuck(&self, now: DateTime<Utc>, learned: Option<&Learned>) -> bool {
        let gaps = learned.map_or(0, |learned| i64::from(learned.interval_seconds));
        let patience = VALIDATOR_MAX_AGE.max(TimeDelta::seconds(gaps.saturating_mul(4)));
        self.only_304_since.is_some_and(|since| now.signed_duration_since(since) >= patience)
    }

    /// The validators to send: those that are known, less a tag the server does not honour.
    pub fn to_send(&self, known: &Validators, now: DateTime<Utc>) -> Option<Validators> {
        let mut sent = known.clone();
        if sent.last_modified.is_some() && is_before(now, self.tag_distrusted_until) {
            sent.etag = None;
        }
        (sent.etag.is_some() || sent.last_modified.is_some()).then_some(sent)
    }

    /// Whether a delta may be asked for.
    pub fn takes_deltas(&self, now: DateTime<Utc>) -> bool {
        !is_before(now, self.delta_refused_until)
    }

    /// The server did not understand a delta: none is asked for, for a while.
    pub fn refuse_deltas(&mut self, now: DateTime<Utc>, days: i64) {
        self.delta_refused_until = now.checked_add_signed(TimeDelta::days(days));
    }

    /// An unconditional request was made because of [`Self::is_stuck`]: the next one is 8 days away at least.
    pub const fn asked_whole(&mut self, now: DateTime<Utc>) {
        self.only_304_since = Some(now);
    }

    /// A 304 came.
    pub fn not_modified(&mut self, now: DateTime<Utc>) {
        self.only_304_since.get_or_insert(now);
        self.same_tags = 0;
        self.not_found_since = None;
    }

    /// A document came; `same_tag`: with the very tag that was sent.
    pub fn read(&mut self, now: DateTime<Utc>, same_tag: bool) {
        self.only_304_since = None;
        self.not_found_since = None;
        if self.accepting == Accepting::InVain {
            self.accepting = Accepting::Usual;
        }
        self.same_tags = if same_tag { self.same_tags.saturating_add(1) } else { 0 };
        if self.same_tags >= SAME_TAGS_MAX {
            self.same_tags = 0;
            self.tag_distrusted_until = now.checked_add_signed(DISTRUST);
        }
    }

    /// A status that is no success came.
    pub fn refused(&mut self, now: DateTime<Utc>, status: u16) {
        if status == 404 {
            self.not_found_since.get_or_insert(now);
        } else {
            self.not_found_since = None;
        }
        if matches!(status, 406 | 415) {
            self.accepting = match self.accepting {
                Accepting::Usual => Accepting::Anything,
                Accepting::Anything | Accepting::InVain => Accepting::InVain,
            };
        }
    }

    /// Whether nothing but 404 came for 30 days.
    pub fn is_dead(&self, now: DateTime<Utc>) -> bool {
        self.not_found_since.is_some_and(|since| now.signed_duration_since(since) >= DEAD_AFTER)
    }
}

fn is_before(now: DateTime<Utc>, end: Option<DateTime<Utc>>) -> bool {
    end.is_some_and(|end| now < end)
}

#[cfg(test)]
mod tests {
    use crate::engine::politeness::server_habits::*;

    fn day(day: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(day)
    }

    fn both() -> Validators {
        Validators {
            url: "u".into(),
            etag: Some(b"\"x-gzip\"".into()),
            last_modified: Some(b"d".into()),
        }
    }

    #[test]
    fn a_server_that_says_304_for_eight_days_is_asked_once_without_validators() {
        // SPEC D.4 rule 9, G.25.
        let mut habits = ServerHabits::default();
        for n in 0..8 {
            habits.not_modified(day(n));
            assert!(!habits.is_stuck(day(n), None), "day {n}");
        }
        assert!(habits.is_stuck(day(8), None));
        let slow = Learned::every(3 * 86_400);
        assert!(!habits.is_stuck(day(8), Some(&slow)), "four of its gaps are 12 days");
        habits.asked_whole(day(8));
        habits.not_modified(day(9));
        assert!(!habits.is_stuck(day(15), None));
        assert!(habits.is_stuck(day(16), None));
        habits.read(day(16), false);
        assert!(!habits.is_stuck(day(99), None));
    }

    #[test]
    fn a_tag_that_comes_back_with_a_whole_document_twice_is_not_sent_for_a_month() {
        // SPEC D.4 rule 10, G.24.
        let mut habits = ServerHabits::default();
        habits.read(day(0), true);
        assert_eq!(habits.to_send(&both(), day(0)), Some(both()));
        habits.not_modified(day(1));
        habits.read(day(2), true);
        assert_eq!(habits.to_send(&both(), day(2)), Some(both()), "two in a row, not two in all");
        habits.read(day(3), true);
        let dated = Validators { etag: None, ..both() };
        assert_eq!(habits.to_send(&both(), day(3)), Some(dated));
        assert_eq!(habits.to_send(&both(), day(33)), Some(both()));
        let no_date = Validators { last_modified: None, ..both() };
        assert_eq!(habits.to_send(&no_date, day(3)), Some(no_date), "without a date the tag stays");
    }

    #[test]
    fn a_form_that_is_not_acceptable_is_asked_for_once_in_any_form() {
        // SPEC D.2, 406 and 415.
        let mut habits = ServerHabits::default();
        habits.refused(day(0), 406);
        assert_eq!(habits.accepting, Accepting::Anything);
        habits.read(day(0), false);
        assert_eq!(habits.accepting, Accepting::Anything, "what helped stays");
        habits.refused(day(1), 415);
        assert_eq!(habits.accepting, Accepting::InVain);
        habits.read(day(2), false);
        assert_eq!(habits.accepting, Accepting::Usual);
    }

    #[test]
    fn a_month_of_404_and_nothing_else_is_death() {
        let mut habits = ServerHabits::default();
        habits.refused(day(0), 404);
        habits.refused(day(29), 404);
        assert!(!habits.is_dead(day(29)));
        assert!(habits.is_dead(day(30)));
        habits.refused(day(31), 500);
        habits.refused(day(32), 404);
        assert!(!habits.is_dead(day(61)));
    }
}
