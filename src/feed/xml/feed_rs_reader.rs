//! The bridge to feed-rs: reads a repaired document and turns what it says into our types.

use std::panic::{AssertUnwindSafe, catch_unwind};

use feed_rs::model;
use feed_rs::parser::Builder;

use super::repaired::Repaired;
use crate::feed::dates::date::parse_date;
use crate::feed::document::FeedHead;
use crate::feed::entry::{Enclosure, Entry};
use crate::feed::flaws::Flaws;

/// What feed-rs reads of a document, piece by piece.
#[derive(Debug, Default)]
pub(in crate::feed) struct Read {
    /// The head section, which stands in the first piece.
    pub(in crate::feed) head: FeedHead,
    /// The entries with their positions.
    pub(in crate::feed) entries: Vec<(usize, Entry)>,
}

impl Read {
    /// Reads a piece and begins the next. Where it cannot be read as a whole each entry is tried alone, so that
    /// one bad entry costs no other.
    pub(in crate::feed) fn piece(&mut self, document: &mut Repaired<'_>, flaws: &mut Flaws) {
        let is_first = document.positions().start == 0;
        let mut read = parse(document.whole());
        match &mut read {
            Some(feed) => {
                let entries = std::mem::take(&mut feed.entries);
                self.entries.extend(entries.into_iter().filter_map(positioned));
            }
            None => self.one_by_one(document, flaws),
        }
        if is_first {
            let feed = read.or_else(|| parse(&document.part(None)));
            self.head = feed.map(head).unwrap_or_default();
        }
        document.begin_next();
    }

    fn one_by_one(&mut self, document: &Repaired<'_>, flaws: &mut Flaws) {
        for position in document.positions() {
            let read =
                parse(&document.part(Some(position))).and_then(|mut feed| feed.entries.pop());
            match read.and_then(positioned) {
                Some(entry) => self.entries.push(entry),
                None => flaws.add(
                    "item",
                    &position.to_string(),
                    "this entry could not be read and was left out",
                ),
            }
        }
    }
}

fn parse(document: &str) -> Option<model::Feed> {
    // feed-rs holds assertions and unwraps that a document can reach.
    let read = catch_unwind(AssertUnwindSafe(|| {
        Builder::new()
            .sanitize_content(false)
            .id_generator(|_, _, _| String::new())
            .timestamp_parser(parse_date)
            .build()
            .parse(document.as_bytes())
    }));
    read.ok()?.ok()
}

fn head(feed: model::Feed) -> FeedHead {
    FeedHead {
        title: feed.title.map(|title| title.content),
        subtitle: feed.description.map(|text| text.content),
        updated: feed.updated,
        published: feed.published,
        language: feed.language,
        rights: feed.rights.map(|text| text.content),
        author: feed.authors.into_iter().find_map(name),
        generator: feed.generator.map(|generator| generator.content),
        id: None,
        link: None,
    }
}

fn name(person: model::Person) -> Option<String> {
    person.name.or(person.email).filter(|name| !name.is_empty())
}

fn positioned(entry: model::Entry) -> Option<(usize, Entry)> {
    let position = entry.id.parse().ok()?;
    let files = entry.media.into_iter().flat_map(|media| media.content);
    let read = Entry {
        id: String::new(),
        title: entry.title.map(|title| title.content),
        link: None,
        author: entry.authors.into_iter().find_map(name),
        published: entry.published,
        updated: entry.updated,
        summary: entry.summary.map(|text| text.content),
        content: entry.content.and_then(|content| content.body),
        enclosures: files.filter_map(enclosure).collect(),
        categories: entry.categories.into_iter().map(|category| category.term).collect(),
    };
    Some((position, read))
}

fn whole_seconds(time: std::time::Duration) -> Option<u32> {
    u32::try_from(time.as_secs()).ok().filter(|seconds| *seconds > 0)
}

fn enclosure(content: model::MediaContent) -> Option<Enclosure> {
    Some(Enclosure {
        url: content.url?.into(),
        media_type: content.content_type.map(|kind| kind.to_string()),
        length: content.size,
        duration_seconds: content.duration.and_then(whole_seconds),
    })
}
