//! What a feed offers, shown before it is subscribed to. The document that was fetched for it is the answer of the
//! first poll: nothing is asked twice.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::engine::effect::Effect;
use crate::engine::feeds::subscribe;
use crate::engine::feeds::subscribe::Addition;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::model::Model;
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::poll::fetch::Fetched;
use crate::engine::poll::fetch::Purpose;
use crate::engine::poll::plans;
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::polling;
use crate::engine::wording::entries;
use crate::feed::FeedDocument;
use crate::history::FeedKey;
use crate::schedule::duration_words;
use crate::ui::screen::Choice;
use crate::ui::screen::Overlay;

/// Titles that a preview shows.
pub const TITLES: usize = 5;
/// A number that no subscription has.
const NO_FEED: FeedKey = FeedKey(u32::MAX);

/// The feeds of a page that were looked at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Previews {
    /// The address that is being asked for; one at a time.
    asking: Option<String>,
    /// The reader wants to subscribe to it as soon as it is here.
    wanted: bool,
    /// What came of each address: a feed, or why there is none.
    known: BTreeMap<String, Result<(Box<Fetched>, FeedPreview), String>>,
}

/// What a feed offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedPreview {
    /// Its own title.
    pub title: Option<String>,
    /// Entries of its document.
    pub entries: usize,
    /// The newest of them with the dates they state, newest first.
    pub newest: Vec<(Option<DateTime<Utc>>, String)>,
    /// What it offers of its history.
    pub history: &'static str,
    /// How often it would be polled, and why so.
    pub schedule: String,
}

impl FeedPreview {
    /// It in one line.
    pub fn words(&self) -> String {
        format!("{} · {} · {}", entries(self.entries), self.history, self.schedule)
    }
}

impl Previews {
    /// What is known of an address; `None`: it was not looked at yet.
    pub fn of(&self, url: &str) -> Option<Result<&FeedPreview, &str>> {
        let known = self.known.get(url)?;
        Some(known.as_ref().map(|(_, preview)| preview).map_err(String::as_str))
    }
}

/// What a document offers.
pub fn preview(
    model: &Model,
    now: DateTime<Utc>,
    url: &str,
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
        schedule: schedule(model, now, url, document),
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

/// How often it would be polled, and why so.
fn schedule(model: &Model, now: DateTime<Utc>, url: &str, document: &FeedDocument) -> String {
    let record = SubscriptionRecord { url: url.to_owned(), ..SubscriptionRecord::default() };
    let mut feed = Subscription::new(NO_FEED, record);
    let facts = &mut feed.state.facts;
    (facts.last_ok, facts.last_try) = (Some(now), Some(now));
    facts.hints = document.hints.clone();
    let decision = plans::foreseen(&mut feed, &model.settings, model.salt, now);
    let why = plans::settled_words(decision.settled_by);
    decision.binding_seconds.map_or_else(
        || format!("not polled ({why})"),
        |seconds| format!("every {} ({why})", duration_words(i64::from(seconds))),
    )
}

/// Asks for the selected feed of the choice, unless it is known or another one is on its way.
pub fn look(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let Some(Overlay::Choice(choice)) = model.screen.overlay else {
        return polling::start(model, now);
    };
    if let Some(addition) = model.additions.get_mut(&choice.addition) {
        let selected = addition.found.get(choice.selected).map(|candidate| candidate.url.clone());
        let previews = &mut addition.previews;
        let other = previews.asking.is_some() && previews.asking != selected;
        let is_preview = |purpose: &Purpose| *purpose == Purpose::Discover(choice.addition);
        // One that waits for its turn is not asked for any more when the selection moves on.
        if other && model.traffic.drop_waiting(is_preview) > 0 {
            previews.asking = None;
        }
        let unknown = selected.filter(|url| !previews.known.contains_key(url));
        if let Some(url) = unknown.filter(|_| previews.asking.is_none()) {
            previews.asking = Some(url.clone());
            let purpose = Purpose::Discover(choice.addition);
            let waiting = Waiting { url, purpose, cause: PollCause::Subscribed };
            model.traffic.enqueue(waiting, &model.settings.network);
        }
    }
    polling::start(model, now)
}

/// An answer came: that of a preview is kept, anything else is given back to be subscribed to.
pub fn arrived(
    model: &Model,
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
    let known = match subscribe::feed_in(&fetched) {
        Ok(document) => {
            let preview = preview(model, now, asked, document);
            Ok((Box::new(fetched), preview))
        }
        Err(why) => Err(why),
    };
    addition.previews.known.insert(asked.to_owned(), known);
    None
}

/// The reader chose one of the feeds a page names, or none of them. What is here already is not asked for again.
pub fn chosen(model: &mut Model, now: DateTime<Utc>, choice: Choice, takes: bool) -> Vec<Effect> {
    let Some(mut addition) = model.additions.remove(&choice.addition) else { return Vec::new() };
    let wanted = addition.found.get(choice.selected).filter(|_| takes);
    let Some(url) = wanted.map(|candidate| candidate.url.clone()) else {
        addition.ended = Some(Err("none of its feeds was chosen".into()));
        addition.previews.known.clear();
        model.traffic.drop_waiting(|purpose| *purpose == Purpose::Discover(choice.addition));
        model.additions.insert(choice.addition, addition);
        return polling::start(model, now);
    };
    model.screen.say(now, format!("reading {url} …"));
    let here = addition.previews.known.remove(&url);
    addition.previews.known.clear();
    let is_preview = |purpose: &Purpose| *purpose == Purpose::Discover(choice.addition);
    let other = addition.previews.asking.as_ref() != Some(&url);
    if other && model.traffic.drop_waiting(is_preview) > 0 {
        addition.previews.asking = None;
    }
    addition.previews.wanted = addition.previews.asking.as_ref() == Some(&url);
    let on_its_way = addition.previews.wanted;
    if let Some(Ok((here, _))) = here {
        model.additions.insert(choice.addition, addition);
        return subscribe::fetched(model, now, choice.addition, &url, *here);
    }
    if !on_its_way {
        subscribe::ask(model, &mut addition, url);
    }
    model.additions.insert(choice.addition, addition);
    polling::start(model, now)
}
