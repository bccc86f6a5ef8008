//! Habits of a server that the polls of a feed observed, and the resulting changes to requests (SPEC D.2, D.4, D.7).

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::engine::poll::fetch::Validators;
use backissue_core::feed::hints::is_default;
use backissue_core::schedule::Learned;

/// Time without any response but 304 after which one unconditional request is made (SPEC 0, `VALIDATOR_MAX_AGE`).
const VALIDATOR_MAX_AGE: TimeDelta = TimeDelta::days(8);
/// Time after which the `ETag` is sent again to a server that ignored it (SPEC D.4 rule 10), and after which deltas are requested
/// again if each needed a second request (SPEC D.7).
const DISTRUST: TimeDelta = TimeDelta::days(30);
/// Time without any response but 404 after which the feed counts as dead (SPEC D.2).
const DEAD_AFTER: TimeDelta = TimeDelta::days(30);
/// Number of consecutive full responses with the same `ETag` that was sent, after which no `ETag` is sent (SPEC D.4 rule 10).
const SAME_TAGS_MAX: u8 = 2;
/// Number of consecutive deltas, each of which took a second request to verify, after which none is requested (SPEC D.7).
const VERIFIED_DELTAS_MAX: u8 = 3;

/// Habits of a server, as observed by one feed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerHabits {
    /// Time since which every successful response was a 304 (SPEC D.4 rule 9).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_304_since: Option<DateTime<Utc>>,
    /// Number of consecutive 200 responses with the same `ETag` that was sent (SPEC D.4 rule 10).
    #[serde(skip_serializing_if = "is_default")]
    pub same_tags: u8,
    /// Time until which only `If-Modified-Since` is sent (SPEC D.4 rule 10).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag_distrusted_until: Option<DateTime<Utc>>,
    /// Time until which no delta is requested (SPEC D.7).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_refused_until: Option<DateTime<Utc>>,
    /// Number of consecutive deltas that a plain request had to verify (SPEC D.7).
    #[serde(skip_serializing_if = "is_default")]
    pub verified_deltas: u8,
    /// Kind of `Accept` header to send.
    #[serde(skip_serializing_if = "is_default")]
    pub accepting: Accepting,
    /// Time since which every response was a 404 (SPEC D.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_found_since: Option<DateTime<Utc>>,
}

/// Value of the `Accept` header (SPEC D.2: 406 and 415).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Accepting {
    /// The list of feed formats in SPEC D.1.
    #[default]
    Usual,
    /// Any format, after the server refused the list with a 406 or 415.
    Anything,
    /// Stored by earlier versions; the same as [`Self::Usual`].
    InVain,
}

impl Accepting {
    /// Returns the value to send after the server refused this one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Usual | Self::InVain => Self::Anything,
            Self::Anything => Self::Usual,
        }
    }
}

impl ServerHabits {
    /// Checks whether one request without validators is due because the server has sent only 304 for 8 days, or for four learned
    /// intervals of the feed if they are longer than 8 days (SPEC D.4 rule 9).
    pub fn is_stuck(&self, now: DateTime<Utc>, learned: Option<&Learned>) -> bool {
        let gaps = learned.map_or(0, |learned| i64::from(learned.interval_seconds));
        let patience = VALIDATOR_MAX_AGE.max(TimeDelta::seconds(gaps.saturating_mul(4)));
        self.only_304_since.is_some_and(|since| now.signed_duration_since(since) >= patience)
    }

    /// Returns the validators to send: the known validators, but without the `ETag` if the server ignores it.
    pub fn to_send(&self, known: &Validators, now: DateTime<Utc>) -> Option<Validators> {
        let mut sent = known.clone();
        if sent.last_modified.is_some() && is_before(now, self.tag_distrusted_until) {
            sent.etag = None;
        }
        (sent.etag.is_some() || sent.last_modified.is_some()).then_some(sent)
    }

    /// Checks whether a delta may be requested.
    pub fn takes_deltas(&self, now: DateTime<Utc>) -> bool {
        !is_before(now, self.delta_refused_until)
    }

    /// Records that no delta may be requested for a number of days, because the server did not handle such a request.
    pub fn refuse_deltas(&mut self, now: DateTime<Utc>, days: i64) {
        self.delta_refused_until = now.checked_add_signed(TimeDelta::days(days));
    }

    /// Records that a delta could not be used without a plain request that verifies it. If that happens each time, the feed costs two
    /// requests a poll, so whole documents are requested at once.
    pub fn verifies_delta(&mut self, now: DateTime<Utc>) {
        self.verified_deltas = self.verified_deltas.saturating_add(1);
        if self.verified_deltas >= VERIFIED_DELTAS_MAX {
            self.verified_deltas = 0;
            self.refuse_deltas(now, DISTRUST.num_days());
        }
    }

    /// Records that an unconditional request is sent because of [`Self::is_stuck`]. The next such request follows after 8 days at
    /// the earliest.
    pub const fn asked_whole(&mut self, now: DateTime<Utc>) {
        self.only_304_since = Some(now);
    }

    /// Records a response with status 304.
    pub fn not_modified(&mut self, now: DateTime<Utc>) {
        self.only_304_since.get_or_insert(now);
        self.same_tags = 0;
        self.not_found_since = None;
    }

    /// Records a response with a document. `same_tag` is `true` if the response has the same `ETag` that was sent.
    pub fn read(&mut self, now: DateTime<Utc>, same_tag: bool) {
        self.only_304_since = None;
        self.not_found_since = None;
        self.same_tags = if same_tag { self.same_tags.saturating_add(1) } else { 0 };
        if self.same_tags >= SAME_TAGS_MAX {
            self.same_tags = 0;
            self.tag_distrusted_until = now.checked_add_signed(DISTRUST);
        }
    }

    /// Records a response with an error status.
    pub fn refused(&mut self, now: DateTime<Utc>, status: u16) {
        if status == 404 {
            self.not_found_since.get_or_insert(now);
        } else {
            self.not_found_since = None;
        }
    }

    /// Checks whether every response for 30 days was a 404.
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
    fn server_stuck_on_304_gets_one_unconditional_request() {
        // After 8 days with only 304, one request is sent without validators (SPEC D.4 rule 9, G.25).
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
    fn ignored_etag_is_omitted_for_a_month() {
        // An `ETag` that the server repeats in full responses is no longer sent (SPEC D.4 rule 10, G.24).
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
    fn a_month_of_only_404_ends_the_feed() {
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
