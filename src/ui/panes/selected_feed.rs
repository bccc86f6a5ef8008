//! The feed that a key is about.

use chrono::{DateTime, Utc};

use super::attention;
use crate::history::FeedKey;
use crate::ui::app::App;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;

/// The feed that a key is about: that of the open plan or of the timetable's selection, else that of the selected
/// row of the Attention list, of the selected entry, or the selected feed.
pub fn selected_feed(app: &App, now: DateTime<Utc>) -> Option<FeedKey> {
    if let Some(overlay) = app.ui.overlay.as_ref().filter(|overlay| overlay.is_about_feeds()) {
        return overlay.feed();
    }
    if attention::is_open(app) {
        return attention::selected_concern(app, now).map(|concern| concern.feed);
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
