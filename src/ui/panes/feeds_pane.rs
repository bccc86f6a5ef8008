//! The subscriptions pane: smart lists first, then tags with their feeds, then untagged feeds. Tags are a tree: `a/b` is a child of
//! `a`; a folded tag hides its feeds and its descendants.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::history::FeedKey;
use backissue_core::search::folded;
use chrono::{DateTime, Utc};

use crate::engine::feeds::subscription::Subscription;
use crate::engine::store_work::Job;
use crate::ui::app::{App, Cx};
use crate::ui::effect::ask_store;
use crate::ui::reader::lines::cells;
use crate::ui::state::feeds_pane::{FeedsRow, SortOrder};
use crate::ui::state::layout::Pane;

/// Number of cells before the name of a top-level row: a space, a symbol, and a space.
const SIGN_CELLS: usize = 3;
/// Width of the symbol for a chosen pace, in cells.
const PACE_CELLS: usize = 2;
/// Minimum time in seconds between two automatic sorts of the rows.
const RESORT_SECONDS: i64 = 2;

/// Rebuilds the rows of the subscriptions pane. The same item stays selected.
pub fn rebuild_rows(app: &mut App) {
    use FeedsRow::{AllUnread, Attention, Ended, Gaps, Reading, Starred, Today};
    let selected = app.ui.feeds.selected_row().cloned();
    let mut rows = vec![AllUnread];
    rows.extend((app.ui.settings.reading > 0).then_some(Reading));
    rows.extend([Today, Starred]);
    rows.extend((app.engine.ended_this_week > 0).then_some(Ended));
    rows.extend([Gaps, Attention]);
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
    // Feeds under folded tags are included, so that the pane keeps its width when the user folds or unfolds a tag.
    let all = app.engine.feeds.keys().map(|key| row_cells(app, &FeedsRow::Feed(*key, 1)));
    let widest = rows.iter().map(|row| row_cells(app, row)).chain(all).max().unwrap_or(0);
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
    SIGN_CELLS.saturating_add(below.saturating_mul(INDENT_CELLS))
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
    let mut rows = build_rows(app, &titled, &app.ui.feeds.folded);
    let tagless =
        |key: &&FeedKey| app.engine.feeds.get(key).is_some_and(|feed| feed.record.tags.is_empty());
    rows.extend(titled.iter().filter(tagless).map(|key| FeedsRow::Feed(*key, 0)));
    rows
}

/// Checks whether a row is shown while feeds without unread entries are hidden. The selected feed and its tags stay visible.
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
pub fn toggle_read_feeds(cx: &mut Cx<'_>) {
    let hides = !cx.app.ui.hides_read_feeds();
    cx.app.ui.hides_read_feeds = Some(hides);
    rebuild_rows(cx.app);
    let height = usize::from(cx.app.ui.viewport.feeds_rows);
    cx.app.ui.feeds.keep_in_sight(height);
    cx.say(if hides { "feeds with unread entries only" } else { "all feeds" });
}

/// Switches to the next sort order: by title under tags, by number of unread entries, or by time of the next poll.
pub fn sort_next(cx: &mut Cx<'_>) {
    let (order, words) = match cx.app.ui.feeds.order {
        SortOrder::Title => (SortOrder::Unread, "most unread first"),
        SortOrder::Unread => (SortOrder::NextPoll, "next poll first"),
        SortOrder::NextPoll => (SortOrder::Title, "by tag and title"),
    };
    cx.app.ui.feeds.order = order;
    rebuild_rows(cx.app);
    cx.app.ui.feeds.ordered = Some(cx.now);
    let height = usize::from(cx.app.ui.viewport.feeds_rows);
    cx.app.ui.feeds.keep_in_sight(height);
    cx.say(format!("feeds: {words}"));
}

/// Sorts the rows by the time of the next poll again if plans have changed, and hides or shows feeds if counts have changed. This
/// is done at most every few seconds, so that the user can follow the changes. The same feed stays selected.
pub fn resort_rows(cx: &mut Cx<'_>) {
    let pane = &cx.app.ui.feeds;
    let lately = pane.ordered.is_some_and(|at| {
        (0..RESORT_SECONDS).contains(&cx.now.signed_duration_since(at).num_seconds())
    });
    if lately || !cx.app.ui.is_on() {
        return;
    }
    let hides = cx.app.ui.hides_read_feeds();
    let selected = pane.selected_row();
    let hidden = |row: &FeedsRow| !is_worth_showing(cx.app, row, selected);
    let follows = pane.stale && (hides || pane.order == SortOrder::NextPoll);
    if follows || (hides && pane.rows.iter().any(hidden)) {
        rebuild_rows(cx.app);
        cx.app.ui.feeds.ordered = Some(cx.now);
        let height = usize::from(cx.app.ui.viewport.feeds_rows);
        cx.app.ui.feeds.keep_in_sight(height);
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
        FeedsRow::Today => app.ui.counts.value.dated,
        FeedsRow::Starred => app.engine.starred(),
        FeedsRow::Reading => app.ui.counts.value.portion,
        FeedsRow::Ended | FeedsRow::Gaps | FeedsRow::Attention => 0,
        FeedsRow::Search(id) => app.ui.counts.value.found.get(id).copied().unwrap_or(0),
        FeedsRow::Tag(_, keys) => keys.iter().map(of).fold(0, u32::saturating_add),
        FeedsRow::Feed(key, _) => of(key),
    }
}

/// Indentation per level of the tree, in cells.
pub const INDENT_CELLS: usize = 2;

/// Splits a tag into the names of its levels. Tags that are sorted by these names are in tree order: the descendants of a tag
/// directly follow it.
fn parts(tag: &str) -> Vec<&str> {
    tag.split('/').collect()
}

/// Returns the ancestors of a tag, topmost first.
pub(super) fn above(tag: &str) -> impl Iterator<Item = &str> {
    tag.match_indices('/').filter_map(|(at, _)| tag.get(..at))
}

/// Returns the number of ancestors of a tag, which is its level in the tree.
pub fn depth(tag: &str) -> usize {
    above(tag).count()
}

/// A tag with its feeds.
struct Tagged<'m> {
    tag: &'m str,
    /// Feeds with this tag.
    own: Vec<FeedKey>,
    /// Feeds with this tag or one of its descendants.
    all: Vec<FeedKey>,
}

/// Builds the rows of all tags, each followed by its feeds. `titled` contains all feeds in the order in which they are listed under
/// each tag.
fn build_rows(app: &App, titled: &[FeedKey], folded: &BTreeSet<String>) -> Vec<FeedsRow> {
    let mut tags: BTreeMap<Vec<&str>, Tagged<'_>> = BTreeMap::new();
    for &key in titled {
        let Some(feed) = app.engine.feeds.get(&key) else { continue };
        for tag in &feed.record.tags {
            for upper in above(tag).chain([tag.as_str()]) {
                let none = Tagged { tag: upper, own: Vec::new(), all: Vec::new() };
                let tagged = tags.entry(parts(upper)).or_insert(none);
                if tagged.all.last() != Some(&key) {
                    tagged.all.push(key);
                }
                if upper == tag {
                    tagged.own.push(key);
                }
            }
        }
    }
    let mut rows = Vec::new();
    for Tagged { tag, own, all } in tags.into_values() {
        if above(tag).any(|upper| folded.contains(upper)) {
            continue;
        }
        rows.push(FeedsRow::Tag(tag.to_owned(), all));
        if !folded.contains(tag) {
            let below = depth(tag).saturating_add(1);
            rows.extend(own.into_iter().map(|key| FeedsRow::Feed(key, below)));
        }
    }
    rows
}

/// Handles a move to the left in the subscriptions pane: folds the selected tag, or selects the tag above the selected row in the
/// tree. Returns `None` if neither is possible.
pub(crate) fn fold_selected(cx: &mut Cx<'_>) -> Option<()> {
    let pane = &cx.app.ui.feeds;
    let selected = pane.selected_row().filter(|_| cx.app.ui.focus == Pane::Feeds)?;
    match selected {
        FeedsRow::Tag(tag, _) if !pane.folded.contains(tag) => {
            let tag = tag.clone();
            set_folded(cx, &tag, true);
            Some(())
        }
        FeedsRow::Tag(..) | FeedsRow::Feed(_, 1..) => {
            let place = find_tag_above(cx.app)?;
            cx.app.ui.feeds.selected = place;
            Some(())
        }
        FeedsRow::AllUnread
        | FeedsRow::Today
        | FeedsRow::Starred
        | FeedsRow::Ended
        | FeedsRow::Reading
        | FeedsRow::Gaps
        | FeedsRow::Attention
        | FeedsRow::Search(_)
        | FeedsRow::Feed(_, 0) => None,
    }
}

/// Returns the index of the nearest row above the selected row that has its parent tag.
fn find_tag_above(app: &App) -> Option<usize> {
    let pane = &app.ui.feeds;
    let level = |row: &FeedsRow| {
        if let FeedsRow::Tag(tag, _) = row {
            return Some(depth(tag));
        }
        if let FeedsRow::Feed(_, below) = row { Some(*below) } else { None }
    };
    let own = level(pane.selected_row()?)?;
    let before = pane.rows.iter().enumerate().take(pane.selected);
    let is_above =
        |row: &FeedsRow| matches!(row, FeedsRow::Tag(..)) && level(row).is_some_and(|at| at < own);
    before.rev().find(|(_, row)| is_above(row)).map(|(place, _)| place)
}

/// Handles a move to the right in the subscriptions pane: unfolds the selected tag. Returns `None` if no folded tag is selected.
pub(crate) fn unfold_selected(cx: &mut Cx<'_>) -> Option<()> {
    let pane = &cx.app.ui.feeds;
    let selected = pane.selected_row().filter(|_| cx.app.ui.focus == Pane::Feeds)?;
    let FeedsRow::Tag(tag, _) = selected else { return None };
    let tag = Some(tag.clone()).filter(|tag| pane.folded.contains(tag))?;
    set_folded(cx, &tag, false);
    Some(())
}

/// Folds or unfolds a tag. Folded tags are saved and stay folded after a restart.
pub fn set_folded(cx: &mut Cx<'_>, tag: &str, folded: bool) {
    let known = &mut cx.app.ui.feeds.folded;
    let changed = if folded { known.insert(tag.to_owned()) } else { known.remove(tag) };
    if !changed {
        return;
    }
    rebuild_rows(cx.app);
    let height = usize::from(cx.app.ui.viewport.feeds_rows);
    cx.app.ui.feeds.keep_in_sight(height);
    cx.out.push(ask_store(Job::SaveFolded(cx.app.ui.feeds.folded.clone())));
}

/// Checks whether a row is a tag that hides its feeds.
pub fn is_folded(app: &App, row: &FeedsRow) -> bool {
    matches!(row, FeedsRow::Tag(tag, _) if app.ui.feeds.folded.contains(tag))
}

/// Selects a row of the subscriptions pane. A feed that is hidden, because a tag is folded or it has no unread entries, is shown.
pub(crate) fn select_row(cx: &mut Cx<'_>, row: &FeedsRow) {
    if let Some(feed) = row.feed() {
        select_feed(cx, feed);
        if cx.app.ui.feeds.selected_row().and_then(FeedsRow::feed) != Some(feed) {
            // The selected feed is shown even if it has no unread entries.
            cx.app.ui.feeds.rows.push(row.clone());
            cx.app.ui.feeds.selected = cx.app.ui.feeds.rows.len().saturating_sub(1);
            rebuild_rows(cx.app);
        }
        return;
    }
    let pane = &mut cx.app.ui.feeds;
    pane.selected = pane.rows.iter().position(|other| other == row).unwrap_or(pane.selected);
}

/// Selects a feed in the subscriptions pane, and unfolds the tags that hide it.
pub(crate) fn select_feed(cx: &mut Cx<'_>, feed: FeedKey) {
    let is_it = |row: &FeedsRow| matches!(row, FeedsRow::Feed(key, _) if *key == feed);
    if !cx.app.ui.feeds.rows.iter().any(is_it) {
        let tags =
            cx.app.engine.feeds.get(&feed).map(|feed| feed.record.tags.clone()).unwrap_or_default();
        let first = tags.first().cloned().unwrap_or_default();
        let hiding: Vec<String> =
            above(&first).chain([first.as_str()]).map(str::to_owned).collect();
        for tag in &hiding {
            set_folded(cx, tag, false);
        }
    }
    let pane = &mut cx.app.ui.feeds;
    pane.selected = pane.rows.iter().position(is_it).unwrap_or(pane.selected);
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

#[cfg(test)]
mod tag_tree_tests {
    use crate::ui::panes::feeds_pane::*;

    #[test]
    fn tags_are_ordered_as_a_tree() {
        let mut tags = ["a b", "a/b", "a", "a/b/c", "b", "a-b"];
        tags.sort_by_key(|tag| parts(tag));
        assert_eq!(tags, ["a", "a/b", "a/b/c", "a b", "a-b", "b"]);
        assert_eq!(above("a/b/c").collect::<Vec<_>>(), ["a", "a/b"]);
        assert_eq!(depth("a"), 0);
    }
}

#[cfg(test)]
mod tag_folds_tests {
    use crate::engine::store_work::Job;
    use crate::ui::panes::feeds_pane::*;
    use crate::ui::sample_app::{app_with, jobs, noon, select};

    /// Returns the rows of the subscriptions pane below the smart lists, with one `>` per level of the tag tree.
    fn tree(app: &App) -> Vec<String> {
        let row = |row: &FeedsRow| match row {
            FeedsRow::Tag(tag, feeds) => Some(format!("{tag} ({})", feeds.len())),
            FeedsRow::Feed(feed, below) => Some(format!("{}{}", ">".repeat(*below), feed.0)),
            FeedsRow::AllUnread
            | FeedsRow::Today
            | FeedsRow::Starred
            | FeedsRow::Ended
            | FeedsRow::Reading
            | FeedsRow::Gaps
            | FeedsRow::Attention
            | FeedsRow::Search(_) => None,
        };
        app.ui.feeds.rows.iter().filter_map(row).collect()
    }

    fn nested() -> App {
        app_with(&[("Orchard", &["garden/fruit"]), ("Hives", &["garden"]), ("Tower", &[])])
    }

    #[test]
    fn folded_tag_hides_its_children_persistently() {
        let mut app = nested();
        assert_eq!(tree(&app), ["garden (2)", ">2", "garden/fruit (1)", ">>1", "3"]);
        select(&mut app, &FeedsRow::Tag("garden".into(), vec![FeedKey(2), FeedKey(1)]));
        let effects = Cx::run(&mut app, noon(), |cx| fold_selected(cx).unwrap());
        assert_eq!(tree(&app), ["garden (2)", "3"]);
        assert_eq!(jobs(&effects), [&Job::SaveFolded(["garden".to_owned()].into())]);
        assert!(unfold_selected(&mut Cx::new(&mut app, noon())).is_some());
        assert_eq!(tree(&app).len(), 5);
        assert!(
            unfold_selected(&mut Cx::new(&mut app, noon())).is_none(),
            "there is nothing left to unfold"
        );
    }

    #[test]
    fn left_moves_from_feed_to_tag_to_parent_tag() {
        let mut app = nested();
        select(&mut app, &FeedsRow::Feed(FeedKey(1), 2));
        assert_eq!(Cx::run(&mut app, noon(), |cx| fold_selected(cx).unwrap()), []);
        assert!(
            matches!(app.ui.feeds.selected_row(), Some(FeedsRow::Tag(tag, _)) if tag == "garden/fruit")
        );
        assert!(fold_selected(&mut Cx::new(&mut app, noon())).is_some());
        assert_eq!(Cx::run(&mut app, noon(), |cx| fold_selected(cx).unwrap()), []);
        assert!(
            matches!(app.ui.feeds.selected_row(), Some(FeedsRow::Tag(tag, _)) if tag == "garden")
        );
        select(&mut app, &FeedsRow::Feed(FeedKey(3), 0));
        assert_eq!(
            fold_selected(&mut Cx::new(&mut app, noon())),
            None,
            "a feed without a tag has nothing above it"
        );
    }

    #[test]
    fn selecting_a_feed_in_folded_tags_unfolds_them() {
        let mut app = nested();
        for tag in ["garden/fruit", "garden"] {
            Cx::run(&mut app, noon(), |cx| set_folded(cx, tag, true));
        }
        assert_eq!(tree(&app), ["garden (2)", "3"]);
        assert_eq!(jobs(&Cx::run(&mut app, noon(), |cx| select_feed(cx, FeedKey(1)))).len(), 2);
        assert_eq!(app.ui.feeds.selected_row(), Some(&FeedsRow::Feed(FeedKey(1), 2)));
        assert!(Cx::run(&mut app, noon(), |cx| select_feed(cx, FeedKey(3))).is_empty());
    }
}
