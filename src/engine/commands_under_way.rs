//! Checks whether work is in progress for some feeds, for a command that waits only for those feeds.

use std::collections::BTreeSet;

use super::state::Engine;
use backissue_core::history::FeedKey;

/// Checks whether a poll, a request for a page or for a picture ahead, a walk through archives, learning, or a write is in progress
/// for any of these feeds. Ignores all other feeds and work that concerns no feed; for the whole engine, see
/// [`Engine::is_at_rest`].
pub fn is_under_way(engine: &Engine, feeds: &BTreeSet<FeedKey>) -> bool {
    is_polling(engine, feeds) || feeds.iter().any(|feed| engine.learning.is_under_way(*feed))
}

/// Like [`is_under_way`], but ignores learning, which waits until no poll is in progress.
pub fn is_polling(engine: &Engine, feeds: &BTreeSet<FeedKey>) -> bool {
    let asked =
        |feed: &FeedKey| engine.polls.contains_key(feed) || engine.backfills.contains_key(feed);
    let paged = engine.pages.keys().any(|key| feeds.contains(&key.feed));
    paged
        || engine.pictures_ahead.are_under_way(feeds)
        || feeds.iter().any(asked)
        || engine.writes.values().any(|written| !written.is_disjoint(feeds))
}

#[cfg(test)]
mod tests {
    use crate::engine::change::MarkChange;
    use chrono::{DateTime, TimeDelta, Utc};

    use super::*;
    use crate::engine::feeds::subscription::{SavedSubscription, SubscriptionRecord};
    use crate::engine::poll::poll_request::{PollKind, PollRequest};
    use crate::engine::request::{Effect, Input, Request};
    use crate::engine::settings::Settings;
    use crate::engine::store_work::{Answer, Job, Stored};
    use crate::engine::update::update;
    use backissue_core::history::{Counters, EntryKey, Flag};
    use backissue_core::schedule::Pace;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const A: FeedKey = FeedKey(1);
    const B: FeedKey = FeedKey(2);

    fn engine() -> Engine {
        let saved = [A, B].map(|key| SavedSubscription {
            key,
            record: SubscriptionRecord {
                url: format!("https://{key}.example/feed"),
                ..SubscriptionRecord::default()
            },
            state: Box::default(),
            history: std::sync::Arc::default(),
            counters: Counters::default(),
        });
        let mut settings = Settings::default();
        settings.poll.learn = false;
        let mut engine = Engine::new(settings, chrono_tz::Tz::UTC, 0, saved.to_vec(), NOW);
        engine.polls_by_itself = false;
        engine
    }

    /// Returns whether work is in progress for feed A and for feed B.
    fn under_way(engine: &Engine) -> [bool; 2] {
        [A, B].map(|feed| is_under_way(engine, &BTreeSet::from([feed])))
    }

    /// Applies a request and returns the resulting jobs for the store.
    fn ask(engine: &mut Engine, request: Request) -> Vec<(Stored, Job)> {
        let output = update(engine, NOW + TimeDelta::hours(1), Input::Request(request));
        let work = output.effects.into_iter().filter_map(|effect| {
            let Effect::Store(work) = effect else { return None };
            let (subject, result) = (work.job.subject(), Ok(Answer::RecordsSaved));
            Some((Stored { id: work.id, subject, result }, work.job))
        });
        work.collect()
    }

    #[test]
    fn waiting_for_a_poll_ignores_other_feeds() {
        let mut engine = engine();
        assert_eq!(under_way(&engine), [false, false]);
        assert!(!is_under_way(&engine, &BTreeSet::new()));
        let feeds = Some(vec![A]);
        let polls = PollRequest { feeds, kind: PollKind::Forced, archives: true };
        ask(&mut engine, Request::Poll(polls));
        assert_eq!(under_way(&engine), [true, false]);
        assert!(is_under_way(&engine, &BTreeSet::from([A, B])));
        engine.polls.clear();
        assert_eq!(under_way(&engine), [false, false]);
    }

    #[test]
    fn settings_and_marks_are_pending_until_written_or_failed() {
        let mut engine = engine();
        let work = ask(&mut engine, Request::SetPace(B, Pace::More));
        assert_eq!(under_way(&engine), [false, true]);
        for (stored, job) in work {
            if matches!(job, Job::SaveRecords(_)) {
                update(&mut engine, NOW, Input::Stored(Box::new(stored)));
            }
        }
        assert_eq!(under_way(&engine), [false, false]);
        let keys = vec![EntryKey { feed: A, seq: 0 }];
        let work =
            ask(&mut engine, Request::Mark(MarkChange { keys, flag: Flag::Read, value: true }));
        assert_eq!(under_way(&engine), [true, false]);
        for (stored, _) in work {
            let stored = Stored { result: Err("the disk is full".into()), ..stored };
            update(&mut engine, NOW, Input::Stored(Box::new(stored)));
        }
        assert_eq!(under_way(&engine), [false, false]);
    }
}
