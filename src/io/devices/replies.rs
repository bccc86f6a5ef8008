//! Answers the requests of devices from the store of the process that has it open. Lists are read on the store's thread, in jobs
//! that are short enough not to delay the keys of the reader.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use backissue_core::accounts::HistoryThere;
use backissue_core::accounts::answers::GAPS_MAX;
use backissue_core::accounts::greader::{READING_LIST, label_stream};
use backissue_core::accounts::served::{
    self, ServedCall, ServedFeed, ServedItem, Stream, StreamWanted, feed_stream,
};
use backissue_core::feed::outgoing::{outgoing_link, outgoing_name, outgoing_title};
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, Flags, HistoryStatus};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::engine::backfill::history_requests;
use crate::engine::entries::entry_view::{EntryView, LoadedEntry};
use crate::engine::feeds::addresses::subscribed_as;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::state::Engine;
use crate::io::answers::LoopEnded;
use crate::io::clock;
use crate::io::loop_handle::{ArrivalFault, LoopHandle};
use crate::io::store::{EntriesWanted, EntryTest, NumberedEntries, StoreError};
use crate::view::html::{self, InBook};

/// Number of entries that are read from the store at once.
const SLICE: usize = 256;
/// Number of feeds whose entries are searched in one job.
const FEEDS_AT_ONCE: usize = 500;
/// Maximum length in bytes of the text of an entry, as in `FreshRSS`, and of all texts in an answer.
const TEXT_BYTES_MAX: usize = 500_000;
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Number of microseconds in a second.
const MICROSECONDS: i64 = 1_000_000;

/// A request of a device that has logged in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCall {
    /// Name of the device.
    pub device: String,
    /// Decoded path below `/reader/api/0/`.
    pub path: String,
    pub query: String,
    /// The form, if it is a POST.
    pub form: Option<String>,
    /// The token that identifies our forms, if a browser sent the request.
    pub page: Option<String>,
}

/// An answer to a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceReply {
    pub status: u16,
    pub text: String,
}

/// Why a request is not answered as usual.
#[derive(Debug)]
pub(super) enum ReplyFault {
    /// This process no longer has the store, so another process must answer.
    Ended(LoopEnded),
    Refused(DeviceReply),
}

impl ReplyFault {
    pub(super) fn refused(status: u16, why: impl Into<String>) -> Self {
        Self::Refused(DeviceReply { status, text: why.into() })
    }
}

impl From<LoopEnded> for ReplyFault {
    fn from(ended: LoopEnded) -> Self {
        Self::Ended(ended)
    }
}

impl From<StoreError> for ReplyFault {
    fn from(error: StoreError) -> Self {
        if let StoreError::Ended(ended) = error {
            Self::Ended(ended)
        } else {
            // The error contains paths of this machine, which the device must not see.
            Self::refused(503, "the store cannot be used at the moment")
        }
    }
}

impl From<ArrivalFault> for ReplyFault {
    fn from(fault: ArrivalFault) -> Self {
        match fault {
            ArrivalFault::Ended(ended) => Self::Ended(ended),
            ArrivalFault::Refused(why) => Self::refused(400, why),
            ArrivalFault::Unwritten(_) => Self::refused(503, "the change cannot be stored"),
        }
    }
}

/// Answers a request that changes nothing. Returns `None` for a request that changes something.
pub(super) fn read(handle: &LoopHandle, asked: &ServedCall) -> Result<Option<String>, ReplyFault> {
    let text = match asked {
        ServedCall::Tags => handle.visit(|host| tags(host.engine()))?,
        ServedCall::Subscriptions => {
            let (mut feeds, mut after) = (Vec::<ServedFeed>::new(), Bound::Unbounded);
            loop {
                let mut some = handle.visit(move |host| {
                    let (engine, now) = (host.engine(), clock::now());
                    let some = engine.feeds.range((after, Bound::Unbounded)).map(|(_, feed)| feed);
                    let some = some.take(FEEDS_AT_ONCE).map(|feed| ServedFeed {
                        history: history_here(engine, feed, now),
                        ..served_feed(feed)
                    });
                    some.collect::<Vec<_>>()
                })?;
                let Some(last) = some.last() else { break };
                after = Bound::Excluded(FeedKey(last.number));
                feeds.append(&mut some);
            }
            served::write_subscriptions(feeds)
        }
        ServedCall::Counts => counts(handle)?,
        ServedCall::Ids(wanted) => {
            let page = page(handle, wanted)?;
            let ids: Vec<u64> = page.entries.iter().map(|(id, _)| *id).collect();
            served::write_ids(&ids, continuation(&page))
        }
        ServedCall::Contents(wanted) => {
            let mut page = page(handle, wanted)?;
            let items = items(handle, &page.entries)?;
            if let Some(last) = items.last().map(|item| item.id) {
                let before = page.entries.len();
                let end = page.entries.iter().position(|(id, _)| *id == last);
                page.entries.truncate(end.map_or(before, |end| end.saturating_add(1)));
                page.has_more |= page.entries.len() < before;
            }
            served::write_items(items, continuation(&page))
        }
        ServedCall::Atom(wanted) => {
            served::write_atom(&items(handle, &page(handle, wanted)?.entries)?)
        }
        ServedCall::Items(ids) => {
            let ids = ids.clone();
            let entries = handle.look(move |store| store.numbered(&ids))?;
            served::write_items(items(handle, &entries)?, None)
        }
        ServedCall::Edit { .. }
        | ServedCall::MarkAll { .. }
        | ServedCall::Subscribe { .. }
        | ServedCall::Unsubscribe(_)
        | ServedCall::Rearrange { .. }
        | ServedCall::RenameFolder { .. }
        | ServedCall::RemoveFolder(_) => return Ok(None),
    };
    Ok(Some(text))
}

fn continuation(page: &NumberedEntries) -> Option<u64> {
    page.entries.last().filter(|_| page.has_more).map(|(id, _)| *id)
}

/// Returns a feed as devices see it: without logins and keys in its address, and without an address if it is a program or a file.
pub(super) fn served_feed(feed: &Subscription) -> ServedFeed {
    let record = &feed.record;
    let is_web = |url: &String| url.starts_with("http:") || url.starts_with("https:");
    let url = outgoing_link(&record.url).filter(is_web);
    let named = url.as_deref().unwrap_or_default();
    let title = record.own_title.as_deref().or(record.title.as_deref());
    ServedFeed {
        number: feed.key.0,
        title: outgoing_title(title, named),
        tags: record.tags.clone(),
        site: record.site.as_deref().and_then(outgoing_link),
        url,
        history: None,
    }
}

/// Returns what is known about the history of a feed, for devices that run this program.
fn history_here(engine: &Engine, feed: &Subscription, now: DateTime<Utc>) -> Option<HistoryThere> {
    let is_complete = matches!(feed.history.status(), HistoryStatus::Complete(_))
        && history_requests::history_account(feed).is_none();
    let text = match history_requests::standing(engine, feed)? {
        _ if is_complete => "complete".to_owned(),
        text => outgoing_name(&text),
    };
    let gaps = history_requests::of_feed(engine, feed, now).into_iter().take(GAPS_MAX);
    let gaps = gaps.map(|(_, gap)| outgoing_name(&gap.text()));
    Some(HistoryThere { text, gaps: gaps.collect() })
}

fn tags(engine: &Engine) -> String {
    let folders: BTreeSet<&str> =
        engine.feeds.values().flat_map(|feed| &feed.record.tags).map(String::as_str).collect();
    let labels: BTreeSet<&str> = engine.filters.list.iter().filter_map(label_of).collect();
    // If a folder and a label have the same name, only the folder is listed.
    let labels: Vec<&str> = labels.difference(&folders).copied().collect();
    served::write_tags(folders, labels)
}

fn label_of(filter: &EntryFilter) -> Option<&str> {
    filter.action.label()
}

/// Returns the test that the entries of a stream pass, or `None` if all entries pass.
pub(super) fn test_of(engine: &Engine, stream: &Stream) -> Option<EntryTest> {
    let among = |feeds: Vec<FeedKey>| Some(EntryTest::Among(feeds, Vec::new()));
    match stream {
        Stream::All => None,
        Stream::Read => Some(EntryTest::Read),
        Stream::Starred => Some(EntryTest::Starred),
        Stream::Label(name) => {
            let is_tagged = |feed: &&Subscription| feed.record.tags.contains(name);
            let feeds = engine.feeds.values().filter(is_tagged).map(|feed| feed.key).collect();
            let filters = engine.filters.list.iter();
            let filters = filters.filter(|filter| label_of(filter) == Some(name.as_str()));
            Some(EntryTest::Among(feeds, filters.map(|filter| filter.id).collect()))
        }
        Stream::Feed(number) => among(vec![FeedKey(*number)]),
        Stream::Address(url) => among(subscribed_as(engine, url).into_iter().collect()),
        Stream::Unknown => among(Vec::new()),
    }
}

/// Returns the wanted entries as a query of the store.
pub(super) fn wanted_here(engine: &Engine, wanted: &StreamWanted) -> EntriesWanted {
    let within = std::iter::once(&wanted.stream).chain(&wanted.within);
    let within = within.filter_map(|stream| Some((test_of(engine, stream)?, true)));
    // No entry is outside the stream of all entries.
    let without = wanted.without.iter().map(|stream| {
        let test = test_of(engine, stream);
        test.map_or((EntryTest::Among(Vec::new(), Vec::new()), true), |test| (test, false))
    });
    let in_microseconds =
        |seconds: i64| u64::try_from(seconds.saturating_mul(MICROSECONDS)).unwrap_or_default();
    let end = |until: i64| in_microseconds(until.saturating_add(1)).saturating_sub(1);
    EntriesWanted {
        feeds: engine.feeds.keys().copied().collect(),
        tests: within.chain(without).collect(),
        since: wanted.since.map(in_microseconds),
        until: wanted.until.map(end),
        after: wanted.after,
        oldest_first: wanted.oldest_first,
        count: wanted.count,
    }
}

fn page(handle: &LoopHandle, wanted: &StreamWanted) -> Result<NumberedEntries, ReplyFault> {
    let wanted = wanted.clone();
    let here = Arc::new(handle.visit(move |host| wanted_here(host.engine(), &wanted))?);
    let (mut found, mut first, mut before) = (Vec::new(), 0, None);
    while first < here.feeds.len() {
        let wanted = Arc::clone(&here);
        let (mut some, moves) = handle.look(move |store| {
            let feeds = wanted.feeds.iter().skip(first).take(FEEDS_AT_ONCE);
            store.numbered_in(&wanted, &feeds.copied().collect::<Vec<_>>())
        })?;
        // An entry that moved to another feed in the meantime would be missing or listed twice, so start again.
        if before.replace(moves).is_some_and(|before| before != moves) {
            found.clear();
            (first, before) = (0, None);
        } else {
            found.append(&mut some);
            first = first.saturating_add(FEEDS_AT_ONCE);
        }
    }
    Ok(here.page(found))
}

/// Reads entries with their texts in the given order, until the answer has its maximum size. Entries that cannot be read are left
/// out. The texts are read on this thread, so that the keys of the reader need not wait.
fn items(handle: &LoopHandle, entries: &[(u64, EntryKey)]) -> Result<Vec<ServedItem>, ReplyFault> {
    let texts = handle.look(|store| Ok(store.texts()))?;
    let (mut items, mut bytes) = (Vec::with_capacity(entries.len()), 0_usize);
    for slice in entries.chunks(SLICE) {
        let mut by_feed: BTreeMap<FeedKey, BTreeSet<u32>> = BTreeMap::new();
        for (_, key) in slice {
            by_feed.entry(key.feed).or_default().insert(key.seq);
        }
        let read = by_feed.into_iter().flat_map(|(feed, seqs)| {
            let read = texts.read(feed, seqs.into_iter()).into_iter();
            read.map(move |(seq, found)| (EntryKey { feed, seq }, found))
        });
        let read: Vec<LoadedEntry> = read
            .map(|(key, (kept, body))| {
                let entry = LoadedEntry::without_text(key, kept, Flags::OLD, Vec::new());
                LoadedEntry { body, full: texts.page(key), ..entry }
            })
            .collect();
        let marked = handle.look(move |store| {
            let marked = read.into_iter().map(|entry| store.with_marks(entry));
            marked.collect::<Result<Vec<_>, _>>()
        })?;
        let mut views = handle.visit(move |host| {
            let engine = host.engine();
            let there = marked.into_iter().filter_map(|entry| {
                let feed = served_feed(engine.feeds.get(&entry.key.feed)?);
                Some((entry.key, (feed, engine.view_of(entry))))
            });
            there.collect::<BTreeMap<_, _>>()
        })?;
        for (id, key) in slice {
            let Some((feed, view)) = views.remove(key) else { continue };
            let item = served_item(*id, feed, view.outgoing());
            bytes = bytes.saturating_add(item.text.len());
            if bytes > ANSWER_BYTES_MAX {
                return Ok(items);
            }
            items.push(item);
        }
    }
    Ok(items)
}

fn served_item(id: u64, feed: ServedFeed, view: EntryView) -> ServedItem {
    let (_, markup, base) = view.text();
    let markup = markup.get(..markup.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or_default();
    // Send only markup that the screen also shows, because an app may run scripts.
    let text = html::xhtml(markup, base, InBook { is_leftward: false, pictures: None });
    let EntryView { entry, labels, .. } = view;
    let flags = entry.flags;
    let kept = entry.kept;
    ServedItem {
        id,
        feed,
        is_read: !flags.is_unread(),
        is_starred: flags.is_starred(),
        labels,
        title: kept.shown_title().to_owned(),
        published: kept.listed(),
        author: kept.author,
        link: kept.link,
        text,
        categories: kept.categories,
        enclosures: kept.enclosures,
    }
}

/// Answers with the numbers of unread entries of all feeds, of each feed, and of each folder.
fn counts(handle: &LoopHandle) -> Result<String, ReplyFault> {
    let feeds = handle.visit(|host| {
        let feeds = host.engine().feeds.values();
        let counts = feeds.map(|feed| (feed.key, feed.record.tags.clone(), feed.counters.unread));
        counts.filter(|(_, _, unread)| *unread > 0).collect::<Vec<_>>()
    })?;
    let keys: Vec<FeedKey> = feeds.iter().map(|(key, ..)| *key).collect();
    let newest = handle.look(move |store| {
        let newest = keys.into_iter().map(|key| Ok((key, store.newest_number(key)?)));
        newest.collect::<Result<BTreeMap<FeedKey, u64>, StoreError>>()
    })?;
    let mut sums: BTreeMap<String, (u32, u64)> = BTreeMap::new();
    let mut all = (0_u32, 0_u64);
    let add = |sum: &mut (u32, u64), unread: u32, newest: u64| {
        *sum = (sum.0.saturating_add(unread), sum.1.max(newest));
    };
    for (key, tags, unread) in feeds {
        let newest = newest.get(&key).copied().unwrap_or_default();
        add(&mut all, unread, newest);
        add(sums.entry(feed_stream(key.0)).or_default(), unread, newest);
        for tag in tags {
            add(sums.entry(label_stream(&tag)).or_default(), unread, newest);
        }
    }
    let mut counts = vec![(READING_LIST.to_owned(), all.0, all.1)];
    counts.extend(sums.into_iter().map(|(stream, (unread, newest))| (stream, unread, newest)));
    Ok(served::write_counts(&counts))
}

/// Describes when a device was last seen, for a list.
pub fn seen_words(seen: Option<DateTime<Utc>>) -> String {
    seen.map_or_else(
        || "never seen".to_owned(),
        |seen| format!("last seen {}", seen.format("%Y-%m-%d %H:%M UTC")),
    )
}
