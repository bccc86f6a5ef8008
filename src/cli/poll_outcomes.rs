//! Selects the poll results that belong to the request of one client, because other clients may poll the same feeds at the same
//! time.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::commands_under_way::is_polling;
use crate::engine::poll::poll_results::{PollOutcome, PollResult};
use crate::engine::state::Engine;
use backissue_core::history::FeedKey;

/// Maximum number of feeds without a result that are checked one by one after each input.
const FEW: usize = 16;

/// Collects one poll result per feed that a client requested, and detects when all of these feeds are done.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// Feeds whose poll has no result yet.
    waiting: BTreeSet<FeedKey>,
    /// Feeds with a result whose archive walks or writes are still running.
    ending: BTreeSet<FeedKey>,
    /// Feeds that were already being polled when this client made its request, each with the result that reports the refusal. For
    /// these feeds, the result of the running poll is reported.
    joined: BTreeMap<FeedKey, PollResult>,
}

impl Outcomes {
    /// Waits for feeds whose polls this client started, and for feeds that were already being polled.
    pub(super) fn new(begun: &BTreeSet<FeedKey>, joined: BTreeMap<FeedKey, PollResult>) -> Self {
        let waiting = begun.iter().chain(joined.keys()).copied().collect();
        Self { waiting, ending: BTreeSet::new(), joined }
    }

    /// Selects the new results to report.
    pub(super) fn take<'a>(
        &mut self,
        engine: &Engine,
        fresh: impl Iterator<Item = &'a PollResult>,
    ) -> Vec<PollResult> {
        let mut taken = Vec::new();
        for result in fresh {
            let feed = result.feed;
            // Ignore this result: it reports that another client's request was refused because the feed is being polled.
            let refused = result.outcome == PollOutcome::Skipped;
            if refused && engine.polls.contains_key(&feed) {
                continue;
            }
            if self.waiting.remove(&feed) {
                self.ending.insert(feed);
                taken.push(result.clone());
            } else {
                // This second result, and the work that follows it, belong to a later poll that another client requested.
                self.ending.remove(&feed);
            }
        }
        self.ending.retain(|feed| is_polling(engine, &BTreeSet::from([*feed])));
        if self.waiting.len() <= FEW {
            // The poll ended without a result, for example because the feed was unsubscribed.
            let gone = |feed: &FeedKey| !is_polling(engine, &BTreeSet::from([*feed]));
            let gone: Vec<FeedKey> = self.waiting.iter().copied().filter(gone).collect();
            for feed in gone {
                self.waiting.remove(&feed);
                taken.extend(self.joined.remove(&feed));
            }
        }
        taken
    }

    /// Checks whether every feed is done.
    pub(super) fn are_complete(&self) -> bool {
        self.waiting.is_empty() && self.ending.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use chrono_tz::Tz;

    use super::*;
    use crate::engine::poll::poll_stage::{Poll, PollStage};
    use crate::engine::settings::Settings;

    fn engine(polled: &[u32]) -> Engine {
        let mut engine =
            Engine::new(Settings::default(), Tz::UTC, 0, Vec::new(), DateTime::UNIX_EPOCH);
        for &feed in polled {
            engine.polls.insert(FeedKey(feed), Poll::at(PollStage::Asking));
        }
        engine
    }

    fn result(feed: u32, outcome: PollOutcome) -> PollResult {
        PollResult::empty(FeedKey(feed), outcome, None)
    }

    fn outcomes(begun: &[u32], joined: &[u32]) -> Outcomes {
        let begun = begun.iter().copied().map(FeedKey).collect();
        let refused = |&feed: &u32| (FeedKey(feed), result(feed, PollOutcome::Skipped));
        Outcomes::new(&begun, joined.iter().map(refused).collect())
    }

    #[test]
    fn feed_has_one_result_once_it_is_idle() {
        let mut outcomes = outcomes(&[1, 2], &[]);
        let read = result(1, PollOutcome::Read);
        let told = outcomes.take(&engine(&[1, 2]), [&read].into_iter());
        assert_eq!(told, std::slice::from_ref(&read));
        assert!(!outcomes.are_complete());
        // Feed 1 is done; later polls of it belong to other clients.
        outcomes.take(&engine(&[2]), std::iter::empty());
        assert_eq!(outcomes.take(&engine(&[1, 2]), [&read].into_iter()), []);
        let failed = result(2, PollOutcome::Failed);
        let told = outcomes.take(&engine(&[1]), [&failed].into_iter());
        assert_eq!(told, std::slice::from_ref(&failed));
        assert!(outcomes.are_complete());
    }

    #[test]
    fn feed_polled_repeatedly_by_others_ends_at_next_result() {
        let mut outcomes = outcomes(&[1], &[]);
        let read = result(1, PollOutcome::Read);
        let busy = engine(&[1]);
        outcomes.take(&busy, [&read].into_iter());
        assert!(!outcomes.are_complete(), "it may be its own walk that goes on");
        assert_eq!(outcomes.take(&busy, [&read].into_iter()), []);
        assert!(outcomes.are_complete());
    }

    #[test]
    fn running_poll_is_joined_and_its_result_reported() {
        let busy = engine(&[1]);
        let mut joined = outcomes(&[], &[1]);
        let refused = result(1, PollOutcome::Skipped);
        assert_eq!(joined.take(&busy, [&refused].into_iter()), [], "another hand was refused");
        let read = result(1, PollOutcome::Read);
        let told = joined.take(&engine(&[]), [&read].into_iter());
        assert_eq!(told, std::slice::from_ref(&read));
        assert!(joined.are_complete());
        let mut given_up = outcomes(&[], &[1]);
        assert_eq!(given_up.take(&engine(&[]), std::iter::empty()), [refused]);
        assert!(given_up.are_complete());
    }
}
