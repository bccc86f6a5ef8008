//! A server that speaks the API of Miniflux (`/v1`): a small state, and the habits of old and new versions.

#![expect(clippy::disallowed_types, reason = "the threads of a test share the state of the server")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use chrono::DateTime;
use serde_json::{Value, json};
use url::form_urlencoded;

use super::plain_http::{self, Answered, Received, TOO_LARGE};

/// Time of the server at its start, in Unix seconds: years before the clock of the test.
const STARTED: i64 = 1_700_000_000;
/// Basic authentication of ann with the password "secret", and with "other".
const LOGINS: [(&str, &str); 2] =
    [("secret", "Basic YW5uOnNlY3JldA=="), ("other", "Basic YW5uOm90aGVy")];
/// Why a change of no entry fails.
const NOTHING_UPDATED: &str = "store: nothing has been updated";

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) feed: u64,
    pub(crate) is_read: bool,
    pub(crate) is_starred: bool,
    /// Time of the last change of its marks by the clock of the server.
    pub(crate) changed: i64,
}

/// A subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Feed {
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) category: u64,
}

/// The state of the server, which a test reads and changes.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) feeds: BTreeMap<u64, Feed>,
    pub(crate) categories: BTreeMap<u64, String>,
    pub(crate) items: BTreeMap<u64, Item>,
    /// Method, path and body of each request.
    pub(crate) requests: Vec<(String, String, String)>,
    /// Answers instead of the usual ones, by method and end of the path.
    pub(crate) instead: BTreeMap<(&'static str, &'static str), (u16, String)>,
    /// A version since 2.3.2, which can set stars. An older one only toggles them.
    pub(crate) is_new: bool,
    /// Says that it did what it did not.
    pub(crate) lies: bool,
    /// Largest number of entries on a page.
    pub(crate) page_max: usize,
    /// Entries with a text of this number of bytes.
    pub(crate) large: BTreeMap<u64, usize>,
    /// Length of an answer that is too large to be made.
    announced: Option<usize>,
    /// Each page is full of entries that no page before had.
    pub(crate) is_endless: bool,
    /// Clock of the server, in Unix seconds. Each request takes a second.
    pub(crate) clock: i64,
    pub(crate) password: String,
    pub(crate) token: String,
    /// The address that a feed has after a redirect, by the address that is subscribed to.
    pub(crate) moved: BTreeMap<String, String>,
}

impl State {
    /// Changes the marks of an entry as another client does.
    pub(crate) fn mark(&mut self, number: u64, change: impl FnOnce(&mut Item)) {
        let clock = self.clock;
        let item = self.items.get_mut(&number).unwrap();
        change(item);
        item.changed = clock;
    }
}

/// A running server.
pub(crate) struct MinifluxDouble {
    state: Arc<Mutex<State>>,
    address: String,
}

impl MinifluxDouble {
    pub(crate) fn start(is_new: bool, page_max: usize) -> Self {
        let mut state = State {
            is_new,
            page_max,
            clock: STARTED,
            password: "secret".into(),
            token: "token-1".into(),
            ..State::default()
        };
        state.categories.insert(1, "All".into());
        for feed in 1..=2 {
            let url = format!("https://{feed}.example/feed");
            state.feeds.insert(feed, Feed { url, title: format!("Feed {feed}"), category: 1 });
        }
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        let address = plain_http::start(move |request| {
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            state.clock += 1;
            let Received { method, path, body, .. } = &request;
            state.requests.push((method.clone(), path.clone(), body.clone()));
            let (status, body) = answer(&mut state, &request);
            let seconds = Duration::from_secs(u64::try_from(state.clock).unwrap());
            let date = httpdate::fmt_http_date(UNIX_EPOCH + seconds);
            Answered { status, body, date, announced: state.announced.take() }
        });
        Self { state, address }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds unread entries with these numbers to a feed.
    pub(crate) fn publish(&self, feed: u64, numbers: impl Iterator<Item = u64>) {
        let mut state = self.state();
        let changed = state.clock;
        let item = Item { feed, is_read: false, is_starred: false, changed };
        state.items.extend(numbers.map(|number| (number, item.clone())));
    }

    /// Returns the entries as number, read, starred.
    pub(crate) fn marks(&self) -> Vec<(u64, bool, bool)> {
        let state = self.state();
        state.items.iter().map(|(id, it)| (*id, it.is_read, it.is_starred)).collect()
    }

    /// Returns the number of requests since the last call.
    pub(crate) fn count_requests(&self) -> usize {
        std::mem::take(&mut self.state().requests).len()
    }
}

fn error(status: u16, why: &str) -> (u16, String) {
    (status, json!({ "error_message": why }).to_string())
}

fn answer(state: &mut State, request: &Received) -> (u16, String) {
    let (place, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let method = request.method.as_str();
    let instead = state.instead.iter();
    let mut instead = instead.filter(|((verb, end), _)| *verb == method && place.ends_with(*end));
    if let Some((_, instead)) = instead.next() {
        return instead.clone();
    }
    let Some(call) = place.strip_prefix("/v1/") else {
        return (404, "<html>no</html>".into());
    };
    let of_password = LOGINS.iter().find(|(password, _)| *password == state.password);
    let is_basic = of_password.is_some_and(|(_, value)| *value == request.authorization);
    if !is_basic && (request.token.is_empty() || request.token != state.token) {
        return error(401, "Access Unauthorized");
    }
    let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
    let parts: Vec<&str> = call.split('/').collect();
    let number = |part: &str| part.parse::<u64>().unwrap();
    match (method, parts.as_slice()) {
        ("GET", ["me"]) => (200, json!({ "id": 7, "username": "ann" }).to_string()),
        ("GET", ["feeds"]) => (200, feeds(state).to_string()),
        ("GET", ["feeds", "counters"]) => (200, counters(state).to_string()),
        ("GET", ["categories"]) => {
            let categories = state.categories.iter();
            let list = categories.map(|(id, title)| json!({ "id": id, "title": title }));
            (200, list.collect::<Value>().to_string())
        }
        ("POST", ["categories"]) => {
            let title = body["title"].as_str().unwrap().to_owned();
            if state.categories.values().any(|it| it.to_lowercase() == title.to_lowercase()) {
                return error(400, "This category already exists.");
            }
            let id = state.categories.keys().max().unwrap() + 1;
            state.categories.insert(id, title.clone());
            (201, json!({ "id": id, "title": title }).to_string())
        }
        ("GET", ["entries"]) => (200, entries(state, None, query).to_string()),
        ("GET", ["feeds", feed, "entries"]) => {
            let feed = number(feed);
            if !state.feeds.contains_key(&feed) {
                return error(400, "invalid feed ID");
            }
            (200, entries(state, Some(feed), query).to_string())
        }
        ("PUT", ["entries"]) => change_marks(state, &body),
        ("PUT", ["entries", entry, "bookmark"]) => {
            let entry = number(entry);
            if !state.items.contains_key(&entry) {
                return error(500, NOTHING_UPDATED);
            }
            if !state.lies {
                state.mark(entry, |it| it.is_starred = !it.is_starred);
            }
            (204, String::new())
        }
        ("POST", ["feeds"]) => add_feed(state, body["feed_url"].as_str().unwrap()),
        ("PUT", ["feeds", feed]) => change_feed(state, number(feed), &body),
        ("DELETE", ["feeds", feed]) => {
            let feed = number(feed);
            if state.feeds.remove(&feed).is_none() {
                return error(404, "Resource Not Found");
            }
            state.items.retain(|_, item| item.feed != feed);
            (204, String::new())
        }
        _ => error(404, "Resource Not Found"),
    }
}

fn feeds(state: &State) -> Value {
    let feed = |(id, feed): (&u64, &Feed)| {
        let title = &state.categories[&feed.category];
        json!({
            "id": id,
            "feed_url": feed.url,
            "site_url": "",
            "title": feed.title,
            "category": { "id": feed.category, "title": title },
        })
    };
    state.feeds.iter().map(feed).collect()
}

fn counters(state: &State) -> Value {
    let count = |is_read: bool| -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for item in state.items.values().filter(|item| item.is_read == is_read) {
            *counts.entry(item.feed.to_string()).or_default() += 1;
        }
        counts
    };
    json!({ "reads": count(true), "unreads": count(false) })
}

fn entries(state: &mut State, feed: Option<u64>, query: &str) -> Value {
    let pairs: Vec<(String, String)> =
        form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let value = |name: &str| pairs.iter().find(|it| it.0 == name).map(|it| it.1.as_str());
    let number = |name: &str| value(name).map(|it| it.parse::<i64>().unwrap());
    assert_eq!((value("order"), value("direction")), (Some("id"), Some("desc")));
    let before = number("before_entry_id").map_or(u64::MAX, |it| u64::try_from(it).unwrap());
    let after = number("changed_after").unwrap_or(i64::MIN);
    let limit = usize::try_from(number("limit").unwrap()).unwrap().min(state.page_max);
    let skip = number("offset").map_or(0, |it| usize::try_from(it).unwrap());
    if state.is_endless {
        let first = before.min(1 << 40);
        let page = (1..=u64::try_from(limit).unwrap()).map(|at| entry(state, first - at, None));
        return json!({ "total": 300, "entries": page.collect::<Value>() });
    }
    let wanted = |(id, item): &(&u64, &Item)| {
        **id < before
            && item.changed > after
            && feed.is_none_or(|feed| feed == item.feed)
            && (value("starred").is_none() || item.is_starred)
    };
    let found: Vec<(&u64, &Item)> = state.items.iter().rev().filter(wanted).collect();
    let total = found.len();
    let page: Vec<(u64, Item)> =
        found.into_iter().skip(skip).take(limit).map(|(id, item)| (*id, item.clone())).collect();
    let size: usize = page.iter().filter_map(|(id, _)| state.large.get(id)).sum();
    if size > TOO_LARGE {
        state.announced = Some(size);
        return Value::Null;
    }
    let page = page.iter().map(|(id, item)| entry(state, *id, Some(item)));
    json!({ "total": total, "entries": page.collect::<Value>() })
}

fn entry(state: &State, id: u64, item: Option<&Item>) -> Value {
    let usual = Item { feed: 1, is_read: false, is_starred: false, changed: 0 };
    let item = item.unwrap_or(&usual);
    let date = DateTime::from_timestamp(state.clock, 0).unwrap().to_rfc3339();
    let text = "text".repeat(1 + state.large.get(&id).unwrap_or(&0) / 4);
    json!({
        "id": id,
        "feed_id": item.feed,
        "status": if item.is_read { "read" } else { "unread" },
        "starred": item.is_starred,
        "hash": format!("{id:064x}"),
        "title": format!("Entry {id}"),
        "url": format!("https://{}.example/{id}", item.feed),
        "published_at": date,
        "content": format!("<p>{text}</p>"),
        "enclosures": null,
        "feed": { "id": item.feed },
    })
}

fn change_marks(state: &mut State, body: &Value) -> (u16, String) {
    let ids: BTreeSet<u64> =
        body["entry_ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect();
    let status = body["status"].as_str();
    let star = body["starred"].as_bool().filter(|_| state.is_new);
    if ids.is_empty() || (status.is_none() && star.is_none()) {
        return error(400, "invalid entry status");
    }
    let known: Vec<u64> = ids.into_iter().filter(|id| state.items.contains_key(id)).collect();
    if known.is_empty() && !state.is_new {
        return error(500, NOTHING_UPDATED);
    }
    for id in known.into_iter().filter(|_| !state.lies).collect::<Vec<_>>() {
        state.mark(id, |item| {
            item.is_read = status.map_or(item.is_read, |status| status == "read");
            item.is_starred = star.unwrap_or(item.is_starred);
        });
    }
    (204, String::new())
}

fn add_feed(state: &mut State, url: &str) -> (u16, String) {
    let url = state.moved.get(url).cloned().unwrap_or_else(|| url.to_owned());
    if state.feeds.values().any(|feed| feed.url == url) {
        return error(400, "This feed already exists.");
    }
    let id = state.feeds.keys().max().map_or(1, |last| last + 1);
    state.feeds.insert(id, Feed { title: url.clone(), url, category: 1 });
    (201, json!({ "feed_id": id }).to_string())
}

fn change_feed(state: &mut State, id: u64, body: &Value) -> (u16, String) {
    let category = body["category_id"].as_u64();
    if category.is_some_and(|category| !state.categories.contains_key(&category)) {
        return error(400, "This category does not exist.");
    }
    let Some(feed) = state.feeds.get_mut(&id) else { return error(404, "Resource Not Found") };
    if let Some(title) = body["title"].as_str() {
        title.clone_into(&mut feed.title);
    }
    feed.category = category.unwrap_or(feed.category);
    (201, json!({ "id": id }).to_string())
}
