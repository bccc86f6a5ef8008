//! Fetches the pictures in entries with the same limits and pauses as for feeds. This module does not decode the pictures.

use backissue_core::{InputFlaw, flaw};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::page_fetches::asks_for_wait;
use super::pictures_ahead::{self, AheadPicture};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits;
use crate::engine::poll::classify_response::status_words;
use crate::engine::poll::fetch::{AnswerBody, Fetched, Purpose};
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::start_fetches;
use crate::engine::state::Engine;
use backissue_core::history::{EntryKey, address};

/// Maximum size of a picture, in bytes.
pub const PICTURE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Unsupported picture formats. A picture whose URL ends in one of these extensions is not requested.
const NOT_SHOWN: [(&str, &str); 6] = [
    (".svg", "SVG"),
    (".svgz", "SVG"),
    (".avif", "AVIF"),
    (".heic", "HEIC"),
    (".jxl", "JPEG XL"),
    (".tiff", "TIFF"),
];

/// Explains why a picture with an unsupported format is not requested. Returns `None` if the format may be supported.
pub fn why_unsupported(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let (_, kind) = NOT_SHOWN.iter().find(|(end, _)| path.ends_with(end))?;
    Some(format!("{kind} cannot be shown here"))
}

/// Adds the request for a picture to the queue of its site. The error is a sentence fragment with the reason for not fetching the
/// picture.
pub fn fetch(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    url: String,
) -> Result<Vec<Effect>, InputFlaw> {
    if engine.offline {
        return Err("offline".into());
    }
    if engine.host_queue.hurry_picture(&url) {
        // It was to be fetched ahead; now the screen waits for it.
        engine.pictures_ahead.forget(&url);
        return Ok(start_fetches::start(engine, now));
    }
    if let Some(why) = rate_limits::left_alone(engine, now, &url) {
        return Err(why.into());
    }
    let waiting = Waiting { url, purpose: Purpose::Picture(key), cause: PollCause::Asked };
    engine.host_queue.enqueue(waiting, &engine.settings.network);
    Ok(start_fetches::start(engine, now))
}

/// Drops the requests for pictures of the screen that have not started. Requests under way continue.
pub fn drop_waiting(engine: &mut Engine) -> Vec<Effect> {
    let dropped = engine.host_queue.take_waiting(|waiting| {
        matches!(waiting.purpose, Purpose::Picture(_)) && !waiting.is_ahead()
    });
    for waiting in dropped {
        engine.tell(Event::PictureDropped(waiting.url, None));
    }
    Vec::new()
}

/// Handles the result of the request for a picture.
pub fn fetched(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    waiting: Waiting,
    fetched: Fetched,
) -> Vec<Effect> {
    let url = &waiting.url;
    let mut effects = rate_limits::note_network(engine, now, url, &fetched, None).effects;
    let is_held =
        rate_limits::left_alone_until(engine, url, now).is_some() || asks_for_wait(&fetched);
    if is_held {
        drop_host(engine, url);
    }
    let wire_bytes = fetched.wire_bytes;
    let picture = read(fetched);
    if waiting.is_ahead() {
        // Without a network, and on a site that asks for a wait, a failure says nothing about the picture.
        let is_final = !is_held && engine.host_queue.probe_at.is_none();
        let (picture, ahead) =
            (picture.ok(), AheadPicture { url: waiting.url, wire_bytes, is_final });
        effects.extend(pictures_ahead::fetched(engine, now, key, ahead, picture));
    } else {
        engine.tell(Event::PictureFetched(waiting.url, picture));
    }
    effects.extend(start_fetches::start(engine, now));
    effects
}

/// Drops the waiting requests for pictures from the host of `url`, which asked for fewer requests.
fn drop_host(engine: &mut Engine, url: &str) {
    let limited = host(url);
    let dropped = engine.host_queue.take_waiting(|waiting| {
        matches!(waiting.purpose, Purpose::Picture(_)) && host(&waiting.url) == limited
    });
    for waiting in dropped {
        if waiting.is_ahead() {
            engine.pictures_ahead.forget(&waiting.url);
            continue;
        }
        let why = format!("{limited} asks for fewer requests");
        engine.tell(Event::PictureDropped(waiting.url, Some(why)));
    }
}

/// Returns the bytes of the picture in a response, or the reason that there is no picture.
fn read(fetched: Fetched) -> Result<Arc<Vec<u8>>, InputFlaw> {
    let answer = fetched.result.map_err(|failure| failure.to_string())?;
    match (answer.status, answer.body) {
        (200 | 203, AnswerBody::Picture(bytes)) if !bytes.is_empty() => Ok(bytes),
        (200..=299, _) => Err(flaw!("{} sent nothing", host(&answer.url))),
        (status, _) => Err(flaw!("{} at {}", status_words(status), host(&answer.url))),
    }
}

/// Returns the host of an address for use in a message.
fn host(url: &str) -> String {
    address::host(url).unwrap_or_default()
}
