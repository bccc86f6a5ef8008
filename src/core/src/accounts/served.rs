//! The server side of the Google Reader API: requests of devices as values, and the answers to them, in the form that `FreshRSS`
//! uses. All input comes from outside, so each list has a limit.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use url::form_urlencoded;

use super::api_call::ItemId;
use super::greader::{READ, READING_LIST, STARRED, label_stream};
use super::shapes::{
    AsText, CategoryAnswer, CountAnswer, CountsAnswer, HistoryThere, IdAnswer, IdsAnswer,
    ItemAnswer, ItemsAnswer, LinkAnswer, OriginAnswer, QuickAddAnswer, SubscriptionAnswer,
    SubscriptionsAnswer, TagAnswer, TagsAnswer, TextAnswer, UserAnswer,
};
use crate::feed::Enclosure;
use crate::feed::outgoing::{escaped_attribute, escaped_text};
use crate::feed::text::{NAME_MAX, one_line};
use crate::words::rfc_3339;

/// Maximum number of ids or entries in one answer.
const COUNT_MAX: usize = 10_000;
/// Maximum number of entries with their texts in one answer.
const TEXTS_MAX: usize = 1_000;
/// Number of ids or entries in an answer if the request contains no number.
const COUNT_USUAL: usize = 20;
/// Maximum number of entries in one request.
pub const NAMED_MAX: usize = 10_000;
/// Maximum number of tags that one request sets or removes.
const TAGS_MAX: usize = 20;
/// Parameters that contain secrets. They are rejected in addresses, because the log of a proxy would contain them.
const SECRET: [&str; 3] = ["Passwd", "T", "Auth"];

/// A list of entries that a device requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stream {
    /// All entries.
    All,
    /// The entries that count as read.
    Read,
    /// The starred entries.
    Starred,
    /// The entries with a label, and those of the feeds with a tag of this name.
    Label(String),
    /// The entries of the feed with this number.
    Feed(u32),
    /// The entries of the feed with this address.
    Address(String),
    /// The stream does not exist. It is treated as empty: if a server returned all entries instead, a client could mark them all.
    Unknown,
}

impl Stream {
    /// Reads the name of a stream. Any user in it is taken for the user of the device.
    pub fn read(text: &str) -> Self {
        if let Some(feed) = text.strip_prefix("feed/") {
            return feed.parse().map_or_else(|_| Self::Address(feed.to_owned()), Self::Feed);
        }
        let rest = text.strip_prefix("user/").and_then(|rest| rest.split_once('/'));
        match rest.map(|(_, rest)| rest) {
            Some("state/com.google/reading-list") => Self::All,
            Some("state/com.google/read") => Self::Read,
            Some("state/com.google/starred") => Self::Starred,
            Some(rest) => match rest.strip_prefix("label/") {
                Some(name) if !name.is_empty() && one_line(name, NAME_MAX) == name => {
                    Self::Label(name.to_owned())
                }
                Some(_) | None => Self::Unknown,
            },
            None => Self::Unknown,
        }
    }
}

/// A part of a stream that a device requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamWanted {
    /// The stream.
    pub stream: Stream,
    /// Only entries that are in all of these streams.
    pub within: Vec<Stream>,
    /// Only entries that are in none of these streams.
    pub without: Vec<Stream>,
    /// Only entries that arrived at this time or later, in Unix seconds.
    pub since: Option<i64>,
    /// Only entries that arrived at this time or earlier, in Unix seconds.
    pub until: Option<i64>,
    /// Id of the last entry on the previous page; `None` for the first page.
    pub after: Option<u64>,
    /// Whether the oldest entries come first.
    pub oldest_first: bool,
    /// Maximum number of entries.
    pub count: usize,
}

/// A change of a mark or of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TagEdit {
    /// Mark as read, or as unread.
    Read(bool),
    /// Star, or remove the star.
    Starred(bool),
    /// Add the label, or remove it.
    Label(String, bool),
}

impl TagEdit {
    fn read(tag: &str, is_given: bool) -> Option<Self> {
        match Stream::read(tag) {
            Stream::Read => Some(Self::Read(is_given)),
            Stream::Starred => Some(Self::Starred(is_given)),
            Stream::Label(name) => Some(Self::Label(name, is_given)),
            Stream::Unknown if is_given && tag.ends_with("/state/com.google/kept-unread") => {
                Some(Self::Read(false))
            }
            Stream::All | Stream::Feed(_) | Stream::Address(_) | Stream::Unknown => None,
        }
    }
}

/// A request of a device that needs the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServedCall {
    /// The names of folders and labels.
    Tags,
    /// The subscriptions.
    Subscriptions,
    /// The number of unread entries of each stream.
    Counts,
    /// The ids of a part of a stream.
    Ids(StreamWanted),
    /// The entries of a part of a stream, with their texts.
    Contents(StreamWanted),
    /// The entries of a part of a stream, as an Atom document.
    Atom(StreamWanted),
    /// These entries with their texts.
    Items(Vec<u64>),
    /// Change marks or labels of entries.
    Edit {
        /// The changes.
        edits: Vec<TagEdit>,
        /// The entries.
        ids: Vec<u64>,
    },
    /// Mark those entries of a stream as read that arrived at this time or earlier.
    MarkAll {
        /// The stream.
        stream: Stream,
        /// The time, in microseconds since 1970.
        until: u64,
    },
    /// Subscribe to an address.
    Subscribe {
        /// The address.
        url: String,
        /// A title, or an empty text for the publisher's title.
        title: String,
        /// Folder of the new feed.
        folder: Option<String>,
        /// Whether the answer contains the stream of the new feed.
        is_quick: bool,
    },
    /// Unsubscribe from a feed.
    Unsubscribe(Stream),
    /// Change the title or the folders of a feed.
    Rearrange {
        /// The feed.
        feed: Stream,
        /// The new title.
        title: Option<String>,
        /// Folders to which the feed is added.
        into: Vec<String>,
        /// Folders from which the feed is removed.
        from: Vec<String>,
    },
    /// Rename a folder.
    RenameFolder {
        /// Its present name.
        from: String,
        /// The new name.
        to: String,
    },
    /// Remove a folder. Its feeds are kept.
    RemoveFolder(String),
}

/// Why a request is rejected, as a sentence for a person who reads the log of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CallFault {
    /// The address contains a secret.
    #[error("a password or a token belongs into the body or the header, not into the address")]
    SecretInAddress,
    /// There is no such request.
    #[error("there is no such request")]
    NotOffered,
    /// A change was requested with another method than POST.
    #[error("a change must be a POST")]
    NotPost,
    /// The request contains too many entries.
    #[error("the request names too many entries")]
    TooMany,
    /// A parameter is missing or wrong.
    #[error("the parameter '{0}' is missing or wrong")]
    Parameter(&'static str),
}

/// Checks that no secret is in the query of an address.
pub fn check_query(query: &str) -> Result<(), CallFault> {
    let mut names = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
    let is_secret = names.any(|name| SECRET.contains(&&*name));
    if is_secret { Err(CallFault::SecretInAddress) } else { Ok(()) }
}

/// Returns the value of a field of a form. If the field is repeated, the last value counts.
pub fn field(form: &str, name: &str) -> Option<String> {
    let fields = form_urlencoded::parse(form.as_bytes());
    let found = fields.filter(|(field, _)| field == name).last();
    found.map(|(_, value)| value.into_owned())
}

/// The parameters of a request, from its address and its body.
struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn all<'p>(&'p self, name: &'p str) -> impl Iterator<Item = &'p str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    fn one(&self, name: &'static str) -> Option<&str> {
        self.all(name).last().filter(|value| !value.is_empty())
    }

    fn needed(&self, name: &'static str) -> Result<&str, CallFault> {
        self.one(name).ok_or(CallFault::Parameter(name))
    }

    fn number<N: std::str::FromStr>(&self, name: &'static str) -> Result<Option<N>, CallFault> {
        let number = |text: &str| text.parse().map_err(|_| CallFault::Parameter(name));
        self.one(name).map(number).transpose()
    }

    fn streams(&self, name: &'static str) -> Vec<Stream> {
        self.all(name).take(TAGS_MAX).map(Stream::read).collect()
    }

    fn ids(&self) -> Result<Vec<u64>, CallFault> {
        let mut ids = Vec::new();
        for text in self.all("i") {
            // An id that is not a number was never given to an entry here, so ignore it.
            ids.extend(ItemId::read(text).and_then(|id| id.number()));
            if ids.len() > NAMED_MAX {
                return Err(CallFault::TooMany);
            }
        }
        Ok(ids)
    }

    fn labels(&self, name: &'static str) -> Vec<String> {
        let label = |stream| if let Stream::Label(name) = stream { Some(name) } else { None };
        self.streams(name).into_iter().filter_map(label).collect()
    }

    fn label(&self, name: &'static str) -> Result<String, CallFault> {
        self.labels(name).into_iter().next().ok_or(CallFault::Parameter(name))
    }

    fn wanted(&self, stream: &str, max: usize) -> Result<StreamWanted, CallFault> {
        let count = match self.number::<i64>("n")? {
            None => COUNT_USUAL,
            // FreshRSS treats zero and negative numbers as no limit.
            Some(..=0) => max,
            Some(count) => usize::try_from(count).map_or(max, |count| count.min(max)),
        };
        Ok(StreamWanted {
            stream: Stream::read(stream),
            within: self.streams("it"),
            without: self.streams("xt"),
            since: self.number("ot")?,
            until: self.number("nt")?,
            after: self.number("c")?,
            oldest_first: self.one("r") == Some("o"),
            count,
        })
    }
}

/// Prefix of the path of a stream as an Atom document, as newsboat 2.21 requests it.
pub const ATOM_PATH: &str = "atom/";

/// Reads a request from its decoded path below `/reader/api/0/` (or the path that starts with [`ATOM_PATH`]), its query and its
/// form.
pub fn read_call(path: &str, query: &str, form: Option<&str>) -> Result<ServedCall, CallFault> {
    let fields = [query, form.unwrap_or_default()].map(str::as_bytes).map(form_urlencoded::parse);
    let given =
        Parameters(fields.into_iter().flatten().map(|(a, b)| (a.into(), b.into())).collect());
    if let Some(stream) = path.strip_prefix("stream/contents") {
        let named = Some(stream.trim_start_matches('/')).filter(|named| !named.is_empty());
        let stream = named.or(given.one("s")).unwrap_or(READING_LIST);
        return Ok(ServedCall::Contents(given.wanted(stream, TEXTS_MAX)?));
    }
    if let Some(stream) = path.strip_prefix(ATOM_PATH) {
        return Ok(ServedCall::Atom(given.wanted(stream, TEXTS_MAX)?));
    }
    match path {
        "tag/list" => Ok(ServedCall::Tags),
        "subscription/list" => Ok(ServedCall::Subscriptions),
        "unread-count" => Ok(ServedCall::Counts),
        "stream/items/ids" => Ok(ServedCall::Ids(given.wanted(given.needed("s")?, COUNT_MAX)?)),
        "stream/items/contents" => {
            let ids = given.ids()?;
            if ids.len() > TEXTS_MAX { Err(CallFault::TooMany) } else { Ok(ServedCall::Items(ids)) }
        }
        "edit-tag"
        | "mark-all-as-read"
        | "subscription/edit"
        | "subscription/quickadd"
        | "rename-tag"
        | "disable-tag"
            if form.is_none() =>
        {
            Err(CallFault::NotPost)
        }
        "edit-tag" => {
            let edits = |name, is_given| {
                let tags = given.all(name).take(TAGS_MAX);
                tags.filter_map(|tag| TagEdit::read(tag, is_given)).collect::<Vec<_>>()
            };
            let edits = [edits("r", false), edits("a", true)].concat();
            Ok(ServedCall::Edit { edits, ids: given.ids()? })
        }
        // Without the time, entries that the device has never shown would be marked.
        "mark-all-as-read" => Ok(ServedCall::MarkAll {
            until: given.number("ts")?.ok_or(CallFault::Parameter("ts"))?,
            stream: Stream::read(given.needed("s")?),
        }),
        "subscription/quickadd" => Ok(ServedCall::Subscribe {
            url: given.needed("quickadd")?.to_owned(),
            title: String::new(),
            folder: None,
            is_quick: true,
        }),
        "subscription/edit" => read_edit(&given),
        "rename-tag" => {
            Ok(ServedCall::RenameFolder { from: given.label("s")?, to: given.label("dest")? })
        }
        "disable-tag" => Ok(ServedCall::RemoveFolder(given.label("s")?)),
        _ => Err(CallFault::NotOffered),
    }
}

fn read_edit(given: &Parameters) -> Result<ServedCall, CallFault> {
    let stream = given.needed("s")?;
    let title = given.one("t").map(|title| one_line(title, NAME_MAX));
    match given.needed("ac")? {
        "subscribe" => Ok(ServedCall::Subscribe {
            url: stream.strip_prefix("feed/").ok_or(CallFault::Parameter("s"))?.to_owned(),
            title: title.unwrap_or_default(),
            folder: given.labels("a").into_iter().next(),
            is_quick: false,
        }),
        "unsubscribe" => Ok(ServedCall::Unsubscribe(Stream::read(stream))),
        "edit" => Ok(ServedCall::Rearrange {
            feed: Stream::read(stream),
            title,
            into: given.labels("a"),
            from: given.labels("r"),
        }),
        _ => Err(CallFault::Parameter("ac")),
    }
}

/// A subscription as a device sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServedFeed {
    /// Its number.
    pub number: u32,
    pub title: String,
    pub tags: Vec<String>,
    /// Its address, unless the device must not see it.
    pub url: Option<String>,
    pub site: Option<String>,
    /// What is known about its history.
    pub history: Option<HistoryThere>,
}

/// An entry as a device sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServedItem {
    /// Its id.
    pub id: u64,
    pub feed: ServedFeed,
    pub is_read: bool,
    pub is_starred: bool,
    pub labels: Vec<String>,
    pub title: String,
    pub author: Option<String>,
    pub link: Option<String>,
    pub published: DateTime<Utc>,
    /// Its text with markup.
    pub text: String,
    pub categories: Vec<String>,
    pub enclosures: Vec<Enclosure>,
}

/// Returns the stream of a feed.
pub fn feed_stream(number: u32) -> String {
    format!("feed/{number}")
}

/// Replaces the characters that are special in HTML by full-width forms. Both clients that treat titles as markup and clients
/// that do not then show the same text.
fn widened(text: &str) -> String {
    let wide = |char| match char {
        '&' => '\u{ff06}',
        '<' => '\u{ff1c}',
        '>' => '\u{ff1e}',
        other => other,
    };
    text.chars().map(wide).collect()
}

fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Writes the name of the user.
pub fn write_user(name: &str) -> String {
    written(&UserAnswer { id: name, name, profile: name, email: "" })
}

/// Writes the names of folders and labels.
pub fn write_tags<'n>(
    folders: impl IntoIterator<Item = &'n str>,
    labels: impl IntoIterator<Item = &'n str>,
) -> String {
    let tag =
        |name: &str, kind: &str| TagAnswer { id: label_stream(name), kind: Some(kind.into()) };
    let mut tags = vec![TagAnswer { id: STARRED.to_owned(), kind: None }];
    tags.extend(folders.into_iter().map(|name| tag(name, "folder")));
    tags.extend(labels.into_iter().map(|name| tag(name, "tag")));
    written(&TagsAnswer { tags })
}

/// Writes the subscriptions.
pub fn write_subscriptions(feeds: impl IntoIterator<Item = ServedFeed>) -> String {
    let category = |name: String| CategoryAnswer { id: label_stream(&name), label: Some(name) };
    let answer = |feed: ServedFeed| SubscriptionAnswer {
        id: feed_stream(feed.number),
        title: Some(widened(&feed.title)),
        categories: feed.tags.into_iter().map(category).collect(),
        url: Some(feed.url.unwrap_or_else(|| feed_stream(feed.number))),
        site: Some(feed.site.unwrap_or_default()),
        icon: Some(String::new()),
        history: feed.history,
    };
    written(&SubscriptionsAnswer { subscriptions: feeds.into_iter().map(answer).collect() })
}

/// Writes a page of ids in decimal, and the continuation of the next page.
pub fn write_ids(ids: &[u64], continuation: Option<u64>) -> String {
    let refs = ids.iter().map(|id| IdAnswer { id: AsText(*id) }).collect();
    let continuation = continuation.map(|next| Value::from(next.to_string()));
    written(&IdsAnswer { refs: Some(refs), continuation })
}

/// Writes the number of unread entries of each stream, and the time of its newest entry in microseconds since 1970.
pub fn write_counts(counts: &[(String, u32, u64)]) -> String {
    let total = counts.first().map_or(0, |(_, count, _)| *count);
    let counts = counts.iter().map(|(id, count, newest)| CountAnswer {
        id,
        count: *count,
        newest: newest.to_string(),
    });
    written(&CountsAnswer { max: total, counts: counts.collect() })
}

/// Writes entries with their texts.
pub fn write_items(items: Vec<ServedItem>, continuation: Option<u64>) -> String {
    let items = items.into_iter().map(item_answer).collect();
    written(&ItemsAnswer { items, continuation: continuation.map(|next| next.to_string()) })
}

/// Writes entries with their texts as an Atom document, in which the marks are categories with the scheme of Google Reader.
pub fn write_atom(items: &[ServedItem]) -> String {
    let title = items.first().map_or(String::new(), |item| widened(&item.feed.title));
    let updated = items.iter().map(|item| item.published).max().unwrap_or_default();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <id>urn:backissue:stream</id>\n<title>{}</title>\n<updated>{}</updated>\n",
        escaped_text(&title),
        rfc_3339(updated)
    );
    for item in items {
        let name = if item.is_read { "read" } else { "fresh" };
        let star = item.is_starred.then_some("starred");
        let marks = std::iter::once(name).chain(star).map(|name| {
            format!(
                "<category term=\"user/-/state/com.google/{name}\" scheme=\"http://www.google.com/reader/\" label=\"{name}\"/>\n"
            )
        });
        let link = item.link.iter().map(|link| {
            format!("<link rel=\"alternate\" href=\"{}\"/>\n", escaped_attribute(link))
        });
        let author = item
            .author
            .iter()
            .map(|author| format!("<author><name>{}</name></author>\n", escaped_text(author)));
        let lines: String = marks.chain(link).chain(author).collect();
        let at = rfc_3339(item.published);
        let dates = format!("<published>{at}</published>\n<updated>{at}</updated>\n");
        let id = ItemId::of_number(item.id).long();
        xml.extend([
            &*format!("<entry>\n<id>{id}</id>\n<title>"),
            &*escaped_text(&widened(&item.title)),
            &*format!("</title>\n{dates}{lines}<content type=\"html\">"),
            &*escaped_text(&item.text),
            "</content>\n</entry>\n",
        ]);
    }
    xml.push_str("</feed>\n");
    xml
}

fn item_answer(item: ServedItem) -> ItemAnswer {
    let link = |href: Option<&String>| LinkAnswer { href: href.cloned(), ..LinkAnswer::default() };
    let links = || item.link.iter().map(|href| link(Some(href))).collect();
    let file = |file: Enclosure| LinkAnswer {
        href: Some(file.url),
        media_type: file.media_type,
        length: file.length.map(Value::from),
        url: None,
    };
    let states = [(true, READING_LIST), (item.is_read, READ), (item.is_starred, STARRED)];
    let states = states.iter().filter(|(is_set, _)| *is_set).map(|(_, state)| (*state).to_owned());
    let labels = item.feed.tags.iter().chain(&item.labels).map(|name| label_stream(name));
    // A category of the publisher must not be taken for a state.
    let topics = item.categories.into_iter().filter(|topic| !topic.starts_with("user/"));
    ItemAnswer {
        id: ItemId::of_number(item.id).long(),
        received_ms: Some((item.id / 1_000).to_string().into()),
        received_us: Some(item.id.to_string().into()),
        published: Some(item.published.timestamp().into()),
        title: Some(widened(&item.title)),
        author: item.author.as_deref().map(widened),
        canonical: links(),
        alternate: links(),
        categories: Some(states.chain(labels).chain(topics).map(Value::from).collect()),
        origin: OriginAnswer {
            stream: feed_stream(item.feed.number),
            title: widened(&item.feed.title),
            site: item.feed.site.unwrap_or_default(),
        },
        summary: Some(TextAnswer { content: item.text }),
        content: None,
        enclosure: item.enclosures.into_iter().map(file).collect(),
    }
}

/// Writes the answer to [`ServedCall::Subscribe`] with `is_quick`. The error is a sentence.
pub fn write_quick_add(added: Result<u32, &str>) -> String {
    written(&QuickAddAnswer {
        found: u8::from(added.is_ok()),
        stream: added.ok().map(feed_stream),
        error: added.err().map(str::to_owned),
    })
}

#[cfg(test)]
#[path = "served_tests.rs"]
mod tests;
