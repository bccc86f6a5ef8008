//! The filter dialog, with a preview of the matching entries below it, and the list of all filters.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::form::{self, Dialog};
use crate::engine::entries::entry_filters;
use crate::engine::entries::filter_work::{FilterPreview, PREVIEW_TITLES};
use crate::ui::app::App;
use crate::ui::overlays::filter_form::FilterForm;
use crate::view::{cells, theme};
use backissue_core::feed::text::counted_words;
use backissue_core::filters::{EntryFilter, until_text};

/// Minimum number of lines for the preview; the form scrolls before it gets less.
const PREVIEW_LINES_MIN: u16 = 2;
/// Width of the label of an input line, in cells.
const LABEL_CELLS: usize = 11;

/// Draws the filter dialog over the panes. Returns the area of its input lines and the index of the first visible line.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    edited: &FilterForm,
) -> (Rect, u16) {
    let titles = u16::try_from(PREVIEW_TITLES).unwrap_or(u16::MAX);
    let dialog = Dialog {
        title: "Filter ─ Enter saves and applies, Esc cancels",
        label_cells: LABEL_CELLS,
        below: (titles.saturating_add(2), PREVIEW_LINES_MIN),
    };
    let (above, below, top) =
        form::dialog(frame, area, &edited.form, |field| field.label(), dialog);
    match (&edited.form.problem, &edited.preview) {
        (None, Some(preview)) => {
            let lines = preview_lines(app, preview, usize::from(below.width));
            frame.render_widget(Paragraph::new(lines), below);
        }
        (problem, _) => {
            form::draw_below(frame, below, problem.as_deref(), "looking for matching entries …");
        }
    }
    (above, top)
}

/// Returns the number of entries that a filter matches, and the titles of the newest of these entries.
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
