//! The timetable: the coming polls of all feeds, ordered by time, each with its time, its feed, and the main reason for its time.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::plan::pace_sign;
use crate::ui::app::App;
use crate::ui::overlays::timetable_pane::cost_of_feed;
use crate::ui::state::overlay::{Sums, TimetablePane};
use crate::view::{cells, pane, theme};
use backissue_core::feed::hints::INTERVAL_MINUTES_MAX;
use backissue_core::history::FeedKey;
use backissue_core::words;

/// Minimum width of the timetable for a column with the reason of each poll, in cells.
const WIDE: usize = 84;
/// Minimum width of the timetable for a column with the polling cost of each feed, in cells.
const COSTS: usize = 52;
/// Width of the column with the polling cost of a feed, in cells.
const COST_CELLS: usize = 23;
/// Number of lines for the total polling cost of all feeds.
const SUM_LINES: usize = 2;
/// Width of the column with the reason of a poll, in cells.
const REASON_CELLS: usize = 28;

/// Draws the timetable. Returns the area of its rows.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    shown: TimetablePane,
    now: DateTime<Utc>,
) -> Rect {
    pane::clear_beside(frame, area);
    let count = app.engine.timetable.len();
    let place = format!("{}/{count}", shown.list.selected.saturating_add(1).min(count));
    let automatic = app.engine.settings.poll.automatic;
    let title = app.ui.words(if automatic {
        "Timetable ─ {open} opens the plan, {back} closes"
    } else {
        "Timetable ─ polled only when you ask ─ {open} opens the plan, {back} closes"
    });
    let inside = pane::counted(frame, area, &title, &place, true);
    let (inside, bottom) = with_sums(inside);
    let width = usize::from(inside.width);
    let coming = (0_usize..).zip(app.engine.timetable.iter());
    let coming = coming.skip(shown.list.top).take(usize::from(inside.height));
    let mut lines: Vec<Line<'_>> = coming
        .map(|(place, (at, feed))| {
            let line = row(app, at, *feed, width, now);
            if place == shown.list.selected { line.patch_style(theme::SELECTED) } else { line }
        })
        .collect();
    if count == 0 {
        lines.push(Line::styled(" no polls are planned", theme::DIM));
    }
    frame.render_widget(Paragraph::new(lines), inside);
    if let Some(sums) = shown.sums.filter(|sums| sums.feeds > 0 && automatic) {
        let words = cells::wrap(&sums_words(&sums), width.saturating_sub(2), SUM_LINES);
        let lines = words.into_iter().map(|line| Line::styled(format!(" {line}"), theme::DIM));
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), bottom);
    }
    inside
}

/// Splits the area into the area of the rows and, if there is enough room, the area of the total cost below them.
fn with_sums(area: Rect) -> (Rect, Rect) {
    let lines = if usize::from(area.height) >= SUM_LINES.saturating_mul(3) { SUM_LINES } else { 0 };
    let lines = u16::try_from(lines).unwrap_or(0);
    let [rows, bottom] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(lines)]).areas(area);
    (rows, bottom)
}

/// Describes the total polling cost of all feeds, and how many polls a slower pace would save.
fn sums_words(sums: &Sums) -> String {
    let feeds = if sums.feeds == 1 { "1 feed".into() } else { format!("{} feeds", sums.feeds) };
    let saving = if sums.saved_a_day >= 0.5 {
        format!("; polling them less often would save {:.0} a day", sums.saved_a_day)
    } else {
        String::new()
    };
    format!(
        "{feeds}: {:.0} polls a day, average delay about {}{saving}",
        sums.polls_a_day.max(1.0),
        wait_words(sums.delay_minutes)
    )
}

fn wait_words(minutes: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "limited to one year")]
    let seconds = (minutes.clamp(0.0, f64::from(INTERVAL_MINUTES_MAX)) * 60.0) as i64;
    words::span_words(seconds)
}

fn row(
    app: &App,
    at: DateTime<Utc>,
    key: FeedKey,
    width: usize,
    now: DateTime<Utc>,
) -> Line<'static> {
    let Some(feed) = app.engine.feeds.get(&key) else { return Line::default() };
    let day = if at.signed_duration_since(now).num_days() < 6 { "%a %H:%M" } else { "%-d %b" };
    let time = at.with_timezone(&app.engine.zone).format(day).to_string();
    let away = words::span_words(at.signed_duration_since(now).num_seconds());
    let head = format!(" {time:<9} {away:>4}  ");
    let title = format!("{} {}", feed.record.shown_title(), pace_sign(feed));
    let why = feed.plan.settled_by.in_words();
    let reason_cells = if width >= WIDE { REASON_CELLS } else { 0 };
    let cost = cost_of_feed(feed).map(|cost| {
        let polls = cost.polls_a_day;
        let polls = if polls < 9.95 { format!("{polls:.1}") } else { format!("{polls:.0}") };
        format!(" {polls:>4} a day, delay {:>4}", wait_words(cost.delay_minutes))
    });
    let cost_cells = if width >= COSTS { COST_CELLS } else { 0 };
    let room = width.saturating_sub(cells::width(&head)).saturating_sub(reason_cells);
    let room = room.saturating_sub(cost_cells);
    Line::from(vec![
        Span::raw(head),
        Span::raw(cells::fit(title.trim_end(), room)),
        Span::raw(cells::fit(&cost.unwrap_or_default(), cost_cells)),
        Span::styled(cells::fit(&format!(" {why}"), reason_cells), theme::DIM),
    ])
}
