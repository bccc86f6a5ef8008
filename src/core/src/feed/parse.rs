//! Parses the bytes of a feed in any format into a [`FeedDocument`]. If the readers of this program find no feed, the library feed-
//! rs reads the bytes.
//!
//! Some published data makes third-party libraries panic. Such panics are expected and are not bugs in this program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use feed_rs::model::{self, FeedType};
use feed_rs::parser::Builder;
use url::Url;

use super::document::{FeedDocument, Kind};
use super::flaws::{Flaw, Flaws, TOO_DEEP, TOO_MANY_ENTRIES};
use super::opml::read_list_feed;
use super::xml::xml_feed;
use super::{decode, json_feed};
use crate::feed::document::{Enclosure, Entry, FeedHead};
use crate::feed::identity::{self, StatedIdentity};
use crate::feed::text::{NAME_MAX, joined_names, safe_text, some_line};
use crate::feed::xml::tree_builder::ENTRIES_MAX;

/// Where a document comes from, as far as known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Origin<'a> {
    /// URL of the document after redirects. Relative links are resolved against it.
    pub url: Option<&'a str>,
    /// `Content-Type` of the HTTP response. Its charset takes precedence over the charset declared in the document.
    pub content_type: Option<&'a str>,
}

/// Parses a document. Parsing never fails: input that is not a feed gets the kind [`super::Kind::None`] and a flaw that explains
/// why. The flaws list all dropped and repaired parts (SPEC A).
pub fn parse(bytes: &[u8], origin: &Origin<'_>) -> FeedDocument {
    let mut flaws = Flaws::default();
    let url = origin.url.and_then(|url| Url::parse(url.trim()).ok());
    let text = decode::decode(bytes, origin.content_type, &mut flaws);
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let mut document = if text.is_empty() {
        flaws.add("document", "", "empty");
        FeedDocument::default()
    } else if text.starts_with('{') {
        json_feed::read_json_feed(text, url.as_ref(), &mut flaws)
    } else {
        xml_feed::read_xml_feed(text, url.as_ref(), &mut flaws)
    };
    if document.kind == Kind::None
        && text.starts_with('<')
        && let Some(list) = read_list_feed(bytes, &mut flaws)
    {
        document = list;
    }
    // feed-rs has no limits, so it does not get JSON, whose size can grow by a factor of 100 in memory.
    if document.kind == Kind::None
        && !text.starts_with('{')
        && let Some(read) = read_with_feed_rs(bytes, &mut flaws)
    {
        document = read;
    }
    if let Some(gap) = document.mean_gap() {
        let flaw = document.hints.ttl_like_seconds(gap);
        document.hints.flaws.extend(flaw);
    }
    document.flaws = flaws.into_list();
    // Flaws about exceeded limits are also stored with the feed, so that users see that entries or elements were left out.
    let is_limit = |flaw: &&Flaw| [TOO_MANY_ENTRIES, TOO_DEEP].contains(&flaw.reason.as_str());
    document.hints.flaws.extend(document.flaws.iter().filter(is_limit).cloned());
    document
}

/// Parses the original bytes of a document. Returns `None` if feed-rs does not find an entry with a title or link either.
///
/// The result contains titles, texts, links, authors, dates, categories and attached files, but no polling hints or archive links.
fn read_with_feed_rs(bytes: &[u8], flaws: &mut Flaws) -> Option<FeedDocument> {
    // feed-rs contains assertions and unwraps that panic on some documents.
    let parser = Builder::new().sanitize_content(false).build();
    let feed = catch_library_panic(|| parser.parse(bytes))?.ok()?;
    let kind = match feed.feed_type {
        FeedType::Atom => Kind::Atom,
        FeedType::JSON => Kind::Json,
        FeedType::RSS0 | FeedType::RSS2 => Kind::Rss,
        FeedType::RSS1 => Kind::Rdf,
    };
    let head = FeedHead {
        title: line(feed.title),
        author: author(feed.authors),
        rights: line(feed.rights),
        link: feed.links.into_iter().next().map(|link| link.href),
        ..FeedHead::default()
    };
    let mut entries: Vec<Entry> =
        feed.entries.into_iter().take(ENTRIES_MAX).map(read_entry).collect();
    entries.retain(|entry| entry.title.is_some() || entry.link.is_some());
    if entries.is_empty() {
        return None;
    }
    let stated: Vec<StatedIdentity<'_>> = entries.iter().map(stated_identity).collect();
    let ids = identity::entry_ids(&stated).ids;
    for (entry, id) in entries.iter_mut().zip(ids) {
        entry.id = id;
    }
    flaws.add("document", "", "only titles, texts and links could be read");
    Some(FeedDocument { kind, head, entries, ..FeedDocument::default() })
}

fn line(text: Option<model::Text>) -> Option<String> {
    some_line(&text?.content, NAME_MAX)
}

fn author(people: Vec<model::Person>) -> Option<String> {
    people.into_iter().find_map(name)
}

fn name(person: model::Person) -> Option<String> {
    some_line(&person.name?, NAME_MAX)
}

fn read_entry(entry: model::Entry) -> Entry {
    let safe = |text: String| safe_text(&text).into_owned();
    Entry {
        shown: None,
        id: safe(entry.id),
        title: line(entry.title),
        link: entry.links.into_iter().next().map(|link| safe(link.href)),
        comments: None,
        author: joined_names(entry.authors.into_iter().filter_map(name)),
        published: entry.published,
        offset_minutes: None,
        updated: entry.updated,
        summary: entry.summary.map(|text| safe(text.content)),
        content: entry.content.and_then(|content| content.body).map(safe),
        enclosures: entry.media.into_iter().flat_map(|it| it.content).filter_map(file).collect(),
        categories: entry
            .categories
            .into_iter()
            .filter_map(|category| some_line(&category.term, NAME_MAX))
            .collect(),
    }
}

fn file(content: model::MediaContent) -> Option<Enclosure> {
    Some(Enclosure {
        url: content.url?.into(),
        media_type: content.content_type.map(|kind| kind.to_string()),
        length: content.size,
        duration_seconds: content.duration.and_then(|time| u32::try_from(time.as_secs()).ok()),
    })
}

fn stated_identity(entry: &Entry) -> StatedIdentity<'_> {
    StatedIdentity {
        id: Some(&entry.id),
        link: entry.link.as_deref(),
        title: entry.title.as_deref(),
        text: entry.body(),
        author: entry.author.as_deref(),
        has_more: entry.published.is_some(),
    }
}

thread_local! {
    /// Whether this thread is inside a library call that may panic.
    static AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// Runs library code that may panic, and returns `None` if it panics.
pub fn catch_library_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = AT_WORK.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    AT_WORK.set(before);
    done.ok()
}

/// Checks whether a panic on the current thread comes from a library call that is expected to panic. A panic hook calls this on the
/// panicking thread.
pub fn is_library_at_work() -> bool {
    AT_WORK.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_that_the_limits_refuse_is_not_parsed_without_limits() {
        let deep = format!(
            "{{\"version\":\"https://jsonfeed.org/version/1.1\",\"x\":{}1",
            "[".repeat(300)
        );
        let item = "{\"id\":\"1\",\"title\":\"Frost\"}";
        let list = format!("\"items\":[{item}]}}");
        let text = format!("{deep}{},{list}", "]".repeat(300));
        let document = parse(text.as_bytes(), &Origin::default());
        assert_eq!((document.kind, document.entries.len()), (Kind::None, 0));
    }

    #[test]
    fn feed_rs_reads_what_a_list_shows() {
        let document = "<rss version='2.0'><channel><title>Orchard</title><item><guid>1</guid><title>Frost\u{1b}</title>\
            <link>https://a.example/1</link><description>&lt;p&gt;cold</description><category>garden</category>\
            <enclosure url='https://a.example/1.mp3' length='7' type='audio/mpeg'/></item><item/></channel></rss>";
        let mut flaws = Flaws::default();
        let read = read_with_feed_rs(document.as_bytes(), &mut flaws).expect("a feed");
        let [entry] = read.entries.as_slice() else { panic!("{:?}", read.entries) };
        assert_eq!((read.kind, read.head.title.as_deref()), (Kind::Rss, Some("Orchard")));
        assert_eq!((entry.id.as_str(), entry.title.as_deref()), ("1", Some("Frost")));
        assert_eq!(entry.link.as_deref(), Some("https://a.example/1"));
        assert_eq!(
            (entry.body(), entry.categories.as_slice()),
            (Some("<p>cold"), ["garden".to_owned()].as_slice())
        );
        assert_eq!(entry.enclosures[0].length, Some(7));
        assert_eq!(flaws.into_list().len(), 1);
    }

    #[test]
    fn a_page_and_a_feed_without_entries_are_not_feeds() {
        for document in ["<html><body>x", "<rss version='2.0'><channel/></rss>", "{}", ""] {
            assert_eq!(read_with_feed_rs(document.as_bytes(), &mut Flaws::default()), None);
        }
    }

    #[test]
    fn library_call_is_active_until_it_ends_in_any_way() {
        assert!(!is_library_at_work());
        assert_eq!(catch_library_panic(is_library_at_work), Some(true));
        let inner = catch_library_panic(|| {
            assert_eq!(catch_library_panic(|| panic!("feed-rs does that")).map(|(): ()| ()), None);
            is_library_at_work()
        });
        assert_eq!(inner, Some(true));
        assert!(!is_library_at_work());
    }
}
