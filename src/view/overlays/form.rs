//! Draws the dialogs with a form, which add an account, or edit a feed or a filter: labels on the left, values on the right, and
//! a sentence below. The module also draws the list of all filters.

use backissue_core::feed::text::counted_words;
use backissue_core::filters::{EntryFilter, until_text};
use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::engine::entries::entry_filters;
use crate::engine::entries::filter_work::{FilterPreview, PREVIEW_TITLES};
use crate::ui::app::App;
use crate::ui::overlays::form::{AccountForm, EditForm, FilterForm, Form, FormValue};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::view::{cells, pane, theme};

/// Maximum width of a dialog, in columns.
const COLUMNS_MAX: u16 = 84;

/// Draws the input lines of a form, scrolled so that the focused line is visible. `label_cells` is the width of the labels. Returns
/// the index of the first visible line.
fn draw<F>(
    frame: &mut Frame<'_>,
    area: Rect,
    form: &Form<F>,
    label_of: impl Fn(&F) -> &str,
    label_cells: usize,
) -> usize {
    let room = usize::from(area.width).saturating_sub(label_cells.saturating_add(2));
    let height = usize::from(area.height);
    let top = form.selected.saturating_add(1).saturating_sub(height);
    let rows = form.rows.iter().enumerate().map(|(place, row)| {
        let selected = place == form.selected;
        let style = if selected { theme::KEY } else { theme::TEXT };
        let mut spans = vec![Span::styled(label(label_of(&row.field), label_cells), style)];
        spans.extend(value_spans(&row.value, &row.hint, selected, room));
        Line::from(spans)
    });
    let seen: Vec<Line<'_>> = rows.skip(top).take(height).collect();
    frame.render_widget(Paragraph::new(seen), area);
    if let Some(prompt) = form.typed_line() {
        let (_, column) = if prompt.purpose == PromptPurpose::Password {
            seen_part(&hidden(prompt), room)
        } else {
            seen_part(prompt, room)
        };
        let column = label_cells.saturating_add(2).saturating_add(column);
        let x = area.x.saturating_add(u16::try_from(column).unwrap_or(u16::MAX));
        let y = area
            .y
            .saturating_add(u16::try_from(form.selected.saturating_sub(top)).unwrap_or(u16::MAX));
        let last = (area.right().saturating_sub(1), area.bottom().saturating_sub(1));
        frame.set_cursor_position(Position::new(x.min(last.0), y.min(last.1)));
    }
    top
}

/// The frame of a dialog around a form.
pub(super) struct Dialog<'a> {
    /// Title, with the keys.
    pub(super) title: &'a str,
    /// Width of the labels, in cells.
    pub(super) label_cells: usize,
    /// Preferred and minimum number of lines below the form. The form scrolls before fewer lines than the minimum remain.
    pub(super) below: (u16, u16),
}

/// Draws a dialog with a form over the panes. Returns the area of its input lines, the area below them, and the index of the first
/// visible line.
pub(super) fn dialog<F>(
    frame: &mut Frame<'_>,
    area: Rect,
    form: &Form<F>,
    label_of: impl Fn(&F) -> &str,
    Dialog { title, label_cells, below: (below, least) }: Dialog<'_>,
) -> (Rect, Rect, u16) {
    let rows = u16::try_from(form.rows.len()).unwrap_or(u16::MAX);
    let around = rows.saturating_add(2);
    let place = pane::centred(frame, area, COLUMNS_MAX, around.saturating_add(below));
    // The position is shown only if the form scrolls.
    let at = format!("{}/{}", form.selected.saturating_add(1), form.rows.len());
    let at = if place.height < around.saturating_add(least) { at } else { String::new() };
    let inside = pane::counted(frame, place, title, &at, true);
    let [fields, bottom] =
        Layout::vertical([Constraint::Length(rows), Constraint::Min(least)]).areas(inside);
    let top = draw(frame, fields, form, label_of, label_cells);
    (fields, bottom, u16::try_from(top).unwrap_or(u16::MAX))
}

/// Draws the reason that a form cannot be saved or, if there is none, a hint.
fn draw_below(frame: &mut Frame<'_>, area: Rect, problem: Option<&str>, hint: &str) {
    let (text, style) = problem.map_or((hint, theme::DIM), |problem| (problem, theme::TROUBLE));
    let width = usize::from(area.width).saturating_sub(2);
    let lines = cells::wrap(text, width, usize::from(area.height));
    let lines = lines.into_iter().map(|line| Line::styled(format!(" {line}"), style));
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
}

/// Cuts or pads a label to `label_cells` cells, and adds a space on both sides.
pub(super) fn label(text: &str, label_cells: usize) -> String {
    format!(" {} ", cells::fit(text, label_cells))
}

/// Returns the spans that show the value of an input line.
fn value_spans(value: &FormValue, hint: &str, selected: bool, room: usize) -> Vec<Span<'static>> {
    match value {
        FormValue::Line(prompt) if prompt.text.is_empty() => {
            // The space is the place of the cursor, in front of the hint.
            let before = if selected { " " } else { "" };
            let hint = cells::cut(&format!("{before}{hint}"), room);
            vec![Span::styled(hint, theme::DIM)]
        }
        FormValue::Line(prompt) if prompt.purpose == PromptPurpose::Password => {
            let hidden = hidden(prompt);
            vec![Span::raw(if selected {
                seen_part(&hidden, room).0
            } else {
                cells::cut(&hidden.text, room)
            })]
        }
        FormValue::Line(prompt) if selected => vec![Span::raw(seen_part(prompt, room).0)],
        FormValue::Line(prompt) => vec![Span::raw(cells::cut(&prompt.text, room))],
        FormValue::Choice { words, chosen } => {
            let word = words.get(*chosen).map(String::as_str).unwrap_or_default();
            let text = if selected { format!("← {word} →") } else { word.to_owned() };
            let hint = if *chosen == 0 { format!(" {hint}") } else { String::new() };
            let left = room.saturating_sub(cells::width(&text));
            vec![
                Span::raw(cells::cut(&text, room)),
                Span::styled(cells::cut(&hint, left), theme::DIM),
            ]
        }
    }
}

/// Returns a password in the form in which it is shown, with a dot for each character.
fn hidden(prompt: &Prompt) -> Prompt {
    let dots = |text: &str| "•".repeat(text.chars().count());
    let before = dots(prompt.text.get(..prompt.cursor).unwrap_or_default());
    let text = dots(&prompt.text);
    Prompt { cursor: before.len(), text, ..prompt.clone() }
}

/// Returns the part of the typed text that is visible in `room` cells, and the column of the cursor in this part.
fn seen_part(prompt: &Prompt, room: usize) -> (String, usize) {
    let before = prompt.text.get(..prompt.cursor).unwrap_or_default();
    let starts = before.char_indices().map(|(at, _)| at).chain([before.len()]);
    let fits = |at: &usize| cells::width(before.get(*at..).unwrap_or_default()) < room.max(1);
    let from = starts.into_iter().find(fits).unwrap_or(before.len());
    let shown = cells::cut(prompt.text.get(from..).unwrap_or_default(), room);
    (shown, cells::width(before.get(from..).unwrap_or_default()))
}

/// Width of a label in cells.
const ACCOUNT_LABEL_CELLS: usize = 10;
/// Number of lines below the form, for a message of the server.
const ACCOUNT_BOTTOM_LINES: u16 = 5;

/// Draws the dialog over the panes. Returns the area of its input lines and the index of the first visible line.
pub(in crate::view) fn draw_account(
    frame: &mut Frame<'_>,
    area: Rect,
    typed: &AccountForm,
) -> (Rect, u16) {
    let look = Dialog {
        title: "Add an account ─ Enter logs in, Esc closes",
        label_cells: ACCOUNT_LABEL_CELLS,
        below: (ACCOUNT_BOTTOM_LINES, ACCOUNT_BOTTOM_LINES),
    };
    let (fields, bottom, top) = dialog(frame, area, &typed.form, |label| label, look);
    let hint = if typed.is_waiting {
        "logging in … · Esc closes this; the login goes on"
    } else {
        "Its feeds, entries and marks are shared with this reader. The login is kept in a file that only you can read."
    };
    draw_below(frame, bottom, typed.form.problem.as_deref(), hint);
    (fields, top)
}

/// Width of a label in cells: first on a wide screen, then on a narrow screen.
const EDIT_LABEL_CELLS: (usize, usize) = (27, 17);
/// Minimum width of a wide screen, in columns.
const WIDE_COLUMNS: u16 = 62;
/// Number of lines below the form.
const EDIT_BOTTOM_LINES: u16 = 2;

/// Draws the dialog over the panes. Returns the area of its input lines and the index of the first visible line.
pub(in crate::view) fn draw_edit(
    frame: &mut Frame<'_>,
    area: Rect,
    edited: &EditForm,
) -> (Rect, u16) {
    let (long, short) = EDIT_LABEL_CELLS;
    let look = Dialog {
        title: "Edit ─ Enter saves, Esc cancels",
        label_cells: if area.width >= WIDE_COLUMNS { long } else { short },
        below: (EDIT_BOTTOM_LINES, EDIT_BOTTOM_LINES),
    };
    let (fields, bottom, top) = dialog(frame, area, &edited.form, |label| label, look);
    let hint = "↓ ↑ select · ← → change · durations like 30m, 2h, 1d";
    draw_below(frame, bottom, edited.form.problem.as_deref(), hint);
    (fields, top)
}

/// Minimum number of lines for the preview. The form scrolls before fewer lines remain.
const PREVIEW_LINES_MIN: u16 = 2;
/// Width of the label of an input line, in cells.
const FILTER_LABEL_CELLS: usize = 11;

/// Draws the filter dialog over the panes. Returns the area of its input lines and the index of the first visible line.
pub(in crate::view) fn draw_filter(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    edited: &FilterForm,
) -> (Rect, u16) {
    let titles = u16::try_from(PREVIEW_TITLES).unwrap_or(u16::MAX);
    let look = Dialog {
        title: "Filter ─ ↑ ↓ select, ← → change, Enter saves and applies, Esc cancels",
        label_cells: FILTER_LABEL_CELLS,
        below: (titles.saturating_add(2), PREVIEW_LINES_MIN),
    };
    let (above, below, top) = dialog(frame, area, &edited.form, |field| field.label(), look);
    match (&edited.form.problem, &edited.preview) {
        (None, Some(preview)) => {
            let lines = preview_lines(app, preview, usize::from(below.width));
            frame.render_widget(Paragraph::new(lines), below);
        }
        (problem, _) => {
            draw_below(frame, below, problem.as_deref(), "looking for matching entries …");
        }
    }
    (above, top)
}

/// Returns lines with the number of entries that a filter matches, and the titles of the newest of them.
fn preview_lines(app: &App, preview: &FilterPreview, width: usize) -> Vec<Line<'static>> {
    let unread = match preview.unread {
        0 => String::new(),
        unread => format!(", {unread} unread"),
    };
    let of = counted_words(preview.of, "entry", "entries");
    let head = match preview.hits {
        0 => format!(" matches none of {of}"),
        hits => format!(" matches {hits} of {of}{unread}"),
    };
    let mut lines = vec![Line::styled(cells::cut(&head, width), theme::HEADING)];
    lines.extend(preview.newest.iter().map(|hit| {
        let date = hit.listed.with_timezone(&app.engine.zone).format("%b %d");
        let feed = app.engine.feeds.get(&hit.feed).map_or("", |feed| feed.record.shown_title());
        let feed = cells::cut(feed, width / 4);
        let title = if hit.title.is_empty() { "(no title)" } else { &hit.title };
        let text = cells::ends(&format!(" {date}  {title}"), &format!("{feed} "), width);
        Line::styled(text, theme::TEXT)
    }));
    lines
}

/// Returns the lines of a filter in the list of filters.
pub(super) fn row(
    app: &App,
    place: usize,
    width: usize,
    now: DateTime<Utc>,
) -> Option<Vec<Line<'static>>> {
    let rule = app.engine.filters.list.get(place)?;
    let head = format!(" {}: {}", rule.action.words(), entry_filters::about(&app.engine, rule));
    let state = cells::cut(&format!("   {}", state(app, rule, now)), width);
    let head = Line::styled(cells::fit(&head, width), theme::TEXT);
    Some(vec![head, Line::styled(state, theme::DIM)])
}

/// Formats the number of entries that a filter has matched and the date when the filter expires.
fn state(app: &App, rule: &EntryFilter, now: DateTime<Utc>) -> String {
    let count = app.engine.filters.counts.get(&rule.id).copied().unwrap_or_default();
    let hits = match count.hits {
        0 => "no matches yet".to_owned(),
        hits => format!("matched {hits}"),
    };
    let hidden = (count.hidden > 0).then(|| format!("{} hidden now", count.hidden));
    let until = rule.until.map(|until| {
        let last = until_text(until, app.engine.zone);
        if rule.is_over(now) { format!("expired {last}") } else { format!("until {last}") }
    });
    [Some(hits), hidden, until].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
