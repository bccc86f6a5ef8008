//! Marks several feeds or entries, and applies one change to all of them.

use std::collections::BTreeMap;

use backissue_core::feed::opml::subscription_list::{normal_tags, split_tags};
use backissue_core::feed::text::counted_words;
use backissue_core::history::{EntryKey, FeedKey, Flag};
use backissue_core::schedule::Pace;
use chrono::{DateTime, Utc};

use crate::engine::change::MarkChange;
use crate::engine::entries::rows::{MarkedEntries, RowKey};
use crate::engine::feeds::setting_row::Chosen;
use crate::engine::feeds::trouble::concerns;
use crate::engine::request::{Request, TroubleAnswer};
use crate::ui::app::{App, Cx};
use crate::ui::panes::{attention, navigation};
use crate::ui::scroll_list::Distance;
use crate::ui::state::feeds_pane::MarkedRows;
use crate::ui::state::layout::Pane;

/// What is marked when the user marks a row: all feeds of the row, or one entry.
enum Markable {
    Feeds(Vec<FeedKey>),
    Entry(EntryKey),
}

/// Marks or unmarks the selected row, then selects the next row.
pub fn mark_selected(cx: &mut Cx<'_>) {
    let place = selected_place(cx.app);
    match markable_at(cx.app, cx.now, place) {
        Some(Markable::Feeds(feeds)) => cx.app.ui.marked.toggle_feeds(&feeds),
        Some(Markable::Entry(entry)) => cx.app.ui.marked.toggle_entry(entry),
        None => {
            return cx.say("only feeds, tags and entries can be marked");
        }
    }
    cx.app.ui.marked.last = Some((cx.app.ui.focus, place));
    navigation::move_in_pane(cx, true, Distance::One);
    say_marked(cx);
}

/// Marks all rows between the row that was marked last and the selected row.
pub fn mark_range(cx: &mut Cx<'_>) {
    let to = selected_place(cx.app);
    let from = cx.app.ui.marked.last.filter(|(pane, _)| *pane == cx.app.ui.focus);
    let Some((_, from)) = from else {
        cx.say("mark the first row with {mark}; then {mark-range} marks all rows up to the selected one");
        return;
    };
    for place in from.min(to)..=from.max(to) {
        match markable_at(cx.app, cx.now, place) {
            Some(Markable::Feeds(feeds)) => cx.app.ui.marked.feeds.extend(feeds),
            Some(Markable::Entry(entry)) => {
                cx.app.ui.marked.entries.insert(entry);
            }
            None => {}
        }
    }
    cx.app.ui.marked.last = Some((cx.app.ui.focus, to));
    say_marked(cx);
}

/// Clears all marks on feeds and entries. Returns `false` if nothing was marked.
pub fn clear_marks(cx: &mut Cx<'_>) -> bool {
    if cx.app.ui.marked.is_empty() {
        return false;
    }
    cx.app.ui.marked = MarkedRows::default();
    cx.say("all marks removed");
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
        Pane::Feeds => {
            let row = app.ui.feeds.rows.get(place)?;
            let of_tag = row.tagged_feeds().map(<[FeedKey]>::to_vec);
            row.feed().map(|feed| vec![feed]).or(of_tag).map(Markable::Feeds)
        }
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

fn say_marked(cx: &mut Cx<'_>) {
    let marked = &cx.app.ui.marked;
    let keys = match (marked.feeds.is_empty(), marked.entries.is_empty()) {
        (true, true) => {
            cx.say("nothing is marked");
            return;
        }
        (false, _) => {
            "{unsubscribe} {tags} {poll} {mark-all-read} {more-often} {less-often} {normally-often} act on all of them"
        }
        (true, false) => "{toggle-read}, {mark-all-read} and {star} act on all of them",
    };
    let (keys, ends) = (cx.app.ui.words(keys), cx.app.ui.words("{close} removes the marks"));
    let text = format!("{} marked · {keys} · {ends}", marked.words());
    cx.say(text);
}

/// Sets the pace (how often a feed is polled) of all marked feeds. Returns `None` if no feed is marked.
pub fn set_pace(cx: &mut Cx<'_>, pace: Pace) -> Option<()> {
    let feeds = marked_feeds(cx.app);
    let count = feeds.len();
    let requests: Vec<Request> =
        feeds.into_iter().map(|feed| Request::SetPace(feed, pace)).collect();
    if requests.is_empty() {
        return None;
    }
    cx.ask(Request::Together(requests));
    let words = match pace {
        Pace::More => "more often",
        Pace::Normal => "as recommended",
        Pace::Less => "less often",
    };
    cx.say_undoable(format!("checking {count} feeds {words}"));
    Some(())
}

/// Polls these feeds on this computer too, although the servers of their accounts already poll them. If all of them are polled on
/// this computer already, only the servers poll them again.
pub fn poll_here(cx: &mut Cx<'_>, feeds: &[FeedKey]) {
    let known = feeds.iter().filter_map(|feed| cx.app.engine.feeds.get(feed));
    let mut all: Vec<(FeedKey, Chosen)> =
        known.map(|feed| (feed.key, feed.record.chosen())).collect();
    all.retain(|(_, chosen)| chosen.feed_settings.account.is_some());
    if all.is_empty() {
        return cx.say("it is polled here: only feeds of accounts are left to their servers");
    }
    let here = all.iter().any(|(_, chosen)| chosen.feed_settings.is_polled_by_server());
    all.retain(|(_, chosen)| chosen.feed_settings.polled_here != here);
    let count = counted_words(all.len(), "feed", "feeds");
    let requests = all.into_iter().map(|(feed, mut chosen)| {
        chosen.feed_settings.polled_here = here;
        Request::Set(feed, Box::new(chosen))
    });
    cx.ask(Request::Together(requests.collect()));
    cx.app.ui.marked = MarkedRows::default();
    let what = if here { "polled here, too" } else { "left to the server of the account" };
    cx.say_undoable(format!("{count} {what}"));
}

/// Dismisses the reported problems of the marked feeds. Returns `None` if no feed is marked.
pub fn note_trouble(cx: &mut Cx<'_>) -> Option<()> {
    let feeds = marked_feeds(cx.app);
    let noted = counted_words(feeds.len(), "feed", "feeds");
    let note = |feed| Request::Trouble(feed, TroubleAnswer::Note);
    let requests: Vec<Request> = feeds.into_iter().map(note).collect();
    if requests.is_empty() {
        return None;
    }
    cx.ask(Request::Together(requests));
    cx.app.ui.marked = MarkedRows::default();
    cx.say(format!("dismissed {noted}; listed again if something changes"));
    Some(())
}

/// Adds the typed tags, separated by commas, to the marked feeds. A tag with a leading minus is removed from the feeds instead.
pub fn change_tags(cx: &mut Cx<'_>, typed: &str) {
    let parts = split_tags(typed);
    let parts = || parts.iter().map(String::as_str);
    let gone = normal_tags(parts().filter_map(|part| part.strip_prefix('-')));
    let further = normal_tags(parts().filter(|part| !part.starts_with('-')));
    if gone.is_empty() && further.is_empty() {
        return cx.say("nothing was changed");
    }
    let mut requests = Vec::new();
    for key in marked_feeds(cx.app) {
        let Some(feed) = cx.app.engine.feeds.get(&key) else { continue };
        let mut chosen = feed.record.chosen();
        chosen.tags.retain(|tag| !gone.contains(tag));
        let fresh = further.iter().filter(|tag| !chosen.tags.contains(tag)).cloned();
        let fresh: Vec<String> = fresh.collect();
        chosen.tags.extend(fresh);
        requests.push(Request::Set(key, Box::new(chosen)));
    }
    let count = requests.len();
    cx.ask(Request::Together(requests));
    cx.app.ui.marked = MarkedRows::default();
    cx.say_undoable(format!("changed the tags of {count} feeds"));
}

/// Marks the marked entries, or all entries of the marked feeds, as read. Returns `false` if nothing is marked where the focus is.
pub fn mark_read(cx: &mut Cx<'_>) -> bool {
    let in_feeds = cx.app.ui.focus == Pane::Feeds;
    if in_feeds && !cx.app.ui.marked.feeds.is_empty() {
        let feeds = std::mem::take(&mut cx.app.ui.marked.feeds).into_iter().collect();
        cx.ask(Request::MarkAllRead(MarkedEntries::Unread(feeds)));
    } else if !in_feeds && !cx.app.ui.marked.entries.is_empty() {
        let keys = take_marked_entries(cx.app);
        cx.say_undoable(format!("{} marked read", keys.len()));
        cx.ask(Request::Mark(MarkChange { keys, flag: Flag::Read, value: true }));
    } else {
        return false;
    }
    true
}

/// Returns the marked entries with those that share their rows, and removes the marks.
fn take_marked_entries(app: &mut App) -> Vec<EntryKey> {
    let marked = std::mem::take(&mut app.ui.marked.entries);
    let rows = app.ui.list.rows.iter();
    let rows = rows.filter(|row| row.key.entry().is_some_and(|key| marked.contains(&key)));
    let folded = rows.flat_map(|row| &row.inside.entries).copied();
    marked.iter().copied().chain(folded).collect()
}

/// Sets a flag on the marked entries, or clears the flag if all marked entries already have it. Returns `None` if no entry is
/// marked.
pub fn toggle_mark(cx: &mut Cx<'_>, flag: Flag) -> Option<()> {
    if cx.app.ui.focus != Pane::Entries || cx.app.ui.marked.entries.is_empty() {
        return None;
    }
    let mut keys = take_marked_entries(cx.app);
    let rows = cx.app.ui.list.rows.iter();
    let shown: BTreeMap<EntryKey, bool> =
        rows.filter_map(|row| Some((row.key.entry()?, row.flags.get(flag)))).collect();
    let value = keys.iter().any(|key| shown.get(key) == Some(&false));
    let count = keys.len();
    keys.retain(|key| shown.get(key) != Some(&value));
    cx.ask(Request::Mark(MarkChange { flag, value, keys }));
    let words = match (flag == Flag::Starred, value) {
        (true, true) => "starred",
        (true, false) => "unstarred",
        (false, true) => "marked read",
        (false, false) => "marked unread",
    };
    cx.say_undoable(format!("{count} {words}"));
    Some(())
}
