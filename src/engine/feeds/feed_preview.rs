//! Preview of a feed before it is subscribed. The document fetched for the preview also serves as the response of the first poll,
//! so that nothing is requested twice.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::addition::{self, Addition, FeedPreview};
use super::subscription::{Subscription, SubscriptionRecord};
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::poll::fetch::{Fetched, Purpose};
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::{learn, poll_stage, start_fetches};
use crate::engine::state::Engine;
use backissue_core::feed::FeedDocument;
use backissue_core::history::FeedKey;
use backissue_core::schedule::learning::{Fetch, Publications, Stamp};
use backissue_core::schedule::{self, Learned, PlanKind, SettledBy};
use backissue_core::words;

/// Maximum number of entry titles in the preview of a feed.
pub const TITLES: usize = 5;

/// Key of the feed in a preview. No subscription has this key.
const NO_FEED: FeedKey = FeedKey(u32::MAX);

/// Returns the preview of a feed document.
pub fn preview(
    engine: &Engine,
    now: DateTime<Utc>,
    url: &str,
    fetched: &Fetched,
    document: &FeedDocument,
) -> FeedPreview {
    let dated = document.entries.iter().map(|entry| {
        let title = entry.title.clone().unwrap_or_else(|| "(no title)".to_owned());
        (entry.published.or(entry.updated), title)
    });
    let mut newest: Vec<_> = dated.collect();
    newest.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    newest.truncate(TITLES);
    FeedPreview {
        title: document.head.title.clone(),
        entries: document.entries.len(),
        newest,
        history: history(document),
        schedule: describe_schedule(engine, now, url, fetched, document),
    }
}

fn history(document: &FeedDocument) -> &'static str {
    let history = &document.history;
    if history.complete {
        "the whole feed in one document"
    } else if history.prev_archive.is_some() {
        "archives of older entries"
    } else if history.next.is_some() {
        "pages of older entries"
    } else {
        "no older entries offered"
    }
}

/// Describes the expected poll interval and the reason for it. If no interval determines the next poll, describes the time of that
/// poll. Uses the same input as for a subscribed feed: hints of the document and the server, and publication times in the document.
fn describe_schedule(
    engine: &Engine,
    now: DateTime<Utc>,
    url: &str,
    fetched: &Fetched,
    document: &FeedDocument,
) -> String {
    let record = SubscriptionRecord { url: url.to_owned(), ..SubscriptionRecord::default() };
    let mut feed = Subscription::new(NO_FEED, record);
    let facts = &mut feed.state.facts;
    facts.hints = document.hints.clone();
    if let Ok(answer) = &fetched.result {
        facts.record_success(answer.status, &answer.headers.times(), now, now);
    } else {
        (facts.last_ok, facts.last_try) = (Some(now), Some(now));
    }
    learn::foreseen(&mut feed, &engine.settings, engine.salt, now);
    feed.state.facts.learned = learned(engine, now, &feed, document);
    let decision = learn::foreseen(&mut feed, &engine.settings, engine.salt, now);
    let why = decision.settled_by.in_words();
    let held = decision.kind != PlanKind::Interval
        || matches!(
            decision.settled_by,
            SettledBy::CacheLifetime
                | SettledBy::RetryAfter
                | SettledBy::SkipHours
                | SettledBy::SkipDays
        );
    match (decision.binding_seconds.filter(|_| !held), decision.next_poll) {
        (_, None) => format!("not polled ({why})"),
        (Some(seconds), Some(_)) => {
            format!("{} ({why})", words::about_interval_words(i64::from(seconds)))
        }
        (None, Some(at)) => {
            format!("next check {} ({why})", words::when_words(at, now, engine.zone))
        }
    }
}

/// Returns the learned plan that results from the publication times in the document. Returns `None` if learning does not apply to
/// the feed or there is too little data.
fn learned(
    engine: &Engine,
    now: DateTime<Utc>,
    feed: &Subscription,
    document: &FeedDocument,
) -> Option<Learned> {
    if !poll_stage::counts(feed, &engine.settings) {
        return None;
    }
    let stamps: Vec<Option<Stamp>> = document.entries.iter().map(Stamp::of).collect();
    let document_entries = document.entries.len();
    let mut publications = Publications::default();
    publications.learn_from_fetch(&Fetch {
        previous: None,
        at: now,
        stamps: &stamps,
        document_entries,
    });
    let plan = schedule::learning::learn(&publications, &learn::terms(engine, feed), now)?;
    let facts = &feed.state.facts;
    poll_stage::is_enough(&plan)
        .then(|| Learned::by_plan(Arc::new(plan), facts.last_ok, &facts.settings))
}

/// Selects one of the feeds that a page names and requests it, unless its preview exists.
pub fn select(engine: &mut Engine, now: DateTime<Utc>, id: u32, url: String) {
    if let Some(addition) = engine.additions.get_mut(&id) {
        addition.previews.selected = Some(url);
    }
    look(engine, now, id);
}

/// Requests the selected feed of an addition, unless its preview exists or another request is under way.
pub fn look(engine: &mut Engine, now: DateTime<Utc>, id: u32) {
    if let Some(addition) = engine.additions.get_mut(&id).filter(|open| open.ended.is_none()) {
        let previews = &mut addition.previews;
        let selected = previews.selected.clone();
        let other = previews.asking.is_some() && previews.asking != selected;
        let is_preview = |purpose: &Purpose| *purpose == Purpose::Discover(id);
        // The user selected another feed: drop the queued request for the previous preview.
        if other && engine.host_queue.drop_waiting(is_preview) > 0 {
            previews.asking = None;
        }
        let unknown = selected.filter(|url| !previews.known.contains_key(url));
        if let Some(url) = unknown.filter(|_| previews.asking.is_none()) {
            previews.asking = Some(url.clone());
            let purpose = Purpose::Discover(id);
            let waiting = Waiting { url, purpose, cause: PollCause::Subscribed };
            engine.host_queue.enqueue(waiting, &engine.settings.network);
        }
    }
    start_fetches::start(engine, now);
}

/// Handles a response while a subscription is being added. Stores the response to a request for a preview. Returns any other
/// response, because the caller uses it to subscribe.
pub fn arrived(
    engine: &Engine,
    now: DateTime<Utc>,
    addition: &mut Addition,
    asked: &str,
    fetched: Fetched,
) -> Option<Fetched> {
    if addition.previews.asking.as_deref() != Some(asked) {
        return Some(fetched).filter(|_| addition.ended.is_none());
    }
    addition.previews.asking = None;
    if addition.ended.is_some() {
        return None;
    }
    if std::mem::take(&mut addition.previews.wanted) {
        return Some(fetched);
    }
    let known = match addition::feed_in(&fetched) {
        Ok(document) => {
            let preview = preview(engine, now, asked, &fetched, document);
            Ok((Box::new(fetched), preview))
        }
        Err(why) => Err(why),
    };
    addition.previews.known.insert(asked.to_owned(), known);
    None
}
