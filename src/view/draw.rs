//! Draws the whole screen.
//!
//! ```text
//! ┌ Feeds ─────────┬ Orchard Notes ────────────┬──────────────────────┐
//! │ ● All unread   │ Today, 1 March            │ Frost report         │
//! │ ▾ garden       │ ● Pruning, second pass    │ Orchard Notes · …    │
//! │   Orchard   2h │   Frost report            │                      │
//! └────────────────┴───────────────────────────┴──────────────────────┘
//!  checking 3 of 12 · next Bell Tower in 25m                     ? help
//! ```
//!
//! Wide: three panes. Stacked: the entries above the reader. Medium: the reader replaces both other panes. Narrow: one pane at a
//! time. The widths are in [`crate::ui::state::layout`].

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect, Spacing};
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

use super::overlays::{form, help, list_panel, plan};
use super::panes::{entries, feeds, reader, status};
use super::{cells, pane, plain, theme};
use crate::ui::app::App;
use crate::ui::panes::attention;
use crate::ui::reader::lay_out::are_shown;
use crate::ui::state::layout::{self, Area, Arrangement, Pane, Viewport};
use crate::ui::state::overlay::Overlay;

/// Minimum size of the screen, in columns and rows.
const SMALLEST: (u16, u16) = (40, 12);
/// Adjacent panes overlap by one cell, so that they share a border.
const SHARED_BORDER: Spacing = Spacing::Overlap(1);
/// Minimum width of the subscriptions pane if its width is configured, in columns.
const FEEDS_COLUMNS_MIN: u16 = 20;
/// Minimum width that a wide layout keeps for the text when the subscriptions pane grows, in columns: first in general, then if
/// there is enough room for whole lines of prose.
const WIDE_TEXT_MIN: [u16; 2] = [58, 82];
/// Minimum width that other layouts keep for the entry list when the subscriptions pane grows, in columns.
const TITLES_MIN: u16 = 68;

/// Draws the app and returns the measured positions and sizes.
pub fn draw(frame: &mut Frame<'_>, app: &App, now: DateTime<Utc>) -> Viewport {
    let viewport = draw_roles(frame, app, now);
    let appearance = &app.ui.appearance;
    let pictured = are_shown(app);
    if pictured {
        reader::tell(frame.buffer_mut(), app, &viewport);
    }
    if appearance.plain {
        plain::point(frame, app, &viewport);
        plain::write_out(frame.buffer_mut());
    } else if appearance.ascii {
        plain::draw_in_ascii(frame.buffer_mut());
    }
    if appearance.simple_clusters {
        cells::simplify(frame.buffer_mut());
    }
    theme::dress(frame.buffer_mut(), appearance);
    if appearance.hyperlinks {
        reader::link(frame.buffer_mut(), app, &viewport);
    }
    if pictured {
        reader::draw_pictures(frame.buffer_mut(), app, &viewport);
    }
    viewport
}

/// Draws the app, using roles instead of colours. Returns the measured positions and sizes.
fn draw_roles(frame: &mut Frame<'_>, app: &App, now: DateTime<Utc>) -> Viewport {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let text = format!(
            "backissue needs {} x {} cells; this terminal has {} x {}",
            SMALLEST.0, SMALLEST.1, area.width, area.height
        );
        frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
        return nowhere(app);
    }
    let tour_lines = status::tour_lines(app, area.width);
    let tour_rows = Constraint::Length(u16::try_from(tour_lines.len()).unwrap_or(0));
    let hint_rows = Constraint::Length(u16::from(app.ui.has_hints()));
    let rows = [Constraint::Fill(1), tour_rows, Constraint::Length(1), hint_rows];
    let [panes, tour, bottom, hints] = Layout::vertical(rows).areas(area);
    frame.render_widget(Paragraph::new(tour_lines), tour);
    status::draw_hints(frame, hints, app, now);
    let viewport = if app.engine.feeds.is_empty() {
        entries::draw_welcome(frame, panes, app, now);
        nowhere(app)
    } else {
        draw_panes(frame, panes, app, now)
    };
    let over = app.ui.beneath.iter().chain(&app.ui.overlay);
    let viewport = over.fold(viewport, |viewport, overlay| {
        draw_overlay(frame, panes, app, overlay, viewport, now)
    });
    let covered = status::draw(frame, (panes, bottom), app, now);
    // A message may cover the last lines of the text. Pictures and links are drawn only in the lines that stay visible.
    let rows = viewport.reader.rows.min(covered.saturating_sub(viewport.reader.row));
    Viewport { reader: Area { rows, ..viewport.reader }, ..viewport }
}

/// Draws an overlay. The plan pane and the timetable leave the subscriptions pane visible if there is enough room.
fn draw_overlay(
    frame: &mut Frame<'_>,
    panes: Rect,
    app: &App,
    overlay: &Overlay,
    viewport: Viewport,
    now: DateTime<Utc>,
) -> Viewport {
    let beside = match app.ui.arrangement() {
        Arrangement::Narrow => panes,
        Arrangement::Medium | Arrangement::Stacked | Arrangement::Wide => {
            beside_feeds(panes, app).1
        }
    };
    let scrolled =
        |(rows, top)| Viewport { overlay: pane::area(rows), overlay_top: top, ..viewport };
    match overlay {
        Overlay::Help(pane) => {
            Viewport { help_lines: help::draw(frame, panes, app, pane), ..viewport }
        }
        Overlay::Pick(picks) => scrolled(list_panel::draw_pick_list(frame, panes, picks, app)),
        Overlay::Plan(shown) => {
            let (plan_lines, rows) = plan::draw(frame, beside, app, shown, now);
            Viewport { plan_lines, overlay_rows: rows.height, ..scrolled((rows, 0)) }
        }
        Overlay::Timetable(shown) => {
            let rows = plan::draw_timetable(frame, beside, app, *shown, now);
            Viewport { overlay_rows: rows.height, ..scrolled((rows, 0)) }
        }
        Overlay::Edit(form) => scrolled(form::draw_edit(frame, panes, form)),
        Overlay::Account(form) => scrolled(form::draw_account(frame, panes, form)),
        Overlay::FilterDialog(form) => scrolled(form::draw_filter(frame, panes, app, form)),
        Overlay::List(open) => overlay.row().list.map_or(viewport, |kind| {
            scrolled(list_panel::draw(frame, panes, app, (*open, kind), now))
        }),
        // These overlays are drawn elsewhere: input lines, questions and address lookups in the bottom line, and link hints in
        // the text.
        Overlay::Prompt(_) | Overlay::Question(_) | Overlay::Looking(_) | Overlay::Hints(_) => {
            viewport
        }
    }
}

/// The areas of the three panes. `None` if the pane is hidden.
struct Places {
    feeds: Option<Rect>,
    entries: Option<Rect>,
    reader: Option<Rect>,
}

fn places(area: Rect, app: &App) -> Places {
    let only = |pane| (app.ui.focus == pane).then_some(area);
    let layout = app.ui.pane_layout();
    let (feeds, rest) = beside_feeds(area, app);
    match app.ui.arrangement() {
        Arrangement::Narrow => Places {
            feeds: only(Pane::Feeds),
            entries: only(Pane::Entries),
            reader: only(Pane::Reader),
        },
        Arrangement::Medium if app.ui.focus == Pane::Reader => {
            // The text takes the place of both panes.
            Places { feeds: None, entries: None, reader: Some(area) }
        }
        Arrangement::Medium => Places { feeds: Some(feeds), entries: Some(rest), reader: None },
        // If nothing is open, the reader needs no space.
        Arrangement::Wide | Arrangement::Stacked if !app.ui.has_text() => {
            Places { feeds: Some(feeds), entries: Some(rest), reader: None }
        }
        Arrangement::Wide => {
            // The widths of the table do not include the shared border.
            let entries = app.ui.list_share().map_or(layout.entries.saturating_add(1), |share| {
                layout::list_part(rest.width, share)
            });
            let columns = [Constraint::Length(entries), Constraint::Fill(1)];
            let [entries, reader] = Layout::horizontal(columns).spacing(SHARED_BORDER).areas(rest);
            Places { feeds: Some(feeds), entries: Some(entries), reader: Some(reader) }
        }
        Arrangement::Stacked => {
            let share = app.ui.list_share().unwrap_or(layout::LIST_SHARE);
            let entries = layout::list_part(rest.height, share);
            let rows = [Constraint::Length(entries), Constraint::Fill(1)];
            let [entries, reader] = Layout::vertical(rows).spacing(SHARED_BORDER).areas(rest);
            Places { feeds: Some(feeds), entries: Some(entries), reader: Some(reader) }
        }
    }
}

/// Returns the area of the subscriptions pane and the remaining area to its right.
fn beside_feeds(area: Rect, app: &App) -> (Rect, Rect) {
    let own = app.ui.settings.feeds_width.map(|own| own.clamp(FEEDS_COLUMNS_MIN, area.width / 2));
    let layout = app.ui.pane_layout();
    // The pane becomes as wide as the longest name, as long as enough width remains for the text and the titles.
    let [least, prose] = WIDE_TEXT_MIN;
    let text = area.width.saturating_sub(layout.entries).saturating_sub(layout.feeds);
    let others = layout.entries.saturating_add(match layout.arrangement {
        Arrangement::Wide => {
            if text < prose {
                least
            } else {
                prose
            }
        }
        Arrangement::Stacked | Arrangement::Medium | Arrangement::Narrow => TITLES_MIN,
    });
    let most = (area.width / 3).min(area.width.saturating_sub(others)).max(layout.feeds);
    let widest = u16::try_from(app.ui.feeds.widest).unwrap_or(u16::MAX).saturating_add(2);
    let feeds = own.unwrap_or_else(|| widest.clamp(layout.feeds, most));
    let columns = [Constraint::Length(feeds), Constraint::Fill(1)];
    let [feeds, rest] = Layout::horizontal(columns).spacing(SHARED_BORDER).areas(area);
    (feeds, rest)
}

/// Returns the previous measurements, with all areas of panes and overlays empty.
const fn nowhere(app: &App) -> Viewport {
    let nowhere = Area { column: 0, row: 0, columns: 0, rows: 0 };
    Viewport {
        feeds: nowhere,
        entries: nowhere,
        reader: nowhere,
        overlay: nowhere,
        overlay_top: 0,
        ..app.ui.viewport
    }
}

fn draw_panes(frame: &mut Frame<'_>, area: Rect, app: &App, now: DateTime<Utc>) -> Viewport {
    let places = places(area, app);
    // A hidden pane keeps its previous sizes, so that its text need not be laid out again when the pane is shown.
    let mut viewport = nowhere(app);
    viewport.shared = pane::area(beside_feeds(area, app).1);
    if let Some(area) = places.feeds {
        let rows = feeds::draw(frame, area, app, now);
        (viewport.feeds, viewport.feeds_rows) = (pane::area(rows), rows.height);
    }
    if let Some(area) = places.entries {
        let rows = if attention::is_open(app) {
            let seen = entries::draw_attention(frame, area, app, now);
            (viewport.attention_top, viewport.attention_extra) = (seen.top, seen.extra);
            seen.rows
        } else {
            entries::draw(frame, area, app, now)
        };
        (viewport.entries, viewport.entries_rows) = (pane::area(rows), rows.height);
    }
    if let Some(area) = places.reader {
        let (text, head) = reader::draw(frame, area, app, now);
        viewport.reader = pane::area(text);
        (viewport.reader_columns, viewport.reader_head) = (text.width, head);
        viewport.reader_rows =
            if head > 0 { text.bottom().saturating_sub(area.top() + 1) } else { text.height };
    }
    if let Some(area) = places.entries.filter(|_| !attention::is_open(app)) {
        entries::draw_mark(frame, area, app);
    }
    if let Some(area) = places.reader {
        reader::draw_mark(frame, area, app);
    }
    viewport
}

/// Draws a sentence in the middle of the screen, wrapped to several lines if necessary.
pub fn draw_sentence(frame: &mut Frame<'_>, text: &str) {
    let area = frame.area();
    let width = usize::from(area.width.max(1));
    let lines = u16::try_from(text.width().div_ceil(width)).unwrap_or(u16::MAX);
    let top = area.height.saturating_sub(lines) / 2;
    let place = Rect { y: area.y.saturating_add(top), height: area.height - top, ..area };
    let paragraph = Paragraph::new(text).wrap(Wrap { trim: true }).alignment(Alignment::Center);
    frame.render_widget(paragraph, place);
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::buffer::Cell;

    use super::*;

    #[test]
    fn sentence_is_centred_on_any_screen() {
        for (columns, rows, expected) in
            [(9, 3, vec!["", "   one", ""]), (3, 2, vec!["one", ""]), (1, 1, vec!["o"])]
        {
            let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
            terminal.draw(|frame| draw_sentence(frame, "one")).unwrap();
            let cells = &terminal.backend().buffer().content;
            let shown: Vec<String> = cells
                .chunks(usize::from(columns))
                .map(|row| row.iter().map(Cell::symbol).collect::<String>())
                .map(|row| row.trim_end().to_owned())
                .collect();
            assert_eq!(shown, expected, "{columns} x {rows}");
        }
    }
}
