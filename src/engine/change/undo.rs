//! Undoes and redoes the user's changes, and reverts a change whose write failed.
//!
//! Later changes of the same data may also be waiting for the store. A later change that fails is reverted separately, so the
//! values that it would restore must not contain the first failed change. If a later write contains the failed change, the data is
//! written again without the failed change.

use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Unbounded};

use backissue_core::feed::text::counted_words;
use backissue_core::filters::{EntryFilter, FilterScope};
use backissue_core::history::{EntryKey, FeedKey, GapState};
use chrono::{DateTime, Utc};

use super::undo_stack::{Step, TakenStep, is_over, words_of_import, words_together};
use super::value::{ChangeId, Direction, FeedChange, FeedParts, ListChange, Numbered, Origin};
use super::write::{records_of, write};
use super::{Change, MarkChange, PendingChange, questions};
use crate::engine::backfill::{brought, history_requests};
use crate::engine::entries::entry_filters;
use crate::engine::entries::filter_work::FilterChanges;
use crate::engine::entries::marks::{self, words};
use crate::engine::feeds::setting_row::Chosen;
use crate::engine::feeds::subscription::{ProposedMove, Subscription, SubscriptionRecord};
use crate::engine::feeds::{change_settings, feed_moves, trouble, unsubscribe};
use crate::engine::request::{Event, MarkedBy, NoticeOffer, Request};
use crate::engine::search_query;
use crate::engine::state::Engine;
use crate::engine::store_work::{Job, JobId, Showing};

/// Undoes the last change.
pub fn undo(engine: &mut Engine, now: DateTime<Utc>) {
    if engine.undo.under_way > 0 {
        engine.undo.wanted = Some(engine.undo.origin);
        return;
    }
    if engine.may_forget(now) {
        engine.undo.forget_old(now);
    }
    // A step that is too old to be undone is kept until it may be deleted, because the clock may be wrong.
    let last =
        engine.undo.steps.back().filter(|known| !known.at.is_some_and(|at| is_over(at, now)));
    let last = last.map(|known| known.id);
    if is_other(engine, last) {
        return;
    }
    let Some(known) = last.and_then(|_| engine.undo.pop()) else {
        engine.say("nothing to undo");
        return;
    };
    engine.undo.is_refused = false;
    let inverse = take_back(engine, now, known.step.clone(), "undone");
    let inverse = inverse.map(|inverse| engine.undo.keep_undone(inverse));
    engine.undo.taken = Some(Box::new(TakenStep { known, inverse, is_redone: false }));
}

/// Undoes a change if it is the last one.
pub fn undo_this(engine: &mut Engine, now: DateTime<Utc>, id: ChangeId) {
    let origin = std::mem::replace(&mut engine.undo.origin, Origin::Answered(Some(id)));
    undo(engine, now);
    engine.undo.origin = origin;
}

/// Undoes a change that the user asked to undo while it was under way, if its step is known now.
pub fn undo_wanted(engine: &mut Engine, now: DateTime<Utc>) {
    if engine.undo.under_way > 0 {
        return;
    }
    let Some(origin) = engine.undo.wanted.take() else { return };
    if origin == Origin::User && questions::asks(engine, now, &Request::Undo) {
        return;
    }
    undo(engine, now);
}

/// Redoes the change that was undone last.
pub fn redo(engine: &mut Engine, now: DateTime<Utc>) {
    let last = engine.undo.undone.back().map(|known| known.id);
    if is_other(engine, last) {
        return;
    }
    let known = if engine.undo.under_way > 0 { None } else { engine.undo.pop_undone() };
    let Some(known) = known else {
        engine.say("nothing to redo");
        return;
    };
    let inverse = take_back(engine, now, known.step.clone(), "redone");
    let inverse = inverse.map(|inverse| engine.undo.keep(inverse));
    engine.undo.taken = Some(Box::new(TakenStep { known, inverse, is_redone: true }));
}

/// Checks whether the user was asked about another step than the present last one. If so, says that nothing was undone.
fn is_other(engine: &mut Engine, last: Option<ChangeId>) -> bool {
    let Origin::Answered(Some(asked)) = engine.undo.origin else { return false };
    let is_other = last != Some(asked);
    if is_other {
        engine.complain("something else was changed in the meantime: nothing was undone or redone");
    }
    is_other
}

/// Undoes a step. Returns the step that would redo the change, if there is one.
#[expect(clippy::too_many_lines, reason = "a table: an arm for each kind of step")]
fn take_back(engine: &mut Engine, now: DateTime<Utc>, step: Step, done: &str) -> Option<Step> {
    match step {
        Step::Marked(mark) => {
            // When undoing, name the mark that is undone; when redoing, the mark that is set.
            let shown = if done == "undone" { mark.value } else { !mark.value };
            engine.say(format!("{done}: {}", words(mark.flag, shown, mark.keys.len())));
            let inverse = mark.reversed();
            marks::set_back(engine, inverse.clone());
            Some(Step::Marked(inverse))
        }
        Step::Together(steps) => {
            let text = format!("{done}: {}", words_together(&steps));
            take_all_back(engine, now, steps, done, text).map(Step::Together)
        }
        Step::Imported(steps) => {
            let text = format!("import {done}: {}", words_of_import(&steps));
            take_all_back(engine, now, steps, done, text).map(Step::Imported)
        }
        Step::Unsubscribed(feed) => subscribe_again(engine, now, feed),
        Step::Resubscribed(feed) => give_up(engine, now, feed, done),
        Step::Readdressed { feed, before, proposed } => {
            readdress(engine, now, (feed, *before, proposed), done)
        }
        Step::Changed { feed, before, after } => {
            choose(engine, now, feed, (*before, after.map(|after| *after)), done)
        }
        Step::Searches { before } => {
            let inverse = Step::Searches { before: engine.saved_searches.clone() };
            engine.say(format!("{done}: saved searches"));
            search_query::put(engine, before);
            Some(inverse)
        }
        Step::Retagged { tags, filters, after } => {
            let feeds = counted_words(tags.len(), "feed", "feeds");
            let text = format!("{done}: tags of {feeds}");
            let inverse = change_settings::take_back(engine, tags, filters, after);
            engine.say(text);
            Some(inverse)
        }
        Step::Filters { before, changes, forward } => {
            engine.say(format!("{done}: {}", filter_words(engine, &before, &changes)));
            Some(entry_filters::take_back(engine, before, changes, forward))
        }
        Step::Awaited { feed, since, again } => {
            engine.store(Job::AwaitElsewhere { feed, since, waits: again });
            Some(Step::Awaited { feed, since, again: !again })
        }
        Step::Withdrawn { feed, withdrawn } => {
            marks::bring_back(engine, feed, withdrawn);
            None
        }
        Step::Brought { feed, entries, again, of_copy } => {
            brought::show(engine, feed, &entries, again, of_copy);
            Some(Step::Brought { feed, entries, again: !again, of_copy })
        }
        Step::Absorbed { feed, entries, again } => {
            let showing = if again { Showing::Again } else { Showing::HidesAbsorbed };
            engine.store(Job::Restore { feed, entries: entries.clone(), showing });
            Some(Step::Absorbed { feed, entries, again: !again })
        }
        Step::Noted { feed, noted } => {
            engine.say(format!("{done}: dismissed problem"));
            Some(Step::Noted { feed, noted: trouble::set_noted(engine, feed, noted) })
        }
        Step::Dismissed { feed, gap } => {
            engine.say(format!("{done}: gap shown again"));
            history_requests::set_gap(engine, feed, gap, GapState::Open, None);
            Some(Step::ShownAgain { feed, gap })
        }
        Step::ShownAgain { feed, gap } => {
            engine.say(format!("{done}: gap hidden"));
            history_requests::set_gap(engine, feed, gap, GapState::Dismissed, None);
            Some(Step::Dismissed { feed, gap })
        }
    }
}

/// Names the filter or the label whose change is undone, and counts the entries with other marks; without any, those that it matches
/// no more, or now.
fn filter_words(engine: &Engine, before: &[EntryFilter], changes: &FilterChanges) -> String {
    let mut known = before.iter().chain(&engine.filters.list);
    let filter = known.find(|filter| filter.id == changes.filter);
    let what = filter.map_or_else(
        || "filters".to_owned(),
        |filter| match (&filter.scope, filter.action.label()) {
            (FilterScope::ByHand, Some(label)) => format!("#{label}"),
            _ => format!("filter '{}'", filter.query),
        },
    );
    let marked: BTreeSet<EntryKey> = changes.flags.iter().map(|(key, _, _)| *key).collect();
    let count = if marked.is_empty() { changes.entries() } else { marked.len() };
    format!("{what} · {}", counted_words(count, "entry", "entries"))
}

/// Undoes the changes of a combined step in reverse order, with one notice.
fn take_all_back(
    engine: &mut Engine,
    now: DateTime<Utc>,
    steps: Vec<Step>,
    done: &str,
    text: String,
) -> Option<Vec<Step>> {
    let removed = steps.iter().map(|step| step.removed_feeds().len()).sum();
    let mut inverses = Vec::new();
    for step in steps.into_iter().rev() {
        let told = engine.events.len();
        let inverse = take_back(engine, now, step, done);
        if inverse.is_some() {
            // Drop the notices of the single steps, because one notice for the combined step follows.
            let said = engine.events.split_off(told);
            let kept = said.into_iter().filter(|event| !matches!(event, Event::Notice { .. }));
            engine.events.extend(kept);
        }
        inverses.extend(inverse);
    }
    if removed > 0 {
        engine.tell(Event::offering(text, offer(removed, done)));
    } else {
        engine.say(text);
    }
    Some(inverses).filter(|inverses| !inverses.is_empty())
}

/// Returns what a notice offers after an undo or a redo removed subscriptions.
fn offer(removed: usize, done: &str) -> NoticeOffer {
    if done == "undone" { NoticeOffer::Redo(removed) } else { NoticeOffer::Undo }
}

fn readdress(
    engine: &mut Engine,
    now: DateTime<Utc>,
    (feed, before, proposed): (FeedKey, SubscriptionRecord, Option<ProposedMove>),
    done: &str,
) -> Option<Step> {
    let Some(subscription) = engine.feeds.get(&feed) else {
        return not_subscribed(engine);
    };
    let text = format!("{done}: address of '{}'", subscription.record.shown_title());
    let inverse = Step::Readdressed {
        feed,
        before: Box::new(subscription.record.clone()),
        proposed: subscription.state.proposed.clone(),
    };
    engine.say(text);
    feed_moves::put_back(engine, now, feed, before, proposed);
    Some(inverse)
}

fn choose(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    (before, after): (Chosen, Option<Chosen>),
    done: &str,
) -> Option<Step> {
    let Some(subscription) = engine.feeds.get(&feed) else {
        return not_subscribed(engine);
    };
    let present = subscription.record.chosen();
    let mut chosen = match after {
        Some(after) => without_change(subscription, before, after),
        None => before,
    };
    if chosen.feed_settings.account != present.feed_settings.account {
        // Keep the account: only a sync connects a feed with an account, and the other account may have been removed.
        chosen.feed_settings.account.clone_from(&present.feed_settings.account);
        chosen.feed_settings.polled_here = present.feed_settings.polled_here;
    }
    let text = format!("{done}: settings of '{}'", subscription.record.shown_title());
    let inverse = Step::changed(feed, present, chosen.clone());
    change_settings::replace(engine, now, feed, chosen, None);
    engine.say(text);
    Some(inverse)
}

/// Returns the present settings of a feed with a change of the user reverted. Fields that were changed again since then keep their
/// values.
fn without_change(subscription: &Subscription, before: Chosen, after: Chosen) -> Chosen {
    let mut present = subscription.record.clone();
    let tags = change_settings::without_change(&present.tags, &before.tags, &after.tags);
    let (mut was, mut became) = (subscription.clone(), subscription.clone());
    was.record.choose(before);
    became.record.choose(after);
    FeedChange::since(&FeedParts::of(&was), &became).set_record(&mut present, Direction::Revert);
    Chosen { tags, ..present.chosen() }
}

fn subscribe_again(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) -> Option<Step> {
    let done = unsubscribe::take_back(engine, now, feed, false);
    done.map_err(|why| engine.say(why)).ok().map(|()| Step::Resubscribed(feed))
}

fn give_up(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, done: &str) -> Option<Step> {
    let Some(text) = unsubscribe::give_up(engine, now, feed, None) else {
        return not_subscribed(engine);
    };
    engine.tell(Event::offering(text, offer(1, done)));
    Some(Step::Unsubscribed(feed))
}

fn not_subscribed(engine: &mut Engine) -> Option<Step> {
    engine.say("you are no longer subscribed to the changed feed");
    None
}

/// Reverts the changes that a failed store job should have written, the last one first.
pub fn revert(engine: &mut Engine, now: DateTime<Utc>, failed: JobId) {
    let Some(PendingChange { changes, step, taken }) = engine.pending.remove(&failed) else {
        return;
    };
    engine.undo.refused(step, taken);
    for change in changes.into_iter().rev() {
        revert_one(engine, now, failed, change);
    }
}

fn revert_one(engine: &mut Engine, now: DateTime<Utc>, failed: JobId, change: Change) {
    match change {
        Change::Mark(mark) => revert_mark(engine, failed, mark),
        Change::Feeds(feeds) => revert_feeds(engine, now, failed, feeds),
        Change::Subscribed(added, changed) => {
            for feed in added {
                unsubscribe::leave(engine, feed);
            }
            engine.tell(Event::FeedsChanged);
            revert_feeds(engine, now, failed, changed);
        }
        Change::Unsubscribed(feed) => {
            unsubscribe::put_back(engine, now, feed, true);
            write_again(engine, failed, feed);
        }
        Change::Resubscribed(feed) => {
            unsubscribe::put_back(engine, now, feed, false);
            write_again(engine, failed, feed);
        }
        Change::Merged { from, into: (into, changed) } => {
            engine.undo.step_is_missing();
            unsubscribe::put_back(engine, now, from, true);
            revert_feeds(engine, now, failed, vec![(into, *changed)]);
            write_again(engine, failed, from);
        }
        // The history is again the one that the store has.
        Change::Gap(_) => {}
        Change::Filters(change) => {
            let (change, is_later) = hand_over(engine, failed, change, Change::filters);
            for id in change.revert(&mut engine.filters.list) {
                entry_filters::failed(engine, id);
            }
            engine.tell(Event::FiltersChanged);
            // The later write contains the failed change, so write the list again. A change without items does that.
            if is_later {
                write(engine, Change::Filters(ListChange::new(Vec::new(), &[])), None);
            }
        }
        Change::Searches(change) => {
            let (change, is_later) = hand_over(engine, failed, change, Change::searches);
            change.revert(&mut engine.saved_searches);
            engine.tell(Event::SearchesPutBack);
            if is_later {
                write(engine, Change::Searches(ListChange::new(Vec::new(), &[])), None);
            }
        }
    }
}

/// Returns the changes whose jobs were created after `job`, in the order of the jobs, with the ids of their undo steps.
fn later(engine: &mut Engine, job: JobId) -> impl Iterator<Item = (&mut Change, Option<ChangeId>)> {
    let pending = engine.pending.range_mut((Excluded(job), Unbounded));
    pending.flat_map(|(_, pending)| {
        let step = pending.step;
        pending.changes.iter_mut().map(move |change| (change, step))
    })
}

/// Leaves the items of a list that later changes also set to those changes: they restore the items if they fail too. Returns the
/// remaining change, and whether there are later changes.
fn hand_over<T: Numbered>(
    engine: &mut Engine,
    failed: JobId,
    mut change: ListChange<T>,
    of: fn(&mut Change) -> Option<&mut ListChange<T>>,
) -> (ListChange<T>, bool) {
    let mut is_later = false;
    for later in later(engine, failed).filter_map(|(change, _)| of(change)) {
        is_later = true;
        change.hand_over(later);
    }
    (change, is_later)
}

/// Shows the entries of a failed mark as they were before it. An entry that a later mark of the same kind contains shows the
/// value of that mark. If that value is the opposite, the later mark changes nothing there.
fn revert_mark(engine: &mut Engine, failed: JobId, mark: MarkChange) {
    let MarkChange { flag, value, keys } = mark;
    let mut rest: BTreeSet<EntryKey> = keys.into_iter().collect();
    let mut unchanged = Vec::new();
    for (change, step) in later(engine, failed) {
        let Change::Mark(later) = change else { continue };
        if later.flag != flag {
            continue;
        }
        let covered: BTreeSet<EntryKey> =
            later.keys.iter().filter(|key| rest.remove(key)).copied().collect();
        if later.value != value && !covered.is_empty() {
            later.keys.retain(|key| !covered.contains(key));
            unchanged.push((step, covered));
        }
    }
    for (step, keys) in unchanged {
        if let Some(step) = step {
            engine.undo.leave_out(step, (flag, !value), &keys);
        }
    }
    if !rest.is_empty() {
        let keys = rest.into_iter().collect();
        marks::show(engine, MarkChange { flag, value: !value, keys }, MarkedBy::Undo);
    }
}

/// Reverts changes of feeds, the last one first.
fn revert_feeds(
    engine: &mut Engine,
    now: DateTime<Utc>,
    failed: JobId,
    feeds: Vec<(FeedKey, FeedChange)>,
) {
    for (feed, mut changed) in feeds.into_iter().rev() {
        for (change, _) in later(engine, failed) {
            if let Change::Feeds(later) | Change::Subscribed(_, later) = change {
                let of_feed = later.iter_mut().filter(|(other, _)| *other == feed);
                of_feed.for_each(|(_, later)| changed.hand_over(later));
            } else if let Change::Merged { into: (other, later), .. } = change
                && *other == feed
            {
                changed.hand_over(later);
            }
        }
        feed_moves::show_reverted(engine, now, feed, &changed);
        write_again(engine, failed, feed);
    }
}

/// Checks whether a later job writes a record of this feed.
fn is_written_later(engine: &Engine, failed: JobId, feed: FeedKey) -> bool {
    let mut later = engine.writes.range((Excluded(failed), Unbounded));
    later.any(|(_, feeds)| feeds.contains(&feed))
}

/// Writes the record of a feed again if a later write contains the failed change.
fn write_again(engine: &mut Engine, failed: JobId, feed: FeedKey) {
    if is_written_later(engine, failed, feed) {
        let records = records_of(engine, &mut std::iter::once(feed));
        engine.unsaved = engine.unsaved.saturating_add(1);
        engine.store(Job::SaveRecords(records));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::setting_row::Chosen;
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::engine::entries::rows::MarkedEntries;
    use crate::engine::feeds::addition::Subscribe;
    use crate::engine::feeds::subscription::{Subscription, SubscriptionRecord};
    use crate::engine::request::{Effect, Input, TroubleAnswer};
    use crate::engine::settings::Settings;
    use crate::engine::store_work::{Answer, JobSubject, StoreFailure, Stored};
    use crate::engine::update::{Output, update};
    use backissue_core::history::gap::Edge;
    use backissue_core::history::{EntryKey, Flag, Gap, GapKey, Reason};
    use backissue_core::schedule::Pace;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const FEED: FeedKey = FeedKey(1);

    fn engine() -> (Engine, SubscriptionRecord) {
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, Vec::new(), NOW);
        let _ = engine.new_feed_key();
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
        let failure = StoreFailure { no_room: true, .."the disk is full".into() };
        let result = if no_room { Err(failure) } else { Ok(Answer::RecordsSaved) };
        let stored = Stored { id, subject, counters: Vec::new(), result };
        update(engine, NOW, Input::Stored(Box::new(stored)))
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
        for (fails, expected, undo) in [
            ([true, true], false, "nothing to undo"),
            ([true, false], false, "nothing to undo"),
            ([false, true], true, "undone: 1 starred"),
        ] {
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
            let undone = Request::Answered(Box::new(Request::Undo), None);
            let undone = update(&mut engine, NOW, Input::Request(undone)).events;
            assert!(undone.contains(&Event::info(undo)), "{fails:?}: {undone:?}");
        }
    }

    #[test]
    fn the_last_of_three_changes_is_kept_if_the_first_fails() {
        let (mut engine, before) = engine();
        let jobs = [(); 3].map(|()| set_pace(&mut engine));
        let shown = engine.feeds[&FEED].record.clone();
        assert_eq!(shown.feed_settings.pace, Some(Pace::More), "as after the first");
        let output = end(&mut engine, jobs[0], JobSubject::Records, true);
        assert_eq!(written(&output), Some(&shown));
        for job in &jobs[1..] {
            end(&mut engine, *job, JobSubject::Records, true);
        }
        assert_eq!(engine.feeds[&FEED].record, before);
    }

    #[test]
    fn a_gap_whose_hiding_was_refused_is_shown_as_before() {
        let shown = |engine: &Engine| engine.feeds[&FEED].history.gaps[&GapKey(7)].is_shown();
        let (mut engine, _) = engine();
        let gap = Gap::new(Edge::default(), Reason::Paged, NOW);
        let feed = engine.feeds.get_mut(&FEED).unwrap();
        feed.change_both(|history| drop(history.gaps.insert(GapKey(7), gap.clone())));
        let subject = JobSubject::History(FEED);
        for fails in [true, true, false] {
            let all = jobs(&mut engine, Request::DismissGap(FEED, GapKey(7)));
            assert!(all.len() == 1 && !shown(&engine), "{all:?}");
            let output = end(&mut engine, all[0].0, subject, fails);
            assert_eq!((shown(&engine), can(&engine).0), (fails, !fails));
            let full = output.events.contains(&Event::trouble("the disk is full"));
            assert_eq!(full, fails, "it is said each time: {output:?}");
        }
        // Show the entries and hide them again before the store refuses the first of these two changes.
        let both = [Request::Undo, Request::Redo].map(|request| jobs(&mut engine, request)[0].0);
        end(&mut engine, both[0], subject, true);
        assert!(!shown(&engine), "as it was written last");
        end(&mut engine, both[1], subject, true);
        assert!(!shown(&engine), "the store refuses the second, too");
    }

    #[test]
    fn a_failed_import_takes_back_the_tags_of_known_feeds() {
        let (mut engine, before) = engine();
        let listed = |address: &str, tag: &str| Subscribe {
            address: address.into(),
            tags: vec![tag.into()],
            ..Subscribe::default()
        };
        let wanted = vec![
            listed("https://a.example/", "one"),
            listed("https://a.example", "two"),
            listed("https://b.example/", "three"),
        ];
        let job = ask(&mut engine, Request::Import(wanted));
        assert_eq!(engine.feeds[&FEED].record.tags, ["one", "two"]);
        assert_eq!(engine.feeds.len(), 2);
        end(&mut engine, job, JobSubject::Records, true);
        assert_eq!(engine.feeds[&FEED].record, before);
        assert_eq!(engine.feeds.len(), 1);
    }

    /// Sends a request and returns the jobs for the store that write a change, with their numbers of records.
    fn jobs(engine: &mut Engine, request: Request) -> Vec<(JobId, usize)> {
        let output = update(engine, NOW, Input::Request(request));
        let work = output.effects.into_iter().filter_map(|effect| {
            let Effect::Store(work) = effect else { return None };
            let records = if let Job::SaveRecords(records) = &work.job { records.len() } else { 0 };
            (!matches!(work.job, Job::SaveState(..))).then_some((work.id, records))
        });
        work.collect()
    }

    fn can(engine: &Engine) -> (bool, bool) {
        (engine.undo.can_undo(), engine.undo.can_redo())
    }

    #[test]
    fn an_undo_of_nothing_undoes_no_later_change() {
        let nothing = || {
            let mark = MarkChange { flag: Flag::Read, value: true, keys: Vec::new() };
            Ok(Answer::Marked { mark, whole_list: true, step: None })
        };
        for result in [nothing(), Err("the disk is full".into())] {
            let (mut engine, _) = engine();
            let unread = MarkedEntries::Unread(vec![FEED]);
            let [(id, _)] = jobs(&mut engine, Request::MarkAllRead(unread))[..] else { panic!() };
            update(&mut engine, NOW, Input::Request(Request::Undo));
            assert!(engine.undo.is_undo_wanted());
            let stored = Stored { id, subject: JobSubject::ListMark, counters: vec![], result };
            update(&mut engine, NOW, Input::Stored(Box::new(stored)));
            assert!(!engine.undo.is_undo_wanted());
            let keys = vec![EntryKey { feed: FEED, seq: 0 }];
            let star = MarkChange { flag: Flag::Starred, value: true, keys };
            assert_eq!(jobs(&mut engine, Request::Mark(star)).len(), 1, "it is not undone");
            assert!(can(&engine).0);
        }
    }

    #[test]
    fn a_combined_change_is_one_write_and_reverted_as_a_whole() {
        let (mut engine, before) = engine();
        let other = SubscriptionRecord { url: "https://b.example/".into(), ..before };
        engine.feeds.insert(FeedKey(2), Subscription::new(FeedKey(2), other));
        let all = || [FEED, FeedKey(2)].map(Request::Unsubscribe).to_vec();
        let [(job, 2)] = jobs(&mut engine, Request::Together(all()))[..] else { panic!() };
        assert!(engine.feeds.is_empty());
        end(&mut engine, job, JobSubject::Records, true);
        assert_eq!((engine.feeds.len(), engine.unsaved), (2, 0));
        assert_eq!(can(&engine), (false, false), "its step is gone");
    }

    #[test]
    fn a_refused_undo_or_redo_puts_its_step_back() {
        let (mut engine, before) = engine();
        let other = SubscriptionRecord { url: "https://b.example/".into(), ..before };
        engine.feeds.insert(FeedKey(2), Subscription::new(FeedKey(2), other));
        let all = [FEED, FeedKey(2)].map(Request::Unsubscribe).to_vec();
        let mut done = |request: Request, fails: bool| {
            let all = jobs(&mut engine, request);
            let [(job, 2)] = all[..] else { panic!("{all:?}") };
            end(&mut engine, job, JobSubject::Records, fails);
            (engine.feeds.len(), can(&engine))
        };
        let (can_undo, can_redo) = ((true, false), (false, true));
        assert_eq!(done(Request::Together(all), false), (0, can_undo));
        for _ in 0..2 {
            assert_eq!(done(Request::Undo, true), (0, can_undo));
        }
        assert_eq!(done(Request::Undo, false), (2, can_redo));
        let redo = || Request::Answered(Box::new(Request::Redo), None);
        assert_eq!(done(redo(), true), (2, can_redo));
        assert_eq!(done(redo(), false), (0, can_undo));
    }

    #[test]
    fn undo_after_a_refused_change_asks_first() {
        let (mut engine, _) = engine();
        let job = star(&mut engine, true);
        end(&mut engine, job, JobSubject::Change, false);
        let job = set_pace(&mut engine);
        end(&mut engine, job, JobSubject::Records, true);
        let asked = update(&mut engine, NOW, Input::Request(Request::Undo));
        let question = asked.events.iter().find_map(|event| {
            let Event::Asked(_, question) = event else { return None };
            Some(question.text.clone())
        });
        let text = "undo '1 starred' (the one before the change that was not saved)";
        assert_eq!(question.as_deref(), Some(text));
        assert!(asked.effects.is_empty());
    }
}
