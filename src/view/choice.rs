//! The feeds a page names, to choose from.

use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Clear, Paragraph};

use super::{cells, pane, theme};
use crate::app::model::Model;
use crate::app::screen::Choice;

/// Draws the choice over the panes; answers with the place of its rows and the first one shown.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    model: &Model,
    choice: Choice,
) -> (Rect, u16) {
    let Some(addition) = model.additions.get(&choice.addition) else {
        return (Rect::default(), 0);
    };
    let rows = u16::try_from(addition.found.len()).unwrap_or(u16::MAX).saturating_add(2);
    let [place] = Layout::vertical([Constraint::Max(rows)]).flex(Flex::Center).areas(area);
    let [place] = Layout::horizontal([Constraint::Max(100)]).flex(Flex::Center).areas(place);
    frame.render_widget(Clear, place);
    let inside = pane::bordered(frame, place, "Which feed? Enter subscribes, q gives up", true);
    let width = usize::from(inside.width);
    let first = choice.selected.saturating_sub(usize::from(inside.height).saturating_sub(1));
    let shown = (0_usize..).zip(&addition.found).skip(first).take(usize::from(inside.height));
    let lines = shown.map(|(place, candidate)| {
        let title = candidate.title.as_deref().unwrap_or("(no title)");
        let style = if place == choice.selected { theme::SELECTED } else { theme::TEXT };
        Line::styled(
            cells::ends(&format!(" {title}"), &format!("{} ", candidate.url), width),
            style,
        )
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inside);
    (inside, u16::try_from(first).unwrap_or(u16::MAX))
}
