//! Reads answers of the Google Reader API. A success status alone proves nothing: some servers send it with `[]` or a web page.

use std::collections::BTreeSet;

use chrono::DateTime;
use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;
use url::Url;

use super::api_call::ItemId;
use super::shapes::{
    CategoryAnswer, HistoryThere, IdsAnswer, ItemAnswer, ItemsAnswer, LinkAnswer, QuickAddAnswer,
    SubscriptionAnswer, SubscriptionsAnswer, TagsAnswer,
};
use crate::feed::text::{NAME_MAX, TITLE_MAX, one_line, plain_line, resolved_line, safe_text};
use crate::feed::{Enclosure, Entry};

/// Maximum length of a token or login value, in bytes.
const TOKEN_MAX: usize = 4_096;
/// Maximum number of ids of one stream.
pub(super) const IDS_MAX: usize = 2_000_000;
/// Maximum number of pages of one stream.
const PAGES_MAX: u32 = 500;
/// Maximum length of a continuation, in bytes.
const CONTINUATION_MAX: usize = 1_024;
/// Maximum number of subscriptions.
pub(super) const SUBSCRIPTIONS_MAX: usize = 50_000;
/// Maximum length of the text of an entry, in bytes.
const TEXT_MAX: usize = 4 * 1024 * 1024;
/// Maximum number of attached files of an entry.
pub(super) const ENCLOSURES_MAX: usize = 100;
/// Maximum number of gaps of a subscription.
pub const GAPS_MAX: usize = 20;
/// Maximum number of folders of a subscription.
const FOLDERS_MAX: usize = 100;

/// Why an answer is unusable; a fragment that can follow the name of the server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFault {
    /// A web page.
    #[error("answered with a web page, perhaps a sign-in page: open its address in a browser")]
    WebPage,
    /// The answer does not have the expected format.
    #[error("gave an answer that cannot be read: {0}")]
    Unreadable(String),
    /// The server does not have the endpoint.
    #[error("gave an empty answer: it does not offer this")]
    NotOffered,
    /// The body is not `OK`.
    #[error("gave an answer that is not OK: {0}")]
    NotOk(String),
    /// The list has more pages or ids than any account has, or does not end.
    #[error("gave a list that never ends")]
    Endless,
}

/// Returns the beginning of an answer, at most 200 bytes, as one line for a message.
fn beginning(bytes: &[u8]) -> String {
    let start = bytes.get(..200).unwrap_or(bytes);
    one_line(&String::from_utf8_lossy(start), 80)
}

fn is_web_page(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"<")
}

fn read_json<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, AnswerFault> {
    if bytes.trim_ascii() == b"[]" {
        return Err(AnswerFault::NotOffered);
    }
    read_any_json(bytes)
}

/// Reads an answer of an API in which an empty list is a valid answer.
pub(super) fn read_any_json<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, AnswerFault> {
    if is_web_page(bytes) {
        return Err(AnswerFault::WebPage);
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let why = match error.classify() {
            Category::Eof => "it ends too early",
            Category::Data => "it is JSON, but not of this API",
            Category::Syntax | Category::Io => "it is not JSON",
        };
        AnswerFault::Unreadable(why.to_owned())
    })
}

/// Reads the login value, which later requests send instead of the password.
pub fn read_login(bytes: &[u8]) -> Result<String, AnswerFault> {
    let text = String::from_utf8_lossy(bytes);
    let mut values = text.lines().filter_map(|line| line.trim().strip_prefix("Auth="));
    match values.next().filter(|value| is_header_value(value)) {
        Some(value) => Ok(value.to_owned()),
        None if is_web_page(bytes) => Err(AnswerFault::WebPage),
        None => Err(AnswerFault::Unreadable("it contains no login".to_owned())),
    }
}

/// Reads the token that every POST must contain.
pub fn read_token(bytes: &[u8]) -> Result<String, AnswerFault> {
    let text = String::from_utf8_lossy(bytes).trim().to_owned();
    match text.as_str() {
        _ if is_web_page(bytes) => Err(AnswerFault::WebPage),
        token if is_header_value(token) => Ok(text),
        _ => Err(AnswerFault::Unreadable("it is no token".to_owned())),
    }
}

fn is_header_value(value: &str) -> bool {
    (1..=TOKEN_MAX).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Checks that a change was carried out. Only the body `OK` confirms that.
pub fn read_ok(bytes: &[u8]) -> Result<(), AnswerFault> {
    match bytes.trim_ascii() {
        b"OK" => Ok(()),
        _ if is_web_page(bytes) => Err(AnswerFault::WebPage),
        b"[]" => Err(AnswerFault::NotOffered),
        _ => Err(AnswerFault::NotOk(format!("'{}'", beginning(bytes)))),
    }
}

/// Returns the text of a value that some servers write as a string and others as a number.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The ids of a stream, gathered page by page in the order of the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GatheredIds {
    /// The ids, without duplicates.
    pub ids: Vec<ItemId>,
    /// The continuation of the next page; `None` if all pages were read.
    pub continuation: Option<String>,
    seen: BTreeSet<ItemId>,
    pages: u32,
}

impl GatheredIds {
    /// Adds a page. If [`Self::continuation`] is set afterwards, there is another page. A page without a new id ends the list,
    /// because some servers give a continuation even with the last page, and some always give one. Fails if an id cannot be read,
    /// or if there are too many ids or pages.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), AnswerFault> {
        let answer: IdsAnswer = read_json(bytes)?;
        let before = (self.ids.len(), self.continuation.take());
        for item in answer.refs.unwrap_or_default() {
            let text = scalar(&item.id).unwrap_or_default();
            let id = ItemId::read(&text).ok_or_else(|| {
                AnswerFault::Unreadable(format!("'{}' is no id", one_line(&text, 40)))
            })?;
            if self.seen.insert(id.clone()) {
                self.ids.push(id);
            }
        }
        self.pages = self.pages.saturating_add(1);
        if self.ids.len() > IDS_MAX || self.pages > PAGES_MAX {
            return Err(AnswerFault::Endless);
        }
        let next = answer.continuation.as_ref().and_then(scalar);
        let next = next.filter(|next| (1..=CONTINUATION_MAX).contains(&next.len()));
        self.continuation =
            next.filter(|next| self.ids.len() > before.0 && before.1.as_ref() != Some(next));
        Ok(())
    }

    /// Returns whether the list contains an id.
    pub fn contains(&self, id: &ItemId) -> bool {
        self.seen.contains(id)
    }
}

/// A subscription on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFeed {
    /// Stream of its entries, such as `feed/4`.
    pub stream: String,
    /// Address of the feed.
    pub url: String,
    /// Title, plain text.
    pub title: String,
    /// Folders.
    pub folders: Vec<String>,
    /// Address of the site.
    pub site: Option<String>,
    /// What the server reports about the history of the feed, if it tracks gaps.
    pub history: Option<HistoryThere>,
}

/// Reads the subscriptions. Subscriptions without an http address are left out. For `widened`, see [`read_items`].
pub fn read_subscriptions(bytes: &[u8], widened: bool) -> Result<Vec<RemoteFeed>, AnswerFault> {
    let answer: SubscriptionsAnswer = read_json(bytes)?;
    let feed = |it: SubscriptionAnswer| {
        let named = it.url.or_else(|| it.id.strip_prefix("feed/").map(str::to_owned));
        let folder = |it: CategoryAnswer| {
            let in_id = it.id.split_once("/label/").map(|(_, name)| name.to_owned());
            // FreshRSS replaces special characters in the label only, not in the id.
            let name = if widened { in_id.or(it.label) } else { it.label.or(in_id) };
            let name = one_line(&name?, NAME_MAX);
            (!name.is_empty()).then_some(name)
        };
        let title = it.title.unwrap_or_default();
        Some(RemoteFeed {
            url: web_address(&named?)?,
            title: one_line(&if widened { narrowed_name(&title) } else { title }, NAME_MAX),
            folders: it.categories.into_iter().take(FOLDERS_MAX).filter_map(folder).collect(),
            site: it.site.as_deref().and_then(web_address),
            history: it
                .history
                .as_ref()
                .map(cut_history)
                .filter(|history| !history.text.is_empty()),
            stream: Some(it.id).filter(|id| id.len() <= TOKEN_MAX)?,
        })
    };
    Ok(answer.subscriptions.into_iter().take(SUBSCRIPTIONS_MAX).filter_map(feed).collect())
}

/// Shortens what a server reports about a history, and removes control characters from it.
fn cut_history(history: &HistoryThere) -> HistoryThere {
    let gaps = history.gaps.iter().take(GAPS_MAX).map(|gap| one_line(gap, TITLE_MAX));
    HistoryThere { text: one_line(&history.text, NAME_MAX), gaps: gaps.collect() }
}

/// Reads the stream of a new subscription.
pub fn read_quick_add(bytes: &[u8]) -> Result<String, AnswerFault> {
    let answer: QuickAddAnswer = read_json(bytes)?;
    let stream = answer.stream.filter(|stream| (1..=TOKEN_MAX).contains(&stream.len()));
    stream.ok_or_else(|| {
        let why = answer.error.as_deref().map(|error| one_line(error, NAME_MAX));
        AnswerFault::NotOk(format!("'{}'", why.unwrap_or_default()))
    })
}

pub(super) fn web_address(text: &str) -> Option<String> {
    let url = Url::parse(text.trim()).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.to_string())
}

/// Names of labels and folders on the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteTags {
    /// Labels of entries.
    pub labels: BTreeSet<String>,
    /// Folders of feeds. No label can have the name of a folder.
    pub folders: BTreeSet<String>,
}

/// Reads the names of labels and folders. A list without any name is an error, because servers always list at least the tag for
/// starred entries.
pub fn read_tags(bytes: &[u8]) -> Result<RemoteTags, AnswerFault> {
    let answer: TagsAnswer = read_json(bytes)?;
    if answer.tags.is_empty() {
        return Err(AnswerFault::NotOffered);
    }
    let mut tags = RemoteTags::default();
    for tag in answer.tags.into_iter().take(SUBSCRIPTIONS_MAX) {
        let Some((_, name)) = tag.id.split_once("/label/") else { continue };
        // The name is sent back unchanged, so leave out a name that reading would change.
        if name.is_empty() || one_line(name, NAME_MAX) != name {
            continue;
        }
        match tag.kind.as_deref() {
            Some("tag") => tags.labels.insert(name.to_owned()),
            Some(_) | None => tags.folders.insert(name.to_owned()),
        };
    }
    Ok(tags)
}

/// An entry on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteItem {
    /// Its id on the server.
    pub id: ItemId,
    /// Stream of its feed.
    pub stream: String,
    /// The entry. Its id is the long form of `id`, because the API does not return the publisher's id.
    pub entry: Entry,
}

/// Reads entries. Never reads marks from an entry, because a publisher can write a category that looks like a mark. If `widened`
/// is set, titles contain full-width forms of `&`, `<` and `>`.
pub fn read_items(bytes: &[u8], widened: bool) -> Result<Vec<RemoteItem>, AnswerFault> {
    let answer: ItemsAnswer = read_json(bytes)?;
    Ok(answer.items.into_iter().filter_map(|item| read_item(item, widened)).collect())
}

fn read_item(item: ItemAnswer, widened: bool) -> Option<RemoteItem> {
    let id = ItemId::read(&item.id)?;
    let line = |text: Option<String>, max| {
        let text = text?;
        // Remove markup first. The characters that are narrowed afterwards cannot be markup, but they may begin a character
        // reference that the publisher wrote.
        let line = plain_line(&text, max);
        let line = if widened { resolved_line(&narrowed(&line), max) } else { line };
        (!line.is_empty()).then_some(line)
    };
    let href = |link: &LinkAnswer| web_address(link.href.as_deref().or(link.url.as_deref())?);
    let enclosures = item.enclosure.iter().take(ENCLOSURES_MAX).filter_map(|link| {
        Some(Enclosure {
            url: href(link)?,
            media_type: link.media_type.as_deref().map(|it| one_line(it, NAME_MAX)),
            length: link.length.as_ref().and_then(scalar).and_then(|text| text.parse().ok()),
            duration_seconds: None,
        })
    });
    // The list also contains the server's own states, folders and labels, which start with `user/`.
    let topics = item.categories.unwrap_or_default().into_iter();
    let topics = topics.filter_map(|it| it.as_str().map(str::to_owned));
    let topics = topics.filter(|name| !name.starts_with("user/"));
    let topics = topics.filter_map(|name| line(Some(name), NAME_MAX)).take(ENCLOSURES_MAX);
    let seconds = item.published.as_ref().and_then(scalar).and_then(|text| text.parse().ok());
    let text = item.content.or(item.summary).map(|text| text.content);
    let entry = Entry {
        id: id.long(),
        title: line(item.title, TITLE_MAX),
        author: line(item.author, NAME_MAX),
        link: item.canonical.iter().chain(&item.alternate).find_map(href),
        published: seconds.and_then(|seconds| DateTime::from_timestamp(seconds, 0)),
        content: text.as_deref().map(limited).filter(|text| !text.trim().is_empty()),
        enclosures: enclosures.collect(),
        categories: topics.collect(),
        ..Entry::default()
    };
    Some(RemoteItem { id, stream: item.origin.stream, entry })
}

pub(super) fn limited(text: &str) -> String {
    let end = text.floor_char_boundary(TEXT_MAX);
    safe_text(text.get(..end).unwrap_or_default()).into_owned()
}

/// Returns the name of a feed with ASCII characters instead of full-width ones. Keeps most full-width punctuation next to East
/// Asian letters, where it is usual.
fn narrowed_name(text: &str) -> String {
    let text = narrowed(text);
    let is_wide = |char: char| matches!(char, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}');
    let chars: Vec<char> = text.chars().collect();
    let is_beside = |place: usize| {
        let sides = [place.checked_sub(1), place.checked_add(1)];
        sides.iter().flatten().any(|side| chars.get(*side).copied().is_some_and(is_wide))
    };
    let narrow = |(place, char): (usize, &char)| match char {
        '？' if !is_beside(place) => '?',
        '／' if !is_beside(place) => '/',
        '；' if !is_beside(place) => ';',
        '，' if !is_beside(place) => ',',
        '＼' => '\\',
        other => *other,
    };
    chars.iter().enumerate().map(narrow).collect()
}

/// Replaces full-width forms of the characters that are special in HTML by the ASCII characters.
fn narrowed(text: &str) -> String {
    let narrow = |char| match char {
        '\u{ff06}' => '&',
        '\u{ff1c}' => '<',
        '\u{ff1e}' => '>',
        other => other,
    };
    text.chars().map(narrow).collect()
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
