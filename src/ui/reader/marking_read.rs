//! Marks entries as read while the user reads them, as `[ui] mark_read` says.

use chrono::{DateTime, Utc};

use crate::engine::change::MarkChange;
use crate::engine::entries::rows::RowKey;
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::settings::MarkRead;
use crate::ui::state::layout::Pane;
use crate::ui::state::reading::ReadLater;
use backissue_core::history::{EntryKey, Flag};

/// Marks an unread entry that was opened, at once or later.
pub fn mark_opened(app: &mut App, now: DateTime<Utc>, key: EntryKey) -> Vec<ScreenEffect> {
    match app.ui.settings.mark_read {
        MarkRead::Open | MarkRead::Scroll => mark(app, now, vec![key]),
        MarkRead::Leave | MarkRead::After(_) => {
            let left = leave(app, now);
            app.ui.read_later = Some(ReadLater { key, since: now });
            left
        }
        MarkRead::Never => Vec::new(),
    }
}

/// Marks the open entry as read if it was left, or was open for the configured time.
pub fn follow_reading(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(ReadLater { key, .. }) = app.ui.read_later else { return Vec::new() };
    let is_shown = app.ui.shown_reader().is_some_and(|reader| reader.entry.key == key);
    let is_read = app.ui.focus == Pane::Reader && (is_shown || app.ui.opening == Some(key));
    let is_due = due(app).is_some_and(|due| now >= due);
    if is_read && !is_due {
        return Vec::new();
    }
    if is_due {
        app.ui.read_later = None;
        return mark(app, now, vec![key]);
    }
    leave(app, now)
}

/// Returns the time at which the open entry counts as read. Returns `None` if this does not depend on the time.
pub fn due(app: &App) -> Option<DateTime<Utc>> {
    let MarkRead::After(delay) = app.ui.settings.mark_read else { return None };
    app.ui.read_later?.since.checked_add_signed(delay)
}

/// Marks the entry that was open until now as read, unless it had to be open for some time.
fn leave(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    match (app.ui.read_later.take(), app.ui.settings.mark_read) {
        (Some(left), MarkRead::Leave) => mark(app, now, vec![left.key]),
        (Some(_) | None, _) => Vec::new(),
    }
}

/// Marks the entries as read over which the selection moved down, from the row at index `from` to the row before `to`.
pub fn mark_passed(app: &mut App, now: DateTime<Utc>, from: usize, to: usize) -> Vec<ScreenEffect> {
    if app.ui.settings.mark_read != MarkRead::Scroll {
        return Vec::new();
    }
    let rows = (from..to).filter_map(|place| app.ui.list.row(place));
    let keys = rows.filter_map(|row| row.key.entry()).collect();
    mark(app, now, keys)
}

/// Marks those of the entries as read that are unread in the open list.
fn mark(app: &mut App, now: DateTime<Utc>, mut keys: Vec<EntryKey>) -> Vec<ScreenEffect> {
    // An entry that is in no row was unread when it was opened, and the list was closed since.
    keys.retain(|key| {
        let row = app.ui.list.rows.iter().find(|row| row.key == RowKey::Entry(*key));
        row.is_none_or(|row| row.flags.is_unread())
    });
    if keys.is_empty() {
        return Vec::new();
    }
    app.ask(now, Request::Mark(MarkChange { keys, flag: Flag::Read, value: true }))
}
