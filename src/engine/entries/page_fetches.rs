//! Fetches the pages that entries link to, with the same limits and pauses as for feeds.
//!
//! A page is fetched when the user requests it, or opens an entry of a feed that is set to show pages, or ahead of that
//! ([`super::texts_ahead`]). The page is fetched once, and again only if the entry was edited since. The request waits in the queue
//! of the page's site.

use backissue_core::{InputFlaw, flaw};
use chrono::{DateTime, Utc};

use super::full_text::FullText;
use super::pictures_ahead;
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits::{self, left_alone_until, note_network};
use crate::engine::poll::classify_response::status_words;
use crate::engine::poll::fetch::{AnswerBody, Fetched, Purpose, Validators};
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::start_fetches;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::history::{EntryKey, FeedKey};

/// Queues the page that an entry links to, unless it is queued already. `kept` is the stored copy of the page. The error is a
/// sentence: the program is offline, or the host limits requests.
pub fn fetch_page(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    url: String,
    kept: Option<Box<FullText>>,
) -> Result<Vec<Effect>, InputFlaw> {
    let is_queued = queue_page(engine, now, key, url, kept, PollCause::Asked)?;
    Ok(if is_queued { start_fetches::start(engine, now) } else { Vec::new() })
}

/// Like [`fetch_page`], but starts no request. Returns `false` if the page was queued already.
pub(super) fn queue_page(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    url: String,
    kept: Option<Box<FullText>>,
    cause: PollCause,
) -> Result<bool, InputFlaw> {
    if engine.offline {
        return Err("offline: the full text cannot be fetched".into());
    }
    if engine.pages.contains_key(&key) {
        if cause == PollCause::Asked {
            put_first(engine, key);
        }
        return Ok(false);
    }
    if let Some(why) = rate_limits::left_alone(engine, now, &url) {
        return Err(flaw!("no full text: {why}"));
    }
    engine.pages.insert(key, kept.map(|kept| *kept));
    let waiting = Waiting { url, purpose: Purpose::FullText(key), cause };
    engine.host_queue.enqueue(waiting, &engine.settings.network);
    Ok(true)
}

/// Lets a page that is to be fetched ahead wait with the requests of the user.
fn put_first(engine: &mut Engine, key: EntryKey) {
    let is_meant = |waiting: &Waiting| waiting.purpose == Purpose::FullText(key);
    for waiting in engine.host_queue.take_waiting(is_meant) {
        let waiting = Waiting { cause: PollCause::Asked, ..waiting };
        engine.host_queue.enqueue(waiting, &engine.settings.network);
    }
}

/// Handles the result of the request for a page.
pub fn fetched(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    waiting: &Waiting,
    fetched: Fetched,
) -> Vec<Effect> {
    let url = &waiting.url;
    let kept = engine.pages.remove(&key).flatten();
    let mut effects = note_network(engine, now, url, &fetched, None).effects;
    // Without a network, and on a site that asks for a wait, a failure says nothing about the page: the next poll looks again.
    let is_hindered = engine.host_queue.probe_at.is_some()
        || left_alone_until(engine, url, now).is_some()
        || asks_for_wait(&fetched);
    if !(is_hindered && waiting.is_ahead() && kept.is_none()) {
        effects.extend(keep_page(engine, now, key, url, kept, fetched));
    }
    effects.extend(pictures_ahead::look(engine, now, key.feed));
    effects.extend(start_fetches::start(engine, now));
    effects
}

/// Checks whether a response with status 429 or 503 asks for fewer requests.
pub(super) fn asks_for_wait(fetched: &Fetched) -> bool {
    fetched.result.as_ref().is_ok_and(|answer| matches!(answer.status, 429 | 503))
}

/// Drops the waiting requests for pages of a feed that nobody waits for.
pub fn drop_ahead(engine: &mut Engine, feed: FeedKey) {
    let dropped = engine.host_queue.take_waiting(|waiting| {
        matches!(waiting.purpose, Purpose::FullText(key) if key.feed == feed) && waiting.is_ahead()
    });
    for waiting in dropped {
        if let Purpose::FullText(key) = waiting.purpose {
            engine.pages.remove(&key);
        }
    }
}

fn keep_page(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    url: &str,
    kept: Option<FullText>,
    fetched: Fetched,
) -> Vec<Effect> {
    let judged = classify_page(fetched, now, kept.as_ref());
    let failed = judged.as_ref().err().map(ToString::to_string);
    let full = match (judged, kept) {
        (Ok(full), _) => full,
        // The request failed: keep the text that was stored earlier.
        (Err(_), Some(kept)) => FullText { asked: now, ..kept },
        (Err(why), None) => FullText {
            url: url.to_owned(),
            asked: now,
            failed: Some(why.into()),
            ..FullText::default()
        },
    };
    let full = Box::new(full);
    engine.tell(Event::PageFetched { key, full: full.clone(), failed });
    vec![Effect::store(Job::SaveFullText(key, full))]
}

/// Returns the text of the page in a response, or the reason that there is no text.
fn classify_page(
    fetched: Fetched,
    now: DateTime<Utc>,
    kept: Option<&FullText>,
) -> Result<FullText, InputFlaw> {
    let answer = fetched.result.map_err(|failure| failure.to_string())?;
    if let Some(wall) = answer.bot_wall() {
        return Err(flaw!("the server answered {}", wall.words(&status_words(answer.status))));
    }
    match (answer.status, answer.body) {
        (304, _) => {
            let kept = kept.cloned().ok_or("the server says that nothing has changed")?;
            Ok(FullText { asked: now, ..kept })
        }
        (200 | 203, AnswerBody::Article(article)) => {
            let validators = Validators {
                url: answer.url.clone(),
                etag: answer.headers.etag,
                last_modified: answer.headers.last_modified,
            };
            Ok(FullText { url: answer.url, html: article?, asked: now, validators, failed: None })
        }
        (200..=299, _) => Err("the page is empty".into()),
        (status, _) => Err(flaw!("the server answered {}", status_words(status))),
    }
}
