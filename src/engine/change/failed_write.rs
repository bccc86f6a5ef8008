//! Reverts a change whose write failed.
//!
//! Later changes of the same data may also be waiting for the store. A later change that fails is reverted separately, so the
//! values that it would restore must not contain the first failed change. If a later write contains the failed change, the data is
//! written again without the failed change.

use std::ops::Bound::{Excluded, Unbounded};

use chrono::{DateTime, Utc};

use super::feed_change::FeedChange;
use super::{Change, MarkChange, PendingChange};
use crate::engine::effect::Effect;
use crate::engine::entries::{entry_filters, marks};
use crate::engine::event::Event;
use crate::engine::feeds::{feed_moves, unsubscribe};
use crate::engine::state::Engine;
use crate::engine::store_work::{Job, JobId};
use backissue_core::history::FeedKey;

/// Reverts the change that a failed store job should have written, if the job had one.
pub fn revert(engine: &mut Engine, now: DateTime<Utc>, failed: JobId) -> Vec<Effect> {
    let Some(PendingChange { change, step }) = engine.pending.remove(&failed) else {
        return Vec::new();
    };
    engine.undo.forget(step);
    match change {
        Change::Mark(mark) => revert_mark(engine, failed, mark),
        Change::Feeds(feeds) => return revert_feeds(engine, now, failed, &feeds),
        Change::Subscribed(added, changed) => {
            for feed in added {
                unsubscribe::leave(engine, feed);
            }
            engine.tell(Event::FeedsChanged);
            return revert_feeds(engine, now, failed, &changed);
        }
        Change::Unsubscribed(feed) => unsubscribe::put_back(engine, now, feed, true),
        Change::Resubscribed(feed) => unsubscribe::put_back(engine, now, feed, false),
        Change::Merged { from, into, tags } => {
            if let Some(kept) = engine.feeds.get_mut(&into) {
                kept.record.tags.retain(|tag| !tags.contains(tag));
            }
            unsubscribe::put_back(engine, now, from, true);
        }
        Change::Filter { id, before } => {
            return entry_filters::put_filter_back(engine, id, before.map(|filter| *filter));
        }
        Change::Filters(before) => {
            engine.filters.list = before;
            engine.tell(Event::FiltersChanged);
        }
        Change::Searches(before) => {
            // All searches are written together, so a later write also contains the failed change.
            let later = later(engine, failed).find_map(|change| {
                if let Change::Searches(before) = change { Some(before) } else { None }
            });
            if let Some(later) = later {
                *later = before;
            } else {
                engine.saved_searches = before;
                engine.tell(Event::SearchesPutBack);
            }
        }
    }
    Vec::new()
}

/// Returns the pending changes whose store jobs were created after `job`, oldest first.
fn later(engine: &mut Engine, job: JobId) -> impl Iterator<Item = &mut Change> {
    engine.pending.range_mut((Excluded(job), Unbounded)).map(|(_, pending)| &mut pending.change)
}

/// Shows the entries with their values before a mark whose write failed. An entry whose mark was changed again later keeps the
/// later value. If the later value is the opposite of the failed value, the later change has no effect on the entry, so the entry
/// is removed from the later change.
fn revert_mark(engine: &mut Engine, failed: JobId, mut mark: MarkChange) {
    mark.keys.retain(|key| {
        let later = later(engine, failed).find_map(|change| {
            let Change::Mark(later) = change else { return None };
            (later.flag == mark.flag && later.keys.contains(key)).then_some(later)
        });
        if let Some(later) = later {
            if later.value != mark.value {
                later.keys.retain(|other| other != key);
            }
            return false;
        }
        true
    });
    if !mark.keys.is_empty() {
        marks::show(engine, mark.reversed(), true);
    }
}

fn revert_feeds(
    engine: &mut Engine,
    now: DateTime<Utc>,
    failed: JobId,
    feeds: &[(FeedKey, FeedChange)],
) -> Vec<Effect> {
    let mut effects = Vec::new();
    for (feed, changed) in feeds {
        for change in later(engine, failed) {
            if let Change::Feeds(later) | Change::Subscribed(_, later) = change {
                let of_feed = later.iter_mut().filter(|(other, _)| other == feed);
                of_feed.for_each(|(_, later)| changed.revert_before(later));
            }
        }
        effects.extend(feed_moves::show_reverted(engine, now, *feed, changed));
        effects.extend(write_again(engine, failed, *feed));
    }
    effects
}

/// Writes the record of a feed again if a later write contains the change of the failed job.
fn write_again(engine: &mut Engine, failed: JobId, feed: FeedKey) -> Option<Effect> {
    let mut later = engine.writes.range((Excluded(failed), Unbounded));
    let is_written = later.any(|(_, feeds)| feeds.contains(&feed));
    let subscription = engine.feeds.get(&feed).filter(|_| is_written)?;
    let records = vec![(feed, subscription.record.clone())];
    engine.unsaved = engine.unsaved.saturating_add(1);
    Some(Effect::store(Job::SaveRecords(records)))
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::chosen_settings::Chosen;
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::engine::event::Event;
    use crate::engine::feeds::subscription::{Subscription, SubscriptionRecord};
    use crate::engine::input::Input;
    use crate::engine::request::{Request, TroubleAnswer};
    use crate::engine::settings::Settings;
    use crate::engine::store_work::{Answer, JobSubject, StoreFailure, Stored};
    use crate::engine::update::{Output, update};
    use backissue_core::history::{EntryKey, Flag};
    use backissue_core::schedule::Pace;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const FEED: FeedKey = FeedKey(1);

    fn engine() -> (Engine, SubscriptionRecord) {
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, Vec::new(), NOW);
        let record = SubscriptionRecord { url: "https://a.example/".into(), ..Default::default() };
        engine.feeds.insert(FEED, Subscription::new(FEED, record.clone()));
        (engine, record)
    }

    /// Applies a request and returns the id of the store job that writes the change.
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

    /// Returns the subscription record that the output writes, if any.
    fn written(output: &Output) -> Option<&SubscriptionRecord> {
        output.effects.iter().find_map(|effect| {
            let Effect::Store(work) = effect else { return None };
            let Job::SaveRecords(records) = &work.job else { return None };
            records.first().map(|(_, record)| record)
        })
    }

    #[test]
    fn two_failed_changes_of_one_field_restore_the_original() {
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
    fn failed_answer_and_setting_restore_the_original() {
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
    fn failed_change_is_absent_from_later_writes() {
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
    fn full_disk_is_reported_once_and_pauses_history() {
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

    /// Sets or clears the star of an entry and returns the id of the store job.
    fn star(engine: &mut Engine, value: bool) -> JobId {
        let keys = vec![EntryKey { feed: FEED, seq: 0 }];
        let mark = MarkChange { flag: Flag::Starred, value, keys };
        let output = update(engine, NOW, Input::Request(Request::Mark(mark)));
        let job = output
            .effects
            .iter()
            .find_map(|effect| if let Effect::Store(work) = effect { Some(work.id) } else { None });
        job.unwrap()
    }

    #[test]
    fn failed_pending_marks_show_the_written_state() {
        for (fails, expected) in
            [([true, true], false), ([true, false], false), ([false, true], true)]
        {
            let (mut engine, _) = engine();
            let jobs = [star(&mut engine, true), star(&mut engine, false)];
            let mut shown = false;
            for (job, fails) in jobs.into_iter().zip(fails) {
                let output = end(&mut engine, job, JobSubject::Change, fails);
                for event in output.events {
                    if let Event::MarksChanged(changed) = event {
                        shown = changed.mark.value;
                    }
                }
            }
            assert_eq!(shown, expected, "{fails:?}");
        }
    }
}
