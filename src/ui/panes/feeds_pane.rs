//! The subscriptions pane: smart lists first, then tags with their feeds, then untagged feeds.

use chrono::{DateTime, Utc};

use super::tag_tree;
use crate::engine::feeds::subscription::Subscription;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::reader::lines::cells;
use crate::ui::state::feeds_pane::{FeedsRow, SortOrder};
use backissue_core::history::FeedKey;
use backissue_core::search::folded;

/// Number of cells before the name of a top-level row: a space, a symbol, and a space.
const SIGN_CELLS: usize = 3;
/// Width of the sign of a chosen pace, in cells.
const PACE_CELLS: usize = 2;
/// Minimum time in seconds between two automatic sorts of the rows.
const RESORT_SECONDS: i64 = 2;

/// Rebuilds the rows of the subscriptions pane. The same item stays selected.
pub fn rebuild_rows(app: &mut App) {
    use FeedsRow::{AllUnread, Attention, Gaps, Starred, Today};
    let selected = app.ui.feeds.selected_row().cloned();
    let mut rows = vec![AllUnread, Today, Starred, Gaps, Attention];
    rows.extend(app.engine.saved_searches.iter().map(|search| FeedsRow::Search(search.id)));
    match app.ui.feeds.order {
        SortOrder::Title => rows.extend(list_under_tags(app)),
        SortOrder::Unread => {
            let unread = |feed: &Subscription| std::cmp::Reverse(feed.counters.unread);
            rows.extend(list_without_tags(list_by_title(app), |key| {
                app.engine.feeds.get(key).map(unread)
            }));
        }
        SortOrder::NextPoll => {
            // Feeds without a next poll come last.
            let next = |feed: &Subscription| feed.plan.next_poll;
            let never_last = |at: Option<DateTime<Utc>>| (at.is_none(), at);
            let key = |key: &FeedKey| never_last(app.engine.feeds.get(key).and_then(next));
            rows.extend(list_without_tags(list_by_title(app), key));
        }
    }
    if app.ui.hides_read_feeds() {
        rows.retain(|row| is_worth_showing(app, row, selected.as_ref()));
    }
    let widest = rows.iter().map(|row| row_cells(app, row)).max().unwrap_or(0);
    let pane = &mut app.ui.feeds;
    pane.widest = widest;
    // A feed can have several rows, one under each of its tags. Select the row that is nearest to the previous selection.
    let before = pane.selected;
    let place = selected.and_then(|row| {
        let places = rows.iter().enumerate().filter(|(_, other)| is_same_row(other, &row));
        places.map(|(place, _)| place).min_by_key(|place| place.abs_diff(before))
    });
    pane.rows = rows;
    pane.selected = place.unwrap_or_else(|| pane.selected.min(pane.rows.len().saturating_sub(1)));
    pane.stale = false;
}

/// Returns the width that a row needs to show the whole name of a feed with its count, in cells.
fn row_cells(app: &App, row: &FeedsRow) -> usize {
    let FeedsRow::Feed(key, steps) = row else { return 0 };
    app.engine.feeds.get(key).map_or(0, |feed| {
        let count = feed.counters.unread.checked_ilog10().map_or(0, |digits| digits as usize + 2);
        let pace = if feed.record.feed_settings.pace.is_some() { PACE_CELLS } else { 0 };
        let name = cells(feed.record.shown_title());
        [name_column(*steps), name, pace, count, 1].iter().sum()
    })
}

/// Returns the column where the name of a feed begins. `steps` is the number of tags above the feed in the tag tree. The name of a
/// feed is below the name of its tag, because the pane is narrow.
pub const fn name_column(steps: usize) -> usize {
    let below = steps.saturating_sub(1);
    SIGN_CELLS.saturating_add(below.saturating_mul(tag_tree::INDENT_CELLS))
}

fn list_by_title(app: &App) -> Vec<FeedKey> {
    let mut by_title: Vec<FeedKey> = app.engine.feeds.keys().copied().collect();
    by_title.sort_by_cached_key(|key| {
        let title = app.engine.feeds.get(key).map(|feed| title_order(feed.record.shown_title()));
        (title, *key)
    });
    by_title
}

/// Returns rows for feeds without a tag tree, sorted by a key. Feeds with equal keys stay in their previous order, by title.
fn list_without_tags<K: Ord>(mut feeds: Vec<FeedKey>, by: impl Fn(&FeedKey) -> K) -> Vec<FeedsRow> {
    feeds.sort_by_key(by);
    feeds.into_iter().map(|key| FeedsRow::Feed(key, 0)).collect()
}

/// Returns the rows of the tag tree with its feeds, followed by the rows of the untagged feeds.
fn list_under_tags(app: &App) -> Vec<FeedsRow> {
    let titled = list_by_title(app);
    let mut rows = tag_tree::build_rows(app, &titled, &app.ui.feeds.folded);
    let tagless =
        |key: &&FeedKey| app.engine.feeds.get(key).is_some_and(|feed| feed.record.tags.is_empty());
    rows.extend(titled.iter().filter(tagless).map(|key| FeedsRow::Feed(*key, 0)));
    rows
}

/// Checks whether a row is shown if feeds without unread entries are hidden. The selected feed stays with its tags.
fn is_worth_showing(app: &App, row: &FeedsRow, selected: Option<&FeedsRow>) -> bool {
    let is_selected = selected.is_some_and(|selected| is_same_row(row, selected));
    let holds_selected = match (row.tagged_feeds(), selected.and_then(FeedsRow::feed)) {
        (Some(feeds), Some(feed)) => feeds.contains(&feed),
        (_, _) => false,
    };
    let is_list = row.feed().is_none() && row.tagged_feeds().is_none();
    is_list || is_selected || holds_selected || count_unread(app, row) > 0
}

/// Hides feeds without unread entries, or shows them again.
pub fn toggle_read_feeds(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let hides = !app.ui.hides_read_feeds();
    app.ui.hides_read_feeds = Some(hides);
    rebuild_rows(app);
    let height = usize::from(app.ui.viewport.feeds_rows);
    app.ui.feeds.keep_in_sight(height);
    app.ui.say_only(now, if hides { "feeds with unread entries only" } else { "all feeds" })
}

/// Switches to the next sort order: by title under tags, by number of unread entries, or by time of the next poll.
pub fn sort_next(app: &mut App, now: DateTime<Utc>) {
    let (order, words) = match app.ui.feeds.order {
        SortOrder::Title => (SortOrder::Unread, "most unread first"),
        SortOrder::Unread => (SortOrder::NextPoll, "next poll first"),
        SortOrder::NextPoll => (SortOrder::Title, "by tag and title"),
    };
    app.ui.feeds.order = order;
    rebuild_rows(app);
    app.ui.feeds.ordered = Some(now);
    let height = usize::from(app.ui.viewport.feeds_rows);
    app.ui.feeds.keep_in_sight(height);
    app.ui.say(now, format!("feeds: {words}"));
}

/// Sorts the rows by time of the next poll again if plans have changed, and hides and shows feeds if counts have changed, but at most every few seconds, so that the user can follow
/// the changes. The same feed stays selected.
pub fn resort_rows(app: &mut App, now: DateTime<Utc>) {
    let pane = &app.ui.feeds;
    let lately = pane.ordered.is_some_and(|at| {
        (0..RESORT_SECONDS).contains(&now.signed_duration_since(at).num_seconds())
    });
    if lately || !app.ui.is_on() {
        return;
    }
    let hides = app.ui.hides_read_feeds();
    let selected = pane.selected_row();
    let hidden = |row: &FeedsRow| !is_worth_showing(app, row, selected);
    let follows = pane.stale && (hides || pane.order == SortOrder::NextPoll);
    if follows || (hides && pane.rows.iter().any(hidden)) {
        rebuild_rows(app);
        app.ui.feeds.ordered = Some(now);
        let height = usize::from(app.ui.viewport.feeds_rows);
        app.ui.feeds.keep_in_sight(height);
    }
}

/// Returns a sort key for a title. Upper and lower case count as equal, and numbers are compared by value.
fn title_order(title: &str) -> Vec<(u64, String)> {
    let mut parts: Vec<(u64, String)> = Vec::new();
    for char in folded(title).chars() {
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

/// Checks whether two rows represent the same item: the same tag, even if its feeds differ, the same feed, or the same smart list.
fn is_same_row(a: &FeedsRow, b: &FeedsRow) -> bool {
    match (a, b) {
        (FeedsRow::Tag(a, _), FeedsRow::Tag(b, _)) => a == b,
        (FeedsRow::Feed(a, _), FeedsRow::Feed(b, _)) => a == b,
        (a, b) => a == b,
    }
}

/// Returns the number that a row shows: the unread entries in its list, or all starred entries for the starred list. Gaps and
/// problems are not counted here.
pub fn count_unread(app: &App, row: &FeedsRow) -> u32 {
    let of = |key: &FeedKey| app.engine.feeds.get(key).map_or(0, |feed| feed.counters.unread);
    match row {
        FeedsRow::AllUnread => u32::try_from(app.engine.unread()).unwrap_or(u32::MAX),
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
    fn titles_are_sorted_in_natural_order() {
        let mut titles = ["Feed 10", "feed 9", "Zebra", "alpha", "3 birds", "Feed", "20 birds"];
        titles.sort_by_cached_key(|title| title_order(title));
        assert_eq!(titles, ["3 birds", "20 birds", "alpha", "Feed", "feed 9", "Feed 10", "Zebra"]);
    }
}
