//! From bytes to a [`FeedDocument`].

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::document::{FeedDocument, Flaw, Kind, Link};
use super::entry::{Enclosure, Entry};
use super::identity::{self, Stated};
use super::text;

/// Where a document came from, as far as known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Origin<'a> {
    /// Address of the document after redirects: what relative links are resolved against.
    pub url: Option<&'a str>,
    /// `Content-Type` of the HTTP answer: its charset outranks the document's own statement.
    pub content_type: Option<&'a str>,
}

/// Reads a document. Never fails: what is no feed has the kind [`Kind::None`] and a flaw that says why.
pub fn parse(bytes: &[u8], origin: &Origin<'_>) -> FeedDocument {
    let parser = feed_rs::parser::Builder::new()
        .base_uri(origin.url)
        .sanitize_content(false)
        .id_generator(|_, _, _| String::new())
        .build();
    match catch_unwind(AssertUnwindSafe(|| parser.parse(bytes))) {
        Ok(Ok(feed)) => document(feed),
        Ok(Err(error)) => nothing(&error.to_string()),
        Err(_) => nothing("the document could not be read"),
    }
}

fn nothing(reason: &str) -> FeedDocument {
    let flaw =
        Flaw { element: "document".to_owned(), text: String::new(), reason: reason.to_owned() };
    FeedDocument { flaws: vec![flaw], ..FeedDocument::default() }
}

fn document(feed: feed_rs::model::Feed) -> FeedDocument {
    let mut out = FeedDocument {
        kind: match feed.feed_type {
            feed_rs::model::FeedType::Atom => Kind::Atom,
            feed_rs::model::FeedType::JSON => Kind::Json,
            feed_rs::model::FeedType::RSS0 | feed_rs::model::FeedType::RSS2 => Kind::Rss,
            feed_rs::model::FeedType::RSS1 => Kind::Rdf,
        },
        ..FeedDocument::default()
    };
    out.head.id = Some(feed.id).filter(|id| !id.is_empty());
    out.head.title = feed.title.and_then(|title| text::some_line(&title.content, text::TITLE_MAX));
    out.head.updated = feed.updated;
    out.head.published = feed.published;
    out.head.subtitle = feed.description.map(|text| text.content);
    out.links = feed.links.into_iter().map(link).collect();
    out.head.link =
        out.links.iter().find(|link| link.rel == "alternate").map(|link| link.href.clone());
    out.entries = feed.entries.into_iter().map(entry).collect();
    out
}

fn link(link: feed_rs::model::Link) -> Link {
    Link {
        rel: link.rel.map_or_else(|| "alternate".to_owned(), |rel| rel.to_lowercase()),
        href: link.href,
        media_type: link.media_type,
    }
}

fn entry(entry: feed_rs::model::Entry) -> Entry {
    let title = entry.title.and_then(|title| text::some_line(&title.content, text::TITLE_MAX));
    let link = entry
        .links
        .into_iter()
        .find(|link| link.rel.as_deref().is_none_or(|rel| rel == "alternate"))
        .map(|link| link.href);
    let summary = entry.summary.map(|text| text.content);
    let content = entry.content.and_then(|content| content.body);
    let stated = Stated {
        id: Some(&entry.id),
        link: link.as_deref(),
        title: title.as_deref(),
        text: summary.as_deref().or(content.as_deref()),
    };
    Entry {
        id: identity::entry_id(&stated),
        author: entry.authors.into_iter().find_map(|person| person.name),
        published: entry.published,
        updated: entry.updated,
        enclosures: entry
            .media
            .into_iter()
            .flat_map(|media| media.content)
            .filter_map(enclosure)
            .collect(),
        categories: entry.categories.into_iter().map(|category| category.term).collect(),
        title,
        link,
        summary,
        content,
    }
}

fn enclosure(content: feed_rs::model::MediaContent) -> Option<Enclosure> {
    Some(Enclosure {
        url: content.url?.to_string(),
        media_type: content.content_type.map(|media_type| media_type.to_string()),
        length: content.size,
        duration_seconds: content.duration.and_then(|time| u32::try_from(time.as_secs()).ok()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_feed_is_read() {
        let document = parse(
            b"<rss version='2.0'><channel><title>t</title><item><guid>1</guid><title>x</title></item></channel></rss>",
            &Origin::default(),
        );
        assert_eq!(document.kind, Kind::Rss);
        assert_eq!(document.entries.first().map(|entry| entry.id.as_str()), Some("1"));
    }

    #[test]
    fn what_is_no_feed_says_so() {
        let document = parse(b"hello", &Origin::default());
        assert_eq!(document.kind, Kind::None);
        assert_eq!(document.flaws.len(), 1);
    }
}
