//! A list from which the user picks an item or a command: the matching items above the input line.

use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use crate::ui::keys::key_bindings::Keymap;
use crate::ui::overlays::prompt::PromptPurpose;
use crate::ui::state::pick_list::{PickItem, PickList, PickTarget};
use crate::view::{cells, pane, theme};

/// Maximum width of the list in cells, and the number of its rows with the border.
const SIZE_MAX: (u16, u16) = (64, 16);
/// The same for the palette.
const PALETTE_SIZE_MAX: (u16, u16) = (90, u16::MAX);
/// Width of the column with the command names, in cells.
const NAME_CELLS: usize = 17;
/// Minimum width of a command's description, in cells. If there is less room, only the name of the command is shown.
const HELP_CELLS_MIN: usize = 12;

/// Draws the list at the bottom of the panes. Returns the area of its rows and the index of the first visible row.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    picks: &PickList,
    keys: &Keymap,
) -> (Rect, u16) {
    let is_palette = picks.line.purpose == PromptPurpose::Command;
    let (columns, most) = if is_palette { PALETTE_SIZE_MAX } else { SIZE_MAX };
    let (title, none) = if is_palette {
        ("Commands ─ type to find one, Enter runs it", " no command matches this")
    } else {
        ("Type to find one, Enter opens it", " nothing matches this")
    };
    let rows = u16::try_from(picks.found.len().max(1)).unwrap_or(u16::MAX).saturating_add(2);
    let [place] = Layout::vertical([Constraint::Max(rows.min(most))]).flex(Flex::End).areas(area);
    let [place] = Layout::horizontal([Constraint::Max(columns)]).flex(Flex::Start).areas(place);
    frame.render_widget(Clear, place);
    let inside = pane::bordered(frame, place, title, true);
    let (width, height) = (usize::from(inside.width), usize::from(inside.height));
    let first = picks.list.top_in(picks.found.len(), height);
    let shown = (0_usize..).zip(&picks.found).skip(first).take(height);
    let mut lines: Vec<Line<'_>> = shown
        .filter_map(|(place, at)| {
            let (item, selected) = (picks.items.get(*at)?, place == picks.list.selected);
            Some(match item.target {
                PickTarget::Command(at) => command_row(item, &keys.keys_of(at), selected, width),
                PickTarget::Row(_) | PickTarget::Label(_) => row(item, selected, width),
            })
        })
        .collect();
    if lines.is_empty() {
        lines.push(Line::styled(none, theme::DIM));
    }
    frame.render_widget(Paragraph::new(lines), inside);
    (inside, u16::try_from(first).unwrap_or(u16::MAX))
}

fn command_row(item: &PickItem, keys: &str, selected: bool, width: usize) -> Line<'static> {
    let keys = format!("{keys} ");
    let named = format!(" {} ", cells::fit(&item.name, NAME_CELLS));
    let room = width.saturating_sub(cells::width(&named)).saturating_sub(cells::width(&keys) + 1);
    let help = if room < HELP_CELLS_MIN { String::new() } else { cells::cut(&item.detail, room) };
    if selected {
        return Line::styled(cells::ends(&format!("{named}{help}"), &keys, width), theme::SELECTED);
    }
    let gap = room.saturating_sub(cells::width(&help)).saturating_add(1);
    Line::from(vec![
        Span::styled(named, theme::TEXT),
        Span::styled(help, theme::DIM),
        Span::raw(" ".repeat(gap)),
        Span::styled(keys, theme::KEY),
    ])
}

fn row(item: &PickItem, selected: bool, width: usize) -> Line<'static> {
    let name = format!(" {} ", cells::cut(&item.name, width.saturating_sub(2)));
    let room = width.saturating_sub(cells::width(&name)).saturating_sub(1);
    let detail = cells::cut(&item.detail, room);
    if selected {
        return Line::styled(cells::ends(&name, &format!("{detail} "), width), theme::SELECTED);
    }
    let gap = room.saturating_sub(cells::width(&detail));
    Line::from(vec![
        Span::styled(name, theme::TEXT),
        Span::raw(" ".repeat(gap)),
        Span::styled(detail, theme::DIM),
    ])
}
