//! Marks of entries. A changed mark is shown at once and then written; if the write fails, the mark is reverted.
//!
//! A complete feed withdraws entries that its document no longer contains. The user is notified and can restore them until the feed
//! changes again (SPEC C.6).

use backissue_core::feed::dates::calendar::day_of;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{EntryKey, FeedKey, Flag};
use chrono::{DateTime, Datelike, Utc};

use crate::engine::change::undo_stack::Step;
use crate::engine::change::value::LaterStep;
use crate::engine::change::{self, Change, MarkChange};
use crate::engine::entries::interest::{Interest, Reading};
use crate::engine::entries::rows::MarkedEntries;
use crate::engine::request::{Effect, Event, MarkedBy, MarksChanged};
use crate::engine::state::Engine;
use crate::engine::store_work::{Beside, Job, Showing};

/// Sets or clears a mark on entries and adds an undo step.
pub fn set(engine: &mut Engine, mark: MarkChange) {
    show(engine, mark.clone(), MarkedBy::User);
    let step = engine.undo.push(Step::Marked(mark.clone()));
    change::write(engine, Change::Mark(mark), step);
}

/// Marks entries as read that are known only when the store performs the job.
pub fn mark_all_read(engine: &mut Engine, now: DateTime<Utc>, entries: MarkedEntries) {
    let step = engine.undo.later(now, Vec::new());
    let job = Job::Mark { entries, flag: Flag::Read, value: true };
    engine.carry_out(Effect::store_beside(job, Beside::Later(step)));
}

/// Sets a mark for an undo or a redo, without adding an undo step.
pub fn set_back(engine: &mut Engine, mark: MarkChange) {
    show(engine, mark.clone(), MarkedBy::Undo);
    change::write(engine, Change::Mark(mark), None);
}

/// Emits an event about a changed mark.
pub fn show(engine: &mut Engine, mark: MarkChange, by: MarkedBy) {
    engine.tell(Event::MarksChanged(MarksChanged { mark, by }));
}

/// Shows a mark that was written on a whole list, and adds its undo step.
pub fn list_marked(engine: &mut Engine, mark: MarkChange, step: Option<LaterStep>) {
    show(engine, mark.clone(), MarkedBy::User);
    let text = words(mark.flag, mark.value, mark.keys.len());
    if mark.keys.is_empty() {
        engine.undo.step_is_missing();
        return engine.say(text);
    }
    engine.undo.step_is_known();
    engine.say_undoable(text);
    engine.undo.push_stored(Step::Marked(mark), step);
}

/// Describes a mark that was set or cleared on `count` entries, for a notice.
pub(in crate::engine) fn words(flag: Flag, value: bool, count: usize) -> String {
    let what = match (flag, value) {
        (Flag::Read, true) => "marked read",
        (Flag::Read | Flag::FromHistory | Flag::Ended, false) => "marked unread",
        (Flag::Ended, true) => "ended",
        (Flag::Opened, true) => "read",
        (Flag::Opened, false) => "not read yet",
        (Flag::Starred, true) => "starred",
        (Flag::Starred, false) => "unstarred",
        (Flag::Hidden, true) => "hidden",
        (Flag::Hidden, false) => "shown again",
        (Flag::FromHistory, true) => "read again (from history)",
    };
    format!("{count} {what}")
}

/// Notifies the user that a complete document withdrew entries. There is no undo step, because the user did not make this change.
pub fn withdrawn(engine: &mut Engine, feed: FeedKey, withdrawn: &[u32]) {
    let Some(subscription) = engine.feeds.get_mut(&feed).filter(|_| !withdrawn.is_empty()) else {
        return;
    };
    let title = subscription.record.shown_title();
    let text = format!("{title} withdrew {}", counted_words(withdrawn.len(), "entry", "entries"));
    subscription.change_both(|history| history.withdrawn = withdrawn.to_vec());
    engine.say(format!("{text}; ':restore-withdrawn' on the feed shows them again"));
}

/// Restores the entries that the last changed document of a feed withdrew.
pub fn restore_last(engine: &mut Engine, feed: FeedKey) {
    let withdrawn = engine.feeds.get(&feed).map(|feed| feed.history.withdrawn.clone());
    let Some(withdrawn) = withdrawn.filter(|withdrawn| !withdrawn.is_empty()) else {
        return engine.say("this feed withdrew no entries");
    };
    engine.store(Job::Restore { feed, entries: withdrawn, showing: Showing::Again });
}

/// Restores withdrawn entries, for an undo step of an earlier version.
pub fn bring_back(engine: &mut Engine, feed: FeedKey, withdrawn: Vec<u32>) {
    // Entries can be restored only if no later document of the feed withdrew other entries.
    let latest = engine.feeds.get(&feed).is_some_and(|feed| feed.history.withdrawn == withdrawn);
    if latest {
        engine.store(Job::Restore { feed, entries: withdrawn, showing: Showing::Again });
    } else {
        engine.say("too late: the feed has changed again");
    }
}

/// Tells how many withdrawn entries were restored, or how many entries were withdrawn.
pub fn restored(engine: &mut Engine, entries: &[EntryKey], showing: Showing) {
    let done = if showing == Showing::Again { "restored" } else { "hidden" };
    engine.say(format!("{} {done}", counted_words(entries.len(), "entry", "entries")));
}

/// Counts what was read of feeds today; `None` forgets all counts.
pub fn count_reading(
    engine: &mut Engine,
    now: DateTime<Utc>,
    readings: Option<Vec<(FeedKey, Reading)>>,
) {
    match readings {
        None => engine.interest = Interest::default(),
        Some(readings) => {
            let day = day_of(now, engine.zone).num_days_from_ce();
            for (feed, reading) in readings {
                engine.interest.count(feed, day, reading);
            }
        }
    }
}
