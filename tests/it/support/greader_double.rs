//! A server that speaks the Google Reader API as a test chooses: a small state, and the habits of known servers.

#![expect(clippy::disallowed_types, reason = "the threads of a test share the state of the server")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use url::form_urlencoded;

use super::plain_http::{self, Answered, Received, TOO_LARGE};

/// The only folder of the server.
const FOLDER: &str = "Folder";

/// How the server writes the ids in lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdForm {
    Decimal,
    Long,
    /// The last 24 digits of the long form, as The Old Reader has them.
    Letters,
}

/// The habits of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Habits {
    /// Path of the API.
    pub(crate) base: &'static str,
    pub(crate) ids: IdForm,
    /// A mark that is there already is removed.
    pub(crate) toggles: bool,
    /// Largest number of ids in one answer.
    pub(crate) page_max: usize,
    /// The continuation is a number, and is there after a last page that is full, too.
    pub(crate) odd_continuation: bool,
    /// Feed streams are addresses.
    pub(crate) address_streams: bool,
}

/// An entry: feed, title, read, starred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) feed: usize,
    pub(crate) is_read: bool,
    pub(crate) is_starred: bool,
}

/// The state of the server, which a test reads and changes.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Addresses and titles of feeds, by number.
    pub(crate) feeds: BTreeMap<usize, (String, String)>,
    pub(crate) items: BTreeMap<u64, Item>,
    /// Entries by label.
    pub(crate) labels: BTreeMap<String, BTreeSet<u64>>,
    /// Path and form of each request.
    pub(crate) requests: Vec<(String, String)>,
    /// Answers instead of the usual ones, by the end of the path: status and body.
    pub(crate) instead: BTreeMap<&'static str, (u16, String)>,
    /// Answers `OK` and does nothing.
    pub(crate) lies: bool,
    /// Fails at lists of more ids than this.
    pub(crate) ids_max: Option<usize>,
    /// Valid password; a change makes logins void.
    pub(crate) password: String,
    /// Entries with a text of this number of bytes.
    pub(crate) large: BTreeMap<u64, usize>,
    /// Length of an answer that is too large to be made.
    announced: Option<usize>,
    /// Each page of ids has other ids and another continuation.
    pub(crate) is_endless: bool,
    /// Number of seconds by which the clock of the server, and with it all dates, is ahead.
    pub(crate) clock: i64,
}

/// A running server.
pub(crate) struct GreaderDouble {
    state: Arc<Mutex<State>>,
    address: String,
}

impl GreaderDouble {
    pub(crate) fn start(habits: Habits) -> Self {
        let mut state = State { password: "secret".into(), ..State::default() };
        for feed in 1..=2 {
            let url = format!("https://{feed}.example/feed");
            state.feeds.insert(feed, (url, format!("Feed {feed}")));
        }
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        let address = plain_http::start(move |Received { path, body, authorization, .. }| {
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            state.requests.push((path.clone(), body.clone()));
            let (status, body) = answer(&mut state, habits, &path, &body, &authorization);
            Answered { status, body, announced: state.announced.take(), ..Answered::default() }
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
    pub(crate) fn publish(&self, feed: usize, numbers: impl Iterator<Item = u64>) {
        let items = numbers.map(|it| (it, Item { feed, is_read: false, is_starred: false }));
        self.state().items.extend(items);
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

fn answer(state: &mut State, habits: Habits, path: &str, form: &str, auth: &str) -> (u16, String) {
    let (place, query) = path.split_once('?').unwrap_or((path, ""));
    let instead = state.instead.iter().find(|(end, _)| place.ends_with(*end));
    if let Some((_, instead)) = instead {
        return instead.clone();
    }
    let Some(call) = place.strip_prefix(habits.base) else {
        return (404, "<html>no</html>".into());
    };
    let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .chain(form_urlencoded::parse(form.as_bytes()).into_owned())
        // As PHP does.
        .take(1_000)
        .collect();
    let value = |name: &str| {
        let found = pairs.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.clone())
    };
    if call == "/accounts/ClientLogin" {
        let good = value("Passwd") == Some(state.password.clone());
        let body = format!("SID=x\nLSID=null\nAuth=ann/{}\n", state.password);
        return if good { (200, body) } else { (401, "Unauthorized!".into()) };
    }
    let is_post = !form.is_empty();
    let is_in = auth == format!("GoogleLogin auth=ann/{}", state.password);
    if !is_in || (is_post && value("T") != Some(format!("token-{}", state.password))) {
        return (401, "Unauthorized!".into());
    }
    let ids: Vec<u64> =
        pairs.iter().filter(|(key, _)| key == "i").map(|it| number(&it.1)).collect();
    match call {
        "/reader/api/0/token" => (200, format!("token-{}\n", state.password)),
        "/reader/api/0/subscription/list" => {
            let feeds = state.feeds.iter().map(|(number, (url, title))| {
                json!({ "id": stream(*number, url, habits), "url": url, "title": title, "categories": [] })
            });
            (200, json!({ "subscriptions": feeds.collect::<Vec<Value>>() }).to_string())
        }
        "/reader/api/0/stream/items/ids"
            if state
                .ids_max
                .is_some_and(|max| value("n").unwrap().parse::<usize>().unwrap() > max) =>
        {
            (504, "Gateway Timeout".into())
        }
        "/reader/api/0/stream/items/ids" => (200, ids_page(state, habits, &value)),
        "/reader/api/0/tag/list" => (200, tag_list(state)),
        "/reader/api/0/stream/items/contents" => {
            let size: usize = ids.iter().filter_map(|id| state.large.get(id)).sum();
            if size > TOO_LARGE {
                state.announced = Some(size);
                return (200, String::new());
            }
            let found = ids.iter().filter_map(|id| Some((id, state.items.get(id)?)));
            let items = found.map(|(id, item)| content(*id, item, state, habits));
            (200, json!({ "items": items.collect::<Vec<Value>>() }).to_string())
        }
        "/reader/api/0/edit-tag" => edit_tag(state, habits, ids, &value),
        "/reader/api/0/subscription/edit" => edit(state, habits, &value),
        // As Miniflux answers to what it does not have.
        _ => (200, "[]".into()),
    }
}

fn tag_list(state: &State) -> String {
    let label =
        |name: &str, kind: &str| json!({ "id": format!("user/-/label/{name}"), "type": kind });
    let fixed = [json!({ "id": "user/-/state/com.google/starred" }), label(FOLDER, "folder")];
    let labels = state.labels.keys().map(|name| label(name, "tag"));
    json!({ "tags": fixed.into_iter().chain(labels).collect::<Vec<Value>>() }).to_string()
}

fn edit_tag(
    state: &mut State,
    habits: Habits,
    ids: Vec<u64>,
    value: &dyn Fn(&str) -> Option<String>,
) -> (u16, String) {
    let set = value("a").is_some();
    let tag = value("a").or_else(|| value("r")).unwrap_or_default();
    let label = tag.strip_prefix("user/-/label/");
    for id in ids.into_iter().filter(|_| !state.lies) {
        // As FreshRSS, which gives no label that is named like a folder.
        if let Some(name) = label.filter(|name| *name != FOLDER) {
            let labelled = state.labels.entry(name.to_owned()).or_default();
            if set {
                labelled.insert(id)
            } else {
                labelled.remove(&id)
            };
        }
        let Some(item) = state.items.get_mut(&id) else { continue };
        let mark = match tag.as_str() {
            "user/-/state/com.google/read" => &mut item.is_read,
            "user/-/state/com.google/starred" => &mut item.is_starred,
            _ => continue,
        };
        *mark = if habits.toggles { !*mark } else { set };
    }
    (200, "OK".into())
}

fn edit(
    state: &mut State,
    habits: Habits,
    value: &dyn Fn(&str) -> Option<String>,
) -> (u16, String) {
    let named = value("s").unwrap_or_default();
    let known =
        state.feeds.iter().find(|(number, (url, _))| stream(**number, url, habits) == named);
    let known = known.map(|(number, _)| *number);
    match (value("ac").as_deref(), known) {
        (Some("subscribe"), None) => {
            let url = named.trim_start_matches("feed/").to_owned();
            let next = state.feeds.keys().max().map_or(1, |last| last + 1);
            state.feeds.insert(next, (url.clone(), url));
        }
        (Some("unsubscribe"), Some(number)) => {
            state.feeds.remove(&number);
            state.items.retain(|_, item| item.feed != number);
        }
        (Some("edit"), Some(number)) => {
            if let (Some(title), Some(feed)) = (value("t"), state.feeds.get_mut(&number)) {
                feed.1 = title;
            }
        }
        _ => return (400, "Bad Request!".into()),
    }
    (200, "OK".into())
}

fn stream(number: usize, url: &str, habits: Habits) -> String {
    if habits.address_streams { format!("feed/{url}") } else { format!("feed/{number}") }
}

fn long(id: u64, habits: Habits) -> String {
    let digits = if habits.ids == IdForm::Letters { 24 } else { 16 };
    format!("tag:google.com,2005:reader/item/{id:0digits$x}")
}

fn number(long: &str) -> u64 {
    let digits = long.strip_prefix("tag:google.com,2005:reader/item/").unwrap_or("0");
    u64::from_str_radix(digits, 16).unwrap_or(0)
}

fn ids_page(state: &State, habits: Habits, value: &dyn Fn(&str) -> Option<String>) -> String {
    if state.is_endless {
        let page: u64 = value("c").and_then(|it| it.parse().ok()).unwrap_or(0);
        let id = (1_000_000 + page).to_string();
        return json!({ "itemRefs": [{ "id": id }], "continuation": page + 1 }).to_string();
    }
    let is_starred = value("s").is_some_and(|stream| stream.ends_with("/starred"));
    let is_unread = value("xt").is_some();
    let label = value("s").and_then(|it| it.strip_prefix("user/-/label/").map(str::to_owned));
    // An unknown label lists everything.
    let labelled = label.and_then(|name| state.labels.get(&name));
    let wanted = |item: &Item| (!is_starred || item.is_starred) && (!is_unread || !item.is_read);
    let found = state.items.iter().rev().filter(|(_, item)| wanted(item)).map(|(id, _)| *id);
    let all: Vec<u64> =
        found.filter(|id| labelled.is_none_or(|labelled| labelled.contains(id))).collect();
    let start: usize = value("c").and_then(|it| it.parse().ok()).unwrap_or(0);
    let count = value("n").and_then(|it| it.parse().ok()).unwrap_or(20).min(habits.page_max);
    let page = all.iter().skip(start).take(count);
    let refs: Vec<Value> = page
        .map(|id| match habits.ids {
            IdForm::Decimal => json!({ "id": id.to_string() }),
            IdForm::Long => json!({ "id": long(*id, habits) }),
            IdForm::Letters => json!({ "id": format!("{id:024x}") }),
        })
        .collect();
    let end = start + count;
    let continuation = match habits.odd_continuation {
        true if refs.len() == count => json!(end.min(all.len())),
        false if end < all.len() && !refs.is_empty() => json!(end.to_string()),
        true | false => Value::Null,
    };
    json!({ "itemRefs": refs, "continuation": continuation }).to_string()
}

fn content(id: u64, item: &Item, state: &State, habits: Habits) -> Value {
    let url = &state.feeds[&item.feed].0;
    json!({
        "id": long(id, habits),
        "title": format!("Entry {id}"),
        "published": 1_800_000_000 + i64::try_from(id).unwrap() + state.clock,
        "canonical": [{ "href": format!("https://{}.example/{id}", item.feed) }],
        // A publisher wrote the first of these.
        "categories": ["user/-/state/com.google/read", "user/-/state/com.google/reading-list"],
        "origin": { "streamId": stream(item.feed, url, habits) },
        "summary": { "content": format!("<p>{}</p>", "text".repeat(1 + state.large.get(&id).unwrap_or(&0) / 4)) },
    })
}
