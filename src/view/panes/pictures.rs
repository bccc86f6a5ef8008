//! Draws the pictures of the open text into the finished screen. They keep their own colours, which do not depend on the theme.

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

/// A picture that is visible at least in part.
struct Shown<'m> {
    url: &'m str,
    place: PicturePlace,
    /// Index of the first visible line within the picture.
    first: u16,
    row: u16,
    /// Number of visible lines of the picture.
    rows: u16,
}

/// Returns the pictures that are visible at least in part. There are none while an overlay covers the panes.
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

/// Returns the drawing of a picture, if it is finished. Returns `None` if the picture can only be shown as a whole and is partly
/// hidden.
fn ready<'m>(app: &'m App, shown: &Shown<'_>) -> Option<&'m Drawing> {
    let cells = (shown.place.columns, shown.place.rows);
    let drawing = app.ui.pictures.drawing(shown.url, cells)?;
    (!drawing.whole || shown.rows == shown.place.rows).then_some(drawing)
}

/// Writes an explanation in the place of each picture that cannot be shown yet.
pub(in crate::view) fn tell(buffer: &mut Buffer, app: &App, viewport: &Viewport) {
    let area = viewport.reader;
    for shown in shown(app, area) {
        if ready(app, &shown).is_some() {
            continue;
        }
        let text = match app.ui.pictures.standing(shown.url) {
            Some(PictureState::Failed(why)) => format!("no picture: {why}"),
            Some(PictureState::Asked) => {
                format!("fetching the picture from {} …", host(shown.url).unwrap_or_default())
            }
            Some(PictureState::Kept(..)) if shown.rows < shown.place.rows => {
                "picture: scroll until all of it is visible".to_owned()
            }
            Some(PictureState::Kept(..) | PictureState::Sought) | None => "picture …".to_owned(),
        };
        let columns = usize::from(area.columns.saturating_sub(shown.place.indent));
        let text = cells::cut(&text, columns);
        let column = area.column.saturating_add(shown.place.indent);
        buffer.set_stringn(column, shown.row, text, columns, theme::DIM);
    }
}

/// Draws the finished pictures in their places.
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

/// Draws one cell of a picture. Cells that the picture covers become empty. Anything drawn there later differs from them and is
/// therefore written to the terminal again.
fn put(buffer: &mut Buffer, at: Position, drawn: &DrawnCell) {
    let Some(cell) = buffer.cell_mut(at) else { return };
    cell.set_style(Style::reset().fg(colour(drawn.ink)).bg(colour(drawn.ground)));
    cell.set_symbol(&drawn.symbol);
    if drawn.symbol.is_empty() {
        cell.set_diff_option(CellDiffOption::Skip);
    } else if drawn.paints {
        // After an escape sequence that paints a picture, the position of the cursor is unknown. It is therefore moved to the next
        // cell.
        if drawn.symbol.starts_with('\u{1b}') {
            let (row, column) = (at.y.saturating_add(1), at.x.saturating_add(2));
            cell.set_symbol(&format!("{}\u{1b}[{row};{column}H", drawn.symbol));
        }
        cell.set_diff_option(CellDiffOption::ForcedWidth(NonZeroU16::MIN));
    }
}
