//! Folds and unfolds tags in the subscriptions pane. The feeds of a folded tag are hidden.

use super::feeds_pane;
use super::tag_tree::{above, depth};
use crate::engine::request::ScreenRequest;
use crate::ui::app::App;
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use backissue_core::history::FeedKey;

/// Handles a move to the left in the subscriptions pane: folds the selected tag, or selects the tag above the selected row in the
/// tree. Returns `None` if neither is possible.
pub(crate) fn fold_selected(app: &mut App) -> Option<Vec<ScreenEffect>> {
    let pane = &app.ui.feeds;
    let selected = pane.selected_row().filter(|_| app.ui.focus == Pane::Feeds)?;
    match selected {
        FeedsRow::Tag(tag, _) if !pane.folded.contains(tag) => {
            let tag = tag.clone();
            Some(set_folded(app, &tag, true))
        }
        FeedsRow::Tag(..) | FeedsRow::Feed(_, 1..) => {
            let place = find_tag_above(app)?;
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

/// Returns the index of the nearest row above the selected row that has its parent tag.
fn find_tag_above(app: &App) -> Option<usize> {
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

/// Handles a move to the right in the subscriptions pane: unfolds the selected tag. Returns `None` if no folded tag is selected.
pub(crate) fn unfold_selected(app: &mut App) -> Option<Vec<ScreenEffect>> {
    let pane = &app.ui.feeds;
    let selected = pane.selected_row().filter(|_| app.ui.focus == Pane::Feeds)?;
    let FeedsRow::Tag(tag, _) = selected else { return None };
    let tag = Some(tag.clone()).filter(|tag| pane.folded.contains(tag))?;
    Some(set_folded(app, &tag, false))
}

/// Folds or unfolds a tag. Folded tags are saved and stay folded after a restart.
pub fn set_folded(app: &mut App, tag: &str, folded: bool) -> Vec<ScreenEffect> {
    let known = &mut app.ui.feeds.folded;
    let changed = if folded { known.insert(tag.to_owned()) } else { known.remove(tag) };
    if !changed {
        return Vec::new();
    }
    feeds_pane::rebuild_rows(app);
    let height = usize::from(app.ui.viewport.feeds_rows);
    app.ui.feeds.keep_in_sight(height);
    vec![ask_store(ScreenRequest::SaveFolded(app.ui.feeds.folded.clone()))]
}

/// Checks whether a row is a tag that hides its feeds.
pub fn is_folded(app: &App, row: &FeedsRow) -> bool {
    matches!(row, FeedsRow::Tag(tag, _) if app.ui.feeds.folded.contains(tag))
}

/// Selects a row of the subscriptions pane. A feed that is hidden, because a tag is folded or it has no unread entries, is shown.
pub(crate) fn select_row(app: &mut App, row: &FeedsRow) -> Vec<ScreenEffect> {
    if let Some(feed) = row.feed() {
        let effects = select_feed(app, feed);
        if app.ui.feeds.selected_row().and_then(FeedsRow::feed) != Some(feed) {
            // The selected feed is shown even if it has no unread entries.
            app.ui.feeds.rows.push(row.clone());
            app.ui.feeds.selected = app.ui.feeds.rows.len().saturating_sub(1);
            feeds_pane::rebuild_rows(app);
        }
        return effects;
    }
    let pane = &mut app.ui.feeds;
    pane.selected = pane.rows.iter().position(|other| other == row).unwrap_or(pane.selected);
    Vec::new()
}

/// Selects a feed in the subscriptions pane, and unfolds the tags that hide it.
pub(crate) fn select_feed(app: &mut App, feed: FeedKey) -> Vec<ScreenEffect> {
    let is_it = |row: &FeedsRow| matches!(row, FeedsRow::Feed(key, _) if *key == feed);
    let mut effects = Vec::new();
    if !app.ui.feeds.rows.iter().any(is_it) {
        let tags =
            app.engine.feeds.get(&feed).map(|feed| feed.record.tags.clone()).unwrap_or_default();
        let first = tags.first().cloned().unwrap_or_default();
        let hiding: Vec<String> =
            above(&first).chain([first.as_str()]).map(str::to_owned).collect();
        effects.extend(hiding.iter().flat_map(|tag| set_folded(app, tag, false)));
    }
    let pane = &mut app.ui.feeds;
    pane.selected = pane.rows.iter().position(is_it).unwrap_or(pane.selected);
    effects
}

#[cfg(test)]
mod tests {
    use crate::engine::store_work::Job;
    use crate::ui::panes::tag_folds::*;
    use crate::ui::sample_app::{app_with, jobs, select};

    /// Returns the rows of the subscriptions pane below the smart lists, with one `>` per level of the tag tree.
    fn tree(app: &App) -> Vec<String> {
        let row = |row: &FeedsRow| match row {
            FeedsRow::Tag(tag, feeds) => Some(format!("{tag} ({})", feeds.len())),
            FeedsRow::Feed(feed, below) => Some(format!("{}{}", ">".repeat(*below), feed.0)),
            FeedsRow::AllUnread
            | FeedsRow::Today
            | FeedsRow::Starred
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
        let effects = fold_selected(&mut app).unwrap();
        assert_eq!(tree(&app), ["garden (2)", "3"]);
        assert_eq!(jobs(&effects), [&Job::SaveFolded(["garden".to_owned()].into())]);
        assert!(unfold_selected(&mut app).is_some());
        assert_eq!(tree(&app).len(), 5);
        assert!(unfold_selected(&mut app).is_none(), "there is nothing left to unfold");
    }

    #[test]
    fn left_moves_from_feed_to_tag_to_parent_tag() {
        let mut app = nested();
        select(&mut app, &FeedsRow::Feed(FeedKey(1), 2));
        assert_eq!(fold_selected(&mut app), Some(Vec::new()));
        assert!(
            matches!(app.ui.feeds.selected_row(), Some(FeedsRow::Tag(tag, _)) if tag == "garden/fruit")
        );
        assert!(fold_selected(&mut app).is_some());
        assert_eq!(fold_selected(&mut app), Some(Vec::new()));
        assert!(
            matches!(app.ui.feeds.selected_row(), Some(FeedsRow::Tag(tag, _)) if tag == "garden")
        );
        select(&mut app, &FeedsRow::Feed(FeedKey(3), 0));
        assert_eq!(fold_selected(&mut app), None, "a feed without a tag has nothing above it");
    }

    #[test]
    fn selecting_a_feed_in_folded_tags_unfolds_them() {
        let mut app = nested();
        for tag in ["garden/fruit", "garden"] {
            set_folded(&mut app, tag, true);
        }
        assert_eq!(tree(&app), ["garden (2)", "3"]);
        assert_eq!(jobs(&select_feed(&mut app, FeedKey(1))).len(), 2);
        assert_eq!(app.ui.feeds.selected_row(), Some(&FeedsRow::Feed(FeedKey(1), 2)));
        assert!(select_feed(&mut app, FeedKey(3)).is_empty());
    }
}
