//! The choice between the feeds found on a page, with a preview of the selected feed.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::engine::feeds::addition::FeedPreview;
use crate::engine::feeds::feed_preview::TITLES;
use crate::ui::app::App;
use crate::ui::overlays::feed_choice::found;
use crate::ui::state::overlay::{ListOf, OpenList};
use crate::view::{cells, theme};

/// Maximum number of lines for the description of a feed, above the titles of its entries.
const OFFER_LINES: usize = 2;
/// Number of lines for the preview below the list.
#[expect(clippy::cast_possible_truncation, reason = "a small constant")]
pub(super) const BELOW_LINES: u16 = (OFFER_LINES + TITLES + 1) as u16;

/// Returns the line of a feed.
pub(super) fn row(app: &App, of: ListOf, place: usize, width: usize) -> Option<Vec<Line<'static>>> {
    let candidate = found(app, of)?.found.get(place)?;
    let title = candidate.title.as_deref().unwrap_or("(no title)");
    let line = cells::ends(&format!(" {title}"), &format!("{} ", candidate.url), width);
    Some(vec![Line::styled(line, theme::TEXT)])
}

/// Draws the preview of the selected feed.
pub(super) fn draw_offer(frame: &mut Frame<'_>, area: Rect, app: &App, open: OpenList) {
    let width = usize::from(area.width);
    let known = found(app, open.of)
        .and_then(|addition| addition.previews.of(&addition.found.get(open.list.selected)?.url));
    let lines = match known {
        None => vec![Line::default(), Line::styled(" reading the feed …", theme::DIM)],
        Some(Err(why)) => {
            let text = cells::cut(&format!(" it cannot be read: {why}"), width);
            vec![Line::default(), Line::styled(text, theme::TROUBLE)]
        }
        Some(Ok(preview)) => offer_lines(app, preview, width),
    };
    frame.render_widget(Paragraph::new(lines), area);
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
