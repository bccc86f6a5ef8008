//! Marks of entries: set and shown at once, written, taken back if they cannot be.

use crate::engine::effect::Effect;
use crate::engine::event::{Event, MarksChanged};
use crate::engine::state::Engine;
use crate::engine::store_work::{Job, Marked, MarkedEntries};
use crate::engine::undo::rollback::Rollback;
use crate::engine::undo::undo_stack::{self, Step};
use backissue_core::history::{EntryKey, Flag};

/// Sets a mark on entries that do not have it so; it can be taken back from this moment on.
pub fn set(engine: &mut Engine, keys: Vec<EntryKey>, flag: Flag, value: bool) -> Vec<Effect> {
    show(engine, keys.clone(), flag, value, false);
    let change = engine.undo.push(Step::Marked { flag, value, keys: keys.clone() });
    vec![write(keys, flag, value, Some(change))]
}

/// Marks everything read that a list holds now, not what may arrive while the mark is written.
pub fn mark_list_read(engine: &mut Engine, list: u64) -> Vec<Effect> {
    engine.undo.step_begins();
    let entries = MarkedEntries::ListNumber(list);
    vec![Effect::store(Job::Mark { entries, flag: Flag::Read, value: true })]
}

/// Sets a mark back on entries that were given another one, or gives it again.
pub fn set_back(engine: &mut Engine, keys: Vec<EntryKey>, flag: Flag, value: bool) -> Vec<Effect> {
    show(engine, keys.clone(), flag, value, true);
    vec![write(keys, flag, value, None)]
}

fn write(
    keys: Vec<EntryKey>,
    flag: Flag,
    value: bool,
    change: Option<undo_stack::ChangeId>,
) -> Effect {
    let entries = MarkedEntries::These(keys.clone());
    let rollback = Rollback::Marks { keys, flag, value, change };
    Effect::store_ahead(Job::Mark { entries, flag, value }, rollback)
}

/// Tells those who look on of a mark; the rows stay in the open list.
pub fn show(engine: &mut Engine, keys: Vec<EntryKey>, flag: Flag, value: bool, undone: bool) {
    engine.tell(Event::MarksChanged(MarksChanged { keys, flag, value, stays: true, undone }));
}

/// Marks are durable: sums follow, and a whole list that was marked can be taken back. Says whether the reader wants that
/// taken back already.
pub fn marked(
    engine: &mut Engine,
    flag: Flag,
    value: bool,
    whole_list: bool,
    marked: Marked,
) -> bool {
    for (feed, counters) in marked.counters {
        engine.set_counters(feed, counters);
    }
    show(engine, marked.changed.clone(), flag, value, false);
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
    engine.undo.push(Step::Marked { flag, value, keys: marked.changed });
    undo_waits
}

/// What a change did, in words.
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
        (Flag::FromHistory, true) => "read from history again",
    };
    format!("{count} {what}")
}
