//! Requests the layout of the open entry's text at the width of the pane, and shows the laid-out lines when they arrive. Each
//! picture takes additional lines above its placeholder text. It is looked up in the cache, or fetched if the user wants pictures,
//! within the limits for all other requests.
//!
//! These lines are added to the text itself, so that scrolling, links and reading positions treat them like any other line. When
//! the size of a picture changes, the visible text stays in place.
//!
//! The app never contains image files. It contains only the state of each picture and the few drawings near the visible part of the
//! text. Pictures near the visible part are handled first, and failed pictures are not retried automatically.

use std::sync::Arc;

use backissue_core::search::TextLength;
use unicode_width::UnicodeWidthStr;

use super::lines::{ImageTarget, Rendered, Role, StyledLine, StyledSpan};
use super::reading_position;
use crate::engine::entries::page_fetches::why_unsupported;
use crate::engine::request::Request;
use crate::ui::app::{App, Cx};
use crate::ui::effect::{RenderWork, RenderedEntry, ScreenEffect};
use crate::ui::state::reader::{
    OF_AN_ENTRY_MAX, PictureAnswer, PictureFlaw, PicturePlace, PictureState, PictureWork, Pictures,
    Reader,
};
use crate::ui::theme::colours::Colours;
use crate::ui::theme::graphics::{Drawing, DrawingWanted, Graphics, Protocol};

/// Requests the layout of the open entry's text, unless it has already been laid out for the width of the pane.
pub fn ask_lines(cx: &mut Cx<'_>) {
    let (width, text_width) = (cx.app.ui.viewport.reader_columns, cx.app.ui.settings.text_width);
    let Some(reader) = &mut cx.app.ui.reader else { return };
    if reader.width == width || width == 0 {
        return;
    }
    reader.width = width;
    let (html, base) = reader.markup();
    let site =
        cx.app.engine.feeds.get(&reader.entry.key.feed).and_then(|feed| feed.record.site.clone());
    let (html, base) = (html.to_owned(), base.map(str::to_owned).or(site));
    let (key, source) = (reader.entry.key, reader.source);
    let enclosures = reader.entry.kept.enclosures.clone();
    // On the plain screen, which is made for screen readers, nothing scrolls sideways.
    let slides = !cx.app.ui.appearance.plain;
    cx.out.push(ScreenEffect::Render(RenderWork {
        key,
        source,
        html,
        base,
        enclosures,
        width,
        text_width,
        slides,
    }));
}

/// Returns the number of columns to the left of running text in a pane that is wider than the maximum width of the text.
pub const fn margin(width: u16, text_width: u16) -> u16 {
    width.saturating_sub(text_width).div_ceil(2)
}

/// Shows laid-out lines that arrived. After a change of width, the same part of the text stays visible. A reopened entry starts at
/// its last reading position.
pub fn show_lines(app: &mut App, mut made: RenderedEntry) {
    let rows = usize::from(app.ui.viewport.reader_rows);
    for link in &mut made.rendered.links {
        link.url = app.ui.settings.link(&link.url).into_owned();
    }
    let Some(reader) = &mut app.ui.reader else { return };
    let other = reader.entry.key != made.key || !reader.source.is_same_text(made.source);
    if other || reader.width != made.width {
        return;
    }
    let place = if reader.rendered.is_some() { reader.place() } else { reader.entry.place };
    let at_top = reader.rendered.as_ref().and_then(|_| at_top(reader));
    reader.starts = reading_position::count_starts(&made.rendered);
    let spans = made.rendered.lines.iter().flat_map(|line| &line.spans);
    reader.minutes = TextLength::of(spans.map(|span| span.text.as_str())).minutes();
    let line = place.map_or(0, |place| reading_position::find_line(&reader.starts, place));
    reader.scroll = line.min(made.rendered.lines.len().saturating_sub(rows));
    reader.pictures = vec![HEADER];
    reader.pictures.extend(find_places(&made.rendered));
    (reader.rendered, reader.lines_width) = (Some(made.rendered), made.width);
    let shown = are_shown(app);
    arrange_pictures(app, shown);
    if let (Some(reader), Some(picture)) = (&mut app.ui.reader, at_top) {
        put_at_top(reader, picture);
    }
}

/// Maximum width and height, in pixels, of pictures that are shown only as text, such as letters, symbols and tracking pixels.
const ICON_MAX: u32 = 24;
/// Minimum useful height of a picture, in lines. Lower pictures show too little.
const SMALL_ROWS: u16 = 6;
/// Maximum declared width or height of a picture in pixels. Larger values are not trusted.
const DECLARED_MAX: u32 = 20_000;

/// The place of the header. The header is above the text like a picture, so that it scrolls away with the text.
const HEADER: PicturePlace = PicturePlace { image: 0, line: 0, indent: 0, columns: 0, rows: 0 };

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
    let is_before = |span: &&StyledSpan| is_bar_or_blank(span) || span.role == Role::ListMarker;
    let before = line.spans.iter().take_while(is_before);
    let cells = before.fold(0_usize, |sum, span| sum.saturating_add(span.text.width()));
    u16::try_from(cells).unwrap_or(0)
}

fn is_bar_or_blank(span: &StyledSpan) -> bool {
    let blank = span.role == Role::Text && span.text.chars().all(|char| char == ' ');
    blank || span.role == Role::QuoteBar
}

/// Adds lines for the header, if it scrolls away, and for the pictures at their current sizes or, if `shown` is `false`, removes
/// the lines of pictures.
pub fn arrange_pictures(app: &mut App, shown: bool) {
    let (rows, header) = (app.ui.viewport.reader_rows, app.ui.viewport.reader_head);
    let text_width = app.ui.settings.text_width;
    let pictures = &app.ui.pictures;
    let Some(reader) = &mut app.ui.reader else { return };
    let above = reader.head_rows();
    let Some(text) = &mut reader.rendered else { return };
    // A picture may also use the margins of the text.
    let most = (reader.width, rows_max(rows));
    let margin = margin(reader.width, text_width);
    let is_empty = text.lines.len() == above;
    let wanted = |place: &PicturePlace| {
        let Some(number) = usize::from(place.image).checked_sub(1) else {
            return (0, if is_empty { 0 } else { header });
        };
        let image = text.images.get(number).filter(|_| shown);
        let most = (most.0.saturating_sub(place.indent.saturating_sub(margin)), most.1);
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
        | (Some(PictureState::Sought | PictureState::Asked) | None, None) => (1, 1),
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
    let bars = below.spans.iter().take_while(|span| is_bar_or_blank(span));
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

/// Maximum number of drawings in memory. All pictures of an entry fit, so that drawing one visible picture never removes another.
const DRAWINGS_MAX: usize = OF_AN_ENTRY_MAX;
/// Maximum number of pictures whose state is kept in memory.
const STANDINGS_MAX: usize = 1000;

/// Switches pictures on or off until the program ends.
pub fn toggle_pictures(cx: &mut Cx<'_>) {
    switch_pictures(cx, !cx.app.ui.pictures.on);
    let how = cx.app.ui.pictures.graphics.protocol.word();
    match cannot_be_shown(cx.app).filter(|_| cx.app.ui.pictures.on) {
        Some(why) => cx.say(why),
        None if cx.app.ui.pictures.on => cx
            .say(format!("pictures on ({how}), fetched from their publishers as you read · I off")),
        None => cx.say("pictures off: none are fetched or shown"),
    }
}

/// Switches pictures on or off. When they are switched on, failed pictures are requested again.
pub fn switch_pictures(cx: &mut Cx<'_>, on: bool) {
    cx.app.ui.pictures.on = on;
    if on {
        cx.app
            .ui
            .pictures
            .standings
            .retain(|_, standing| !matches!(standing, PictureState::Failed(_)));
    } else {
        cx.ask(Request::DropPictures);
        cx.app.ui.pictures.drawings = Vec::new();
    }
}

/// Sets the protocol and cell size that the terminal uses for pictures.
pub fn set_graphics(app: &mut App, graphics: Graphics) {
    if app.ui.pictures.graphics != graphics {
        app.ui.pictures.graphics = graphics;
        app.ui.pictures.drawings = Vec::new();
    }
}

/// Adds lines for the pictures of the open text, and requests the pictures near the visible part. This function runs after every
/// input.
pub fn follow_pictures(cx: &mut Cx<'_>) {
    let shown = are_shown(cx.app);
    let open = cx.app.ui.reader.as_ref().map(|reader| reader.entry.key).filter(|_| shown);
    if cx.app.ui.pictures.entry != open {
        cx.ask(Request::DropPictures);
        let standings = &mut cx.app.ui.pictures.standings;
        if standings.len() > STANDINGS_MAX {
            standings.retain(|_, standing| *standing == PictureState::Asked);
        }
        cx.app.ui.pictures.entry = open;
        cx.app.ui.pictures.drawings.clear();
    }
    arrange_pictures(cx.app, shown);
    if open.is_none() {
        return;
    }
    let near = find_near(cx.app);
    for (url, place) in &near {
        match cx.app.ui.pictures.standings.get(url) {
            None => {
                cx.app.ui.pictures.standings.insert(url.clone(), PictureState::Sought);
                cx.out.push(ScreenEffect::Picture(Box::new(PictureWork::Find(url.clone()))));
            }
            Some(PictureState::Kept(..)) if place.rows > 0 && !cx.app.ui.pictures.drawing => {
                let drawing = draw_picture(cx.app, url, place);
                cx.out.extend(drawing);
            }
            Some(
                PictureState::Kept(..)
                | PictureState::Sought
                | PictureState::Asked
                | PictureState::Failed(_),
            ) => {}
        }
    }
}

/// Returns the pictures that are visible or at most one page away, nearest first.
fn find_near(app: &App) -> Vec<(String, PicturePlace)> {
    let Some(reader) = &app.ui.reader else { return Vec::new() };
    let Some(text) = &reader.rendered else { return Vec::new() };
    let rows = usize::from(app.ui.viewport.reader_rows);
    let (top, bottom) = (reader.scroll, reader.scroll.saturating_add(rows));
    let distance = |place: &PicturePlace| {
        let end = place.line.saturating_add(usize::from(place.rows.max(1)));
        let (above, below) = (top.saturating_sub(end), place.line.saturating_sub(bottom));
        above.max(below)
    };
    let mut near: Vec<&PicturePlace> =
        reader.pictures.iter().filter(|place| distance(place) <= rows).collect();
    near.sort_by_key(|place| (distance(place), place.line));
    let target = |place: &&PicturePlace| {
        let target = text.images.get(usize::from(place.image).checked_sub(1)?)?;
        Some((target.url.clone(), **place))
    };
    near.iter().filter_map(target).collect()
}

/// Requests a drawing of a cached picture at the size of its place. Returns `None` if this drawing already exists.
fn draw_picture(app: &mut App, url: &str, place: &PicturePlace) -> Option<ScreenEffect> {
    let pictures = &mut app.ui.pictures;
    let cells = (place.columns, place.rows);
    let made =
        pictures.drawings.iter().position(|(made, _)| made.url == url && made.cells == cells);
    if let Some(made) = made {
        let wanted_again = pictures.drawings.remove(made);
        pictures.drawings.push(wanted_again);
        return None;
    }
    let wanted = DrawingWanted {
        url: url.to_owned(),
        cells,
        graphics: pictures.graphics,
        colours: app.ui.appearance.colours,
    };
    pictures.drawing = true;
    Some(ScreenEffect::Picture(Box::new(PictureWork::Draw(wanted))))
}

/// Handles the result of a job of the picture worker.
pub fn take_answer(cx: &mut Cx<'_>, news: PictureAnswer) {
    match news {
        PictureAnswer::Found(url, Some(Ok((width, height)))) => {
            cx.app.ui.pictures.standings.insert(url, PictureState::Kept(width, height));
        }
        PictureAnswer::Found(url, Some(Err(why))) => {
            let failed = PictureState::Failed(why.to_string());
            cx.app.ui.pictures.standings.insert(url, failed);
        }
        PictureAnswer::Found(url, None) => ask_picture(cx, url),
        PictureAnswer::Drawn(wanted, drawn) => {
            keep_drawing(cx.app, &wanted, drawn);
        }
    }
}

fn keep_drawing(app: &mut App, wanted: &DrawingWanted, drawn: Result<Drawing, PictureFlaw>) {
    // Only one drawing is made at a time. The next one can be requested now, even if this one is no longer needed.
    app.ui.pictures.drawing = false;
    let pictures = &app.ui.pictures;
    if pictures.entry.is_none() || wanted.graphics != pictures.graphics {
        return;
    }
    match drawn {
        Ok(drawing) => {
            app.ui.pictures.drawings.push((wanted.clone(), Arc::new(drawing)));
            let excess = app.ui.pictures.drawings.len().saturating_sub(DRAWINGS_MAX);
            app.ui.pictures.drawings.drain(..excess);
        }
        Err(why) => {
            let failed = PictureState::Failed(why.to_string());
            app.ui.pictures.standings.insert(wanted.url.clone(), failed);
        }
    }
}

/// Requests a picture from its site because it is not cached, if such a request is allowed.
fn ask_picture(cx: &mut Cx<'_>, url: String) {
    let text = cx.app.ui.reader.as_ref().and_then(|reader| reader.rendered.as_ref());
    let still = text.is_some_and(|text| text.images.iter().any(|image| image.url == url));
    let Some(key) = cx.app.ui.pictures.entry.filter(|_| still) else {
        // The user has opened another entry, so the picture is not needed any more.
        cx.app.ui.pictures.standings.remove(&url);
        return;
    };
    let asked = match why_unsupported(&url) {
        Some(why) => Err(why.into()),
        None => cx.try_ask(Request::FetchPicture { key, url: url.clone() }),
    };
    let standing = match asked {
        Ok(()) => PictureState::Asked,
        Err(why) => PictureState::Failed(why.into()),
    };
    cx.app.ui.pictures.standings.insert(url, standing);
}

#[cfg(test)]
#[path = "picture_places_tests.rs"]
mod tests;
