//! The pictures of the entry being read: looked for among those that are kept, else fetched as politely as anything
//! else, and only while the reader wants pictures.
//!
//! The bytes never enter the model: it knows of each picture how it stands, and holds the few drawings that are near
//! the screen. What is near the screen comes first, and what has failed is not asked for again by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::picture_places;
use super::picture_places::PicturePlace;
use crate::engine::effect::Effect;
use crate::engine::entries::full_text;
use crate::engine::model::Model;
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits;
use crate::engine::poll::classify_response::status_words;
use crate::engine::poll::fetch::AnswerBody;
use crate::engine::poll::fetch::FetchId;
use crate::engine::poll::fetch::Fetched;
use crate::engine::poll::fetch::Purpose;
use crate::engine::poll::fetch::Request;
use crate::engine::poll::fetch::RequestKind;
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::polling;
use crate::history::EntryKey;
use crate::history::address;
use crate::ui::theme::colours::Colours;
use crate::ui::theme::graphics::Drawing;
use crate::ui::theme::graphics::DrawingWanted;
use crate::ui::theme::graphics::Graphics;
use crate::ui::theme::graphics::Protocol;

/// Pictures of one entry at most.
pub const OF_AN_ENTRY_MAX: usize = 30;
/// Bytes of a picture at most, as it comes.
pub const BYTES_MAX: usize = 8 * 1024 * 1024;
/// Drawings kept in memory: all of an entry, so that none drives out another that is beside it on the screen.
const DRAWINGS_MAX: usize = OF_AN_ENTRY_MAX;
/// Pictures of which is remembered how they stand.
const STANDINGS_MAX: usize = 1000;
/// Kinds that are not shown; by the ends of their addresses they are not even asked for.
const NOT_SHOWN: [(&str, &str); 6] = [
    (".svg", "SVG"),
    (".svgz", "SVG"),
    (".avif", "AVIF"),
    (".heic", "HEIC"),
    (".jxl", "JPEG XL"),
    (".tiff", "TIFF"),
];

/// The reader's pictures.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pictures {
    /// They are wanted.
    pub on: bool,
    /// What the terminal can show.
    pub graphics: Graphics,
    standings: BTreeMap<String, Standing>,
    /// The entry they belong to.
    entry: Option<EntryKey>,
    /// Ready to be shown, the one wanted last behind.
    drawings: Vec<(DrawingWanted, Arc<Drawing>)>,
    /// Being made ready.
    drawing: bool,
}

/// How a picture stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is looked for among those that are kept.
    Sought,
    /// It waits for its site, or is being fetched.
    Asked,
    /// It is kept; its width and height in pixels.
    Kept(u32, u32),
    /// It is not shown; why, as the rest of a sentence.
    Failed(String),
}

/// Something asked about pictures.
#[derive(Debug, Clone, PartialEq)]
pub enum PictureWish {
    /// Look whether it is kept.
    Find(String),
    /// Keep it, if it is a picture that can be shown.
    Keep(String, Arc<Vec<u8>>),
    /// Make it ready for the screen.
    Draw(DrawingWanted),
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub enum PictureNews {
    /// Width and height of one that is kept, or why it is not shown; `None`: it is not kept.
    Found(String, Option<Result<(u32, u32), String>>),
    /// One is ready, or cannot be made ready; a fragment.
    Drawn(DrawingWanted, Result<Drawing, String>),
}

impl Pictures {
    /// How a picture stands; `None`: nobody has looked yet.
    pub fn standing(&self, url: &str) -> Option<&Standing> {
        self.standings.get(url)
    }

    /// The drawing of a picture in a size, if it is ready.
    pub fn drawing(&self, url: &str, cells: (u16, u16)) -> Option<&Drawing> {
        let found = self.drawings.iter().find(|(made, _)| made.url == url && made.cells == cells);
        found.map(|(_, drawing)| &**drawing)
    }

    /// Everything that is ready.
    pub fn drawings(&self) -> impl Iterator<Item = &Drawing> {
        self.drawings.iter().map(|(_, drawing)| &**drawing)
    }
}

/// Why no picture can be shown, whatever the reader wants; a sentence.
fn cannot_be_shown(model: &Model) -> Option<&'static str> {
    if model.screen.appearance.plain {
        return Some("a plain screen has no pictures: their words stand in the text");
    }
    let bare = model.screen.appearance.colours == Colours::None;
    let blocks = model.pictures.graphics.protocol == Protocol::HalfBlocks;
    (bare && blocks).then_some("this terminal is shown no colours, and so no pictures")
}

/// Whether pictures are to be seen.
pub fn are_shown(model: &Model) -> bool {
    model.pictures.on && cannot_be_shown(model).is_none()
}

/// Switches pictures on or off, for this session.
pub fn toggle(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    switch(model, !model.pictures.on);
    let how = model.pictures.graphics.protocol.word();
    match cannot_be_shown(model).filter(|_| model.pictures.on) {
        Some(why) => model.screen.say(now, why),
        None if model.pictures.on => model.screen.say(
            now,
            format!("pictures on ({how}), fetched from their publishers as you read · I off"),
        ),
        None => model.screen.say(now, "pictures off: none is fetched or shown"),
    }
    Vec::new()
}

/// Pictures are wanted, or not. Whoever switches them on wants to try again what failed.
pub fn switch(model: &mut Model, on: bool) {
    model.pictures.on = on;
    if on {
        model.pictures.standings.retain(|_, standing| !matches!(standing, Standing::Failed(_)));
    } else {
        give_up_waiting(model);
        model.pictures.drawings = Vec::new();
    }
}

/// The terminal shows pictures in this way.
pub fn shown_by(model: &mut Model, graphics: Graphics) {
    if model.pictures.graphics != graphics {
        model.pictures.graphics = graphics;
        model.pictures.drawings = Vec::new();
    }
}

/// Something happened: places are kept for the pictures of the text, and those near the screen are asked for.
pub fn follow(model: &mut Model) -> Vec<Effect> {
    let shown = are_shown(model);
    let open = model.screen.reader.as_ref().map(|reader| reader.entry.key).filter(|_| shown);
    if model.pictures.entry != open {
        give_up_waiting(model);
        let standings = &mut model.pictures.standings;
        if standings.len() > STANDINGS_MAX {
            standings.retain(|_, standing| *standing == Standing::Asked);
        }
        model.pictures.entry = open;
        model.pictures.drawings.clear();
    }
    picture_places::arrange(model, shown);
    if open.is_none() {
        return Vec::new();
    }
    let near = near(model);
    let mut effects = Vec::new();
    for (url, place) in &near {
        match model.pictures.standings.get(url) {
            None => {
                model.pictures.standings.insert(url.clone(), Standing::Sought);
                effects.push(Effect::Picture(Box::new(PictureWish::Find(url.clone()))));
            }
            Some(Standing::Kept(..)) if place.rows > 0 && !model.pictures.drawing => {
                effects.extend(draw(model, url, place));
            }
            Some(Standing::Kept(..) | Standing::Sought | Standing::Asked | Standing::Failed(_)) => {
            }
        }
    }
    effects
}

/// The pictures on the screen and a page around it, the nearest first.
fn near(model: &Model) -> Vec<(String, PicturePlace)> {
    let Some(reader) = &model.screen.reader else { return Vec::new() };
    let Some(text) = &reader.rendered else { return Vec::new() };
    let rows = usize::from(model.screen.viewport.reader_rows);
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

/// Lets a picture be made ready for its place, unless it is.
fn draw(model: &mut Model, url: &str, place: &PicturePlace) -> Option<Effect> {
    let pictures = &mut model.pictures;
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
        colours: model.screen.appearance.colours,
    };
    pictures.drawing = true;
    Some(Effect::Picture(Box::new(PictureWish::Draw(wanted))))
}

/// What waits for its site is not waited for any longer; what is under way comes and is kept.
fn give_up_waiting(model: &mut Model) {
    let dropped =
        model.traffic.take_waiting(|waiting| matches!(waiting.purpose, Purpose::Picture(_)));
    for waiting in dropped {
        model.pictures.standings.remove(&waiting.url);
    }
}

/// Something came of a wish about pictures.
pub fn told(model: &mut Model, now: DateTime<Utc>, news: PictureNews) -> Vec<Effect> {
    match news {
        PictureNews::Found(url, Some(Ok((width, height)))) => {
            model.pictures.standings.insert(url, Standing::Kept(width, height));
            Vec::new()
        }
        PictureNews::Found(url, Some(Err(why))) => {
            model.pictures.standings.insert(url, Standing::Failed(why));
            Vec::new()
        }
        PictureNews::Found(url, None) => ask_for(model, now, url),
        PictureNews::Drawn(wanted, drawn) => {
            drawn_as_wanted(model, &wanted, drawn);
            Vec::new()
        }
    }
}

fn drawn_as_wanted(model: &mut Model, wanted: &DrawingWanted, drawn: Result<Drawing, String>) {
    // One is made at a time, also where the reader goes on faster than that.
    model.pictures.drawing = false;
    let pictures = &model.pictures;
    if pictures.entry.is_none() || wanted.graphics != pictures.graphics {
        return;
    }
    match drawn {
        Ok(drawing) => {
            model.pictures.drawings.push((wanted.clone(), Arc::new(drawing)));
            let excess = model.pictures.drawings.len().saturating_sub(DRAWINGS_MAX);
            model.pictures.drawings.drain(..excess);
        }
        Err(why) => {
            model.pictures.standings.insert(wanted.url.clone(), Standing::Failed(why));
        }
    }
}

/// Puts a picture that is not kept into the queue of its site, if it may be asked for.
fn ask_for(model: &mut Model, now: DateTime<Utc>, url: String) -> Vec<Effect> {
    let text = model.screen.reader.as_ref().and_then(|reader| reader.rendered.as_ref());
    let still = text.is_some_and(|text| text.images.iter().any(|image| image.url == url));
    let Some(key) = model.pictures.entry.filter(|_| still) else {
        // Another entry is read by now.
        model.pictures.standings.remove(&url);
        return Vec::new();
    };
    if let Some(why) = why_not(model, now, &url) {
        model.pictures.standings.insert(url, Standing::Failed(why));
        return Vec::new();
    }
    model.pictures.standings.insert(url.clone(), Standing::Asked);
    let waiting = Waiting { url, purpose: Purpose::Picture(key), cause: PollCause::Asked };
    model.traffic.enqueue(waiting, &model.settings.network);
    polling::start(model, now)
}

/// Why a picture is not asked for.
fn why_not(model: &Model, now: DateTime<Utc>, url: &str) -> Option<String> {
    if model.offline {
        return Some("offline".to_owned());
    }
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    if let Some((_, kind)) = NOT_SHOWN.iter().find(|(end, _)| path.ends_with(end)) {
        return Some(format!("{kind} cannot be shown here"));
    }
    rate_limits::left_alone(model, now, url)
}

/// The request for a picture. It may lead wherever a supplied address may (SPEC D.6).
pub fn ask(model: &Model, id: FetchId, key: EntryKey, url: String) -> Vec<Effect> {
    let (address_source, allow_insecure) = full_text::address_source(model, key, &url);
    let kind = RequestKind::Picture;
    vec![Effect::Fetch(Request { id, url, validators: None, kind, address_source, allow_insecure })]
}

/// The request for a picture ended.
pub fn fetched(
    model: &mut Model,
    now: DateTime<Utc>,
    url: String,
    fetched: Fetched,
) -> Vec<Effect> {
    let mut effects = full_text::noted(model, now, &url, &fetched);
    if rate_limits::left_alone_until(model, &url, now).is_some() || is_limited(&fetched) {
        give_up_host(model, &url);
    }
    match judge(fetched) {
        Ok(bytes) => {
            effects.push(Effect::Picture(Box::new(PictureWish::Keep(url, bytes))));
        }
        Err(why) => {
            model.pictures.standings.insert(url, Standing::Failed(why));
        }
    }
    effects.extend(polling::start(model, now));
    effects
}

/// The host asks for fewer requests.
fn is_limited(fetched: &Fetched) -> bool {
    fetched.result.as_ref().is_ok_and(|answer| matches!(answer.status, 429 | 503))
}

/// The host wants to be left alone: its other pictures are not asked for.
fn give_up_host(model: &mut Model, url: &str) {
    let limited = host(url);
    let dropped = model.traffic.take_waiting(|waiting| {
        matches!(waiting.purpose, Purpose::Picture(_)) && host(&waiting.url) == limited
    });
    for waiting in dropped {
        let why = format!("{limited} asks for fewer requests");
        model.pictures.standings.insert(waiting.url, Standing::Failed(why));
    }
}

/// The bytes that an answer brings; an error says why it brings none.
fn judge(fetched: Fetched) -> Result<Arc<Vec<u8>>, String> {
    let answer = fetched.result.map_err(|failure| failure.to_string())?;
    match (answer.status, answer.body) {
        (200 | 203, AnswerBody::Picture(bytes)) if !bytes.is_empty() => Ok(bytes),
        (200..=299, _) => Err(format!("{} sent nothing", host(&answer.url))),
        (status, _) => Err(format!("{} at {}", status_words(status), host(&answer.url))),
    }
}

/// The host of an address, for a sentence.
fn host(url: &str) -> String {
    address::host(url).unwrap_or_default()
}
