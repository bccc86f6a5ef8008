//! The choice between the feeds found on a page, with a preview of the selected feed.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::engine::feeds::addition::FeedPreview;
use crate::engine::feeds::feed_preview::TITLES;
use crate::ui::app::App;
use crate::ui::state::overlay::Choice;
use crate::view::{cells, pane, theme};

/// Maximum width of the dialog, in columns.
const COLUMNS_MAX: u16 = 100;
/// Maximum number of lines for the description of a feed, above the titles of its entries.
const OFFER_LINES: usize = 2;

/// Draws the dialog over the panes. Returns the area of its rows and the index of the first visible row.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    choice: Choice,
) -> (Rect, u16) {
    let Some(addition) = app.engine.additions.get(&choice.addition) else {
        return (Rect::default(), 0);
    };
    let below = u16::try_from(OFFER_LINES.saturating_add(TITLES)).unwrap_or(u16::MAX);
    let wanted = u16::try_from(addition.found.len()).unwrap_or(u16::MAX);
    let rows = wanted.min(area.height.saturating_sub(2) / 2);
    let height = rows.saturating_add(below).saturating_add(3);
    let place = pane::centred(frame, area, COLUMNS_MAX, height);
    let inside = pane::bordered(frame, place, "Which feed? Enter subscribes, q cancels", true);
    let [list, offer] =
        Layout::vertical([Constraint::Length(rows), Constraint::Fill(1)]).areas(inside);
    let width = usize::from(inside.width);
    let first = choice.list.top_in(addition.found.len(), usize::from(list.height));
    let shown = (0_usize..).zip(&addition.found).skip(first).take(usize::from(list.height));
    let lines = shown.map(|(place, candidate)| {
        let title = candidate.title.as_deref().unwrap_or("(no title)");
        let style = if place == choice.list.selected { theme::SELECTED } else { theme::TEXT };
        Line::styled(
            cells::ends(&format!(" {title}"), &format!("{} ", candidate.url), width),
            style,
        )
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), list);
    let selected = addition.found.get(choice.list.selected);
    let known = selected.and_then(|candidate| addition.previews.of(&candidate.url));
    let lines = match known {
        None => vec![Line::default(), Line::styled(" reading the feed …", theme::DIM)],
        Some(Err(why)) => {
            let text = cells::cut(&format!(" it cannot be read: {why}"), width);
            vec![Line::default(), Line::styled(text, theme::TROUBLE)]
        }
        Some(Ok(preview)) => offer_lines(app, preview, width),
    };
    frame.render_widget(Paragraph::new(lines), offer);
    (list, u16::try_from(first).unwrap_or(u16::MAX))
}

/// Returns the description of a feed and the titles of its newest entries.
fn offer_lines(app: &App, preview: &FeedPreview, width: usize) -> Vec<Line<'static>> {
    let title = preview.title.as_deref().unwrap_or("(no title)");
    let said = format!("{title}: {}", preview.words());
    let said = cells::wrap(&said, width.saturating_sub(2), OFFER_LINES);
    let said = said.into_iter().map(|line| Line::styled(format!(" {line}"), theme::HEADING));
    let titles = preview.newest.iter().map(|(at, title)| {
        let date = at.map_or_else(
            || "no date   ".to_owned(),
            |at| at.with_timezone(&app.engine.zone).format("%Y-%m-%d").to_string(),
        );
        Line::styled(cells::cut(&format!(" {date}  {title}"), width), theme::TEXT)
    });
    std::iter::once(Line::default()).chain(said).chain(titles).collect()
}
