//! Marks: read, star, mark-all.

use chrono::{DateTime, Utc};

use crate::engine::effect::Effect;
use crate::engine::model::Model;
use crate::engine::msg::Marked;
use crate::engine::undo;
use crate::engine::undo::Step;
use crate::history::{EntryKey, Flag};
use crate::ui::panes::feeds_pane;
use crate::ui::panes::saved_searches;

/// Sets a mark on the selected entry, or clears it; it is on the screen at once.
pub fn toggle(model: &mut Model, flag: Flag) -> Vec<Effect> {
    let list = &model.screen.list;
    let Some(row) = list.selected_row() else { return Vec::new() };
    let Some(key) = row.key.entry() else { return Vec::new() };
    // What counts as read only because it is old is to be so again when it is taken back.
    let old = flag == Flag::Read && row.flags.is_from_history() && !row.flags.was_opened();
    let flag = if old { Flag::FromHistory } else { flag };
    let value = !row.flags.get(flag);
    set(model, key, flag, value)
}

/// Sets a mark on one entry that does not have it so; it can be taken back from this moment on.
pub fn set(model: &mut Model, key: EntryKey, flag: Flag, value: bool) -> Vec<Effect> {
    show(model, &[key], flag, value);
    model.undo.push(Step::Marked { flag, value, keys: vec![key] });
    vec![Effect::Mark { keys: vec![key], flag, value }]
}

/// Marks the open list read: what it holds now, not what may arrive while the mark is written.
pub fn mark_all(model: &mut Model) -> Vec<Effect> {
    let list = model.screen.list.number;
    model.undo.step_begins();
    model.screen.list.keep.extend(model.screen.list.rows.iter().filter_map(|row| row.key.entry()));
    vec![Effect::MarkList { list, flag: Flag::Read, value: true }]
}

/// Sets a mark back on entries that were given another one, or gives it again.
pub fn set_back(model: &mut Model, keys: Vec<EntryKey>, flag: Flag, value: bool) -> Vec<Effect> {
    show(model, &keys, flag, value);
    if flag == Flag::Opened {
        let opened = &mut model.screen.list.opened;
        *opened = if value {
            opened.saturating_add(keys.len())
        } else {
            opened.saturating_sub(keys.len())
        };
    }
    vec![Effect::Mark { keys, flag, value }]
}

/// Marks are durable: sums follow, and what the reader asked for can be taken back.
pub fn marked(
    model: &mut Model,
    now: DateTime<Utc>,
    flag: Flag,
    value: bool,
    whole_list: bool,
    marked: Marked,
) -> Vec<Effect> {
    for (feed, counters) in marked.counters {
        if let Some(subscription) = model.feeds.get_mut(&feed) {
            subscription.counters = counters;
        }
    }
    show(model, &marked.changed, flag, value);
    if whole_list {
        let text = words(flag, value, marked.changed.len());
        let hint = if marked.changed.is_empty() { "" } else { " · u undo" };
        model.screen.say(now, format!("{text}{hint}"));
    }
    let mut effects = counting(model, now);
    effects.extend(saved_searches::counting(model, now));
    if whole_list {
        let wanted = model.undo.step_is_known();
        if !marked.changed.is_empty() {
            model.undo.push(Step::Marked { flag, value, keys: marked.changed });
            effects.extend(wanted.then(|| undo::undo(model, now)).into_iter().flatten());
        }
    }
    effects
}

/// Asks how much is unread today, unless the answer to an earlier question is still on its way.
pub fn counting(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if std::mem::replace(&mut model.screen.counting, true) {
        model.screen.count_again = true;
        return Vec::new();
    }
    vec![Effect::CountToday(feeds_pane::day_start(now, model.zone))]
}

/// The answer to that.
pub fn counted(model: &mut Model, now: DateTime<Utc>, count: u32) -> Vec<Effect> {
    model.screen.today = count;
    model.screen.counting = false;
    if std::mem::take(&mut model.screen.count_again) { counting(model, now) } else { Vec::new() }
}

/// Shows a mark of one entry on its row and on the entry being read; the row need not stay in the list.
pub(in crate::engine) fn show_one(model: &mut Model, key: EntryKey, flag: Flag, value: bool) {
    let rows = model.screen.list.rows.iter_mut();
    for row in rows.filter(|row| row.key.entry() == Some(key)) {
        row.flags = row.flags.with(flag, value);
    }
    let reader = model.screen.reader.as_mut();
    if let Some(reader) = reader.filter(|reader| reader.entry.key == key) {
        reader.entry.flags = reader.entry.flags.with(flag, value);
    }
}

/// Shows a mark on the rows in memory and on the entry being read; they stay in the list until it is opened anew.
fn show(model: &mut Model, keys: &[EntryKey], flag: Flag, value: bool) {
    let wanted: std::collections::BTreeSet<&EntryKey> = keys.iter().collect();
    for row in &mut model.screen.list.rows {
        if let Some(key) = row.key.entry().filter(|key| wanted.contains(key)) {
            row.flags = row.flags.with(flag, value);
            model.screen.list.keep.insert(key);
        }
    }
    if let Some(reader) = &mut model.screen.reader
        && wanted.contains(&reader.entry.key)
    {
        reader.entry.flags = reader.entry.flags.with(flag, value);
    }
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
