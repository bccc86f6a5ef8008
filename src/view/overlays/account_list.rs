//! The list of accounts on servers, with the last sync of each.

use chrono::{DateTime, Utc};
use ratatui::text::Line;

use crate::engine::entries::account_state::AccountStatus;
use crate::engine::entries::account_sync::feeds_of;
use crate::ui::app::App;
use crate::ui::overlays::accounts::account_list::STATE_LINES;
use crate::view::{cells, theme};
use backissue_core::feed::text::counted_words;
use backissue_core::words;

/// Returns the lines of an account.
pub(super) fn row(
    app: &App,
    place: usize,
    width: usize,
    now: DateTime<Utc>,
) -> Option<Vec<Line<'static>>> {
    let account = app.engine.accounts.get(place)?;
    let feeds = feeds_of(&app.engine, &account.name).count();
    let feeds = format!("{} ", counted_words(feeds, "feed", "feeds"));
    let head = cells::ends(&format!(" {}  {}", account.name, account.place), &feeds, width);
    let told = if account.failure.is_some() { theme::TROUBLE } else { theme::DIM };
    let state =
        cells::wrap(&last_sync(app, account, now), width.saturating_sub(3), STATE_LINES.into());
    let state = state.into_iter().map(|line| Line::styled(format!("   {line}"), told));
    Some(std::iter::once(Line::styled(head, theme::TEXT)).chain(state).collect())
}

fn last_sync(app: &App, account: &AccountStatus, now: DateTime<Utc>) -> String {
    let running = app.engine.sync_progress.as_ref().filter(|it| it.account == account.name);
    if let Some(progress) = running {
        return format!("{}: {} of {}", progress.what, progress.done, progress.all);
    }
    match &account.last {
        Some((at, told)) => format!("{}: {told}", words::relative(*at, now)),
        None => "never synced".to_owned(),
    }
}
