//! Updates the facts of a feed after a successful or failed poll (SPEC section 0, D.2).

use chrono::{DateTime, Utc};

use super::facts::{Facts, FeedStatus, PollFailure};
use super::holds::cache::{CacheState, TimingHeaders};
use super::holds::retry_after::Wait;

impl Facts {
    /// Records a poll that returned 200, 203, 226 or 304 and was processed. The caller updates the hints: a 200
    /// replaces them, a 226 replaces those it contains, and a 304 keeps them.
    pub fn record_success(
        &mut self,
        status: u16,
        headers: &TimingHeaders<'_>,
        started: DateTime<Utc>,
        received_at: DateTime<Utc>,
    ) {
        let kept = self.cache.filter(|_| status == 304);
        let cache = match kept {
            Some(cache) => cache.of_not_modified(headers, received_at),
            None => CacheState::of_document(headers, received_at),
        };
        self.cache = Some(cache);
        self.retry_after = Wait::of_answer(status, headers, received_at);
        // A successful poll that started after the host requested the wait shows that the host accepts requests again (SPEC B.4
        // rule 3).
        self.host_wait = self.host_wait.filter(|wait| started < wait.received_at);
        self.succeeded_at(started);
    }

    /// Records a failed attempt. Attempts without any network connection do not count and are not recorded (SPEC B.4.4).
    pub fn record_failure(
        &mut self,
        failure: PollFailure,
        headers: &TimingHeaders<'_>,
        started: DateTime<Utc>,
        received_at: DateTime<Utc>,
    ) {
        self.last_try = Some(started);
        self.failures = self.failures.saturating_add(1);
        self.failure = Some(failure);
        match failure {
            PollFailure::Status(410) => self.standing = FeedStatus::Gone,
            PollFailure::Status(status) => {
                let wait = Wait::of_answer(status, headers, received_at);
                let wait = wait.map(|wait| wait.or_longer(self.retry_after));
                self.retry_after = wait.or(self.retry_after);
            }
            PollFailure::Unanswered | PollFailure::Unreadable | PollFailure::TooLarge => {}
        }
    }

    /// Updates the facts as if a poll at `at` received the same response as the last successful poll. Used to predict polls.
    pub(super) fn repeat_success(&mut self, at: DateTime<Utc>) {
        self.cache = self.cache.map(|cache| cache.repeated_at(at));
        self.retry_after = None;
        self.host_wait = None;
        self.succeeded_at(at);
    }

    fn succeeded_at(&mut self, started: DateTime<Utc>) {
        self.last_ok = Some(started);
        self.last_try = Some(started);
        self.failures = 0;
        self.failure = None;
        if self.standing == FeedStatus::Dead {
            self.standing = FeedStatus::Active;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::instant::instant;
    use super::*;

    #[test]
    fn failures_are_counted_until_a_success() {
        let (early, late) = (instant(1000), instant(2000));
        let mut facts = Facts::default();
        let none = TimingHeaders::default();
        let retry = TimingHeaders { retry_after: Some("60"), ..none };
        facts.record_failure(PollFailure::Status(503), &retry, early, early);
        facts.record_failure(PollFailure::Unanswered, &none, late, late);
        assert_eq!((facts.failures, facts.last_ok, facts.last_try), (2, None, Some(late)));
        assert_eq!(facts.retry_after.map(|wait| wait.seconds), Some(60));
        facts.standing = FeedStatus::Dead;
        facts.record_success(200, &none, late, late);
        assert_eq!((facts.failures, facts.failure, facts.retry_after), (0, None, None));
        assert_eq!((facts.standing, facts.last_ok), (FeedStatus::Active, Some(late)));
    }

    #[test]
    fn shorter_wait_keeps_a_longer_one_unless_clock_was_wrong() {
        let headers = |seconds: &'static str| TimingHeaders {
            retry_after: Some(seconds),
            ..TimingHeaders::default()
        };
        for (first, seconds, kept) in
            [(1000, "300", 90_000), (1000, "200000", 200_000), (9000, "300", 300)]
        {
            let mut facts = Facts::default();
            let (asked, again) = (instant(first), instant(5000));
            facts.record_failure(PollFailure::Status(429), &headers("90000"), asked, asked);
            facts.record_failure(PollFailure::Status(503), &headers(seconds), again, again);
            assert_eq!(facts.retry_after.map(|wait| wait.seconds), Some(kept), "{first} {seconds}");
        }
    }

    #[test]
    fn success_of_a_later_request_ends_the_host_wait() {
        let (none, asked) = (TimingHeaders::default(), instant(5000));
        let wait = TimingHeaders { retry_after: Some("90000"), ..none };
        for (started, waits) in [(4990, true), (5000, false), (6000, false)] {
            let host_wait = Wait::of_answer(429, &wait, asked);
            let mut facts = Facts { host_wait, ..Facts::default() };
            facts.record_success(200, &none, instant(started), instant(6000));
            assert_eq!(facts.host_wait.is_some(), waits, "{started}");
        }
    }

    #[test]
    fn a_410_ends_the_feed() {
        let mut facts = Facts::default();
        let at = instant(0);
        facts.record_failure(PollFailure::Status(410), &TimingHeaders::default(), at, at);
        assert_eq!(facts.standing, FeedStatus::Gone);
    }

    #[test]
    fn a_304_keeps_the_lifetime_and_a_200_without_one_clears_it() {
        let (none, at) = (TimingHeaders::default(), instant(5000));
        let mut facts = Facts::default();
        let fresh = TimingHeaders { cache_control: Some("max-age=600"), ..none };
        facts.record_success(200, &fresh, instant(0), instant(0));
        facts.record_success(304, &none, at, at);
        assert_eq!(facts.cache.and_then(|cache| cache.floor_seconds()), Some(600));
        facts.record_success(200, &none, at, at);
        assert_eq!(facts.cache.and_then(|cache| cache.floor_seconds()), None);
    }
}
