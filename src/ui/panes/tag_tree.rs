//! The tree of tags: `a/b` stands below `a`; a tag can be folded, so that what is below it is not shown.

use std::collections::{BTreeMap, BTreeSet};

use super::feeds_pane;
use crate::engine::store_work::Job;
use crate::history::FeedKey;
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, store};
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;

/// Cells that each step down the tree is moved to the right.
pub const INDENT_CELLS: usize = 2;

/// The parts of a tag, by which tags are ordered: a tag stands before those below it, and they before the next.
fn parts(tag: &str) -> Vec<&str> {
    tag.split('/').collect()
}

/// The tags above a tag, the topmost first.
fn above(tag: &str) -> impl Iterator<Item = &str> {
    tag.match_indices('/').filter_map(|(at, _)| tag.get(..at))
}

/// How many tags stand above a tag.
pub fn depth(tag: &str) -> usize {
    above(tag).count()
}

/// The feeds of a tag.
struct Tagged<'m> {
    tag: &'m str,
    /// Those that have it.
    own: Vec<FeedKey>,
    /// Those that have it or one below it.
    all: Vec<FeedKey>,
}

/// The rows of all tags, each with the feeds that have it below it. `titled`: all feeds in their order.
pub(crate) fn rows(app: &App, titled: &[FeedKey], folded: &BTreeSet<String>) -> Vec<FeedsRow> {
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

/// To the left in the subscriptions: folds the selected tag, else goes to the tag above; whether it did something.
pub(crate) fn fold(app: &mut App) -> Option<Vec<ScreenEffect>> {
    let pane = &app.ui.feeds;
    let selected = pane.selected_row().filter(|_| app.ui.focus == Pane::Feeds)?;
    match selected {
        FeedsRow::Tag(tag, _) if !pane.folded.contains(tag) => {
            let tag = tag.clone();
            Some(set(app, &tag, true))
        }
        FeedsRow::Tag(..) | FeedsRow::Feed(_, 1..) => {
            let place = tag_above(app)?;
            app.ui.feeds.selected = place;
            Some(Vec::new())
        }
        FeedsRow::AllUnread
        | FeedsRow::Today
        | FeedsRow::Starred
        | FeedsRow::Gaps
        | FeedsRow::Attention
        | FeedsRow::Search(_)
        | FeedsRow::Feed(_, 0) => None,
    }
}

/// The place of the row of the tag above the selected row.
fn tag_above(app: &App) -> Option<usize> {
    let pane = &app.ui.feeds;
    let level = |row: &FeedsRow| match row {
        FeedsRow::Tag(tag, _) => Some(depth(tag)),
        FeedsRow::Feed(_, below) => Some(*below),
        FeedsRow::AllUnread
        | FeedsRow::Today
        | FeedsRow::Starred
        | FeedsRow::Gaps
        | FeedsRow::Attention
        | FeedsRow::Search(_) => None,
    };
    let own = level(pane.selected_row()?)?;
    let before = pane.rows.iter().enumerate().take(pane.selected);
    let is_above =
        |row: &FeedsRow| matches!(row, FeedsRow::Tag(..)) && level(row).is_some_and(|at| at < own);
    before.rev().find(|(_, row)| is_above(row)).map(|(place, _)| place)
}

/// To the right in the subscriptions: unfolds the selected tag; whether it did something.
pub(crate) fn unfold(app: &mut App) -> Option<Vec<ScreenEffect>> {
    let pane = &app.ui.feeds;
    let selected = pane.selected_row().filter(|_| app.ui.focus == Pane::Feeds)?;
    let FeedsRow::Tag(tag, _) = selected else { return None };
    let tag = Some(tag.clone()).filter(|tag| pane.folded.contains(tag))?;
    Some(set(app, &tag, false))
}

/// Folds a tag, or unfolds it; that is kept over restarts.
pub fn set(app: &mut App, tag: &str, folded: bool) -> Vec<ScreenEffect> {
    let known = &mut app.ui.feeds.folded;
    let changed = if folded { known.insert(tag.to_owned()) } else { known.remove(tag) };
    if !changed {
        return Vec::new();
    }
    feeds_pane::rebuild(app);
    let height = usize::from(app.ui.viewport.feeds_rows);
    app.ui.feeds.keep_in_sight(height);
    vec![store(Job::SaveFolded(app.ui.feeds.folded.clone()))]
}

/// Whether a row is a tag that hides the feeds below it.
pub fn is_folded(app: &App, row: &FeedsRow) -> bool {
    matches!(row, FeedsRow::Tag(tag, _) if app.ui.feeds.folded.contains(tag))
}

/// Selects a feed in the subscriptions; what hides it is unfolded.
pub(crate) fn select(app: &mut App, feed: FeedKey) -> Vec<ScreenEffect> {
    let is_it = |row: &FeedsRow| matches!(row, FeedsRow::Feed(key, _) if *key == feed);
    let mut effects = Vec::new();
    if !app.ui.feeds.rows.iter().any(is_it) {
        let tags =
            app.engine.feeds.get(&feed).map(|feed| feed.record.tags.clone()).unwrap_or_default();
        let first = tags.first().cloned().unwrap_or_default();
        let hiding: Vec<String> =
            above(&first).chain([first.as_str()]).map(str::to_owned).collect();
        effects.extend(hiding.iter().flat_map(|tag| set(app, tag, false)));
    }
    let pane = &mut app.ui.feeds;
    pane.selected = pane.rows.iter().position(is_it).unwrap_or(pane.selected);
    effects
}

#[cfg(test)]
mod tests {
    use crate::ui::panes::tag_tree::*;

    #[test]
    fn tags_are_ordered_as_a_tree() {
        let mut tags = ["a b", "a/b", "a", "a/b/c", "b", "a-b"];
        tags.sort_by_key(|tag| parts(tag));
        assert_eq!(tags, ["a", "a/b", "a/b/c", "a b", "a-b", "b"]);
        assert_eq!(above("a/b/c").collect::<Vec<_>>(), ["a", "a/b"]);
        assert_eq!(depth("a"), 0);
    }
}
