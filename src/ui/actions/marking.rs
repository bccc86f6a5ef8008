//! Marks several feeds or entries so that one action applies to all of them.

use chrono::{DateTime, Utc};

use crate::engine::entries::rows::RowKey;
use crate::engine::feeds::trouble::concerns;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::panes::{attention, navigation};
use crate::ui::scroll_list::Distance;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::marked::MarkedRows;
use backissue_core::history::{EntryKey, FeedKey};

/// What is marked when the user marks a row: all feeds of the row, or one entry.
enum Markable {
    Feeds(Vec<FeedKey>),
    Entry(EntryKey),
}

/// Marks or unmarks the selected row, then selects the next row.
pub fn mark_selected(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let place = selected_place(app);
    match markable_at(app, now, place) {
        Some(Markable::Feeds(feeds)) => app.ui.marked.toggle_feeds(&feeds),
        Some(Markable::Entry(entry)) => app.ui.marked.toggle_entry(entry),
        None => {
            return app.ui.say_only(now, "only feeds, tags and entries can be marked");
        }
    }
    app.ui.marked.last = Some((app.ui.focus, place));
    let effects = navigation::move_in_pane(app, now, true, Distance::One);
    say_marked(app, now);
    effects
}

/// Marks all rows between the row that was marked last and the selected row.
pub fn mark_range(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let to = selected_place(app);
    let from = app.ui.marked.last.filter(|(pane, _)| *pane == app.ui.focus);
    let Some((_, from)) = from else {
        app.ui.say(now, "mark the first row with {mark}; then {mark-range} marks all rows up to the selected one");
        return Vec::new();
    };
    for place in from.min(to)..=from.max(to) {
        match markable_at(app, now, place) {
            Some(Markable::Feeds(feeds)) => app.ui.marked.feeds.extend(feeds),
            Some(Markable::Entry(entry)) => {
                app.ui.marked.entries.insert(entry);
            }
            None => {}
        }
    }
    app.ui.marked.last = Some((app.ui.focus, to));
    say_marked(app, now);
    Vec::new()
}

/// Clears all marks on feeds and entries. Returns `false` if nothing was marked.
pub fn clear_marks(app: &mut App, now: DateTime<Utc>) -> bool {
    if app.ui.marked.is_empty() {
        return false;
    }
    app.ui.marked = MarkedRows::default();
    app.ui.say(now, "all marks removed");
    true
}

/// Returns the marked feeds that are still subscribed.
pub fn marked_feeds(app: &App) -> Vec<FeedKey> {
    let marked = app.ui.marked.feeds.iter().copied();
    marked.filter(|feed| app.engine.feeds.contains_key(feed)).collect()
}

fn selected_place(app: &App) -> usize {
    match app.ui.focus {
        Pane::Feeds => app.ui.feeds.selected,
        Pane::Entries if attention::is_open(app) => app.ui.attention.selected,
        Pane::Entries | Pane::Reader => app.ui.list.selected,
    }
}

fn markable_at(app: &App, now: DateTime<Utc>, place: usize) -> Option<Markable> {
    match app.ui.focus {
        Pane::Feeds => match app.ui.feeds.rows.get(place)? {
            FeedsRow::Feed(feed, _) => Some(Markable::Feeds(vec![*feed])),
            FeedsRow::Tag(_, feeds) => Some(Markable::Feeds(feeds.clone())),
            FeedsRow::AllUnread
            | FeedsRow::Today
            | FeedsRow::Starred
            | FeedsRow::Gaps
            | FeedsRow::Attention
            | FeedsRow::Search(_) => None,
        },
        Pane::Entries if attention::is_open(app) => {
            let concern = concerns(&app.engine, now).into_iter().nth(place)?;
            Some(Markable::Feeds(vec![concern.feed]))
        }
        Pane::Entries | Pane::Reader => match app.ui.list.row(place)?.key {
            RowKey::Entry(entry) => Some(Markable::Entry(entry)),
            RowKey::Gap(..) => None,
        },
    }
}

fn say_marked(app: &mut App, now: DateTime<Utc>) {
    let marked = &app.ui.marked;
    let keys = match (marked.feeds.is_empty(), marked.entries.is_empty()) {
        (true, true) => {
            app.ui.say(now, "nothing is marked");
            return;
        }
        (false, _) => {
            "{unsubscribe} {tags} {poll} {more-often} {less-often} {normally-often} act on all of them"
        }
        (true, false) => "{toggle-read} and {star} act on all of them",
    };
    let (keys, ends) = (app.ui.words(keys), app.ui.words("{close} removes the marks"));
    let text = format!("{} marked · {keys} · {ends}", marked.words());
    app.ui.say(now, text);
}
