//! Where pictures stand in a text: lines of their own above the words that stand for them.
//!
//! The lines are kept free in the text itself, so that scrolling, links and places count them like any other. Whenever
//! a picture turns out to be of another size, what is on the screen stays where it is.

use unicode_width::UnicodeWidthStr;

use super::lines::{ImageTarget, Rendered, Role, StyledLine, StyledSpan};
use super::reading_position;
use crate::ui::app::App;
use crate::ui::state::pictures::{OF_AN_ENTRY_MAX, PictureState, Pictures};
use crate::ui::state::reader::{PicturePlace, Reader};
use crate::ui::theme::colours::Colours;
use crate::ui::theme::graphics::{Graphics, Protocol};

/// A picture no larger than this, in pixels, stays words: a letter, a sign, a pixel that counts readers.
const ICON_MAX: u32 = 24;
/// Lines below which a picture would show too little.
const SMALL_ROWS: u16 = 6;
/// Pixels of a side that a declaration is believed.
const DECLARED_MAX: u32 = 20_000;

/// Where the text stood, to be put there again.
#[derive(Debug, Clone, Copy)]
enum Held {
    /// At its beginning.
    Top,
    /// At a line of a picture, by its number.
    Picture(u16, usize),
    /// At a line of the text, not counting those of pictures.
    Line(usize),
}

/// The places of the pictures of a text without lines kept for any.
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

/// A picture in a table stands above the table.
fn above_table(lines: &[StyledLine], line: usize) -> usize {
    let in_table = |line: &StyledLine| line.spans.iter().any(|span| span.role == Role::TableBorder);
    let before = lines.get(..=line).unwrap_or_default().iter().rev();
    line.saturating_add(1).saturating_sub(before.take_while(|line| in_table(line)).count().max(1))
}

/// Columns before the text of a line.
fn indent(line: &StyledLine) -> u16 {
    let is_before = |span: &&StyledSpan| {
        let blank = span.role == Role::Text && span.text.chars().all(|char| char == ' ');
        blank || matches!(span.role, Role::QuoteBar | Role::ListMarker)
    };
    let before = line.spans.iter().take_while(is_before);
    let cells = before.fold(0_usize, |sum, span| sum.saturating_add(span.text.width()));
    u16::try_from(cells).unwrap_or(0)
}

/// Keeps lines for the pictures as they stand now; none if they are not shown.
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

/// Lines of a picture at most: half the pane, or in a small one all but a line for its words.
fn rows_max(rows: u16) -> u16 {
    (rows / 2).max(rows.saturating_sub(1).min(SMALL_ROWS)).max(1)
}

/// Columns and lines of a picture.
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

/// Where the text stands that is shown from a line on.
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

/// The line to show first.
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

/// Takes the lines away that were kept, and keeps others.
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

/// A line that is kept free above another: only the bars of quotations go on.
fn free_line(below: &StyledLine) -> StyledLine {
    let bars = below.spans.iter().take_while(|span| span.role == Role::QuoteBar);
    bars.cloned().collect::<Vec<_>>().into()
}

/// New lines of a text have come: the picture that stood at the top of the screen, and how far, to be put there again.
pub fn at_top(reader: &Reader) -> Option<(u16, usize)> {
    match find_held(&reader.pictures, reader.scroll) {
        Held::Picture(image, within) => Some((image, within)),
        Held::Top | Held::Line(_) => None,
    }
}

/// Puts a picture at the top of the screen.
pub fn put_at_top(reader: &mut Reader, (image, within): (u16, usize)) {
    reader.scroll = line_of(&reader.pictures, Held::Picture(image, within));
}

/// Why no picture can be shown, whatever the reader wants; a sentence.
pub(in crate::ui) fn cannot_be_shown(app: &App) -> Option<&'static str> {
    if app.ui.appearance.plain {
        return Some("a plain screen has no pictures: their words stand in the text");
    }
    let bare = app.ui.appearance.colours == Colours::None;
    let blocks = app.ui.pictures.graphics.protocol == Protocol::HalfBlocks;
    (bare && blocks).then_some("this terminal shows no colours, and so no pictures")
}

/// Whether pictures are to be seen.
pub fn are_shown(app: &App) -> bool {
    app.ui.pictures.on && cannot_be_shown(app).is_none()
}

#[cfg(test)]
#[path = "picture_places_tests.rs"]
mod tests;
