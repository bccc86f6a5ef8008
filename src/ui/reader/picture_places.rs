//! Picture placement: each picture takes additional lines above its placeholder text.
//!
//! These lines are added to the text itself, so that scrolling, links and reading positions treat them like any other line. When
//! the size of a picture changes, the visible text stays in place.

use unicode_width::UnicodeWidthStr;

use super::lines::{ImageTarget, Rendered, Role, StyledLine, StyledSpan};
use super::reading_position;
use crate::ui::app::App;
use crate::ui::state::pictures::{OF_AN_ENTRY_MAX, PictureState, Pictures};
use crate::ui::state::reader::{PicturePlace, Reader};
use crate::ui::theme::colours::Colours;
use crate::ui::theme::graphics::{Graphics, Protocol};

/// Maximum width and height, in pixels, of pictures that are shown only as text, such as letters, symbols and tracking pixels.
const ICON_MAX: u32 = 24;
/// Minimum useful height of a picture, in lines. Lower pictures show too little.
const SMALL_ROWS: u16 = 6;
/// Maximum declared width or height of a picture in pixels. Larger values are not trusted.
const DECLARED_MAX: u32 = 20_000;

/// What was at the top of the screen before the pictures changed, so that it can be scrolled there again.
#[derive(Debug, Clone, Copy)]
enum Held {
    /// The beginning of the text, which stays visible even if a picture is added above the first line.
    Top,
    /// A picture, given by its number, and the visible line within it.
    Picture(u16, usize),
    /// A line of the text, counted without the lines of pictures.
    Line(usize),
}

/// Returns the places of the pictures in a text to which no picture lines have been added yet.
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

/// Returns the line for a picture. A picture inside a table is placed above the table.
fn above_table(lines: &[StyledLine], line: usize) -> usize {
    let in_table = |line: &StyledLine| line.spans.iter().any(|span| span.role == Role::TableBorder);
    let before = lines.get(..=line).unwrap_or_default().iter().rev();
    line.saturating_add(1).saturating_sub(before.take_while(|line| in_table(line)).count().max(1))
}

/// Returns the number of columns before the text of a line, such as bars and indents.
fn indent(line: &StyledLine) -> u16 {
    let is_before = |span: &&StyledSpan| {
        let blank = span.role == Role::Text && span.text.chars().all(|char| char == ' ');
        blank || matches!(span.role, Role::QuoteBar | Role::ListMarker)
    };
    let before = line.spans.iter().take_while(is_before);
    let cells = before.fold(0_usize, |sum, span| sum.saturating_add(span.text.width()));
    u16::try_from(cells).unwrap_or(0)
}

/// Adds lines for the pictures at their current sizes or, if `shown` is `false`, removes these lines.
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

/// Returns the maximum height of a picture in a pane of `rows` lines: half the pane or, in a small pane, all lines except one for
/// the placeholder text.
fn rows_max(rows: u16) -> u16 {
    (rows / 2).max(rows.saturating_sub(1).min(SMALL_ROWS)).max(1)
}

/// Returns the size of a picture in columns and lines.
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

/// Returns what is at the top of the screen if `top` is the first visible line.
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

/// Returns the first visible line for which the given item is at the top of the screen.
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

/// Removes the old picture lines from a text and adds new ones for the given sizes.
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

/// Creates an empty picture line above another line. The bars of quotations continue through it, but other markers do not.
fn free_line(below: &StyledLine) -> StyledLine {
    let bars = below.spans.iter().take_while(|span| span.role == Role::QuoteBar);
    bars.cloned().collect::<Vec<_>>().into()
}

/// Returns the picture at the top of the screen and the visible line within it. Returns `None` if there is text at the top.
pub fn at_top(reader: &Reader) -> Option<(u16, usize)> {
    match find_held(&reader.pictures, reader.scroll) {
        Held::Picture(image, within) => Some((image, within)),
        Held::Top | Held::Line(_) => None,
    }
}

/// Scrolls so that a line of a picture is at the top of the screen.
pub fn put_at_top(reader: &mut Reader, (image, within): (u16, usize)) {
    reader.scroll = line_of(&reader.pictures, Held::Picture(image, within));
}

/// Explains why this screen cannot show pictures even if they are enabled. Returns `None` if it can. The explanation is a sentence.
pub(in crate::ui) fn cannot_be_shown(app: &App) -> Option<&'static str> {
    if app.ui.appearance.plain {
        return Some("the plain screen shows captions instead of pictures");
    }
    let bare = app.ui.appearance.colours == Colours::None;
    let blocks = app.ui.pictures.graphics.protocol == Protocol::HalfBlocks;
    (bare && blocks).then_some("this terminal shows no colours, so it cannot show pictures")
}

/// Checks whether pictures are enabled and the screen can show them.
pub fn are_shown(app: &App) -> bool {
    app.ui.pictures.on && cannot_be_shown(app).is_none()
}

#[cfg(test)]
#[path = "picture_places_tests.rs"]
mod tests;
