//! Counts what the user reads, by feed and day, unless the user switched that off.

use backissue_core::feed::dates::calendar::day_of;
use backissue_core::history::{EntryKey, FeedKey, Flag};
use chrono::{DateTime, Datelike, Utc};

use crate::engine::entries::interest::{Interest, Reading};
use crate::engine::request::MarksChanged;
use crate::ui::app::App;

/// Counts the entries that came on the screen with an input. Forgets what was counted if the user switched it off.
pub fn follow(app: &mut App, now: DateTime<Utc>) {
    if !app.ui.settings.interest {
        app.engine.interest = Interest::default();
        return;
    }
    let list = &app.ui.list;
    let rows = (list.top..).map_while(|place| list.row(place));
    let rows = rows.take(app.ui.viewport.entries_rows.into());
    let unread = rows.filter(|row| row.flags.is_unread()).filter_map(|row| row.key.entry());
    let shown: Vec<EntryKey> = unread.filter(|key| !app.ui.counted.shown.contains(key)).collect();
    for key in shown {
        app.ui.counted.shown.insert(key);
        count(app, now, key.feed, Reading::Shown);
    }
    let Some(reader) = app.ui.shown_reader() else { return };
    let key = reader.entry.key;
    let end = reader.scroll.saturating_add(app.ui.viewport.reader_rows.into());
    let is_finished = reader.rendered.as_ref().is_some_and(|text| end >= text.lines.len());
    if app.ui.counted.open.replace(key) != Some(key) {
        count(app, now, key.feed, Reading::Opened);
    }
    if is_finished && app.ui.counted.finished.replace(key) != Some(key) {
        count(app, now, key.feed, Reading::Finished);
    }
}

/// Counts the entries that the user starred, or marked read without opening them.
pub fn note_marks(app: &mut App, now: DateTime<Utc>, changed: &MarksChanged) {
    let mark = &changed.mark;
    let reading = match mark.flag {
        Flag::Starred => Reading::Starred,
        Flag::Read => Reading::Skipped,
        Flag::Opened | Flag::Hidden | Flag::FromHistory | Flag::Ended => return,
    };
    let open = app.ui.opening.or_else(|| app.ui.reader.as_ref().map(|reader| reader.entry.key));
    let is_opened = open.is_some_and(|key| mark.keys.contains(&key));
    if changed.undone || !changed.stays || !mark.value {
        return;
    }
    // With the entry that is open, the same article in other feeds is marked read.
    if reading == Reading::Skipped && is_opened {
        return;
    }
    for key in &mark.keys {
        count(app, now, key.feed, reading);
    }
}

/// Counts an entry of a feed.
pub fn count(app: &mut App, now: DateTime<Utc>, feed: FeedKey, reading: Reading) {
    if app.ui.settings.interest {
        let day = day_of(now, app.engine.zone).num_days_from_ce();
        app.engine.interest.count(feed, day, reading);
    }
}
