//! Sets flags of the selected entry, and marks all entries of a list as read.

use chrono::{DateTime, TimeDelta, Utc};

use crate::engine::change::MarkChange;
use crate::engine::entries::rows::ListPart;
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use backissue_core::history::Flag;

/// The part of the open list that is marked as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkPart {
    All,
    Above,
    Below,
    /// The entries that are older than this number of days.
    OlderThan(i64),
}

/// Toggles a flag of the selected entry, such as read or starred.
pub fn toggle_mark(app: &mut App, now: DateTime<Utc>, flag: Flag) -> Vec<ScreenEffect> {
    let Some(row) = app.ui.list.selected_row() else { return Vec::new() };
    let Some(key) = row.key.entry() else { return Vec::new() };
    // An entry from the feed's history counts as read even if the user never opened it. Toggling this state instead of the read
    // flag restores it when the key is pressed twice.
    let old = flag == Flag::Read && row.flags.is_from_history() && !row.flags.was_opened();
    let flag = if old { Flag::FromHistory } else { flag };
    let value = !row.flags.get(flag);
    app.ask(now, Request::Mark(MarkChange { keys: vec![key], flag, value }))
}

/// Marks entries of the open list as read: all of them, those above or below the selected one, or old ones.
pub fn mark_list_read(app: &mut App, now: DateTime<Utc>, marked: MarkPart) -> Vec<ScreenEffect> {
    let list = &mut app.ui.list;
    let selected = list.selected_row().map(|row| row.key);
    let before = |days| now.checked_sub_signed(TimeDelta::days(days)).map(ListPart::Before);
    let part = match marked {
        MarkPart::All => Some(ListPart::All),
        MarkPart::Above => selected.map(ListPart::Above),
        MarkPart::Below => selected.map(ListPart::Below),
        MarkPart::OlderThan(days) => before(days),
    };
    let Some(part) = part else { return Vec::new() };
    list.keep.extend(list.rows.iter().filter_map(|row| row.key.entry()));
    let number = list.number;
    app.ask(now, Request::MarkListRead(number, part))
}
