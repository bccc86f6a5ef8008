//! The Attention list: feeds with problems, with five lines for each feed.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::entries::enter_sign;
use super::entry_row::MARKED_SIGN;
use crate::engine::feeds::trouble::{self, Concern, Remedy};
use crate::ui::app::App;
use crate::ui::panes::attention::ROW_LINES;
use crate::ui::state::layout::Pane;
use crate::view::{cells, pane, theme};

/// Minimum width of the list in cells, so that it shows an additional key for each feed.
const ROOMY_CELLS: usize = 52;

/// Draws the Attention list in the entries pane. Returns the area of its rows.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    now: DateTime<Utc>,
) -> Rect {
    let focused = app.ui.focus == Pane::Entries;
    let concerns = trouble::concerns(&app.engine, now);
    let place = app.ui.attention.selected.min(concerns.len().saturating_sub(1));
    let counted = if concerns.is_empty() {
        String::new()
    } else {
        format!("{}/{}", place.saturating_add(1), concerns.len())
    };
    let inside = pane::counted(frame, area, "Attention", &counted, focused);
    if concerns.is_empty() {
        let text = "Nothing needs attention: every feed answers.";
        frame.render_widget(Paragraph::new(text).style(theme::DIM), inside);
        return inside;
    }
    let shown = usize::from(inside.height).div_ceil(ROW_LINES);
    let top = app.ui.attention.top.min(place);
    let rows = concerns.iter().enumerate().skip(top).take(shown);
    let mut lines = Vec::new();
    for (number, concern) in rows {
        let selected = (number == place).then_some(focused);
        lines.extend(row(app, concern, usize::from(inside.width), selected));
    }
    frame.render_widget(Paragraph::new(lines), inside);
    inside
}

/// Returns the lines for one feed with a problem. `selected` is `None` if the feed is not selected; if it is selected, the value is
/// `true` if the pane has the focus.
fn row(app: &App, concern: &Concern, width: usize, selected: Option<bool>) -> Vec<Line<'static>> {
    let of_store = concern.feed == trouble::STORE;
    let feed = app.engine.feeds.get(&concern.feed);
    let title =
        if of_store { "The store" } else { feed.map_or("", |feed| feed.record.shown_title()) };
    let sign = if app.ui.marked.feeds.contains(&concern.feed) { MARKED_SIGN } else { " " };
    let head = cells::ends(&format!("{sign}{title}"), &format!("{} ", concern.state), width);
    let head = match selected {
        Some(true) => Line::styled(head, theme::HEADING).patch_style(theme::SELECTED),
        Some(false) => Line::styled(head, theme::HEADING).patch_style(theme::SELECTED_ELSEWHERE),
        None => Line::styled(head, theme::HEADING),
    };
    let mut reason = cells::wrap(&concern.sentence, width.saturating_sub(3), 3).into_iter();
    let mut reason_line =
        || Line::styled(format!("   {}", reason.next().unwrap_or_default()), theme::TEXT);
    let remedy = if selected.is_some() {
        let (does, notes) = (concern.remedy.words(), concern.remedy.noting());
        let enter = enter_sign(app);
        let ended = concern.remedy == Remedy::Resume && width >= ROOMY_CELLS;
        let all = if ended { " · Z all ended feeds" } else { "" };
        if of_store {
            format!("   {enter} {does}")
        } else {
            format!("   {enter} {does} · N {notes} · D unsubscribe{all}")
        }
    } else {
        format!("   {}", concern.remedy.words())
    };
    let remedy = Line::styled(cells::cut(&remedy, width), theme::DIM);
    vec![head, reason_line(), reason_line(), reason_line(), remedy]
}
