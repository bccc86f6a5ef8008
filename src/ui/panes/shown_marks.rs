//! Marks on the rows in memory and on the entry being read; and what the mark keys are about.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::engine::event::MarksChanged;
use crate::engine::request::Request;
use crate::history::{EntryKey, Flag};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;

/// Sets a mark on the selected entry, or clears it.
pub fn toggle(app: &mut App, now: DateTime<Utc>, flag: Flag) -> Vec<ScreenEffect> {
    let Some(row) = app.ui.list.selected_row() else { return Vec::new() };
    let Some(key) = row.key.entry() else { return Vec::new() };
    // What counts as read only because it is old is to be so again when it is taken back.
    let old = flag == Flag::Read && row.flags.is_from_history() && !row.flags.was_opened();
    let flag = if old { Flag::FromHistory } else { flag };
    let value = !row.flags.get(flag);
    app.ask(now, Request::Mark { keys: vec![key], flag, value })
}

/// Marks the open list read.
pub fn mark_list_read(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let list = &mut app.ui.list;
    list.keep.extend(list.rows.iter().filter_map(|row| row.key.entry()));
    let number = list.number;
    app.ask(now, Request::MarkListRead(number))
}

/// Shows marks that changed.
pub fn show(app: &mut App, changed: &MarksChanged) {
    let &MarksChanged { ref keys, flag, value, stays, undone } = changed;
    let wanted: BTreeSet<&EntryKey> = keys.iter().collect();
    let list = &mut app.ui.list;
    for row in &mut list.rows {
        if let Some(key) = row.key.entry().filter(|key| wanted.contains(key)) {
            row.flags = row.flags.with(flag, value);
            if stays {
                list.keep.insert(key);
            }
        }
    }
    if !stays {
        for key in keys {
            list.keep.remove(key);
        }
    }
    if undone && flag == Flag::Opened {
        list.opened = if value {
            list.opened.saturating_add(keys.len())
        } else {
            list.opened.saturating_sub(keys.len())
        };
    }
    if let Some(reader) = &mut app.ui.reader
        && wanted.contains(&reader.entry.key)
    {
        reader.entry.flags = reader.entry.flags.with(flag, value);
    }
}
