//! The Attention list: feeds with problems, each with the reason and a remedy that takes one key press (UX 2).

use chrono::{DateTime, Utc};

use crate::engine::feeds::trouble::{self, Concern, concerns};
use crate::engine::request::{Request, TroubleAnswer};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;

/// Number of screen lines for each problem: the title, three lines for the reason, and the remedy.
pub const ROW_LINES: usize = 5;

/// Checks whether the Attention list is open.
pub fn is_open(app: &App) -> bool {
    app.ui.search.is_none() && matches!(app.ui.feeds.selected_row(), Some(FeedsRow::Attention))
}

/// Returns the selected problem. Returns `None` if the Attention list is not open or the subscriptions pane has the focus.
pub fn selected_concern(app: &App, now: DateTime<Utc>) -> Option<Concern> {
    if !is_open(app) || app.ui.focus == Pane::Feeds {
        return None;
    }
    let mut list = concerns(&app.engine, now);
    let place = app.ui.attention.selected.min(list.len().checked_sub(1)?);
    Some(list.swap_remove(place))
}

/// Applies the remedy that is suggested for the selected problem.
pub fn apply_remedy(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(concern) = selected_concern(app, now) else { return Vec::new() };
    app.ask(now, Request::Trouble(concern.feed, trouble::answer(concern.remedy)))
}

/// Dismisses the selected problem, so that it is no longer listed.
pub fn note_trouble(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(concern) = selected_concern(app, now) else { return Vec::new() };
    app.ask(now, Request::Trouble(concern.feed, TroubleAnswer::Note))
}
