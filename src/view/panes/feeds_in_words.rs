//! Describes the rows of the subscriptions pane in words, for the plain screen.

use chrono::{DateTime, Utc};

use crate::engine::backfill::gap_rows;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::feeds::trouble;
use crate::ui::app::App;
use crate::ui::panes::{feeds_pane, list_query, tag_folds};
use crate::ui::state::feeds_pane::FeedsRow;
use crate::view::cells;
use backissue_core::schedule::Pace;

/// Describes a row of the subscriptions pane in words: its name, its contents, and its problems. A long name is cut, so that the rest
/// fits into a row of the given width in cells.
pub(in crate::view) fn row_words(
    app: &App,
    row: &FeedsRow,
    width: usize,
    now: DateTime<Utc>,
) -> String {
    let name = width / 2;
    let unread = match feeds_pane::count_unread(app, row) {
        0 => None,
        unread => Some(format!("{unread} unread")),
    };
    let counted = |name: &str, count: u32| match count {
        0 => vec![Some(name.to_owned())],
        count => vec![Some(name.to_owned()), Some(count.to_string())],
    };
    let parts = match row {
        FeedsRow::AllUnread => counted("All unread", feeds_pane::count_unread(app, row)),
        FeedsRow::Today => vec![Some("Today".to_owned()), unread],
        FeedsRow::Starred => counted("Starred", feeds_pane::count_unread(app, row)),
        FeedsRow::Gaps => counted("Gaps", gap_rows::count(&app.engine, now)),
        FeedsRow::Attention => counted("Attention", trouble::count(&app.engine, now)),
        FeedsRow::Search(id) => {
            let name = list_query::find_search(app, *id).map_or("", |search| search.name.as_str());
            vec![Some(format!("Search {name}")), unread]
        }
        FeedsRow::Tag(tag, _) => {
            let folded = tag_folds::is_folded(app, row).then(|| "folded".to_owned());
            vec![Some(format!("Tag {tag}")), folded, unread]
        }
        FeedsRow::Feed(key, _) => {
            let Some(feed) = app.engine.feeds.get(key) else { return String::new() };
            let is_polled = app.engine.polls.contains_key(key);
            vec![
                app.ui.marked.feeds.contains(key).then(|| "marked".to_owned()),
                Some(cells::cut(feed.record.shown_title(), name)),
                unread,
                trouble_words(app, feed, now).map(str::to_owned),
                is_polled.then(|| "being polled".to_owned()),
                pace_words(feed).map(str::to_owned),
            ]
        }
    };
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn trouble_words(app: &App, feed: &Subscription, now: DateTime<Utc>) -> Option<&'static str> {
    match trouble::mark(&app.engine, feed, now) {
        "†" => Some("ended"),
        "!" => Some("needs attention"),
        "→" => Some("moved"),
        "·" => Some("failed"),
        "┄" => Some("entries missing"),
        "…" => Some("paged"),
        _ => None,
    }
}

const fn pace_words(feed: &Subscription) -> Option<&'static str> {
    match feed.record.feed_settings.pace {
        Some(Pace::More) => Some("more often"),
        Some(Pace::Less) => Some("less often"),
        Some(Pace::Normal) | None => None,
    }
}
