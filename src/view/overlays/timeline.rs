//! The timeline of a feed: a row for each year.
//!
//! ```text
//!       Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec
//!  2014 ▂▂A ██A ▅▅A ┄┄┄┄    ▁▁A ...                      120
//! A archives   ┄ missing
//! ```

use backissue_core::history::FeedKey;
use backissue_core::history::timeline::{EntrySource, MonthCell};
use backissue_core::simulate::MONTHS;
use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::engine::backfill::history_requests;
use crate::ui::actions::timeline::of_list;
use crate::ui::app::App;
use crate::ui::state::overlay::ListOf;
use crate::view::{cells, theme};

/// Bars, lowest first.
const BARS: [&str; 8] = ["▁▁", "▂▂", "▃▃", "▄▄", "▅▅", "▆▆", "▇▇", "██"];
const HOLE: &str = "┄";
const MONTHS_A_YEAR: usize = 12;

/// Draws the lines above the years: the title of the feed, the meanings of the letters, and the names of the months.
pub(super) fn draw_head(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    of: ListOf,
    now: DateTime<Utc>,
) {
    let ListOf::Timeline(feed) = of else { return };
    let width = usize::from(area.width);
    let legend = of_list(app, now, of).map(|timeline| timeline.legend(HOLE));
    let title = app.engine.feeds.get(&feed).map_or("", |feed| feed.record.shown_title());
    let legend = format!("{} ", legend.unwrap_or_default());
    let title = cells::ends(&format!(" {title}"), &legend, width);
    let lines = [title, format!("      {MONTHS} entries")];
    let lines = lines.into_iter().map(|line| Line::styled(line, theme::DIM));
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
}

/// Returns the line of a year. Below the last year, returns a line about older entries.
pub(super) fn row(
    app: &App,
    (feed, place): (FeedKey, usize),
    width: usize,
    now: DateTime<Utc>,
) -> Option<Vec<Line<'static>>> {
    let timeline = of_list(app, now, ListOf::Timeline(feed))?;
    let Some(year) = timeline.years.get(place) else {
        let standing = history_requests::standing(&app.engine, app.engine.feeds.get(&feed)?);
        let (text, style) = match timeline.before {
            Some(before) => (before, theme::GAP),
            None => (standing.unwrap_or_default(), theme::DIM),
        };
        return Some(vec![Line::styled(cells::cut(&format!(" {text}"), width), style)]);
    };
    let mut spans = vec![Span::styled(format!(" {:>4} ", year.year), theme::HEADING)];
    spans.extend(year.months.iter().flat_map(month));
    spans.push(Span::styled(format!("{:>8}", year.entries), theme::DIM));
    spans.push(Span::raw(" ".repeat(width)));
    Some(vec![Line::from(spans)])
}

/// Marks a row as selected, except its bars, which would look like gaps if their colours were reversed.
pub(super) fn mark_selected(line: &mut Line<'_>) {
    let (bars, spans) = (1..=2 * MONTHS_A_YEAR, line.spans.iter_mut().enumerate());
    for (_, span) in spans.filter(|(place, _)| !bars.contains(place)) {
        span.style = theme::SELECTED;
    }
}

/// Draws a month in four cells: its bar, the letter of its source, and a symbol if entries are missing.
fn month(month: &MonthCell) -> [Span<'static>; 2] {
    let hole = Span::styled(if month.is_hole { HOLE } else { " " }, theme::GAP);
    let Some(source) = month.source else {
        let empty = if month.is_hole { HOLE.repeat(3) } else { " · ".to_owned() };
        return [Span::styled(empty, if month.is_hole { theme::GAP } else { theme::DIM }), hole];
    };
    let place = usize::try_from(month.level).unwrap_or_default().saturating_sub(1);
    let bar = BARS.get(place).copied().unwrap_or_default();
    [Span::styled(format!("{bar}{}", source.letter()), style(source)), hole]
}

const fn style(source: EntrySource) -> Style {
    let [blue, green, yellow, red] = theme::HEAT;
    match source {
        EntrySource::Feed => blue,
        EntrySource::Archive => green,
        EntrySource::Page => yellow,
        EntrySource::Copy => red,
        EntrySource::InternetArchive => theme::TEXT,
    }
}
