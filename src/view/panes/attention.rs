//! The Attention list: feeds with problems, with five lines for each feed, and more for a long reason of the selected one.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::entries::enter_sign;
use super::entry_row::MARKED_SIGN;
use crate::engine::feeds::trouble::{self, Concern, Remedy};
use crate::ui::app::App;
use crate::ui::panes::attention::{REASON_LINES, ROW_LINES};
use crate::ui::state::layout::Pane;
use crate::view::{cells, pane, theme};

/// Minimum width of the list in cells, so that it shows an additional key for each feed.
const ROOMY_CELLS: usize = 52;

/// Maximum number of lines for the reason of the selected problem.
const REASON_LINES_MAX: usize = 12;

/// What the pane shows of the list.
pub(in crate::view) struct VisibleProblems {
    /// Area of the rows.
    pub(in crate::view) rows: Rect,
    /// Index of the first visible problem.
    pub(in crate::view) top: u16,
    /// Number of additional lines for the reason of the selected problem.
    pub(in crate::view) extra: u16,
}

/// Draws the Attention list in the entries pane. The reason of the selected problem is shown whole.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    now: DateTime<Utc>,
) -> VisibleProblems {
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
        return VisibleProblems { rows: inside, top: 0, extra: 0 };
    }
    let (width, height) = (usize::from(inside.width), usize::from(inside.height));
    let reason = concerns.get(place).map_or(0, |concern| reason_lines(concern, width, true).len());
    let extra = reason.saturating_sub(REASON_LINES);
    let fits = |top: usize| {
        let rows = place.saturating_sub(top).saturating_add(1);
        rows.saturating_mul(ROW_LINES).saturating_add(extra) <= height
    };
    // Rows above the selected one scroll away if its reason needs their room.
    let top = (app.ui.attention.top.min(place)..place).find(|top| fits(*top)).unwrap_or(place);
    let shown = height.div_ceil(ROW_LINES);
    let rows = concerns.iter().enumerate().skip(top).take(shown);
    let mut lines = Vec::new();
    for (number, concern) in rows {
        let selected = (number == place).then_some(focused);
        lines.extend(row(app, concern, width, selected));
    }
    frame.render_widget(Paragraph::new(lines), inside);
    let short = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
    VisibleProblems { rows: inside, top: short(top), extra: short(extra) }
}

/// Returns the lines of the reason of a problem: at least three, and more if it is selected and they do not suffice.
fn reason_lines(concern: &Concern, width: usize, selected: bool) -> Vec<String> {
    let most = if selected { REASON_LINES_MAX } else { REASON_LINES };
    let mut lines = cells::wrap(&concern.sentence, width.saturating_sub(3), most);
    lines.resize(lines.len().max(REASON_LINES), String::new());
    lines
}

/// Returns the lines for one feed with a problem. `selected` is `None` if the feed is not selected; if it is selected, the value is
/// `true` if the pane has the focus.
fn row(app: &App, concern: &Concern, width: usize, selected: Option<bool>) -> Vec<Line<'static>> {
    let of_store = concern.feed == trouble::STORE;
    let feed = app.engine.feeds.get(&concern.feed);
    let account = concern.account.as_ref().map(|name| format!("Account '{name}'"));
    let title = match &account {
        Some(account) => account,
        None if of_store => "The store",
        None => feed.map_or("", |feed| feed.record.shown_title()),
    };
    let sign = if app.ui.marked.feeds.contains(&concern.feed) { MARKED_SIGN } else { " " };
    let head = cells::ends(&format!("{sign}{title}"), &format!("{} ", concern.state), width);
    let head = match selected {
        Some(true) => Line::styled(head, theme::HEADING).patch_style(theme::SELECTED),
        Some(false) => Line::styled(head, theme::HEADING).patch_style(theme::SELECTED_ELSEWHERE),
        None => Line::styled(head, theme::HEADING),
    };
    let reason = reason_lines(concern, width, selected.is_some());
    let reason = reason.into_iter().map(|line| Line::styled(format!("   {line}"), theme::TEXT));
    let remedy = if selected.is_some() {
        let (does, notes) = (concern.remedy.words(), concern.remedy.noting());
        let enter = enter_sign(app);
        let ended = concern.remedy == Remedy::Resume && width >= ROOMY_CELLS;
        let all = if ended { " · {unsubscribe-ended} all ended feeds" } else { "" };
        let key = |name| app.ui.settings.keys.key_of(name);
        if of_store {
            format!("   {enter} {does}")
        } else {
            let (dismiss, unsubscribe) = (key("toggle-read"), key("unsubscribe"));
            let all = app.ui.words(all);
            format!("   {enter} {does} · {dismiss} {notes} · {unsubscribe} unsubscribe{all}")
        }
    } else {
        format!("   {}", concern.remedy.words())
    };
    let remedy = Line::styled(cells::cut(&remedy, width), theme::DIM);
    std::iter::once(head).chain(reason).chain([remedy]).collect()
}
