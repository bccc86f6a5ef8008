//! The pictures of the open entry: looked up in the cache, or fetched if the user wants pictures. The limits for all other requests
//! also apply to pictures.
//!
//! The app never contains image files. It contains only the state of each picture and the few drawings near the visible part of the
//! text. Pictures near the visible part are handled first, and failed pictures are not retried automatically.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::picture_places::{self, are_shown, cannot_be_shown};
use crate::engine::entries::picture_fetches::why_unsupported;
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::state::pictures::{OF_AN_ENTRY_MAX, PictureAnswer, PictureState, PictureWork};
use crate::ui::state::reader::PicturePlace;
use crate::ui::theme::graphics::{Drawing, DrawingWanted, Graphics};

/// Maximum number of drawings in memory. All pictures of an entry fit, so that drawing one visible picture never removes another.
const DRAWINGS_MAX: usize = OF_AN_ENTRY_MAX;
/// Maximum number of pictures whose state is kept in memory.
const STANDINGS_MAX: usize = 1000;

/// Switches pictures on or off until the program ends.
pub fn toggle_pictures(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let effects = switch_pictures(app, now, !app.ui.pictures.on);
    let how = app.ui.pictures.graphics.protocol.word();
    match cannot_be_shown(app).filter(|_| app.ui.pictures.on) {
        Some(why) => app.ui.say(now, why),
        None if app.ui.pictures.on => app.ui.say(
            now,
            format!("pictures on ({how}), fetched from their publishers as you read · I off"),
        ),
        None => app.ui.say(now, "pictures off: none are fetched or shown"),
    }
    effects
}

/// Switches pictures on or off. When they are switched on, failed pictures are requested again.
pub fn switch_pictures(app: &mut App, now: DateTime<Utc>, on: bool) -> Vec<ScreenEffect> {
    let mut effects = Vec::new();
    app.ui.pictures.on = on;
    if on {
        app.ui
            .pictures
            .standings
            .retain(|_, standing| !matches!(standing, PictureState::Failed(_)));
    } else {
        effects.extend(app.ask(now, Request::DropPictures));
        app.ui.pictures.drawings = Vec::new();
    }
    effects
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
pub fn follow_pictures(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let mut effects = Vec::new();
    let shown = are_shown(app);
    let open = app.ui.reader.as_ref().map(|reader| reader.entry.key).filter(|_| shown);
    if app.ui.pictures.entry != open {
        effects.extend(app.ask(now, Request::DropPictures));
        let standings = &mut app.ui.pictures.standings;
        if standings.len() > STANDINGS_MAX {
            standings.retain(|_, standing| *standing == PictureState::Asked);
        }
        app.ui.pictures.entry = open;
        app.ui.pictures.drawings.clear();
    }
    picture_places::arrange_pictures(app, shown);
    if open.is_none() {
        return effects;
    }
    let near = find_near(app);
    for (url, place) in &near {
        match app.ui.pictures.standings.get(url) {
            None => {
                app.ui.pictures.standings.insert(url.clone(), PictureState::Sought);
                effects.push(ScreenEffect::Picture(Box::new(PictureWork::Find(url.clone()))));
            }
            Some(PictureState::Kept(..)) if place.rows > 0 && !app.ui.pictures.drawing => {
                effects.extend(draw_picture(app, url, place));
            }
            Some(
                PictureState::Kept(..)
                | PictureState::Sought
                | PictureState::Asked
                | PictureState::Failed(_),
            ) => {}
        }
    }
    effects
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
pub fn take_answer(app: &mut App, now: DateTime<Utc>, news: PictureAnswer) -> Vec<ScreenEffect> {
    match news {
        PictureAnswer::Found(url, Some(Ok((width, height)))) => {
            app.ui.pictures.standings.insert(url, PictureState::Kept(width, height));
            Vec::new()
        }
        PictureAnswer::Found(url, Some(Err(why))) => {
            app.ui.pictures.standings.insert(url, PictureState::Failed(why));
            Vec::new()
        }
        PictureAnswer::Found(url, None) => ask_picture(app, now, url),
        PictureAnswer::Drawn(wanted, drawn) => {
            keep_drawing(app, &wanted, drawn);
            Vec::new()
        }
    }
}

fn keep_drawing(app: &mut App, wanted: &DrawingWanted, drawn: Result<Drawing, String>) {
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
            app.ui.pictures.standings.insert(wanted.url.clone(), PictureState::Failed(why));
        }
    }
}

/// Requests a picture from its site because it is not cached, if such a request is allowed.
fn ask_picture(app: &mut App, now: DateTime<Utc>, url: String) -> Vec<ScreenEffect> {
    let text = app.ui.reader.as_ref().and_then(|reader| reader.rendered.as_ref());
    let still = text.is_some_and(|text| text.images.iter().any(|image| image.url == url));
    let Some(key) = app.ui.pictures.entry.filter(|_| still) else {
        // The user has opened another entry, so the picture is not needed any more.
        app.ui.pictures.standings.remove(&url);
        return Vec::new();
    };
    let asked = match why_unsupported(&url) {
        Some(why) => Err(why.into()),
        None => app.try_ask(now, Request::FetchPicture { key, url: url.clone() }),
    };
    let (standing, effects) = match asked {
        Ok(effects) => (PictureState::Asked, effects),
        Err(why) => (PictureState::Failed(why.into()), Vec::new()),
    };
    app.ui.pictures.standings.insert(url, standing);
    effects
}
