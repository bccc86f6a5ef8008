//! The list of accounts on servers, with the last sync of each.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::engine::entries::account_sync::{AccountStatus, feeds_of};
use crate::ui::app::App;
use crate::ui::overlays::accounts::AccountList;
use crate::ui::overlays::accounts::account_list::{ACCOUNT_LINES, STATE_LINES};
use crate::ui::scroll_list::ScrollList;
use crate::view::{cells, pane, theme};
use backissue_core::feed::text::counted_words;
use backissue_core::words;

/// Maximum width of the list, in columns.
const COLUMNS_MAX: u16 = 84;
/// Number of lines of the question what becomes of the feeds.
const QUESTION_LINES: u16 = 4;

/// Draws the list over the panes. Returns the area of its lines and the index of the first visible account.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    shown: &AccountList,
    now: DateTime<Utc>,
) -> (Rect, u16) {
    let accounts = &app.engine.accounts;
    let question = if shown.leaving.is_some() { QUESTION_LINES } else { 0 };
    let lines = accounts.len().max(1).saturating_mul(ACCOUNT_LINES).saturating_add(2);
    let height = u16::try_from(lines).unwrap_or(u16::MAX).saturating_add(question);
    let place = pane::centred(frame, area, COLUMNS_MAX, height);
    let title = "Accounts ─ Enter syncs, a adds, D removes";
    let inside = pane::bordered(frame, place, title, true);
    let [list, bottom] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(question)]).areas(inside);
    let selected = shown.list.selected.min(accounts.len().saturating_sub(1));
    let room = usize::from(list.height).checked_div(ACCOUNT_LINES).unwrap_or(1).max(1);
    let top = ScrollList { selected, ..shown.list }.top_in(accounts.len(), room);
    let width = usize::from(list.width);
    let rows = accounts.iter().enumerate().skip(top).take(room);
    let rows = rows.flat_map(|(place, account)| {
        let style = if place == selected { theme::SELECTED } else { theme::TEXT };
        let feeds = feeds_of(&app.engine, &account.name).count();
        let feeds = format!("{} ", counted_words(feeds, "feed", "feeds"));
        let head = cells::ends(&format!(" {}  {}", account.name, account.place), &feeds, width);
        let told = if account.failure.is_some() { theme::TROUBLE } else { theme::DIM };
        let room = width.saturating_sub(3);
        let mut state = cells::wrap(&last_sync(app, account, now), room, STATE_LINES);
        state.resize(STATE_LINES, String::new());
        let state = state.into_iter().map(|line| Line::styled(format!("   {line}"), told));
        std::iter::once(Line::styled(head, style)).chain(state.collect::<Vec<_>>())
    });
    frame.render_widget(Paragraph::new(rows.collect::<Vec<_>>()), list);
    if let Some(name) = &shown.leaving {
        let waits = accounts.iter().find(|account| account.name == *name).map(|it| &it.waits);
        let unsent = waits.map_or(0, |waits| waits.marks.saturating_add(waits.unsent));
        let unsent = match unsent {
            0 => String::new(),
            count => format!(" {} never sent.", counted_words(count, "mark was", "marks were")),
        };
        let text = format!(
            "Remove '{name}' here?{unsent} k keeps its feeds as local ones, u unsubscribes from them, any other key: no. Nothing changes on the server."
        );
        let lines = cells::wrap(&text, width.saturating_sub(2), usize::from(bottom.height));
        let lines = lines.into_iter().map(|line| Line::raw(format!(" {line}")));
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), bottom);
    }
    (list, u16::try_from(top).unwrap_or(u16::MAX))
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
