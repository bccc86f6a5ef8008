//! The full text of an entry: the page it links to, asked for as politely as a feed, kept, and shown in place of the
//! feed's text.
//!
//! A page is asked for when the reader says so, or when an entry is opened of a feed whose reader always wants it; once,
//! and again only if the entry was edited since. It waits in the queue of its site like everything else.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::feeds::subscription::Validators;
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits;
use crate::engine::politeness::reachability::Sign;
use crate::engine::poll::classify_response::status_words;
use crate::engine::poll::fetch::{
    AddressSource, AnswerBody, FetchId, FetchRequest, Fetched, Purpose, RequestKind,
};
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::polling;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use crate::history::EntryKey;
use crate::schedule::Wait;

/// What is kept of the page an entry links to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FullText {
    /// Where it came from.
    pub url: String,
    /// Its text as marked up.
    pub html: String,
    /// When it was asked for last.
    pub asked: DateTime<Utc>,
    /// Validators of the page.
    pub validators: Validators,
    /// Why there is no text, as a sentence.
    pub failed: Option<String>,
}

/// Puts the page that an entry links to into its site's queue, unless it is there already. `kept` is what was kept of it
/// before. An error is a sentence: offline, or the host wants to be left alone.
pub fn fetch_page(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    url: String,
    kept: Option<Box<FullText>>,
) -> Result<Vec<Effect>, String> {
    if engine.offline {
        return Err("offline: the full text cannot be fetched".to_owned());
    }
    if engine.pages.contains_key(&key) {
        return Ok(Vec::new());
    }
    if let Some(why) = rate_limits::left_alone(engine, now, &url) {
        return Err(format!("no full text: {why}"));
    }
    engine.pages.insert(key, kept.map(|kept| *kept));
    let waiting = Waiting { url, purpose: Purpose::FullText(key), cause: PollCause::Asked };
    engine.host_queue.enqueue(waiting, &engine.settings.network);
    Ok(polling::start(engine, now))
}
/// The request for a page. It may lead wherever a supplied address may (SPEC D.6).
pub fn ask(engine: &Engine, id: FetchId, key: EntryKey, url: String) -> Vec<Effect> {
    let (address_source, allow_insecure) = address_source(engine, key, &url);
    let kept = engine.pages.get(&key).and_then(Option::as_ref);
    let validators = kept.map(|full| full.validators.clone());
    vec![Effect::Fetch(FetchRequest {
        id,
        url,
        validators,
        kind: RequestKind::Page,
        address_source,
        allow_insecure,
    })]
}

/// Where an address that an entry names may lead, and whether without TLS.
pub fn address_source(engine: &Engine, key: EntryKey, url: &str) -> (AddressSource, bool) {
    let feed = engine.feeds.get(&key.feed);
    let by = feed.map(|feed| feed.record.url.clone()).unwrap_or_default();
    let allowed = feed.is_some_and(|feed| feed.record.feed_settings.allow_insecure);
    // A feed of the reader's own network may lead to pages beside it; any other only to public ones.
    let heard = feed.and_then(|feed| feed.history.heard.as_ref());
    let public = heard.is_none_or(|heard| heard.public);
    // Where the entry itself leads over http there is nothing that could be made insecure.
    (AddressSource::Supplied { by, public }, allowed || url.starts_with("http:"))
}

/// The request for a page ended.
pub fn fetched(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    url: &str,
    fetched: Fetched,
) -> Vec<Effect> {
    let kept = engine.pages.remove(&key).flatten();
    let mut effects = note_network(engine, now, url, &fetched);
    effects.extend(keep_page(engine, now, key, url, kept, fetched));
    effects.extend(polling::start(engine, now));
    effects
}

/// What the end of a fetch says about the network, and about its host: a 429 keeps the feeds there away.
pub fn note_network(
    engine: &mut Engine,
    now: DateTime<Utc>,
    url: &str,
    fetched: &Fetched,
) -> Vec<Effect> {
    let mut effects = Vec::new();
    match engine.reachability.note(now, url, fetched, None) {
        Sign::Offline(suspects) => effects.extend(rate_limits::went_offline(engine, now, suspects)),
        Sign::Online => rate_limits::came_online(&mut engine.host_queue),
        Sign::Unclear => {}
    }
    let limited = fetched.result.as_ref().ok().filter(|answer| answer.status == 429);
    if let Some(answer) = limited {
        let wait = Wait::of_host(&answer.headers.times(), answer.received);
        effects.extend(rate_limits::spread_wait(engine, now, url, None, wait));
    }
    effects
}

/// The host wants to be left alone, or the feed was given up: the page is not asked for after all.
pub fn dropped(engine: &mut Engine, key: EntryKey, why: &str) {
    engine.pages.remove(&key);
    engine.tell(Event::PageDropped(key, why.to_owned()));
}

fn keep_page(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    url: &str,
    kept: Option<FullText>,
    fetched: Fetched,
) -> Vec<Effect> {
    let judged = judge(fetched, now, kept.as_ref());
    let failed = judged.as_ref().err().cloned();
    let full = match (judged, kept) {
        (Ok(full), _) => full,
        // A page that was read once stays.
        (Err(_), Some(kept)) => FullText { asked: now, ..kept },
        (Err(why), None) => {
            FullText { url: url.to_owned(), asked: now, failed: Some(why), ..FullText::default() }
        }
    };
    let full = Box::new(full);
    engine.tell(Event::PageFetched { key, full: full.clone(), failed });
    vec![Effect::store(Job::SaveFullText(key, full))]
}

/// What an answer brings; an error says why it brings nothing.
fn judge(
    fetched: Fetched,
    now: DateTime<Utc>,
    kept: Option<&FullText>,
) -> Result<FullText, String> {
    let answer = fetched.result.map_err(|failure| failure.to_string())?;
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
        (200..=299, _) => Err("the page is empty".to_owned()),
        (status, _) => Err(format!("the page answered {}", status_words(status))),
    }
}
