//! Handles the results of store jobs: successes and failures.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use super::backfill::{history_requests, walks};
use super::change::{Change, ChangeId, PendingChange, undo};
use super::downloads::actions;
use super::entries::ahead_work::AheadPart;
use super::entries::{
    account_sync, entry_filters, marks, notifications, page_fetches, unread_limits,
};
use super::feeds::feed_moves;
use super::move_in;
use super::poll::poll_stage::{News, Poll};
use super::poll::{learn, manual_poll, polling};
use super::request::{Effect, Event};
use super::state::Engine;
use super::store_work::{Answer, Job, JobId, JobSubject, StoreFailure, Stored};
use backissue_core::history::{EntryKey, FeedKey};

/// Length of the pause in automatic polls after a write failed because the disk was full.
const ROOM_PAUSE: TimeDelta = TimeDelta::minutes(5);

/// Assigns an id to each new store job, and records the change that the job writes and the feeds that it affects.
pub fn register_work(engine: &mut Engine, effects: &mut [Effect]) {
    for effect in effects {
        if let Effect::Store(work) = effect
            && work.id == JobId::default()
        {
            engine.last_job = engine.last_job.saturating_add(1);
            work.id = JobId(engine.last_job);
            if let Some(feed) = work.job.subject().history() {
                work.failures = engine.subscription_mut(feed).map_or(0, |feed| feed.failures);
            }
            if let Some(history) = work.job.history() {
                engine.histories.insert(work.id, Arc::clone(history));
            }
            let awaited: BTreeSet<FeedKey> = work.job.traits().awaited.collect();
            if !awaited.is_empty() {
                engine.writes.insert(work.id, awaited);
            }
            if let Some(change) = work.change.take() {
                engine.pending.insert(work.id, change);
            }
        }
    }
}

/// Emits the delayed events of feeds that have no pending writes. `ended` contains the feeds of a write that just ended.
pub fn tell_durable(engine: &mut Engine, ended: &BTreeSet<FeedKey>) {
    // An event that was already checked is checked again only when a write of its feed ends, because there may be thousands of
    // events.
    let looked_at = std::mem::take(&mut engine.untold_looked_at);
    let writes = &engine.writes;
    let is_written = |feed: &FeedKey| writes.values().any(|written| written.contains(feed));
    let mut place = 0_usize;
    let durable = engine.untold.extract_if(.., |(feed, _)| {
        place = place.saturating_add(1);
        (place > looked_at || ended.contains(feed)) && !is_written(feed)
    });
    engine.events.extend(durable.map(|(_, event)| event));
    engine.untold_looked_at = engine.untold.len();
}

/// After a mark was written, removes from its undo step the entries that already had the mark, so that undo does not clear their
/// mark.
fn leave_out_marked_before(engine: &mut Engine, id: JobId, answer: &Answer) {
    if let Answer::Marked { mark: written, .. } = answer
        && let Some(PendingChange { changes, step: Some(step), .. }) = engine.pending.get(&id)
        && let [Change::Mark(mark)] = changes.as_slice()
        && written.keys.len() < mark.keys.len()
    {
        let changed: BTreeSet<EntryKey> = written.keys.iter().copied().collect();
        let had_it = mark.keys.iter().copied().filter(|key| !changed.contains(key)).collect();
        engine.undo.leave_out(*step, (mark.flag, mark.value), &had_it);
    }
}

/// Reverts the change of a failed store job, because the change is already shown.
fn roll_back(engine: &mut Engine, now: DateTime<Utc>, stored: &Stored) {
    if stored.subject == JobSubject::ListMark {
        engine.undo.step_fails();
    } else if let JobSubject::Filter(filter) = stored.subject
        && let Some(id) = entry_filters::failed(engine, filter)
    {
        undo::undo_this(engine, now, id);
    }
    undo::revert(engine, now, stored.id);
}

/// Handles the result of a store job, whether it succeeded or failed.
pub(super) fn stored_or_failed(engine: &mut Engine, now: DateTime<Utc>, stored: Stored) {
    let written = engine.writes.remove(&stored.id).unwrap_or_default();
    if stored.result.is_err() {
        engine.untold.retain(|(feed, _)| !written.contains(feed));
        engine.untold_looked_at = 0;
    }
    // First emit the events that waited for this write, then those that result from it.
    tell_durable(engine, &written);
    for &(feed, counters) in &stored.counters {
        engine.set_counters(feed, counters);
    }
    let history = engine.histories.remove(&stored.id).filter(|_| stored.result.is_ok());
    if let Some(known) = stored.subject.history().and_then(|feed| engine.subscription_mut(feed)) {
        match &stored.result {
            Err(why) => known.failures = known.failures.max(why.failures),
            Ok(_) => known.stored_history = history.unwrap_or_else(|| known.stored_history.clone()),
        }
    }
    match stored.result {
        Ok(answer) => {
            leave_out_marked_before(engine, stored.id, &answer);
            let step = engine.pending.remove(&stored.id).and_then(|pending| pending.step);
            if is_written(&answer) {
                engine.room_awaited = None;
            }
            answered(engine, now, answer, step);
        }
        Err(ref why) => {
            let why = why.clone();
            if engine.pending.contains_key(&stored.id) {
                // Each refused change is reported.
                engine.room_awaited = None;
            }
            roll_back(engine, now, &stored);
            failed(engine, now, stored.subject, why);
        }
    }
}

/// Handles a failed store job: shows the error, and ends the work that waits for the result.
pub(super) fn failed(
    engine: &mut Engine,
    now: DateTime<Utc>,
    subject: JobSubject,
    why: StoreFailure,
) {
    let StoreFailure { text: why, no_room, .. } = why;
    if subject.is_kept() {
        engine.failed_writes = (engine.failed_writes.0.wrapping_add(1), why.clone());
    }
    match subject {
        JobSubject::Poll(feed) => {
            walks::not_kept(engine, feed);
            polling::commit_failed(engine, now, feed, &why, no_room);
        }
        JobSubject::History(feed) => walks::not_kept(engine, feed),
        JobSubject::Records => {
            engine.unsaved = engine.unsaved.saturating_sub(1);
            engine.not_saved = Some(why.clone());
        }
        // A failure only ends this learning run.
        JobSubject::Publications(feed) => return learn::loaded(engine, now, feed, None),
        JobSubject::Attached => actions::reading_failed(engine),
        JobSubject::NewEntries => {
            engine.complain(why);
            return notifications::entries_read(engine, now, Vec::new());
        }
        JobSubject::Rows(_)
        | JobSubject::Entry(_)
        | JobSubject::ListMark
        | JobSubject::Filter(_)
        | JobSubject::Change
        | JobSubject::Keeping
        | JobSubject::Display => {}
    }
    if no_room {
        wait_for_room(engine, now, subject, why);
    } else {
        engine.complain(why);
    }
}

/// Pauses automatic polls because the disk is full. Shows the error when the pause begins, and for each failed change of the user.
fn wait_for_room(engine: &mut Engine, now: DateTime<Utc>, subject: JobSubject, why: String) {
    let is_asked = matches!(
        subject,
        JobSubject::ListMark | JobSubject::Change | JobSubject::Filter(_) | JobSubject::Records
    );
    if is_asked || engine.room_awaited.is_none() {
        engine.complain(why);
    }
    engine.room_awaited = Some(now.checked_add_signed(ROOM_PAUSE).unwrap_or(now));
    let waiting = engine.polls.keys().chain(engine.backfills.keys()).copied().collect();
    manual_poll::stop(engine, now, waiting);
}

/// Checks whether the answer of the store reports a successful write.
const fn is_written(answer: &Answer) -> bool {
    matches!(
        answer,
        Answer::Committed { .. }
            | Answer::HistoryKept { .. }
            | Answer::RecordsSaved
            | Answer::Marked { .. }
            | Answer::FiltersSaved
            | Answer::SearchesSaved
            | Answer::ElsewhereNoted(..)
            | Answer::Synced(..)
    )
}

#[expect(clippy::too_many_lines, reason = "a table: an arm for each kind of answer")]
fn answered(engine: &mut Engine, now: DateTime<Utc>, answer: Answer, step: Option<ChangeId>) {
    match answer {
        Answer::Committed { feed, new, edited, withdrawn, moves } => {
            let gone = u32::try_from(withdrawn.len()).unwrap_or(u32::MAX);
            let news = News { new, edited, withdrawn: gone };
            if moves && let Some(subscription) = engine.feeds.get_mut(&feed) {
                subscription.change_both(|history| history.moves = true);
            }
            committed(engine, now, feed, news, &withdrawn);
            history_requests::tell_changes(engine, feed);
        }
        Answer::HistoryKept { feed, new, edited } => {
            history_requests::tell_changes(engine, feed);
            walks::kept(engine, now, feed, new);
            updated(engine, feed, new > 0 || edited > 0, false);
        }
        Answer::Nodes(feed, nodes) => walks::nodes_loaded(engine, now, feed, *nodes),
        Answer::Restored(feed, entries, showing) => {
            marks::restored(engine, &entries, showing);
            updated(engine, feed, true, false);
        }
        Answer::Absorbed { from, into, changes } => {
            engine.unsaved = engine.unsaved.saturating_sub(1);
            feed_moves::merged(engine, (from, into), *changes, step);
            updated(engine, into, true, false);
        }
        Answer::RecordsSaved => engine.unsaved = engine.unsaved.saturating_sub(1),
        Answer::Marked { mark, whole_list, step } => {
            // Marks of single entries were shown when they were set, and may have been changed again since.
            if whole_list {
                marks::list_marked(engine, mark, step);
            }
            engine.tell(Event::CountersChanged);
        }
        Answer::UnreadEnded { ended, this_week } => {
            unread_limits::ended(engine, ended, this_week);
        }
        Answer::Dripped(feed, entries) => unread_limits::dripped(engine, feed, entries),
        Answer::ElsewhereNoted(feed, counts) => {
            move_in::noted(engine, feed, &counts);
            if !counts.labelled.is_empty() {
                engine.store(Job::CountFilters);
            }
        }
        Answer::Synced(feed, synced, marks) => {
            account_sync::written(engine, now, feed, (synced, marks));
            let news = News { new: synced.new, edited: synced.edited, withdrawn: 0 };
            let feed_now = engine.feeds.get(&feed);
            let first = feed_now.is_some_and(|feed| feed.counters.total == news.new);
            notifications::note_new_entries(engine, now, feed, news, first);
            notifications::notify(engine, now);
        }
        Answer::NewEntries(entries) => notifications::entries_read(engine, now, entries),
        Answer::Attached(wanted, entries) => actions::attached(engine, now, &wanted, entries),
        Answer::WithoutPage(feed, links) => {
            page_fetches::queue_ahead(engine, now, feed, AheadPart::Texts, links);
        }
        Answer::Texts(feed, texts) => page_fetches::texts_read(engine, feed, texts),
        Answer::Learned(feed, record) => learn::record_read(engine, now, feed, record),
        Answer::Publications(feed, publications) => {
            learn::loaded(engine, now, feed, Some(publications));
        }
        Answer::FiltersSaved => {
            engine.tell(Event::FiltersChanged);
            entry_filters::saved(engine);
        }
        Answer::Filtered(changes, written) => entry_filters::filtered(engine, *changes, written),
        Answer::FiltersCounted(counts) => engine.filters.counts = counts,
        // These answers are handled by the screen or the command that sent the job.
        Answer::SearchesSaved
        | Answer::Rows(_)
        | Answer::Entry(_)
        | Answer::Polls(..)
        | Answer::MonthsCounted(..)
        | Answer::Counted(_) => {}
    }
}

/// Handles the answer of the store that the result of a poll is durable.
fn committed(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    news: News,
    withdrawn: &[u32],
) {
    let first = engine.polls.get(&feed).is_some_and(Poll::is_first);
    notifications::note_new_entries(engine, now, feed, news, first);
    let changed = news.new > 0 || news.edited > 0 || !withdrawn.is_empty();
    marks::withdrawn(engine, feed, withdrawn);
    polling::committed(engine, now, feed, news);
    learn::polled(engine, now, feed, news);
    page_fetches::look_for_texts(engine, now, feed);
    notifications::notify(engine, now);
    actions::note_new_entries(engine, now, feed, news, first);
    updated(engine, feed, changed, true);
}

fn updated(engine: &mut Engine, feed: FeedKey, entries: bool, poll: bool) {
    engine.tell(Event::Updated { feed, entries, poll });
}

#[cfg(test)]
mod tests {
    use crate::engine::backfill::brought;
    use crate::engine::change::MarkChange;
    use crate::engine::feeds::setting_row::Chosen;
    use crate::engine::feeds::subscription::{Subscription, SubscriptionRecord};
    use crate::engine::request::{Input, MarkedBy, MarksChanged, Request};
    use crate::engine::settings::Settings;
    use crate::engine::store_results::*;
    use crate::engine::update::{Output, update};
    use backissue_core::history::{EntryKey, Flag};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const KEY: EntryKey = EntryKey { feed: FeedKey(1), seq: 0 };

    fn engine() -> Engine {
        Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, Vec::new(), NOW)
    }

    fn star(engine: &mut Engine) -> JobId {
        let request =
            Request::Mark(MarkChange { keys: vec![KEY], flag: Flag::Starred, value: true });
        let output = update(engine, NOW, Input::Request(request));
        let Some(Effect::Store(work)) = output.effects.first() else { unreachable!("{output:?}") };
        work.id
    }

    fn fail(engine: &mut Engine, id: JobId) -> Output {
        let result = Err("the disk is full".into());
        let stored = Stored { id, subject: JobSubject::Change, counters: Vec::new(), result };
        update(engine, NOW, Input::Stored(Box::new(stored)))
    }

    /// Ends a job because the disk is full.
    fn full(engine: &mut Engine, id: JobId, subject: JobSubject) -> Output {
        let why = StoreFailure { no_room: true, .."the disk is full".into() };
        let stored = Stored { id, subject, counters: Vec::new(), result: Err(why) };
        update(engine, NOW, Input::Stored(Box::new(stored)))
    }

    #[test]
    fn failed_mark_is_reverted_with_its_undo_step() {
        let mut engine = engine();
        let id = star(&mut engine);
        let output = fail(&mut engine, id);
        let back = |event: &Event| {
            matches!(
                event,
                Event::MarksChanged(MarksChanged {
                    by: MarkedBy::Undo,
                    mark: MarkChange { value: false, .. },
                })
            )
        };
        assert!(output.events.iter().any(back), "{output:?}");
        assert!(output.events.contains(&Event::trouble("the disk is full")));
        let undone = update(&mut engine, NOW, Input::Request(Request::Undo));
        assert_eq!(undone.events, [Event::info("nothing to undo")]);
    }

    #[test]
    fn failed_change_and_unsubscribe_restore_the_original() {
        let mut engine = engine();
        let before = SubscriptionRecord { url: "https://a.example/".into(), ..Default::default() };
        engine.feeds.insert(FeedKey(1), Subscription::new(FeedKey(1), before.clone()));
        let chosen = Box::new(Chosen { tags: vec!["one".into()], ..before.chosen() });
        for request in [Request::Set(FeedKey(1), chosen), Request::Unsubscribe(FeedKey(1))] {
            update(&mut engine, NOW, Input::Request(request));
        }
        let under_way: Vec<JobId> = engine.pending.keys().copied().collect();
        assert_eq!(under_way.len(), 2);
        for job in under_way {
            fail(&mut engine, job);
        }
        assert_eq!(engine.feeds[&FeedKey(1)].record, before);
    }

    #[test]
    fn failed_write_reverts_only_its_own_job() {
        let mut engine = engine();
        let (first, second) = (star(&mut engine), star(&mut engine));
        assert_ne!(first, second);
        let marks = |output: Output| {
            output.events.iter().filter(|it| matches!(it, Event::MarksChanged(_))).count()
        };
        assert_eq!(marks(fail(&mut engine, first)), 0, "the second shows the star");
        assert_eq!(marks(fail(&mut engine, second)), 1);
        assert!(engine.pending.is_empty());
    }

    #[test]
    fn a_failed_write_restores_the_stored_history() {
        let feed = FeedKey(1);
        let steps = |engine: &Engine| engine.feeds[&feed].history.run.documents;
        for failing in [JobSubject::History(feed), JobSubject::Poll(feed)] {
            let mut engine = engine();
            engine.feeds.insert(feed, Subscription::new(feed, SubscriptionRecord::default()));
            let write = |documents, engine: &mut Engine| {
                let subscription = engine.feeds.get_mut(&feed).unwrap();
                Arc::make_mut(&mut subscription.history).run.documents = documents;
                brought::write_record(engine, feed);
                let mut effects = std::mem::take(&mut engine.effects);
                register_work(engine, &mut effects);
                match effects.pop() {
                    Some(Effect::Store(work)) => work,
                    other => panic!("{other:?}"),
                }
            };
            let end = |engine: &mut Engine, work: &crate::engine::store_work::StoreWork, result| {
                let stored = Stored { id: work.id, subject: failing, counters: Vec::new(), result };
                update(engine, NOW, Input::Stored(Box::new(stored)));
            };
            let kept = Answer::HistoryKept { feed, new: 0, edited: 0 };
            let first = write(1, &mut engine);
            end(&mut engine, &first, Ok(kept));
            let both = [write(2, &mut engine), write(3, &mut engine)];
            // The walk that made these changes is dropped before the failure arrives.
            manual_poll::stop(&mut engine, NOW, vec![feed]);
            for work in &both {
                assert_eq!(work.failures, 0);
                let why = StoreFailure { failures: 7, .."the disk is full".into() };
                end(&mut engine, work, Err(why));
                assert_eq!(steps(&engine), 1, "{failing:?}");
            }
            assert_eq!(write(4, &mut engine).failures, 7, "the store does not refuse the next one");
        }
    }

    #[test]
    fn full_disk_is_reported_once_and_pauses_history() {
        let mut engine = engine();
        let subject = JobSubject::History(FeedKey(1));
        let told = |output: Output| {
            output.events.iter().filter(|it| matches!(it, Event::Notice { .. })).count()
        };
        let first = full(&mut engine, JobId(1), subject);
        assert_eq!(told(first), 1);
        assert!(engine.room_awaited.is_some());
        assert_eq!(told(full(&mut engine, JobId(2), subject)), 0);
    }
}
