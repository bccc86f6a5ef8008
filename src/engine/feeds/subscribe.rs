//! The journey of a subscription: an address is typed, asked, found to be a feed or a page that names one,
//! subscribed to, and its first document kept.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::archive_subscription::{Corrected, Mistaken, correct};
use super::feed_preview::{self, Previews};
use super::setting_table::FeedSettings;
use super::subscription::{Subscription, SubscriptionRecord};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::poll::classify_response::{not_a_feed, status_words};
use crate::engine::poll::fetch::{AnswerBody, Fetched, Purpose};
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::{plans, polling};
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use crate::feed::FeedDocument;
use crate::feed::discover::feed_address_of;
use crate::feed::discover::page_feeds::{Candidate, well_known};
use crate::history::FeedKey;

/// Pages asked on the way from a typed address to a feed.
const ASKED_MAX: u32 = 8;

/// An address the reader wants to subscribe to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscribe {
    /// Names this request.
    pub id: u32,
    /// What was typed or pasted.
    pub address: String,
    /// The reader's own title.
    pub title: Option<String>,
    /// The site, as far as known before the feed was read.
    pub site: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// The reader's settings for it.
    pub feed_settings: FeedSettings,
    /// Subscribe to the address as it is, without asking anybody.
    pub unasked: bool,
    /// Ask the reader where a page names several feeds; else the first one is taken.
    pub choose: bool,
}

/// A subscription under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Addition {
    /// What was wanted.
    pub wanted: Subscribe,
    /// Addresses still to try, and whether somebody named them or they are only usual.
    to_try: VecDeque<String>,
    /// Feeds the page named.
    pub found: Vec<Candidate>,
    /// What is known of them.
    pub previews: Previews,
    /// Pages asked so far.
    asked: u32,
    /// Why the first address is no feed.
    first_trouble: Option<String>,
    /// It led to an archive, whose feed is asked for.
    pub mistaken: Option<Box<Mistaken>>,
    /// How it ended; `None`: it goes on.
    pub ended: Option<Result<Added, String>>,
}

/// A subscription that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The feed.
    pub feed: FeedKey,
    /// It had been subscribed to before.
    pub known: bool,
}

/// Puts a subscription into the engine, due at once.
pub(in crate::engine) fn insert(
    engine: &mut Engine,
    now: DateTime<Utc>,
    wanted: &Subscribe,
    url: String,
) -> (FeedKey, SubscriptionRecord) {
    let feed = engine.new_feed_key();
    let record = SubscriptionRecord {
        url,
        own_title: wanted.title.clone(),
        site: wanted.site.clone(),
        tags: wanted.tags.clone(),
        added: now,
        feed_settings: wanted.feed_settings.clone(),
        ..SubscriptionRecord::default()
    };
    engine.feeds.insert(feed, Subscription::new(feed, record.clone()));
    plans::replan(engine, feed, now);
    (feed, record)
}

/// The reader wants to subscribe.
pub fn add(engine: &mut Engine, now: DateTime<Utc>, wanted: Subscribe) -> Vec<Effect> {
    let id = wanted.id;
    let address = address_of(&wanted.address);
    let mut addition = Addition {
        to_try: VecDeque::new(),
        found: Vec::new(),
        previews: Previews::default(),
        asked: 0,
        first_trouble: None,
        mistaken: None,
        ended: None,
        wanted,
    };
    let effects = match address {
        Err(why) => {
            addition.ended = Some(Err(why.clone()));
            engine.complain(why);
            Vec::new()
        }
        Ok(url) if addition.wanted.unasked => {
            let (added, effects) = subscribe(engine, now, &addition.wanted, &url);
            addition.ended = Some(Ok(added));
            effects
        }
        Ok(url) if engine.offline => {
            let why = format!("{url} cannot be asked: backissue was started with --offline");
            addition.ended = Some(Err(why.clone()));
            engine.complain(why);
            Vec::new()
        }
        Ok(url) => {
            engine.say(format!("looking for a feed at {url} …"));
            let known = feed_address_of(&url);
            addition.to_try.extend(known.into_iter().chain([url]));
            try_next(engine, &mut addition);
            polling::start(engine, now)
        }
    };
    engine.additions.insert(id, addition);
    effects
}

/// What the reader typed, as an address: `https://` is put before a bare host name.
pub fn address_of(typed: &str) -> Result<String, String> {
    let typed = typed.trim();
    let typed = typed.strip_prefix("feed:").map_or(typed, |rest| rest.trim_start_matches("//"));
    let with_scheme =
        if typed.contains("://") { typed.to_owned() } else { format!("https://{typed}") };
    let wrong = |why: &str| {
        format!(
            "'{typed}' is not the address of a site or feed ({why}); it should look like https://site.example/"
        )
    };
    let url = url::Url::parse(&with_scheme).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("only http and https can be read"));
    }
    match url.host() {
        Some(url::Host::Domain(name)) if !name.contains('.') && name != "localhost" => {
            Err(wrong("the host name has no dot"))
        }
        Some(_) => Ok(url.into()),
        None => Err(wrong("there is no host name")),
    }
}

fn try_next(engine: &mut Engine, addition: &mut Addition) {
    if let Some(url) = addition.to_try.pop_front() {
        addition.asked = addition.asked.saturating_add(1);
        let purpose = Purpose::Discover(addition.wanted.id);
        engine.host_queue.enqueue(
            Waiting { url, purpose, cause: PollCause::Subscribed },
            &engine.settings.network,
        );
    }
}

/// An address on the way was asked.
pub fn fetched(
    engine: &mut Engine,
    now: DateTime<Utc>,
    id: u32,
    asked: &str,
    fetched: Fetched,
) -> Vec<Effect> {
    let Some(mut addition) = engine.additions.remove(&id) else {
        return polling::start(engine, now);
    };
    let Some(fetched) = feed_preview::arrived(engine, now, &mut addition, asked, fetched) else {
        engine.additions.insert(id, addition);
        return feed_preview::look(engine, now, id);
    };
    let (asked, fetched) = match correct(&mut addition, asked, fetched) {
        Corrected::GoBy(asked, fetched) => (asked, *fetched),
        Corrected::Ask(current) => {
            addition.to_try.push_front(current);
            try_next(engine, &mut addition);
            engine.additions.insert(id, addition);
            return polling::start(engine, now);
        }
    };
    let mut effects = match found(&fetched) {
        Found::Feed(_) => {
            let (added, effects) = subscribe_to(engine, now, &addition.wanted, &asked, fetched);
            addition.ended = Some(Ok(added));
            effects
        }
        Found::Page(candidates, title) => {
            let named: Vec<String> =
                candidates.iter().map(|candidate| candidate.url.clone()).collect();
            let why = title.map_or_else(
                || "the page names no feed; try the address of the feed itself".into(),
                |title| {
                    format!("the page '{title}' names no feed; try the address of the feed itself")
                },
            );
            if addition.wanted.choose && candidates.len() > 1 && addition.found.is_empty() {
                let first = candidates.first().map(|candidate| candidate.url.clone());
                addition.found = candidates;
                engine.additions.insert(id, addition);
                engine.tell(Event::ChooseFeed(id));
                let preview = |url| feed_preview::select(engine, now, id, url);
                return first.map(preview).unwrap_or_default();
            }
            if addition.found.is_empty() {
                addition.found = candidates;
            }
            let more =
                if named.is_empty() && addition.asked == 1 { well_known(&asked) } else { named };
            addition.to_try.extend(more);
            go_on(engine, &mut addition, why);
            Vec::new()
        }
        Found::Nothing(why) => {
            go_on(engine, &mut addition, why);
            Vec::new()
        }
    };
    engine.additions.insert(id, addition);
    effects.extend(polling::start(engine, now));
    effects
}

/// Asks for one address and no other.
pub fn ask(engine: &mut Engine, addition: &mut Addition, url: String) {
    addition.to_try = VecDeque::from([url]);
    try_next(engine, addition);
}

/// Tries the next address, or ends with the reason the first one gave.
fn go_on(engine: &mut Engine, addition: &mut Addition, why: String) {
    let why = addition.first_trouble.get_or_insert(why).clone();
    if addition.to_try.is_empty() || addition.asked >= ASKED_MAX {
        let text = format!("no feed found at {}: {why}", addition.wanted.address.trim());
        engine.complain(text.clone());
        addition.ended = Some(Err(text));
    } else {
        try_next(engine, addition);
    }
}

/// The feed that an answer carries, or why there is none.
pub fn feed_in(fetched: &Fetched) -> Result<&FeedDocument, String> {
    match found(fetched) {
        Found::Feed(document) => Ok(document),
        Found::Page(..) => Err("it is no feed".into()),
        Found::Nothing(why) => Err(why),
    }
}

enum Found<'a> {
    Feed(&'a FeedDocument),
    Page(Vec<Candidate>, Option<String>),
    Nothing(String),
}

fn found(fetched: &Fetched) -> Found<'_> {
    let answer = match &fetched.result {
        Err(failure) => return Found::Nothing(failure.to_string()),
        Ok(answer) if !(200..300).contains(&answer.status) => {
            return Found::Nothing(format!("it answered {}", status_words(answer.status)));
        }
        Ok(answer) => answer,
    };
    match &answer.body {
        AnswerBody::Document(document) if document.is_truncated() => {
            Found::Nothing("the document is cut off".into())
        }
        AnswerBody::Document(document) if document.kind.is_feed() => Found::Feed(document),
        AnswerBody::Document(document) => Found::Nothing(not_a_feed(document)),
        AnswerBody::Page { title, candidates } => Found::Page(candidates.clone(), title.clone()),
        AnswerBody::Article(_) | AnswerBody::Listing(_) | AnswerBody::Picture(_) => {
            Found::Nothing("it is no feed".into())
        }
        AnswerBody::Empty | AnswerBody::Unread => Found::Nothing("the answer is empty".into()),
    }
}

/// Subscribes to an address without asking it.
pub fn subscribe(
    engine: &mut Engine,
    now: DateTime<Utc>,
    wanted: &Subscribe,
    url: &str,
) -> (Added, Vec<Effect>) {
    if let Some(feed) = subscribed_as(engine, url) {
        return (Added { feed, known: true }, Vec::new());
    }
    let saved = insert(engine, now, wanted, url.to_owned());
    let feed = saved.0;
    engine.tell(Event::FeedsChanged);
    engine.unsaved = engine.unsaved.saturating_add(1);
    (Added { feed, known: false }, vec![Effect::store(Job::SaveRecords(vec![saved]))])
}

/// Subscribes to a feed whose document has just come, and keeps the document.
fn subscribe_to(
    engine: &mut Engine,
    now: DateTime<Utc>,
    wanted: &Subscribe,
    asked: &str,
    fetched: Fetched,
) -> (Added, Vec<Effect>) {
    let permanent = fetched.hops.iter().take_while(|hop| matches!(hop.status, 301 | 308)).last();
    let url = permanent.map_or_else(|| asked.to_owned(), |hop| hop.to.clone());
    let (added, mut effects) = subscribe(engine, now, wanted, &url);
    let title = || {
        engine
            .feeds
            .get(&added.feed)
            .map(|feed| feed.record.shown_title().to_owned())
            .unwrap_or_default()
    };
    if added.known {
        let text = format!("'{}' is already subscribed", title());
        engine.say(text);
        return (added, effects);
    }
    let offer = feed_in(&fetched).ok();
    let offer = offer.map(|document| {
        format!(": {}", feed_preview::preview(engine, now, &url, document).words())
    });
    effects.extend(polling::first_document(engine, now, added.feed, fetched));
    engine.tell(Event::FeedsChanged);
    let title = engine.feeds.get(&added.feed).map_or("", |feed| feed.record.shown_title());
    let text = format!("subscribed to '{title}'{}", offer.unwrap_or_default());
    engine.say(text);
    engine.tell(Event::Subscribed { feed: added.feed, to_read: wanted.choose });
    (added, effects)
}

/// The feed with this address, in whatever spelling.
pub fn subscribed_as(engine: &Engine, url: &str) -> Option<FeedKey> {
    let wanted = comparable(url);
    engine.feeds.values().find(|feed| comparable(&feed.record.url) == wanted).map(|feed| feed.key)
}

/// An address in the spelling in which addresses are compared.
pub(in crate::engine) fn comparable(url: &str) -> String {
    url::Url::parse(url).map_or_else(
        |_| url.to_owned(),
        |mut url| {
            url.set_fragment(None);
            url.into()
        },
    )
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::subscribe::*;

    #[test]
    fn a_bare_host_name_gets_https() {
        assert_eq!(address_of(" site.example "), Ok("https://site.example/".into()));
        assert_eq!(address_of("feed://site.example/rss"), Ok("https://site.example/rss".into()));
        assert_eq!(
            address_of("feed:https://site.example/rss"),
            Ok("https://site.example/rss".into())
        );
        assert_eq!(address_of("http://localhost:8080/x"), Ok("http://localhost:8080/x".into()));
        assert_eq!(address_of("127.0.0.1:8080"), Ok("https://127.0.0.1:8080/".into()));
    }

    #[test]
    fn what_is_no_address_is_refused_with_an_example() {
        for typed in ["word", "", "ftp://a.example/", "file:///etc/passwd", "https://", "two words"]
        {
            assert!(address_of(typed).unwrap_err().contains("https://site.example/"), "{typed}");
        }
    }
}
