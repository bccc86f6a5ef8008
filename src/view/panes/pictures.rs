//! The pictures of the text that is read, put into the finished screen: their own colours are no roles of a theme.

use std::num::NonZeroU16;

use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::layout::Position;
use ratatui::style::Style;

use crate::ui::app::App;
use crate::ui::state::layout::{Area, Viewport};
use crate::ui::state::pictures::PictureState;
use crate::ui::state::reader::PicturePlace;
use crate::ui::theme::graphics::{Drawing, DrawnCell};
use crate::view::dressing::colour;
use crate::view::{cells, theme};
use backissue_core::history::address::host;

/// A picture within the text's part of the screen.
struct Shown<'m> {
    url: &'m str,
    place: PicturePlace,
    /// Its first line that is on the screen, and where.
    first: u16,
    row: u16,
    /// How many of its lines are.
    rows: u16,
}

/// The pictures on the screen; none while something lies over them.
fn shown(app: &App, area: Area) -> Vec<Shown<'_>> {
    let in_sight = !app.ui.covers_panes();
    let Some(reader) = app.ui.shown_reader().filter(|_| in_sight) else { return Vec::new() };
    let Some(text) = &reader.rendered else { return Vec::new() };
    let in_sight = |place: &PicturePlace| {
        let number = usize::from(place.image).checked_sub(1)?;
        let url = text.images.get(number)?.url.as_str();
        let first = u16::try_from(reader.scroll.saturating_sub(place.line)).ok()?;
        let down = u16::try_from(place.line.saturating_sub(reader.scroll)).ok()?;
        let rows = place.rows.checked_sub(first)?.min(area.rows.checked_sub(down)?);
        let row = area.row.saturating_add(down);
        (rows > 0).then_some(Shown { url, place: *place, first, row, rows })
    };
    reader.pictures.iter().filter_map(in_sight).collect()
}

/// The drawing of a picture, if it can be shown as it stands on the screen.
fn ready<'m>(app: &'m App, shown: &Shown<'_>) -> Option<&'m Drawing> {
    let cells = (shown.place.columns, shown.place.rows);
    let drawing = app.ui.pictures.drawing(shown.url, cells)?;
    (!drawing.whole || shown.rows == shown.place.rows).then_some(drawing)
}

/// Says in the places of pictures that are not there why they are not.
pub(in crate::view) fn tell(buffer: &mut Buffer, app: &App, viewport: &Viewport) {
    let area = viewport.reader;
    for shown in shown(app, area) {
        if ready(app, &shown).is_some() {
            continue;
        }
        let text = match app.ui.pictures.standing(shown.url) {
            Some(PictureState::Failed(why)) => format!("no picture: {why}"),
            Some(PictureState::Asked) => {
                format!(
                    "the picture is being fetched from {} …",
                    host(shown.url).unwrap_or_default()
                )
            }
            Some(PictureState::Kept(..)) if shown.rows < shown.place.rows => {
                "a picture, shown when all of it is in sight".to_owned()
            }
            Some(PictureState::Kept(..) | PictureState::Sought) | None => "a picture …".to_owned(),
        };
        let columns = usize::from(area.columns.saturating_sub(shown.place.indent));
        let text = cells::cut(&text, columns);
        let column = area.column.saturating_add(shown.place.indent);
        buffer.set_stringn(column, shown.row, text, columns, theme::DIM);
    }
}

/// Draws the pictures that are ready.
pub(in crate::view) fn draw(buffer: &mut Buffer, app: &App, viewport: &Viewport) {
    let area = viewport.reader;
    for shown in shown(app, area) {
        let Some(drawing) = ready(app, &shown) else { continue };
        let rows = drawing.rows.iter().skip(usize::from(shown.first));
        for (cells, down) in rows.zip(0..shown.rows) {
            let row = shown.row.saturating_add(down);
            for (cell, across) in cells.iter().zip(shown.place.indent..area.columns) {
                put(buffer, Position::new(area.column.saturating_add(across), row), cell);
            }
        }
    }
}

/// Puts one cell of a picture on the screen. What is covered holds nothing, so that whatever stands there later
/// differs from it and is written anew.
fn put(buffer: &mut Buffer, at: Position, drawn: &DrawnCell) {
    let Some(cell) = buffer.cell_mut(at) else { return };
    cell.set_style(Style::reset().fg(colour(drawn.ink)).bg(colour(drawn.ground)));
    cell.set_symbol(&drawn.symbol);
    if drawn.symbol.is_empty() {
        cell.set_diff_option(CellDiffOption::Skip);
    } else if drawn.paints {
        // Who has painted may have left the cursor anywhere; the next cell is to be written beside this one.
        if drawn.symbol.starts_with('\u{1b}') {
            let (row, column) = (at.y.saturating_add(1), at.x.saturating_add(2));
            cell.set_symbol(&format!("{}\u{1b}[{row};{column}H", drawn.symbol));
        }
        cell.set_diff_option(CellDiffOption::ForcedWidth(NonZeroU16::MIN));
    }
}
