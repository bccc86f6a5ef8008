//! Parses a document with the library feed-rs if the XML reader of this program finds no feed in it.

use feed_rs::model::{self, FeedType};
use feed_rs::parser::Builder;

use crate::feed::document::{FeedDocument, FeedHead, Kind};
use crate::feed::entry::{Enclosure, Entry};
use crate::feed::flaws::Flaws;
use crate::feed::identity::{self, StatedIdentity};
use crate::feed::library_panics::catch_library_panic;
use crate::feed::text::{NAME_MAX, joined_names, safe_text, some_line};
use crate::feed::xml::tree_builder::ENTRIES_MAX;

/// Parses the original bytes of a document. Returns `None` if feed-rs does not find an entry with a title or link either.
///
/// The result contains titles, texts, links, authors, dates, categories and attached files, but no polling hints or archive links.
pub(in crate::feed) fn read_with_feed_rs(bytes: &[u8], flaws: &mut Flaws) -> Option<FeedDocument> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
