//! Applies one change to all marked feeds or entries.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::marking::marked_feeds;
use crate::engine::change::MarkChange;
use crate::engine::feeds::chosen_settings::Chosen;
use crate::engine::request::{Request, TroubleAnswer};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::state::layout::Pane;
use crate::ui::state::marked::MarkedRows;
use backissue_core::feed::opml::subscription_list::{normal_tags, split_tags};
use backissue_core::feed::text::counted_words;
use backissue_core::history::{EntryKey, FeedKey, Flag};
use backissue_core::schedule::Pace;

/// Sets the pace (how often a feed is polled) of all marked feeds. Returns `None` if no feed is marked.
pub fn set_pace(app: &mut App, now: DateTime<Utc>, pace: Pace) -> Option<Vec<ScreenEffect>> {
    let feeds = marked_feeds(app);
    let count = feeds.len();
    let requests: Vec<Request> =
        feeds.into_iter().map(|feed| Request::SetPace(feed, pace)).collect();
    if requests.is_empty() {
        return None;
    }
    let effects = app.ask(now, Request::Together(requests));
    let words = match pace {
        Pace::More => "more often",
        Pace::Normal => "as recommended",
        Pace::Less => "less often",
    };
    app.ui.say_undoable(now, format!("polling {count} feeds {words}"));
    Some(effects)
}

/// Polls these feeds here, too, although the servers of their accounts poll them; if all of them are, leaves them to the servers again.
pub fn poll_here(app: &mut App, now: DateTime<Utc>, feeds: &[FeedKey]) -> Vec<ScreenEffect> {
    let known = feeds.iter().filter_map(|feed| app.engine.feeds.get(feed));
    let mut all: Vec<(FeedKey, Chosen)> =
        known.map(|feed| (feed.key, feed.record.chosen())).collect();
    all.retain(|(_, chosen)| chosen.feed_settings.account.is_some());
    if all.is_empty() {
        return app
            .ui
            .say_only(now, "it is polled here: only feeds of accounts are left to their servers");
    }
    let here = all.iter().any(|(_, chosen)| chosen.feed_settings.is_polled_by_server());
    all.retain(|(_, chosen)| chosen.feed_settings.polled_here != here);
    let count = counted_words(all.len(), "feed", "feeds");
    let requests = all.into_iter().map(|(feed, mut chosen)| {
        chosen.feed_settings.polled_here = here;
        Request::Set(feed, Box::new(chosen))
    });
    let effects = app.ask(now, Request::Together(requests.collect()));
    app.ui.marked = MarkedRows::default();
    let what = if here { "polled here, too" } else { "left to the server of the account" };
    app.ui.say_undoable(now, format!("{count} {what}"));
    effects
}

/// Dismisses the reported problems of the marked feeds. Returns `None` if no feed is marked.
pub fn note_trouble(app: &mut App, now: DateTime<Utc>) -> Option<Vec<ScreenEffect>> {
    let feeds = marked_feeds(app);
    let noted = counted_words(feeds.len(), "feed", "feeds");
    let note = |feed| Request::Trouble(feed, TroubleAnswer::Note);
    let requests: Vec<Request> = feeds.into_iter().map(note).collect();
    if requests.is_empty() {
        return None;
    }
    let effects = app.ask(now, Request::Together(requests));
    app.ui.marked = MarkedRows::default();
    app.ui.say(now, format!("dismissed {noted}; listed again if something changes"));
    Some(effects)
}

/// Adds the typed tags, separated by commas, to the marked feeds. A tag with a leading minus is removed from the feeds instead.
pub fn change_tags(app: &mut App, now: DateTime<Utc>, typed: &str) -> Vec<ScreenEffect> {
    let parts = split_tags(typed);
    let parts = || parts.iter().map(String::as_str);
    let gone = normal_tags(parts().filter_map(|part| part.strip_prefix('-')));
    let further = normal_tags(parts().filter(|part| !part.starts_with('-')));
    if gone.is_empty() && further.is_empty() {
        return app.ui.say_only(now, "nothing was changed");
    }
    let mut requests = Vec::new();
    for key in marked_feeds(app) {
        let Some(feed) = app.engine.feeds.get(&key) else { continue };
        let mut chosen = feed.record.chosen();
        chosen.tags.retain(|tag| !gone.contains(tag));
        let fresh = further.iter().filter(|tag| !chosen.tags.contains(tag)).cloned();
        let fresh: Vec<String> = fresh.collect();
        chosen.tags.extend(fresh);
        requests.push(Request::Set(key, Box::new(chosen)));
    }
    let count = requests.len();
    let effects = app.ask(now, Request::Together(requests));
    app.ui.marked = MarkedRows::default();
    app.ui.say_undoable(now, format!("changed the tags of {count} feeds"));
    effects
}

/// Sets a flag on the marked entries, or clears the flag if all marked entries already have it. Returns `None` if no entry is
/// marked.
pub fn toggle_mark(app: &mut App, now: DateTime<Utc>, flag: Flag) -> Option<Vec<ScreenEffect>> {
    if app.ui.focus != Pane::Entries || app.ui.marked.entries.is_empty() {
        return None;
    }
    let mut keys: Vec<EntryKey> = std::mem::take(&mut app.ui.marked.entries).into_iter().collect();
    let rows = app.ui.list.rows.iter();
    let shown: BTreeMap<EntryKey, bool> =
        rows.filter_map(|row| Some((row.key.entry()?, row.flags.get(flag)))).collect();
    let value = keys.iter().any(|key| shown.get(key) == Some(&false));
    let count = keys.len();
    keys.retain(|key| shown.get(key) != Some(&value));
    let effects = app.ask(now, Request::Mark(MarkChange { flag, value, keys }));
    let words = match (flag == Flag::Starred, value) {
        (true, true) => "starred",
        (true, false) => "unstarred",
        (false, true) => "marked read",
        (false, false) => "marked unread",
    };
    app.ui.say_undoable(now, format!("{count} {words}"));
    Some(effects)
}
