//! Marks of entries. A changed mark is shown at once and then written; if the write fails, the mark is reverted.

use chrono::{DateTime, Utc};

use crate::engine::change::change_id::LaterStep;
use crate::engine::change::step::Step;
use crate::engine::change::{self, Change, MarkChange};
use crate::engine::effect::Effect;
use crate::engine::entries::rows::ListPart;
use crate::engine::event::{Event, MarksChanged};
use crate::engine::state::Engine;
use crate::engine::store_work::{Beside, Job, Marked, MarkedEntries};
use backissue_core::history::Flag;

/// Sets or clears a mark on entries and adds an undo step.
pub fn set(engine: &mut Engine, mark: MarkChange) -> Vec<Effect> {
    show(engine, mark.clone(), false);
    let step = engine.undo.push(Step::Marked(mark.clone()));
    vec![change::write(engine, Change::Mark(mark), step)]
}

/// Marks the entries as read that are in a part of a list when the store job starts.
pub fn mark_list_read(
    engine: &mut Engine,
    now: DateTime<Utc>,
    list: u64,
    part: ListPart,
) -> Vec<Effect> {
    let step = engine.undo.later(now, Vec::new());
    let job =
        Job::Mark { entries: MarkedEntries::ListNumber(list, part), flag: Flag::Read, value: true };
    vec![Effect::store_beside(job, Beside::Later(step))]
}

/// Sets a mark for an undo or a redo, without adding an undo step.
pub fn set_back(engine: &mut Engine, mark: MarkChange) -> Vec<Effect> {
    show(engine, mark.clone(), true);
    vec![change::write(engine, Change::Mark(mark), None)]
}

/// Emits an event about a changed mark. The rows of the entries stay in the open list even if they no longer match it.
pub fn show(engine: &mut Engine, mark: MarkChange, undone: bool) {
    engine.tell(Event::MarksChanged(MarksChanged { mark, stays: true, undone }));
}

/// Updates counters after marks were written. If the mark was for a whole list, adds an undo step and returns `true` if the user
/// already asked to undo the mark.
pub fn marked(
    engine: &mut Engine,
    flag: Flag,
    value: bool,
    (whole_list, step): (bool, Option<LaterStep>),
    marked: Marked,
) -> bool {
    for (feed, counters) in marked.counters {
        engine.set_counters(feed, counters);
    }
    show(engine, MarkChange { flag, value, keys: marked.changed.clone() }, false);
    if whole_list {
        let text = words(flag, value, marked.changed.len());
        if marked.changed.is_empty() {
            engine.say(text);
        } else {
            engine.say_undoable(text);
        }
    }
    engine.tell(Event::CountersChanged);
    if !whole_list {
        return false;
    }
    let undo_waits = engine.undo.step_is_known();
    if marked.changed.is_empty() {
        return false;
    }
    engine.undo.push_stored(Step::Marked(MarkChange { flag, value, keys: marked.changed }), step);
    undo_waits
}

/// Describes a mark that was set or cleared on `count` entries, for a notice.
pub(in crate::engine) fn words(flag: Flag, value: bool, count: usize) -> String {
    let what = match (flag, value) {
        (Flag::Read, true) => "marked read",
        (Flag::Read | Flag::FromHistory, false) => "marked unread",
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
