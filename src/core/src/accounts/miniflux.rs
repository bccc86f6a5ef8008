//! The API of Miniflux (`/v1`): its requests and answers as values, and which feeds must be listed again.
//!
//! Entries are listed by id, newest first, and the next page starts below the last id. If marks change in the meantime, no entry
//! moves to another page.
//!
//! First, the changes since the last sync are merged. Then the counts of both sides are compared, and each feed whose counts
//! differ is listed completely. Nothing is lost, therefore, if the clock of the server was set back or if entries were deleted
//! there.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::answers::{
    AnswerFault, ENCLOSURES_MAX, IDS_MAX, RemoteFeed, RemoteItem, SUBSCRIPTIONS_MAX, limited,
    read_any_json, web_address,
};
use super::api_call::{ApiCall, ItemId, Verb, encoded};
use super::marks::Marks;
use crate::feed::identity::identity_of_sha256;
use crate::feed::text::{NAME_MAX, TITLE_MAX, one_line};
use crate::feed::{Enclosure, Entry};

/// Number of entries to request in one answer.
pub const ENTRIES_A_PAGE: u32 = 250;
/// Number of entries to mark in one request.
pub const MARKS_A_REQUEST: usize = 1_000;
/// Category for feeds without a folder. Each account has it from the beginning.
pub const NO_FOLDER: &str = "All";
const STREAM: &str = "feed/";

/// Returns the stream of a feed, which is its name in the Google Reader API of Miniflux, so that both APIs name the same feed.
pub fn stream_of(feed: u64) -> String {
    format!("{STREAM}{feed}")
}

/// Returns the number of the feed with this stream.
pub fn feed_of(stream: &str) -> Option<u64> {
    stream.strip_prefix(STREAM)?.parse().ok()
}

/// Requests the name of the logged-in user. Used to check the login.
pub fn me() -> ApiCall {
    ApiCall::get("/v1/me".to_owned())
}

/// Requests the subscriptions with their categories.
pub fn feeds() -> ApiCall {
    ApiCall::get("/v1/feeds".to_owned())
}

/// Requests the categories, including those without feeds.
pub fn categories() -> ApiCall {
    ApiCall::get("/v1/categories".to_owned())
}

/// Requests the number of read and unread entries of each feed.
pub fn counters() -> ApiCall {
    ApiCall::get("/v1/feeds/counters".to_owned())
}

/// A page of entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntriesWanted {
    /// Only entries of this feed.
    pub feed: Option<u64>,
    /// Only entries that were added or marked after this time of the server, in Unix seconds.
    pub changed_after: Option<i64>,
    /// Only starred entries.
    pub starred: bool,
    /// Only entries with a smaller id.
    pub before: Option<u64>,
    /// Number of entries to leave out at the start of the page.
    pub skip: u32,
    /// Number of entries wanted.
    pub limit: u32,
}

/// Requests a page of entries, with their texts and marks.
pub fn entries(wanted: &EntriesWanted) -> ApiCall {
    let mut query = vec![
        ("order", "id".to_owned()),
        ("direction", "desc".to_owned()),
        // Old versions also list removed entries.
        ("status", "read".to_owned()),
        ("status", "unread".to_owned()),
        ("limit", wanted.limit.to_string()),
    ];
    if wanted.starred {
        query.push(("starred", "true".to_owned()));
    }
    query.extend(wanted.changed_after.map(|after| ("changed_after", after.max(1).to_string())));
    query.extend(wanted.before.map(|before| ("before_entry_id", before.to_string())));
    if wanted.skip > 0 {
        query.push(("offset", wanted.skip.to_string()));
    }
    let query = encoded(query.iter().map(|(name, value)| (*name, value.as_str())));
    let feed = wanted.feed.map(|feed| format!("/feeds/{feed}")).unwrap_or_default();
    ApiCall::get(format!("/v1{feed}/entries?{query}"))
}

/// Requests that entries are marked as read or as unread.
pub fn set_read(ids: &[ItemId], is_read: bool) -> ApiCall {
    let status = if is_read { "read" } else { "unread" };
    put("/v1/entries".to_owned(), &json!({ "entry_ids": numbers(ids), "status": status }))
}

/// Requests that entries get or lose their star. Servers before 2.3.2 answer 400 and only support [`toggle_star`].
pub fn set_starred(ids: &[ItemId], is_starred: bool) -> ApiCall {
    put("/v1/entries".to_owned(), &json!({ "entry_ids": numbers(ids), "starred": is_starred }))
}

/// Requests that an entry gets a star if it has none, and loses it otherwise.
pub fn toggle_star(id: &ItemId) -> ApiCall {
    let number = id.number().unwrap_or_default();
    ApiCall::new(Verb::Put, format!("/v1/entries/{number}/bookmark"), String::new())
}

/// Requests a subscription.
pub fn add_feed(address: &str) -> ApiCall {
    post("/v1/feeds", &json!({ "feed_url": address }))
}

/// Requests that a feed is unsubscribed.
pub fn remove_feed(feed: u64) -> ApiCall {
    ApiCall::new(Verb::Delete, format!("/v1/feeds/{feed}"), String::new())
}

/// Requests a new title for a feed.
pub fn rename_feed(feed: u64, title: &str) -> ApiCall {
    put(format!("/v1/feeds/{feed}"), &json!({ "title": title }))
}

/// Requests a new category for a feed.
pub fn move_feed(feed: u64, category: u64) -> ApiCall {
    put(format!("/v1/feeds/{feed}"), &json!({ "category_id": category }))
}

/// Requests a new category.
pub fn add_category(title: &str) -> ApiCall {
    post("/v1/categories", &json!({ "title": title }))
}

fn put(path: String, body: &serde_json::Value) -> ApiCall {
    ApiCall::new(Verb::Put, path, body.to_string())
}

fn post(path: &str, body: &serde_json::Value) -> ApiCall {
    ApiCall::new(Verb::PostJson, path.to_owned(), body.to_string())
}

fn numbers(ids: &[ItemId]) -> Vec<u64> {
    ids.iter().filter_map(ItemId::number).collect()
}

/// Maximum number of entries by which a list may grow while it is read.
const GROWTH_MAX: u64 = 2_000;

#[derive(Deserialize)]
struct ErrorAnswer {
    error_message: String,
}

/// Reads why the server rejected a request. Returns `None` if the answer does not come from Miniflux.
pub fn read_error(bytes: &[u8]) -> Option<String> {
    let answer: ErrorAnswer = read_any_json(bytes).ok()?;
    Some(one_line(&answer.error_message, NAME_MAX))
}

#[derive(Deserialize)]
struct MeAnswer {
    #[serde(rename = "id")]
    _id: u64,
    username: String,
}

/// Reads the name of the logged-in user.
pub fn read_me(bytes: &[u8]) -> Result<String, AnswerFault> {
    read_any_json(bytes).map(|answer: MeAnswer| one_line(&answer.username, NAME_MAX))
}

#[derive(Deserialize)]
struct FeedAnswer {
    id: u64,
    #[serde(default)]
    feed_url: String,
    #[serde(default)]
    site_url: Option<String>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    category: Option<MinifluxCategory>,
}

#[derive(Deserialize)]
struct MinifluxCategory {
    id: u64,
    #[serde(default)]
    title: String,
}

/// Reads the subscriptions. Subscriptions without an http address are left out.
pub fn read_feeds(bytes: &[u8]) -> Result<Vec<RemoteFeed>, AnswerFault> {
    let answer: Option<Vec<FeedAnswer>> = read_any_json(bytes)?;
    let feed = |it: FeedAnswer| {
        let folder = it.category.map(|it| one_line(&it.title, NAME_MAX));
        Some(RemoteFeed {
            stream: stream_of(it.id),
            url: web_address(&it.feed_url)?,
            title: one_line(&it.title, NAME_MAX),
            folders: folder.into_iter().filter(|name| !name.is_empty()).collect(),
            site: it.site_url.as_deref().and_then(web_address),
            history: None,
        })
    };
    let feeds = answer.unwrap_or_default().into_iter().take(SUBSCRIPTIONS_MAX);
    Ok(feeds.filter_map(feed).collect())
}

/// Reads the numbers and titles of the categories.
pub fn read_categories(bytes: &[u8]) -> Result<Vec<(u64, String)>, AnswerFault> {
    let answer: Option<Vec<MinifluxCategory>> = read_any_json(bytes)?;
    let categories = answer.unwrap_or_default().into_iter().take(SUBSCRIPTIONS_MAX);
    Ok(categories.map(|it| (it.id, it.title)).collect())
}

/// Reads the number of a new category.
pub fn read_new_category(bytes: &[u8]) -> Result<u64, AnswerFault> {
    read_any_json(bytes).map(|answer: MinifluxCategory| answer.id)
}

#[derive(Deserialize)]
struct NewFeedAnswer {
    feed_id: u64,
}

/// Reads the stream of a newly subscribed feed.
pub fn read_new_feed(bytes: &[u8]) -> Result<String, AnswerFault> {
    read_any_json(bytes).map(|answer: NewFeedAnswer| stream_of(answer.feed_id))
}

#[derive(Deserialize)]
struct CountersAnswer {
    // The fields may be null, but must exist.
    #[serde(deserialize_with = "Option::deserialize")]
    reads: Option<BTreeMap<u64, u32>>,
    #[serde(deserialize_with = "Option::deserialize")]
    unreads: Option<BTreeMap<u64, u32>>,
}

/// Reads the numbers of unread and read entries of each feed. Feeds without entries may be missing.
pub fn read_counters(bytes: &[u8]) -> Result<Counts, AnswerFault> {
    let answer: CountersAnswer = read_any_json(bytes)?;
    let mut counts = Counts::new();
    for (feed, count) in answer.unreads.unwrap_or_default().into_iter().take(SUBSCRIPTIONS_MAX) {
        counts.entry(stream_of(feed)).or_default().0 = count.into();
    }
    for (feed, count) in answer.reads.unwrap_or_default().into_iter().take(SUBSCRIPTIONS_MAX) {
        counts.entry(stream_of(feed)).or_default().1 = count.into();
    }
    Ok(counts)
}

#[derive(Deserialize)]
struct EntriesAnswer {
    total: u64,
    entries: Option<Vec<EntryAnswer>>,
}

#[derive(Deserialize)]
struct EntryAnswer {
    id: u64,
    feed_id: u64,
    status: String,
    starred: bool,
    #[serde(default)]
    hash: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    author: String,
    #[serde(default)]
    content: String,
    #[serde(default)]
    published_at: String,
    #[serde(default)]
    tags: Option<Vec<String>>,
    #[serde(default)]
    enclosures: Option<Vec<EnclosureAnswer>>,
}

#[derive(Deserialize)]
struct EnclosureAnswer {
    #[serde(default)]
    url: String,
    #[serde(default)]
    mime_type: String,
    #[serde(default)]
    size: i64,
}

/// An entry on the server, with its marks there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedItem {
    /// The entry. Its id is the server's hash of the publisher's id, if that hash can be used for matching.
    pub item: RemoteItem,
    /// Its marks.
    pub marks: Marks,
}

/// A page of entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntriesPage {
    /// Number of entries on this and the following pages, including those left out at the start of this page.
    pub total: u64,
    /// The entries of the page.
    pub items: Vec<MarkedItem>,
}

/// Reads a page of entries.
pub fn read_entries(bytes: &[u8]) -> Result<EntriesPage, AnswerFault> {
    let answer: EntriesAnswer = read_any_json(bytes)?;
    let items = answer.entries.unwrap_or_default().into_iter();
    Ok(EntriesPage { total: answer.total, items: items.map(read_entry).collect() })
}

fn read_entry(it: EntryAnswer) -> MarkedItem {
    let id = ItemId::of_number(it.id);
    let line = |text: &str, max| Some(one_line(text, max)).filter(|line| !line.is_empty());
    let enclosures = it.enclosures.unwrap_or_default().into_iter().take(ENCLOSURES_MAX);
    let enclosures = enclosures.filter_map(|file| {
        Some(Enclosure {
            url: web_address(&file.url)?,
            media_type: line(&file.mime_type, NAME_MAX),
            length: u64::try_from(file.size).ok().filter(|size| *size > 0),
            duration_seconds: None,
        })
    });
    let tags = it.tags.unwrap_or_default().into_iter().take(ENCLOSURES_MAX);
    let published = DateTime::parse_from_rfc3339(&it.published_at).ok();
    let entry = Entry {
        id: identity_of_sha256(&it.hash).unwrap_or_else(|| id.long()),
        title: line(&it.title, TITLE_MAX),
        author: line(&it.author, NAME_MAX),
        link: web_address(&it.url),
        published: published.map(|date| date.with_timezone(&Utc)),
        content: Some(limited(&it.content)).filter(|text| !text.trim().is_empty()),
        enclosures: enclosures.collect(),
        categories: tags.filter_map(|tag| line(&tag, NAME_MAX)).collect(),
        ..Entry::default()
    };
    MarkedItem {
        item: RemoteItem { id, stream: stream_of(it.feed_id), entry },
        marks: Marks { is_read: it.status != "unread", is_starred: it.starred },
    }
}

/// The progress of a listing of entries, page by page, newest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Listing {
    /// Id below which entries remain to be listed; `None` at the start.
    pub before: Option<u64>,
    /// Number of entries on the pages read so far.
    pub done: u64,
    /// Number of entries in the whole listing, according to the first page.
    pub total: Option<u64>,
}

impl Listing {
    /// Notes a page at whose start `skipped` entries were left out. Returns whether another page follows. Fails if the ids do not
    /// decrease or if the list is much longer than the server stated, because such a list may never end.
    pub fn add(&mut self, page: &EntriesPage, skipped: u32) -> Result<bool, AnswerFault> {
        let total = *self.total.get_or_insert(page.total);
        let count = u64::try_from(page.items.len()).unwrap_or(u64::MAX);
        let count = count.saturating_add(skipped.into());
        self.done = self.done.saturating_add(count);
        let numbers = page.items.iter().filter_map(|it| it.item.id.number());
        let Some(last) = numbers.min() else { return Ok(false) };
        let is_falling = self.before.is_none_or(|before| last < before);
        let is_long = self.done > total.saturating_add(GROWTH_MAX);
        if !is_falling || is_long || usize::try_from(self.done).is_ok_and(|done| done > IDS_MAX) {
            return Err(AnswerFault::Endless);
        }
        self.before = Some(last);
        Ok(count < page.total)
    }
}

/// Number of seconds before the last sync from which changes are requested again, because a change may become visible a little
/// later.
pub const OVERLAP: i64 = 30;

/// State that is kept between syncs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeState {
    /// Time of the last sync by the server's clock, in Unix seconds; `None` before the first complete listing.
    pub stamp: Option<i64>,
    /// The listing of all entries, if it was interrupted.
    pub pass: Option<Pass>,
    /// For each stream, the difference of the counts that remained after the feed was listed.
    pub odd: BTreeMap<String, Difference>,
    /// Number of starred entries on the server that do not exist here.
    pub odd_stars: i64,
    /// Streams without a feed here, even after subscriptions were compared.
    pub ignored: BTreeSet<String>,
}

/// An interrupted listing of all entries, newest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// Time at which it started by the server's clock, in Unix seconds.
    pub stamp: i64,
    /// Id below which entries remain to be listed.
    pub before: u64,
}

/// Number of unread and of read entries, or a difference between two such numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference(pub i64, pub i64);

impl Difference {
    /// Counts an entry.
    pub const fn count(&mut self, is_read: bool) {
        let number = if is_read { &mut self.1 } else { &mut self.0 };
        *number = number.saturating_add(1);
    }

    /// Returns the difference to other counts.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0), self.1.saturating_sub(other.1))
    }
}

/// Counts of entries by stream.
pub type Counts = BTreeMap<String, Difference>;

impl ChangeState {
    /// Returns the time from which to request changes, in Unix seconds. `now` is the time on the server, if known. Returns `None`
    /// if all entries must be listed, because they never were or because the server's clock was set back.
    pub fn changed_after(&self, now: Option<i64>) -> Option<i64> {
        let stamp = self.stamp.filter(|_| self.pass.is_none())?;
        let is_back = now.is_some_and(|now| now.saturating_add(OVERLAP) < stamp);
        (!is_back).then(|| stamp.saturating_sub(OVERLAP))
    }

    /// Returns the streams whose counts differ by another amount than after their last listing.
    pub fn to_list<'s>(
        &self,
        streams: impl IntoIterator<Item = &'s String>,
        there: &Counts,
        here: &Counts,
    ) -> Vec<String> {
        let differs = |stream: &&String| {
            let left = self.odd.get(*stream).copied().unwrap_or_default();
            difference(stream, there, here) != left
        };
        streams.into_iter().filter(differs).cloned().collect()
    }

    /// Notes the difference that remains after a stream was listed.
    pub fn listed(&mut self, stream: &str, there: &Counts, here: &Counts) {
        let left = difference(stream, there, here);
        if left == Difference::default() {
            self.odd.remove(stream);
        } else {
            self.odd.insert(stream.to_owned(), left);
        }
    }
}

fn difference(stream: &str, there: &Counts, here: &Counts) -> Difference {
    let of = |counts: &Counts| counts.get(stream).copied().unwrap_or_default();
    of(there).minus(of(here))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_form_that_every_version_reads() {
        let ids = [ItemId::of_number(7), ItemId::of_number(12)];
        let page = EntriesWanted { limit: 250, ..EntriesWanted::default() };
        let fixed = "order=id&direction=desc&status=read&status=unread&limit=250";
        let full = EntriesWanted {
            feed: Some(4),
            changed_after: Some(-5),
            starred: true,
            before: Some(9),
            skip: 1,
            ..page
        };
        for (call, verb, path, body) in [
            (entries(&page), Verb::Get, format!("/v1/entries?{fixed}"), ""),
            (
                entries(&full),
                Verb::Get,
                format!(
                    "/v1/feeds/4/entries?{fixed}&starred=true&changed_after=1&before_entry_id=9&offset=1"
                ),
                "",
            ),
            (
                set_read(&ids, false),
                Verb::Put,
                "/v1/entries".to_owned(),
                r#"{"entry_ids":[7,12],"status":"unread"}"#,
            ),
            (
                set_starred(&ids, true),
                Verb::Put,
                "/v1/entries".to_owned(),
                r#"{"entry_ids":[7,12],"starred":true}"#,
            ),
            (toggle_star(&ids[1]), Verb::Put, "/v1/entries/12/bookmark".to_owned(), ""),
            (
                add_feed("https://a.example/\"x"),
                Verb::PostJson,
                "/v1/feeds".to_owned(),
                r#"{"feed_url":"https://a.example/\"x"}"#,
            ),
            (remove_feed(3), Verb::Delete, "/v1/feeds/3".to_owned(), ""),
            (rename_feed(3, "A"), Verb::Put, "/v1/feeds/3".to_owned(), r#"{"title":"A"}"#),
            (move_feed(3, 8), Verb::Put, "/v1/feeds/3".to_owned(), r#"{"category_id":8}"#),
            (add_category("B"), Verb::PostJson, "/v1/categories".to_owned(), r#"{"title":"B"}"#),
        ] {
            assert_eq!(call, ApiCall::new(verb, path, body.to_owned()));
        }
        for (stream, feed) in [("feed/4", Some(4)), ("feed/https://a.example", None), ("4", None)] {
            assert_eq!(feed_of(stream), feed, "{stream}");
        }
        assert_eq!(feed_of(&stream_of(17)), Some(17));
    }

    #[test]
    fn entries_are_read_with_marks_and_limits() {
        let large = "x".repeat(10 * 1024 * 1024);
        let hash = "a".repeat(64);
        let body = format!(
            r#"{{"total":7,"entries":[
            {{"id":1234,"feed_id":4,"status":"unread","starred":true,"hash":"{hash}","title":"A <i> \u0007&amp;",
             "url":"https://a.example/1","author":"Ann","content":"<p>{large}</p>","published_at":"2026-01-01T02:00:00+02:00",
             "tags":["one",""],"feed":{{"id":4}},
             "enclosures":[{{"url":"https://a.example/1.mp3","mime_type":"audio/mpeg","size":1001}},{{"url":"javascript:x"}}]}},
            {{"id":5,"feed_id":4,"status":"read","starred":false,"hash":"12","published_at":"9999999","url":"x:","tags":null}}]}}"#
        );
        let page = read_entries(body.as_bytes()).unwrap();
        let [first, second] = page.items.as_slice() else { panic!("{}", page.items.len()) };
        assert_eq!((page.total, first.item.stream.as_str()), (7, "feed/4"));
        let entry = &first.item.entry;
        assert_eq!(entry.id, format!("urn:sha256:{hash}"));
        assert_eq!(entry.title.as_deref(), Some("A <i> &amp;"), "the title is plain text");
        assert_eq!(entry.published, DateTime::from_timestamp(1_767_225_600, 0));
        assert_eq!(entry.content.as_ref().unwrap().len(), 4 * 1024 * 1024);
        assert_eq!((entry.categories.len(), entry.enclosures.len()), (1, 1));
        assert_eq!(first.marks, Marks { is_read: false, is_starred: true });
        assert_eq!(second.marks, Marks { is_read: true, is_starred: false });
        let entry = &second.item.entry;
        assert_eq!((entry.id.as_str(), entry.published), (second.item.id.long().as_str(), None));
        assert_eq!((&entry.link, &entry.title, &entry.content), (&None, &None, &None));
    }

    #[test]
    fn feeds_categories_and_counts_are_read() {
        let feeds = read_feeds(
            br#"[{"id":4,"feed_url":"https://a.example/feed","site_url":"https://a.example","title":"A\u001b \n b",
            "category":{"id":2,"title":"News"},"icon":null},{"id":5,"feed_url":"file:///etc/passwd"}]"#,
        );
        let feed = RemoteFeed {
            stream: "feed/4".into(),
            url: "https://a.example/feed".into(),
            title: "A b".into(),
            folders: vec!["News".into()],
            site: Some("https://a.example/".into()),
            history: None,
        };
        assert_eq!(feeds, Ok(vec![feed]));
        assert_eq!(read_feeds(b"[]"), Ok(Vec::new()));
        assert_eq!(read_feeds(b"null"), Ok(Vec::new()), "an empty list of old versions");
        let counts = read_counters(br#"{"reads":{"4":2},"unreads":{"4":1,"7":3}}"#).unwrap();
        let shown: Vec<_> =
            counts.iter().map(|(stream, it)| (stream.as_str(), it.0, it.1)).collect();
        assert_eq!(shown, [("feed/4", 1, 2), ("feed/7", 3, 0)]);
        assert_eq!(read_categories(br#"[{"id":1,"title":"All"}]"#), Ok(vec![(1, "All".into())]));
        assert_eq!(read_new_feed(br#"{"feed_id":9}"#), Ok("feed/9".into()));
        assert_eq!(read_new_category(br#"{"id":3,"title":"x","user_id":1}"#), Ok(3));
        assert_eq!(read_me(br#"{"id":1,"username":"ann","is_admin":true}"#), Ok("ann".into()));
        assert_eq!(read_error(br#"{"error_message":"no\u001b[2J"}"#).as_deref(), Some("no[2J"));
        for other in ["", "Unauthorized!", "<html>", "{}", "[]"] {
            assert_eq!(read_error(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn unusable_answers_are_refused() {
        for wrong in [
            "",
            "<html>",
            "[1",
            "{\"total\":1",
            "{\"total\":-1,\"entries\":[]}",
            "{\"entries\":[{\"id\":\"x\"}],\"total\":1}",
            "{\"unreads\":{\"a\":1},\"reads\":{}}",
            "{\"unreads\":{}}",
            "7",
            "\u{0}",
        ] {
            let bytes = wrong.as_bytes();
            assert!(read_entries(bytes).is_err() && read_feeds(bytes).is_err(), "{wrong}");
            assert!(read_counters(bytes).is_err() && read_categories(bytes).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_listing_ends_although_the_server_goes_on() {
        let page = |ids: &[u64], total| {
            let entry =
                |id| format!(r#"{{"id":{id},"feed_id":1,"status":"read","starred":false}}"#);
            let entries: Vec<String> = ids.iter().map(entry).collect();
            let body = format!(r#"{{"total":{total},"entries":[{}]}}"#, entries.join(","));
            read_entries(body.as_bytes()).unwrap()
        };
        let mut listing = Listing::default();
        assert_eq!(listing.add(&page(&[9, 8], 5), 0), Ok(true));
        assert_eq!(listing.add(&page(&[5, 7], 3), 0), Ok(true));
        assert_eq!((listing.before, listing.done, listing.total), (Some(5), 4, Some(5)));
        assert_eq!(listing.add(&page(&[1], 2), 1), Ok(false), "one was left out");
        assert_eq!(Listing::default().add(&page(&[], 7), 0), Ok(false));
        assert_eq!(listing.add(&page(&[1], 2), 0), Err(AnswerFault::Endless), "the same id again");
        let mut endless = Listing::default();
        let ended =
            (0..=GROWTH_MAX).find_map(|at| endless.add(&page(&[1_000_000 - at], 3), 0).err());
        assert_eq!(ended, None);
        let more = (0..9).find_map(|at| endless.add(&page(&[500_000 - at], 3), 0).err());
        assert_eq!(more, Some(AnswerFault::Endless), "far more than the server said");
    }

    #[test]
    fn changes_are_requested_by_the_clock_of_the_server() {
        let year = 365 * 86_400;
        let pass = Some(Pass::default());
        for (stamp, pass, now, expected) in [
            (None, None, Some(1_000), None),
            (Some(1_000), None, Some(1_000), Some(970)),
            (Some(1_000), None, None, Some(970)),
            (Some(1_000), None, Some(980), Some(970)),
            (Some(1_000), None, Some(1_000 + year), Some(970)),
            (Some(1_000 + year), None, Some(1_000), None),
            (Some(1_000), pass, Some(1_000), None),
        ] {
            let state = ChangeState { stamp, pass, ..ChangeState::default() };
            assert_eq!(state.changed_after(now), expected, "{stamp:?} {pass:?} {now:?}");
        }
    }

    #[test]
    fn a_feed_is_listed_once_for_a_difference_that_stays() {
        let counts = |unread, read| Counts::from([("feed/1".to_owned(), Difference(unread, read))]);
        let streams = ["feed/1".to_owned(), "feed/2".to_owned()];
        let mut state = ChangeState::default();
        assert!(state.to_list(&streams, &counts(3, 4), &counts(3, 4)).is_empty());
        assert_eq!(state.to_list(&streams, &counts(3, 4), &counts(4, 3)), ["feed/1"]);
        assert_eq!(state.to_list(&streams, &Counts::new(), &counts(0, 1)), ["feed/1"]);
        // One entry of the server does not exist here.
        state.listed("feed/1", &counts(4, 4), &counts(3, 4));
        assert!(state.to_list(&streams, &counts(3, 5), &counts(2, 5)).is_empty());
        assert_eq!(state.to_list(&streams, &counts(4, 5), &counts(2, 5)), ["feed/1"]);
        state.listed("feed/1", &counts(4, 5), &counts(4, 5));
        assert!(state.odd.is_empty());
    }
}
