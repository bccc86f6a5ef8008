//! Answers the requests of browsers from the store of the process that has it open: lists of entries, an entry, the plan and the
//! gaps of a feed, and marks. Only a form changes anything; opening an entry does not mark it as read.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::accounts::served::{NAMED_MAX, field};
use backissue_core::feed::outgoing::{outgoing_link, outgoing_name};
use backissue_core::history::{EntryKey, FeedKey, Flag, GapLines};
use backissue_core::{schedule, words};
use chrono::{DateTime, Utc};
use url::form_urlencoded;

use super::changes;
use super::page_html::{self, EntryShown, ListShown, RowShown, query_value};
use super::replies::{DeviceCall, DeviceReply, ReplyFault, served_feed};
use crate::engine::backfill::history_requests;
use crate::engine::entries::entry_view::{EntryView, LoadedEntry};
use crate::engine::entries::rows::{ListQuery, RowKey, RowOrder, Scope, Show};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::poll::learn;
use crate::engine::search_query;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::loop_handle::LoopHandle;
use crate::io::pictures::PictureCache;
use crate::view::html::{self, InBook};
use crate::view::panes::entry_lines;

/// Number of entries on a page.
const ROWS: usize = 50;

/// Answers a browser that is logged in. `token` identifies its forms.
pub(super) fn answer(
    handle: &LoopHandle,
    call: &DeviceCall,
    token: &str,
) -> Result<DeviceReply, ReplyFault> {
    let text = match (call.path.as_str(), call.form.as_deref()) {
        ("/", None) => list(handle, call, token)?,
        ("/feeds", None) => page_html::list(&handle.visit(|host| feeds(host.engine()))?, token),
        ("/entry", None) => entry(handle, &call.query, token)?,
        ("/mark", Some(form)) => {
            let place = mark(handle, &call.device, form)?;
            return Ok(DeviceReply { status: 303, text: place });
        }
        _ => return Err(ReplyFault::refused(404, "nothing is here")),
    };
    Ok(DeviceReply { status: 200, text })
}

/// A list that a browser requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ListAsked {
    show: Option<String>,
    tag: Option<String>,
    feed: Option<FeedKey>,
    search: Option<String>,
    /// The last entry of the previous page.
    after: Option<EntryKey>,
}

impl ListAsked {
    fn read(query: &str) -> Self {
        let given = |name| field(query, name).filter(|text| !text.trim().is_empty());
        Self {
            show: given("show")
                .filter(|show| ["all", "starred", "unread"].contains(&show.as_str())),
            tag: given("tag"),
            feed: given("feed").and_then(|text| text.parse().ok()).map(FeedKey),
            search: given("q"),
            after: given("after").and_then(|text| text.parse().ok()),
        }
    }

    /// Returns the list as a query of an address.
    fn written(&self) -> String {
        let feed = self.feed.map(|feed| feed.0.to_string());
        let after = self.after.map(|key| key.to_string());
        let fields = [
            ("show", self.show.as_ref()),
            ("tag", self.tag.as_ref()),
            ("feed", feed.as_ref()),
            ("q", self.search.as_ref()),
            ("after", after.as_ref()),
        ];
        let given = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let parts = given.map(|(name, value)| format!("{name}={}", query_value(value)));
        parts.collect::<Vec<_>>().join("&")
    }

    /// Returns the address of the list.
    fn address(&self) -> String {
        format!("./?{}", self.written())
    }

    fn of_feed(feed: FeedKey) -> Self {
        Self { feed: Some(feed), ..Self::default() }
    }

    fn of_tag(tag: &str) -> Self {
        Self { tag: Some(tag.to_owned()), ..Self::default() }
    }

    fn showing(show: &str) -> Self {
        Self { show: Some(show.to_owned()), ..Self::default() }
    }

    /// Returns which entries are listed. If the query does not say it, these are the unread entries of all feeds or of a tag, and
    /// all entries of a feed or a search.
    fn shown(&self) -> Show {
        let is_whole = self.feed.is_some() || self.search.is_some();
        match self.show.as_deref() {
            Some("starred") => Show::Starred,
            Some("all") => Show::All,
            None if is_whole => Show::All,
            Some(_) | None => Show::Unread,
        }
    }

    /// Returns the query for the store. The error is a sentence.
    fn query(&self, engine: &Engine, now: DateTime<Utc>) -> Result<ListQuery, String> {
        let (show, mut order) = (self.shown(), RowOrder::NewestFirst);
        let scope = if let Some(text) = &self.search {
            let found = search_query::resolve(engine, now, text, false);
            let found = found.map_err(|flaw| flaw.to_string())?;
            if found.has_words() {
                order = RowOrder::BestFirst;
            }
            Scope::Found(Box::new(found))
        } else if let Some(feed) = self.feed {
            Scope::Feeds(vec![feed])
        } else if let Some(tag) = &self.tag {
            let tag = tag.to_lowercase();
            let tagged = engine.feeds.values().filter(|feed| search_query::is_tagged(feed, &tag));
            Scope::Feeds(tagged.map(|feed| feed.key).collect())
        } else if show == Show::Unread {
            engine.loud_feeds()
        } else {
            Scope::Everything
        };
        // If the last entry was read in the meantime, the next page still begins after it.
        let keep = self.after.into_iter().collect();
        let query = ListQuery { keep, order, ..ListQuery::of(scope, show) };
        Ok(ListQuery { gaps: history_requests::in_query(engine, &query, now), ..query })
    }

    /// Returns the page without its rows.
    fn page(&self, engine: &Engine, now: DateTime<Utc>) -> ListShown {
        let feed = self.feed.and_then(|feed| engine.feeds.get(&feed));
        let (whole, tag) = (Self { after: None, ..self.clone() }, self.tag.as_deref());
        let heading = match (feed, tag, &self.search, self.shown()) {
            (Some(feed), ..) => served_feed(feed).title,
            (None, Some(tag), ..) => tag.to_owned(),
            (None, None, Some(text), _) => format!("Search: {text}"),
            (None, None, None, Show::Starred) => "Starred".to_owned(),
            (None, None, None, Show::All) => "All entries".to_owned(),
            (None, None, None, Show::Unread | Show::Hidden | Show::Ended) => "Unread".to_owned(),
        };
        let mut tags: BTreeMap<&str, u32> = BTreeMap::new();
        let mut unread = 0_u32;
        for feed in engine.feeds.values() {
            let count = feed.counters.unread;
            unread = unread.saturating_add(count);
            for tag in &feed.record.tags {
                let sum = tags.entry(tag).or_default();
                *sum = sum.saturating_add(count);
            }
        }
        let link = |text: String, list: &Self| (text, list.address(), *list == whole);
        let lists = vec![
            link(format!("Unread {unread}"), &Self::default()),
            link("All".to_owned(), &Self::showing("all")),
            link("Starred".to_owned(), &Self::showing("starred")),
            ("Feeds".to_owned(), "feeds".to_owned(), false),
        ];
        let tags = tags.into_iter();
        ListShown {
            heading,
            searched: self.search.clone().unwrap_or_default(),
            lists,
            tags: tags.map(|(tag, sum)| link(format!("{tag} {sum}"), &Self::of_tag(tag))).collect(),
            why: feed.map(|feed| why(engine, feed, now)).unwrap_or_default(),
            rows: Vec::new(),
            empty: "No entries are here.".to_owned(),
            older: None,
            undo: None,
            place: self.written(),
        }
    }
}

/// Returns why a feed is polled when it is, and what is known about its history. Addresses contain no secrets.
fn why(engine: &Engine, feed: &Subscription, now: DateTime<Utc>) -> Vec<String> {
    let plan = learn::explained(engine, feed.key, now);
    let plan = plan.map(|plan| schedule::plan_lines(&feed.state.facts, &plan, now, engine.zone));
    let standing = history_requests::standing(engine, feed);
    let standing = standing.unwrap_or_else(|| "its history was not read yet".to_owned());
    let gaps = history_requests::of_feed(engine, feed, now).into_iter();
    let gaps = gaps.map(|(_, gap)| {
        format!("┄ {} · {}", gap.text(), GapLines::new(&gap, now, engine.zone).next)
    });
    let lines = plan.unwrap_or_default().into_iter().chain(std::iter::once(standing)).chain(gaps);
    lines.map(|line| outgoing_name(line.trim())).collect()
}

/// Returns the list of all feeds.
fn feeds(engine: &Engine) -> ListShown {
    let shown = ListAsked::showing("feeds").page(engine, clock::now());
    let rows = engine.feeds.values().map(|feed| RowShown::Feed {
        address: ListAsked::of_feed(feed.key).address(),
        title: served_feed(feed).title,
        about: format!("{} unread", feed.counters.unread),
    });
    ListShown { heading: "Feeds".to_owned(), rows: rows.collect(), ..shown }
}

fn list(handle: &LoopHandle, call: &DeviceCall, token: &str) -> Result<String, ReplyFault> {
    let (now, asked) = (clock::now(), ListAsked::read(&call.query));
    let wanted = asked.clone();
    let (mut shown, query) = handle.visit(move |host| {
        let engine = host.engine();
        (wanted.page(engine, now), wanted.query(engine, now))
    })?;
    shown.undo = changes::last_step(handle, &call.device)?;
    let query = match query {
        Ok(query) => query,
        Err(why) => {
            shown.empty = why;
            return Ok(page_html::list(&shown, token));
        }
    };
    if matches!(&query.scope, Scope::Found(found) if found.has_words()) {
        // If the index cannot be written, the search still finds entries that are already in it.
        handle.wait_until_indexed(|_| {}).ok();
    }
    let after = asked.after;
    let (rows, has_more, entries) = handle.look(move |store| {
        let rows = store.ordered(&query)?;
        let last = |key| rows.iter().position(|row| *row == RowKey::Entry(key));
        let first = after.and_then(last).map_or(0, |place| place.saturating_add(1));
        let rest = rows.get(first..).unwrap_or_default();
        let page = rest.get(..ROWS.min(rest.len())).unwrap_or_default().to_vec();
        let keys: Vec<EntryKey> = page.iter().filter_map(|row| row.entry()).collect();
        let has_more = rest.len() > page.len();
        Ok((page, has_more, store.entries(&keys)?))
    })?;
    let last = rows.iter().rev().find_map(|row| row.entry()).filter(|_| has_more);
    shown.older = last.map(|key| ListAsked { after: Some(key), ..asked.clone() }.address());
    shown.rows = handle.visit(move |host| {
        let engine = host.engine();
        let entries = entries.into_iter().map(|entry| (entry.key, entry));
        let mut entries: BTreeMap<EntryKey, LoadedEntry> = entries.collect();
        rows.into_iter()
            .filter_map(|row| match row {
                RowKey::Entry(key) => Some(entry_row(engine, entries.remove(&key)?)),
                RowKey::Gap(feed, gap) => {
                    let gap = history_requests::shown(engine, feed, gap, now)?;
                    let next = GapLines::new(&gap, now, engine.zone).next;
                    Some(RowShown::Gap(outgoing_name(&format!("{} · {next}", gap.text()))))
                }
            })
            .collect()
    })?;
    Ok(page_html::list(&shown, token))
}

fn entry_row(engine: &Engine, entry: LoadedEntry) -> RowShown {
    let EntryView { entry: LoadedEntry { key, kept, flags, .. }, feed, .. } =
        engine.view_of(entry).outgoing();
    let date = words::minute(kept.listed(), engine.zone);
    let title = Some(kept.shown_title()).filter(|title| !title.is_empty());
    RowShown::Entry {
        key: key.to_string(),
        title: title.unwrap_or("(no title)").to_owned(),
        about: format!("{} · {date}", feed.title),
        is_unread: flags.is_unread(),
        is_starred: flags.is_starred(),
    }
}

fn entry(handle: &LoopHandle, query: &str, token: &str) -> Result<String, ReplyFault> {
    let unknown = || ReplyFault::refused(404, "there is no such entry");
    let key = field(query, "id").and_then(|id| id.parse::<EntryKey>().ok()).ok_or_else(unknown)?;
    let now = clock::now();
    let read = handle.look(move |store| {
        let cache = PictureCache::beside(store.folder());
        Ok(store.read_entry(key)?.ok().map(|entry| (entry, cache)))
    })?;
    let (entry, cache) = read.ok_or_else(unknown)?;
    let found = handle.visit(move |host| {
        let engine = host.engine();
        let feed = engine.feeds.get(&key.feed)?;
        let title = served_feed(feed).title;
        Some((engine.view_of(entry), title, why(engine, feed, now)))
    })?;
    let (view, feed, why) = found.ok_or_else(unknown)?;
    let (_, markup, base) = view.text();
    let cached = html::picture_addresses(markup, base).into_iter().filter_map(|address| {
        let there = cache.find(&address).is_some();
        Some((outgoing_link(&address)?, format!("picture?of={}", PictureCache::name(&address))))
            .filter(|_| there)
    });
    let pictures: BTreeMap<String, String> = cached.collect();
    let view = view.outgoing();
    let title = view.entry.kept.shown_title();
    let is_leftward = entry_lines::is_leftward(title, view.feed.language.as_deref());
    let place = InBook { is_leftward, pictures: Some(&pictures) };
    let shown = EntryShown {
        key: key.to_string(),
        title: title.to_owned(),
        markup: entry_lines::xhtml(&view, place),
        is_leftward,
        is_unread: view.entry.flags.is_unread(),
        is_starred: view.entry.flags.is_starred(),
        labels: view.labels,
        feed: (feed, ListAsked::of_feed(key.feed).address()),
        why,
        place: ListAsked::read(&field(query, "in").unwrap_or_default()).written(),
    };
    Ok(page_html::entry(&shown, token))
}

/// Sets a mark of the entries in a form as a step of the device, or undoes its last step. Returns the page to show next.
fn mark(handle: &LoopHandle, device: &str, form: &str) -> Result<String, ReplyFault> {
    let set = field(form, "set").unwrap_or_default();
    let place = ListAsked::read(&field(form, "in").unwrap_or_default());
    let (flag, value) = match set.as_str() {
        "undo" => {
            let step = Some(field(form, "step").unwrap_or_default());
            changes::undo_step(handle, device, step)?;
            return Ok(place.address());
        }
        "read" => (Flag::Read, true),
        "unread" => (Flag::Read, false),
        "starred" => (Flag::Starred, true),
        "unstarred" => (Flag::Starred, false),
        _ => return Err(ReplyFault::refused(400, "there is no such mark")),
    };
    let named = form_urlencoded::parse(form.as_bytes()).filter(|(name, _)| name == "i");
    let keys: Vec<EntryKey> =
        named.take(NAMED_MAX).filter_map(|(_, key)| key.parse().ok()).collect();
    let known: BTreeSet<FeedKey> =
        handle.visit(|host| host.engine().feeds.keys().copied().collect())?;
    let keys: Vec<EntryKey> = keys.into_iter().filter(|key| known.contains(&key.feed)).collect();
    let next = match keys.first().filter(|_| field(form, "to").is_some()) {
        Some(key) => format!("entry?id={key}&in={}", query_value(&place.written())),
        None => place.address(),
    };
    changes::mark(handle, device, flag, value, keys)?;
    Ok(next)
}
