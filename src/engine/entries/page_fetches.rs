//! The pages that entries link to, asked for as politely as a feed.
//!
//! A page is asked for when the reader says so, or when an entry is opened of a feed whose reader always wants it; once,
//! and again only if the entry was edited since. It waits in the queue of its site like everything else.

use chrono::{DateTime, Utc};

use super::full_text::{FullText, judge};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits::{self, note_network};
use crate::engine::poll::fetch::{Fetched, Purpose};
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::start_fetches;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::history::EntryKey;

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
    Ok(start_fetches::start(engine, now))
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
    let mut effects = note_network(engine, now, url, &fetched, None).effects;
    effects.extend(keep_page(engine, now, key, url, kept, fetched));
    effects.extend(start_fetches::start(engine, now));
    effects
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
