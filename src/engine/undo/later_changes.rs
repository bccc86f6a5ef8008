//! Several changes of one thing that are being written: where the first one fails, the last one counts until it fails as well.

use std::ops::Bound::{Excluded, Unbounded};

use super::address_change::AddressChange;
use super::rollback::Rollback;
use crate::engine::effect::Effect;
use crate::engine::feeds::chosen_settings::Chosen;
use crate::engine::saved_searches::SavedSearch;
use crate::engine::state::Engine;
use crate::engine::store_work::{Job, JobId};
use backissue_core::history::FeedKey;

/// A job failed that was to write settings of feeds: those that are to be shown again. A later change of the same feed that is
/// being written holds the whole of its settings; if it fails too, it takes back what was before both.
pub fn settings_to_show(
    engine: &mut Engine,
    failed: JobId,
    before: Vec<(FeedKey, Chosen)>,
) -> Vec<(FeedKey, Chosen)> {
    let mut shown = Vec::new();
    for (feed, mut chosen) in before {
        keep_answers(engine, failed, feed, &mut chosen);
        let later = engine.rollbacks.range_mut((Excluded(failed), Unbounded));
        let settings = later.filter_map(|(_, rollback)| {
            if let Rollback::Settings { before, .. } = rollback { Some(before) } else { None }
        });
        match settings.flatten().find(|(other, _)| *other == feed) {
            Some((_, later)) => *later = chosen,
            None => shown.push((feed, chosen)),
        }
    }
    shown
}

/// A later answer about a feed may have changed settings too, and is taken back by itself: what it said of them stays.
fn keep_answers(engine: &Engine, failed: JobId, of: FeedKey, chosen: &mut Chosen) {
    let mut later = engine.rollbacks.range((Excluded(failed), Unbounded));
    let is_answered = later
        .any(|(_, rollback)| matches!(rollback, Rollback::Address { feed, .. } if *feed == of));
    if let Some(subscription) = engine.feeds.get(&of).filter(|_| is_answered) {
        let shown = &subscription.record.feed_settings;
        chosen.feed_settings.allow_insecure = shown.allow_insecure;
        chosen.feed_settings.ignore_expired = shown.ignore_expired;
    }
}

/// The same for the address of a feed and what is proposed of it. `None`: a later change of them takes it back.
pub fn address_to_show(
    engine: &mut Engine,
    failed: JobId,
    of: FeedKey,
    earlier: Box<AddressChange>,
) -> Option<Box<AddressChange>> {
    for (_, rollback) in engine.rollbacks.range_mut((Excluded(failed), Unbounded)) {
        match rollback {
            Rollback::Address { feed, changed, .. } if *feed == of => {
                earlier.take_back_before(changed);
                return None;
            }
            // Settings that are chosen hold what was answered before.
            Rollback::Settings { before, .. } => {
                for (_, chosen) in before.iter_mut().filter(|(feed, _)| *feed == of) {
                    earlier.take_back_in_settings(&mut chosen.feed_settings);
                }
            }
            Rollback::Address { .. }
            | Rollback::Marks { .. }
            | Rollback::Filter { .. }
            | Rollback::Filters(_)
            | Rollback::Searches { .. }
            | Rollback::Subscription { .. }
            | Rollback::Subscribed { .. }
            | Rollback::Merged { .. } => {}
        }
    }
    Some(earlier)
}

/// A change of a feed's record failed and was taken back. One that is written after it was handed over with that change in it:
/// the record is written as it is now, too.
pub fn write_again(engine: &mut Engine, failed: JobId, feed: FeedKey) -> Option<Effect> {
    let mut later = engine.writes.range((Excluded(failed), Unbounded));
    let is_written = later.any(|(_, feeds)| feeds.contains(&feed));
    let subscription = engine.feeds.get(&feed).filter(|_| is_written)?;
    let records = vec![(feed, subscription.record.clone())];
    engine.unsaved = engine.unsaved.saturating_add(1);
    Some(Effect::store(Job::SaveRecords(records)))
}

/// The same for saved searches, which are written as a whole.
pub fn searches_to_show(
    engine: &mut Engine,
    failed: JobId,
    earlier: Vec<SavedSearch>,
) -> Option<Vec<SavedSearch>> {
    for (_, rollback) in engine.rollbacks.range_mut((Excluded(failed), Unbounded)) {
        if let Rollback::Searches { before, .. } = rollback {
            *before = earlier;
            return None;
        }
    }
    Some(earlier)
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::engine::event::Event;
    use crate::engine::feeds::subscription::{Subscription, SubscriptionRecord};
    use crate::engine::input::Input;
    use crate::engine::request::{Request, TroubleAnswer};
    use crate::engine::settings::Settings;
    use crate::engine::store_work::{Answer, JobSubject, StoreFailure, Stored};
    use crate::engine::update::{Output, update};
    use backissue_core::schedule::Pace;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const FEED: FeedKey = FeedKey(1);

    fn engine() -> (Engine, SubscriptionRecord) {
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, Vec::new(), NOW);
        let record = SubscriptionRecord { url: "https://a.example/".into(), ..Default::default() };
        engine.feeds.insert(FEED, Subscription::new(FEED, record.clone()));
        (engine, record)
    }

    /// Asks for something; answers with the write of it, which is under way.
    fn ask(engine: &mut Engine, request: Request) -> JobId {
        let output = update(engine, NOW, Input::Request(request));
        let writes = output.effects.iter().find_map(|effect| {
            let Effect::Store(work) = effect else { return None };
            (work.job.subject() == JobSubject::Records).then_some(work.id)
        });
        writes.unwrap()
    }

    fn allow_http(engine: &mut Engine) -> JobId {
        ask(engine, Request::Trouble(FEED, TroubleAnswer::AllowInsecure))
    }

    fn set_pace(engine: &mut Engine) -> JobId {
        let mut chosen = engine.feeds[&FEED].record.chosen();
        let is_more = chosen.feed_settings.pace == Some(Pace::More);
        chosen.feed_settings.pace = Some(if is_more { Pace::Less } else { Pace::More });
        ask(engine, Request::Set(FEED, Box::new(chosen)))
    }

    fn end(engine: &mut Engine, id: JobId, subject: JobSubject, no_room: bool) -> Output {
        let failure = StoreFailure { text: "the disk is full".into(), no_room: true };
        let result = if no_room { Err(failure) } else { Ok(Answer::RecordsSaved) };
        update(engine, NOW, Input::Stored(Box::new(Stored { id, subject, result })))
    }

    /// The record that is written after all.
    fn written(output: &Output) -> Option<&SubscriptionRecord> {
        output.effects.iter().find_map(|effect| {
            let Effect::Store(work) = effect else { return None };
            let Job::SaveRecords(records) = &work.job else { return None };
            records.first().map(|(_, record)| record)
        })
    }

    #[test]
    fn two_changes_of_one_thing_that_both_fail_leave_what_was_before_both() {
        let (mut engine, before) = engine();
        let mut tagged = |tag: &str| {
            let chosen = Chosen { tags: vec![tag.into()], ..before.chosen() };
            ask(&mut engine, Request::Set(FEED, Box::new(chosen)))
        };
        let (first, second) = (tagged("one"), tagged("two"));
        assert_ne!(first, second);
        end(&mut engine, first, JobSubject::Records, true);
        assert_eq!(engine.feeds[&FEED].record.tags, ["two"], "it may still be written");
        end(&mut engine, second, JobSubject::Records, true);
        assert_eq!(engine.feeds[&FEED].record, before);
    }

    #[test]
    fn an_answer_and_a_setting_that_both_fail_leave_what_was_before_both() {
        for first in [allow_http as fn(&mut Engine) -> JobId, set_pace] {
            for second in [allow_http as fn(&mut Engine) -> JobId, set_pace] {
                let (mut engine, before) = engine();
                let jobs = [first(&mut engine), second(&mut engine)];
                assert_ne!(engine.feeds[&FEED].record, before);
                for job in jobs {
                    end(&mut engine, job, JobSubject::Records, true);
                }
                assert_eq!(engine.feeds[&FEED].record, before);
            }
        }
    }

    #[test]
    fn a_change_that_fails_is_in_no_later_write_either() {
        let (mut engine, before) = engine();
        let (answer, setting) = (allow_http(&mut engine), set_pace(&mut engine));
        let output = end(&mut engine, answer, JobSubject::Records, true);
        let again = written(&output).unwrap().clone();
        assert!(!again.feed_settings.allow_insecure, "what the setting wrote had it");
        assert_eq!(again.feed_settings.pace, Some(Pace::More));
        end(&mut engine, setting, JobSubject::Records, false);
        assert_eq!(engine.feeds[&FEED].record, again);
        let (mut engine, _) = self::engine();
        let (setting, answer) = (set_pace(&mut engine), allow_http(&mut engine));
        let output = end(&mut engine, setting, JobSubject::Records, true);
        let again = written(&output).unwrap().clone();
        assert!(again.feed_settings.allow_insecure, "the answer may still be written");
        assert_eq!(again.feed_settings.pace, before.feed_settings.pace);
        end(&mut engine, answer, JobSubject::Records, false);
        assert_eq!(engine.feeds[&FEED].record, again);
    }

    #[test]
    fn a_history_that_finds_no_room_is_told_once_and_nothing_is_asked_meanwhile() {
        let (mut engine, _) = engine();
        let subject = JobSubject::History(FEED);
        let told = |output: Output| {
            output.events.iter().filter(|it| matches!(it, Event::Notice { .. })).count()
        };
        let first = end(&mut engine, JobId(1), subject, true);
        assert_eq!(told(first), 1);
        assert!(engine.room_awaited.is_some());
        assert_eq!(told(end(&mut engine, JobId(2), subject, true)), 0);
    }
}
