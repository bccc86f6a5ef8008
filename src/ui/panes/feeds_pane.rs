//! The subscriptions pane: smart lists first, then tags with their feeds, then feeds without a tag.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::{attention, saved_searches, search_pane, tag_tree};
use crate::engine::backfill::gap_rows;
use crate::engine::calendar::day_start;
use crate::engine::entries::rows::{ListQuery, Scope, Show};
use crate::engine::feeds::subscription::Subscription;
use crate::history::FeedKey;
use crate::ui::app::App;
use crate::ui::state::feeds_pane::{FeedsRow, SortOrder};
use crate::ui::state::layout::Pane;

/// Rows that move are ordered anew after this time at the soonest.
const RESORT_SECONDS: i64 = 2;

/// Makes the rows anew; the selection stays on the row it was on.
pub fn rebuild(app: &mut App) {
    use FeedsRow::{AllUnread, Attention, Gaps, Starred, Today};
    let selected = app.ui.feeds.selected_row().cloned();
    let mut rows = vec![AllUnread, Today, Starred, Gaps, Attention];
    rows.extend(app.engine.saved_searches.iter().map(|search| FeedsRow::Search(search.id)));
    match app.ui.feeds.order {
        SortOrder::Title => rows.extend(under_tags(app)),
        SortOrder::Unread => {
            let unread = |feed: &Subscription| std::cmp::Reverse(feed.counters.unread);
            rows.extend(flat(by_title(app), |key| app.engine.feeds.get(key).map(unread)));
        }
        SortOrder::NextPoll => {
            // Those that are never polled come last.
            let next = |feed: &Subscription| feed.plan.next_poll;
            let never_last = |at: Option<DateTime<Utc>>| (at.is_none(), at);
            let key = |key: &FeedKey| never_last(app.engine.feeds.get(key).and_then(next));
            rows.extend(flat(by_title(app), key));
        }
    }
    let pane = &mut app.ui.feeds;
    // A feed may stand under several tags: the nearest row of it is the one that was selected.
    let before = pane.selected;
    let place = selected.and_then(|row| {
        let places = rows.iter().enumerate().filter(|(_, other)| same(other, &row));
        places.map(|(place, _)| place).min_by_key(|place| place.abs_diff(before))
    });
    pane.rows = rows;
    pane.selected = place.unwrap_or_else(|| pane.selected.min(pane.rows.len().saturating_sub(1)));
    pane.stale = false;
}

fn by_title(app: &App) -> Vec<FeedKey> {
    let mut by_title: Vec<FeedKey> = app.engine.feeds.keys().copied().collect();
    by_title.sort_by_cached_key(|key| {
        let title = app.engine.feeds.get(key).map(|feed| in_order(feed.record.shown_title()));
        (title, *key)
    });
    by_title
}

/// Feeds without their tags, in another order; of equals the first by title comes first.
fn flat<K: Ord>(mut feeds: Vec<FeedKey>, by: impl Fn(&FeedKey) -> K) -> Vec<FeedsRow> {
    feeds.sort_by_key(by);
    feeds.into_iter().map(|key| FeedsRow::Feed(key, 0)).collect()
}

/// The tree of tags with their feeds, then feeds without a tag.
fn under_tags(app: &App) -> Vec<FeedsRow> {
    let titled = by_title(app);
    let mut rows = tag_tree::rows(app, &titled, &app.ui.feeds.folded);
    let tagless =
        |key: &&FeedKey| app.engine.feeds.get(key).is_some_and(|feed| feed.record.tags.is_empty());
    rows.extend(titled.iter().filter(tagless).map(|key| FeedsRow::Feed(*key, 0)));
    rows
}

/// The next order: by title under tags, by unread, by next poll.
pub fn sort_next(app: &mut App, now: DateTime<Utc>) {
    let (order, words) = match app.ui.feeds.order {
        SortOrder::Title => (SortOrder::Unread, "the most unread first"),
        SortOrder::Unread => (SortOrder::NextPoll, "the next to be polled first"),
        SortOrder::NextPoll => (SortOrder::Title, "by tag and title"),
    };
    app.ui.feeds.order = order;
    rebuild(app);
    app.ui.feeds.ordered = Some(now);
    let height = usize::from(app.ui.viewport.feeds_rows);
    app.ui.feeds.keep_in_sight(height);
    app.ui.say(now, format!("feeds: {words}"));
}

/// Orders by next poll anew when plans have changed, but not more often than a reader can follow; the selection
/// stays on its feed.
pub fn resort(app: &mut App, now: DateTime<Utc>) {
    let pane = &app.ui.feeds;
    if !pane.stale || pane.order != SortOrder::NextPoll || !app.ui.is_on() {
        return;
    }
    let lately = pane.ordered.is_some_and(|at| {
        (0..RESORT_SECONDS).contains(&now.signed_duration_since(at).num_seconds())
    });
    if !lately {
        rebuild(app);
        app.ui.feeds.ordered = Some(now);
        let height = usize::from(app.ui.viewport.feeds_rows);
        app.ui.feeds.keep_in_sight(height);
    }
}

/// The feed that a key is about: that of the open plan or of the timetable's selection, else that of the selected
/// row of the Attention list, of the selected entry, or the selected feed.
pub fn selected_feed(app: &App, now: DateTime<Utc>) -> Option<FeedKey> {
    if let Some(overlay) = &app.ui.overlay
        && let Some(feed) = overlay.row().feed
    {
        return feed(overlay);
    }
    if attention::is_open(app) {
        return attention::selected(app, now).map(|concern| concern.feed);
    }
    let row = app.ui.list.selected_row();
    match (app.ui.focus, row, app.ui.feeds.selected_row()) {
        (Pane::Entries | Pane::Reader, Some(row), _) => Some(row.key.feed()),
        (_, _, Some(FeedsRow::Feed(key, _))) => Some(*key),
        (
            _,
            _,
            Some(
                FeedsRow::AllUnread
                | FeedsRow::Today
                | FeedsRow::Starred
                | FeedsRow::Gaps
                | FeedsRow::Attention
                | FeedsRow::Search(_)
                | FeedsRow::Tag(..),
            )
            | None,
        ) => None,
    }
}

/// A title as people order it: without regard to case, numbers by their value.
fn in_order(title: &str) -> Vec<(u64, String)> {
    let mut parts: Vec<(u64, String)> = Vec::new();
    for char in title.to_lowercase().chars() {
        match (char.to_digit(10).map(u64::from), parts.last_mut()) {
            (Some(digit), Some((number, text))) if text.is_empty() => {
                *number = number.saturating_mul(10).saturating_add(digit);
            }
            (Some(digit), _) => parts.push((digit, String::new())),
            (None, Some((u64::MAX, text))) => text.push(char),
            (None, _) => parts.push((u64::MAX, char.into())),
        }
    }
    parts
}

/// Whether two rows stand for the same thing, though a tag may have other feeds now.
fn same(a: &FeedsRow, b: &FeedsRow) -> bool {
    match (a, b) {
        (FeedsRow::Tag(a, _), FeedsRow::Tag(b, _)) => a == b,
        (FeedsRow::Feed(a, _), FeedsRow::Feed(b, _)) => a == b,
        (a, b) => a == b,
    }
}

/// The entries that the selected row stands for.
pub fn query(app: &App, now: DateTime<Utc>) -> ListQuery {
    let screen = &app.ui;
    if let Some(matching) = screen.search.as_ref().and_then(|search| search.matching.as_ref()) {
        return search_pane::query(app, matching, now);
    }
    let everything = |show, since| ListQuery {
        scope: Scope::Everything,
        show,
        since,
        keep: screen.list.keep.clone(),
        gaps: Vec::new(),
        order: screen.list.order,
    };
    let feeds = |feeds| ListQuery { scope: Scope::Feeds(feeds), ..everything(screen.show, None) };
    let query = match screen.feeds.selected_row() {
        None | Some(FeedsRow::AllUnread) => everything(Show::Unread, None),
        Some(FeedsRow::Today) => everything(screen.show, Some(day_start(now, app.engine.zone))),
        Some(FeedsRow::Starred) => everything(Show::Starred, None),
        Some(FeedsRow::Gaps) => {
            let keep = BTreeSet::new();
            let gaps = gap_rows::everywhere(&app.engine, now);
            return ListQuery { show: Show::All, keep, gaps, ..feeds(Vec::new()) };
        }
        Some(FeedsRow::Attention) => feeds(Vec::new()),
        Some(FeedsRow::Search(id)) => match saved_searches::matching(app, now, *id) {
            Some(matching) => ListQuery {
                scope: Scope::Found(Box::new(matching)),
                ..everything(screen.show, None)
            },
            None => feeds(Vec::new()),
        },
        Some(FeedsRow::Tag(_, keys)) => feeds(keys.clone()),
        Some(FeedsRow::Feed(key, _)) => feeds(vec![*key]),
    };
    ListQuery { gaps: gap_rows::in_query(&app.engine, &query, now), ..query }
}

/// Whether entries of a feed can be in the open list.
pub fn concerns(app: &App, feed: FeedKey) -> bool {
    if app.ui.search.is_some() {
        // The index says itself when it holds more.
        return false;
    }
    match app.ui.feeds.selected_row() {
        None | Some(FeedsRow::AllUnread | FeedsRow::Today | FeedsRow::Starred) => true,
        Some(FeedsRow::Gaps | FeedsRow::Attention | FeedsRow::Search(_)) => false,
        Some(FeedsRow::Tag(_, keys)) => keys.contains(&feed),
        Some(FeedsRow::Feed(key, _)) => *key == feed,
    }
}

/// Unread entries of a row.
pub fn unread(app: &App, row: &FeedsRow) -> u32 {
    let of = |key: &FeedKey| app.engine.feeds.get(key).map_or(0, |feed| feed.counters.unread);
    match row {
        FeedsRow::AllUnread => app.engine.unread(),
        FeedsRow::Today => app.ui.today.value,
        FeedsRow::Starred => app.engine.starred(),
        FeedsRow::Gaps | FeedsRow::Attention => 0,
        FeedsRow::Search(id) => app.ui.found.value.get(id).copied().unwrap_or(0),
        FeedsRow::Tag(_, keys) => keys.iter().map(of).fold(0, u32::saturating_add),
        FeedsRow::Feed(key, _) => of(key),
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::panes::feeds_pane::*;

    #[test]
    fn titles_stand_in_the_order_people_expect() {
        let mut titles = ["Feed 10", "feed 9", "Zebra", "alpha", "3 birds", "Feed", "20 birds"];
        titles.sort_by_cached_key(|title| in_order(title));
        assert_eq!(titles, ["3 birds", "20 birds", "alpha", "Feed", "feed 9", "Feed 10", "Zebra"]);
    }
}
