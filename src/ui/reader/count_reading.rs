//! Counts what the user reads, by feed and day, unless the user switched that off.

use backissue_core::history::{EntryKey, FeedKey, Flag};

use crate::engine::entries::interest::Reading;
use crate::engine::request::{MarkedBy, MarksChanged, Request};
use crate::ui::app::App;

/// Counts the entries that appeared on the screen because of an input. Returns the request that counts what the user has read
/// since the last such request, or `None` if there is nothing to count. If the user has switched counting off, the request
/// deletes the stored numbers.
pub fn follow(app: &mut App) -> Option<Request> {
    note_shown(app);
    let read = std::mem::take(&mut app.ui.counted.read);
    if !app.ui.settings.interest {
        return (!app.engine.interest.is_empty()).then_some(Request::CountReading(None));
    }
    (!read.is_empty()).then_some(Request::CountReading(Some(read)))
}

fn note_shown(app: &mut App) {
    let list = &app.ui.list;
    let rows = (list.top..).map_while(|place| list.row(place));
    let rows = rows.take(app.ui.viewport.entries_rows.into());
    let unread = rows.filter(|row| row.flags.is_unread()).filter_map(|row| row.key.entry());
    let shown: Vec<EntryKey> = unread.filter(|key| !app.ui.counted.shown.contains(key)).collect();
    for key in shown {
        app.ui.counted.shown.insert(key);
        count(app, key.feed, Reading::Shown);
    }
    let Some(reader) = app.ui.shown_reader() else { return };
    let key = reader.entry.key;
    let end = reader.scroll.saturating_add(app.ui.viewport.reader_rows.into());
    let is_finished = reader.rendered.as_ref().is_some_and(|text| end >= text.lines.len());
    if app.ui.counted.open.replace(key) != Some(key) {
        count(app, key.feed, Reading::Opened);
    }
    if is_finished && app.ui.counted.finished.replace(key) != Some(key) {
        count(app, key.feed, Reading::Finished);
    }
}

/// Counts the entries that the user starred, or marked as read without opening them.
pub fn note_marks(app: &mut App, changed: &MarksChanged) {
    let MarksChanged { mark, by } = changed;
    let undone = match by {
        MarkedBy::User => false,
        MarkedBy::Undo => true,
        MarkedBy::Filter | MarkedBy::Server => return,
    };
    let reading = match mark.flag {
        Flag::Read if undone && !mark.value => Reading::NotSkipped,
        Flag::Starred | Flag::Read if undone || !mark.value => return,
        Flag::Starred => Reading::Starred,
        Flag::Read => Reading::Skipped,
        Flag::Opened | Flag::Hidden | Flag::FromHistory | Flag::Ended => return,
    };
    let open = app.ui.read_entry();
    let is_opened = open.is_some_and(|key| mark.keys.contains(&key));
    // When the open entry is marked as read, the same article in other feeds is marked as read too.
    if reading == Reading::Skipped && is_opened {
        return;
    }
    for key in &mark.keys {
        count(app, key.feed, reading);
    }
}

/// Records that an entry of a feed was read in some way. It is counted after the next input.
pub fn count(app: &mut App, feed: FeedKey, reading: Reading) {
    app.ui.counted.read.push((feed, reading));
}
