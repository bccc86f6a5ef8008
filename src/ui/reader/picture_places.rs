//! Picture placement: pictures occupy extra lines above their placeholder text.
//!
//! The lines are reserved in the text itself, so that scrolling, links and positions count them like any other. When the size
//! of a picture changes, the visible text stays in place.

use unicode_width::UnicodeWidthStr;

use super::lines::{ImageTarget, Rendered, Role, StyledLine, StyledSpan};
use super::reading_position;
use crate::ui::app::App;
use crate::ui::state::pictures::{OF_AN_ENTRY_MAX, PictureState, Pictures};
use crate::ui::state::reader::{PicturePlace, Reader};
use crate::ui::theme::colours::Colours;
use crate::ui::theme::graphics::{Graphics, Protocol};

/// Pictures up to this size in pixels remain text: letters, symbols, tracking pixels.
const ICON_MAX: u32 = 24;
/// Height in lines below which a picture would show too little.
const SMALL_ROWS: u16 = 6;
/// Maximum declared side length that is trusted, in pixels.
const DECLARED_MAX: u32 = 20_000;

/// The position of the text to restore after its pictures change.
#[derive(Debug, Clone, Copy)]
enum Held {
    /// The beginning of the text.
    Top,
    /// A line of a picture, with the number of the picture.
    Picture(u16, usize),
    /// A line of the text, not counting picture lines.
    Line(usize),
}

/// Returns the places of the pictures in a text that has no lines reserved for them.
pub fn find_places(text: &Rendered) -> Vec<PicturePlace> {
    let count = text.images.len().min(OF_AN_ENTRY_MAX);
    let mut places: Vec<PicturePlace> = Vec::with_capacity(count);
    for (line, styled) in text.lines.iter().enumerate() {
        for image in styled.spans.iter().filter_map(|span| span.image) {
            let known = places.iter().any(|place| place.image == image);
            if !known && usize::from(image) <= count {
                let line = above_table(&text.lines, line);
                let indent = text.lines.get(line).map_or(0, indent);
                places.push(PicturePlace { image, line, indent, columns: 0, rows: 0 });
            }
        }
    }
    places.sort_by_key(|place| (place.line, place.image));
    places
}

/// Moves a picture inside a table above the table.
fn above_table(lines: &[StyledLine], line: usize) -> usize {
    let in_table = |line: &StyledLine| line.spans.iter().any(|span| span.role == Role::TableBorder);
    let before = lines.get(..=line).unwrap_or_default().iter().rev();
    line.saturating_add(1).saturating_sub(before.take_while(|line| in_table(line)).count().max(1))
}

/// Returns the number of columns before the text of a line.
fn indent(line: &StyledLine) -> u16 {
    let is_before = |span: &&StyledSpan| {
        let blank = span.role == Role::Text && span.text.chars().all(|char| char == ' ');
        blank || matches!(span.role, Role::QuoteBar | Role::ListMarker)
    };
    let before = line.spans.iter().take_while(is_before);
    let cells = before.fold(0_usize, |sum, span| sum.saturating_add(span.text.width()));
    u16::try_from(cells).unwrap_or(0)
}

/// Reserves lines for the pictures at their current sizes, or no lines if pictures are hidden.
pub fn arrange_pictures(app: &mut App, shown: bool) {
    let rows = app.ui.viewport.reader_rows;
    let pictures = &app.ui.pictures;
    let Some(reader) = &mut app.ui.reader else { return };
    let Some(text) = &mut reader.rendered else { return };
    let most = (reader.width, rows_max(rows));
    let wanted = |place: &PicturePlace| {
        let number = usize::from(place.image).checked_sub(1);
        let image = number.and_then(|number| text.images.get(number)).filter(|_| shown);
        let most = (most.0.saturating_sub(place.indent), most.1);
        image.map_or((0, 0), |image| size_in_cells(image, pictures, most))
    };
    let sizes: Vec<(u16, u16)> = reader.pictures.iter().map(wanted).collect();
    let as_before =
        |(place, size): (&PicturePlace, &(u16, u16))| (place.columns, place.rows) == *size;
    if !reader.pictures.iter().zip(&sizes).all(as_before) {
        let held = find_held(&reader.pictures, reader.scroll);
        keep_lines(text, &mut reader.pictures, &sizes);
        reader.starts = reading_position::count_starts(text);
        let last = text.lines.len().saturating_sub(usize::from(rows));
        reader.scroll = line_of(&reader.pictures, held).min(last);
    }
}

/// Returns the maximum height of a picture: half the pane or, in a small pane, all lines except one for the placeholder text.
fn rows_max(rows: u16) -> u16 {
    (rows / 2).max(rows.saturating_sub(1).min(SMALL_ROWS)).max(1)
}

/// Returns the columns and lines of a picture.
fn size_in_cells(
    image: &ImageTarget,
    pictures: &Pictures,
    (columns, rows): (u16, u16),
) -> (u16, u16) {
    let cells = |(width, height): (u32, u32), graphics: Graphics| {
        if width <= ICON_MAX && height <= ICON_MAX {
            return (0, 0);
        }
        graphics.cells((width, height), columns, rows)
    };
    match (pictures.standing(&image.url), declared_size(image)) {
        (Some(PictureState::Kept(width, height)), _) => cells((*width, *height), pictures.graphics),
        (Some(PictureState::Sought | PictureState::Asked) | None, Some(size)) => {
            cells(size, pictures.graphics)
        }
        (Some(PictureState::Failed(_)), _)
        | (Some(PictureState::Sought | PictureState::Asked) | None, None) => (columns, 1),
    }
}

fn declared_size(image: &ImageTarget) -> Option<(u32, u32)> {
    let plausible = |side: &u32| (1..=DECLARED_MAX).contains(side);
    image.declared.filter(|(width, height)| plausible(width) && plausible(height))
}

/// Returns the position in the text if the given line is the first visible one.
fn find_held(places: &[PicturePlace], top: usize) -> Held {
    if top == 0 {
        return Held::Top;
    }
    let mut kept = 0_usize;
    for place in places.iter().take_while(|place| place.line <= top) {
        let rows = usize::from(place.rows);
        let within = top.saturating_sub(place.line);
        if within < rows {
            return Held::Picture(place.image, within);
        }
        kept = kept.saturating_add(rows);
    }
    Held::Line(top.saturating_sub(kept))
}

/// Returns the line to show first for a position in the text.
fn line_of(places: &[PicturePlace], held: Held) -> usize {
    match held {
        Held::Top => 0,
        Held::Picture(image, within) => {
            let place = places.iter().find(|place| place.image == image);
            place.map_or(0, |place| place.line.saturating_add(within.min(usize::from(place.rows))))
        }
        Held::Line(bare) => places.iter().fold(bare, |line, place| {
            let rows = if place.line <= line { usize::from(place.rows) } else { 0 };
            line.saturating_add(rows)
        }),
    }
}

/// Removes the reserved lines, then reserves new ones.
fn keep_lines(text: &mut Rendered, places: &mut [PicturePlace], sizes: &[(u16, u16)]) {
    let old = std::mem::take(&mut text.lines);
    let mut lines = Vec::with_capacity(old.len());
    let mut free_places = places.iter_mut().zip(sizes).peekable();
    let mut rest = old.into_iter().peekable();
    let mut at = 0_usize;
    loop {
        while let Some((place, size)) = free_places.next_if(|(place, _)| place.line <= at) {
            let before = usize::from(place.rows);
            if let Some(last) = before.checked_sub(1) {
                rest.nth(last);
                at = at.saturating_add(before);
            }
            place.line = lines.len();
            (place.columns, place.rows) = *size;
            let free = rest.peek().map(free_line).unwrap_or_default();
            lines.extend(std::iter::repeat_n(free, usize::from(place.rows)));
        }
        let Some(line) = rest.next() else { break };
        lines.push(line);
        at = at.saturating_add(1);
    }
    text.lines = lines;
}

/// Creates a reserved line above another line. Only the quotation bars continue through it.
fn free_line(below: &StyledLine) -> StyledLine {
    let bars = below.spans.iter().take_while(|span| span.role == Role::QuoteBar);
    bars.cloned().collect::<Vec<_>>().into()
}

/// Returns the picture at the top of the screen and the line within it, to restore the position after a new layout.
pub fn at_top(reader: &Reader) -> Option<(u16, usize)> {
    match find_held(&reader.pictures, reader.scroll) {
        Held::Picture(image, within) => Some((image, within)),
        Held::Top | Held::Line(_) => None,
    }
}

/// Scrolls a picture to the top of the screen.
pub fn put_at_top(reader: &mut Reader, (image, within): (u16, usize)) {
    reader.scroll = line_of(&reader.pictures, Held::Picture(image, within));
}

/// Explains why no picture can be shown, whatever the settings say. The text is a sentence.
pub(in crate::ui) fn cannot_be_shown(app: &App) -> Option<&'static str> {
    if app.ui.appearance.plain {
        return Some("the plain screen shows captions instead of pictures");
    }
    let bare = app.ui.appearance.colours == Colours::None;
    let blocks = app.ui.pictures.graphics.protocol == Protocol::HalfBlocks;
    (bare && blocks).then_some("this terminal shows no colours, so it cannot show pictures")
}

/// Checks whether pictures are shown.
pub fn are_shown(app: &App) -> bool {
    app.ui.pictures.on && cannot_be_shown(app).is_none()
}

#[cfg(test)]
#[path = "picture_places_tests.rs"]
mod tests;
