//! Start of the engine: loads the stored subscriptions, plans every feed, and keeps the pauses after recent requests.

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use super::feeds::subscription::{SavedSubscription, Subscription};
use super::poll::plans;
use super::settings::Settings;
use super::state::Engine;
use backissue_core::history::FeedKey;

/// If a site was requested less than this time before start-up, the pause after that request is kept.
const ASKED_RECENTLY: TimeDelta = TimeDelta::seconds(10);

impl Engine {
    /// Creates an engine with the stored subscriptions and plans every feed.
    pub fn new(
        settings: Settings,
        zone: Tz,
        salt: u64,
        saved: Vec<SavedSubscription>,
        now: DateTime<Utc>,
    ) -> Self {
        let mut engine = Self::empty(settings, zone, salt);
        // Collect the whole map at once, which leaves no unused capacity in its nodes.
        engine.feeds =
            saved.into_iter().map(|saved| (saved.key, Subscription::saved(saved))).collect();
        engine.last_feed = engine.feeds.keys().next_back().map_or(0, |key| key.0);
        let keys: Vec<FeedKey> = engine.feeds.keys().copied().collect();
        for key in keys {
            plans::replan(&mut engine, key, now);
        }
        engine.keep_pauses(now);
        let spread = u64::from(engine.settings.poll.start_spread_seconds).saturating_mul(1000);
        let delay = salt.checked_rem(spread.saturating_add(1)).unwrap_or(0);
        engine.host_queue.not_before =
            now.checked_add_signed(TimeDelta::milliseconds(i64::try_from(delay).unwrap_or(0)));
        engine.events.clear();
        engine
    }

    /// Keeps the pause after requests that were sent just before start-up. The time of the response is unknown, so the pause starts
    /// at `now`.
    fn keep_pauses(&mut self, now: DateTime<Utc>) {
        for feed in self.feeds.values() {
            let last_try = feed.state.facts.last_try;
            if last_try.is_some_and(|at| now.signed_duration_since(at) < ASKED_RECENTLY) {
                self.host_queue.asked_before(&feed.record.url, now, &self.settings.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::subscription::{FeedState, SubscriptionRecord};
    use crate::engine::poll::poll_log::PollCause;
    use crate::engine::poll::{poll_queue, start_fetches};
    use crate::engine::start::*;

    /// Returns whether a feed is polled at start-up, and whether it is polled a second later. The last request for the feed was
    /// sent `seconds_before` start-up.
    fn is_asked(seconds_before: i64) -> [bool; 2] {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
        let url = "https://a.example/feed".to_owned();
        let mut state = Box::<FeedState>::default();
        state.facts.last_try = Some(now - TimeDelta::seconds(seconds_before));
        let saved = SavedSubscription {
            key: FeedKey(1),
            record: SubscriptionRecord { url, ..SubscriptionRecord::default() },
            state,
            history: std::sync::Arc::default(),
            counters: backissue_core::history::Counters::default(),
        };
        let mut engine = Engine::new(Settings::default(), Tz::UTC, 0, vec![saved], now);
        engine.host_queue.not_before = None;
        poll_queue::enqueue(&mut engine, now, FeedKey(1), PollCause::Asked);
        [0, 1].map(|second| {
            let effects = start_fetches::start(&mut engine, now + TimeDelta::seconds(second));
            !effects.is_empty()
        })
    }

    #[test]
    fn site_polled_just_before_start_keeps_its_pause() {
        assert_eq!(is_asked(1), [false, true]);
        assert_eq!(is_asked(60), [true, false], "it is asked once, and at once");
    }
}
