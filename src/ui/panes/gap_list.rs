//! Rebuilds the open list when gaps in it appear or disappear.

use chrono::{DateTime, Utc};

use super::{list_query, load_rows};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::state::feeds_pane::FeedsRow;

/// Rebuilds the open list if the gaps in it have changed.
pub fn follow_gaps(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if !app.ui.is_on() || app.ui.list.waiting || app.ui.search.is_some() {
        return Vec::new();
    }
    // Building the query passes over all feeds, and this runs at each input: lists of unread entries show no gaps.
    if app.ui.list.gaps.is_empty() && !list_query::can_show_gaps(app) {
        return Vec::new();
    }
    if list_query::build_query(app, now).gaps == app.ui.list.gaps {
        return Vec::new();
    }
    load_rows::refresh_list(app, now)
}

/// Checks whether the list of the gaps in all feeds is open.
pub fn is_open(app: &App) -> bool {
    matches!(app.ui.feeds.selected_row(), Some(FeedsRow::Gaps))
}
