//! What feed-rs reads of a feed: the lines of its head section, and the titles, authors, categories and attached
//! files of its entries.
//!
//! feed-rs never sees the publisher's bytes: it stops at the first bare `&`, fails on versions and namespaces it
//! does not know, keeps unknown entities as they are, and can panic on the name of an author. It reads a small Atom
//! document that is written here from the tolerant tree, with one element for each statement, and checks what it
//! carries: addresses, media types, sizes and playing times come back typed or not at all. Texts with markup, dates,
//! identities and links do not pass through it: the tree has them already, and they are most of a feed's bytes.

use feed_rs::model;
use feed_rs::parser::Builder;
use url::Url;

use super::constructs::Construct;
use super::fields::{ChosenElements, FeedField};
use super::names::Ns;
use super::tree::XmlElement;
use super::{attachments, person};
use crate::feed::document::FeedHead;
use crate::feed::entry::{Enclosure, Entry};
use crate::feed::library_panics::catch_library_panic;
use crate::feed::text::{self, NAME_MAX, TITLE_MAX};

const START: &str =
    "<feed xmlns=\"http://www.w3.org/2005/Atom\" xmlns:media=\"http://search.yahoo.com/mrss/\">";
const END: &str = "</feed>";

/// The parts of the Atom document that feed-rs reads.
#[derive(Debug, Default)]
pub(in crate::feed) struct FeedRsReader {
    head: String,
    entries: Vec<String>,
}

impl FeedRsReader {
    /// Writes the head section.
    pub(in crate::feed) fn add_head(&mut self, chosen: &ChosenElements<'_, '_>) {
        let out = &mut self.head;
        for (field, name) in [(FeedField::Title, "title"), (FeedField::Rights, "rights")] {
            push_line(out, name, chosen.get(field));
        }
        if let Some(generator) = chosen.get(FeedField::Generator) {
            push_text(out, "generator", &text::one_line(&generator.text(), NAME_MAX));
        }
        push_author(out, chosen);
    }

    /// Writes an entry; `links` are those of its links that name attached files.
    pub(in crate::feed) fn add_entry(
        &mut self,
        chosen: &ChosenElements<'_, '_>,
        links: &[XmlElement<'_, '_>],
        document: Option<&Url>,
    ) {
        let mut out = "<entry>".to_owned();
        push_line(&mut out, "title", chosen.get(FeedField::Title));
        push_author(&mut out, chosen);
        for element in chosen.all(FeedField::Category) {
            push_tag(&mut out, "category", &[("term", &category_name(element))]);
        }
        for file in attachments::read_attachments(chosen, links, document) {
            let attributes = [
                ("url", file.url.as_str()),
                ("type", &file.media_type),
                ("fileSize", &file.length),
                ("duration", &file.duration),
            ];
            push_tag(&mut out, "media:content", &attributes);
        }
        out.push_str("</entry>");
        self.entries.push(out);
    }

    /// Reads what was written: the head section, and each entry, `None` where feed-rs fails on it. Where the document
    /// cannot be read as a whole each entry is tried alone, so that one bad entry costs no other.
    pub(in crate::feed) fn read(&self) -> (FeedHead, Vec<Option<Entry>>) {
        let whole = parse_with_feed_rs(&self.head, &self.entries.concat());
        if let Some(mut feed) = whole.filter(|feed| feed.entries.len() == self.entries.len()) {
            let entries = std::mem::take(&mut feed.entries);
            return (
                convert_head(feed),
                entries.into_iter().map(|read| Some(convert_entry(read))).collect(),
            );
        }
        let alone =
            |written: &String| parse_with_feed_rs("", written)?.entries.pop().map(convert_entry);
        let head = parse_with_feed_rs(&self.head, "").map(convert_head).unwrap_or_default();
        (head, self.entries.iter().map(alone).collect())
    }
}

fn push_line(out: &mut String, name: &str, element: Option<XmlElement<'_, '_>>) {
    if let Some(element) = element {
        push_text(out, name, &Construct::read(element, None).into_line(TITLE_MAX));
    }
}

fn push_author(out: &mut String, chosen: &ChosenElements<'_, '_>) {
    if let Some(name) = chosen.all(FeedField::Author).find_map(person::author_name) {
        out.push_str("<author>");
        push_text(out, "name", &name);
        out.push_str("</author>");
    }
}

/// The name of a category; empty where it has none.
fn category_name(element: XmlElement<'_, '_>) -> String {
    let stated = || element.attribute("term").or_else(|| element.attribute("label"));
    let name = Some(element).filter(|element| element.ns() == Ns::Atom).and_then(|_| stated());
    text::plain_line(&name.unwrap_or_else(|| element.text()), NAME_MAX)
}

/// Writes an element with a text; nothing where the text is empty.
fn push_text(out: &mut String, name: &str, inside: &str) {
    if inside.is_empty() {
        return;
    }
    for part in ["<", name, ">"] {
        out.push_str(part);
    }
    text::push_escaped(out, inside);
    for part in ["</", name, ">"] {
        out.push_str(part);
    }
}

/// Writes an empty element with those of its attributes that say something; nothing where the first does not.
fn push_tag(out: &mut String, name: &str, attributes: &[(&str, &str)]) {
    if attributes.first().is_none_or(|(_, value)| value.is_empty()) {
        return;
    }
    out.push('<');
    out.push_str(name);
    for (name, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
        for part in [" ", name, "=\""] {
            out.push_str(part);
        }
        text::push_escaped_attribute(out, value);
        out.push('"');
    }
    out.push_str("/>");
}

fn parse_with_feed_rs(head: &str, entries: &str) -> Option<model::Feed> {
    let document = [START, head, entries, END].concat();
    // feed-rs holds assertions and unwraps that a document can reach.
    let read = catch_library_panic(|| {
        Builder::new()
            .sanitize_content(false)
            .id_generator(|_, _, _| String::new())
            .build()
            .parse(document.as_bytes())
    });
    read?.ok()
}

fn convert_head(feed: model::Feed) -> FeedHead {
    FeedHead {
        title: feed.title.map(|title| title.content),
        rights: feed.rights.map(|text| text.content),
        author: feed.authors.into_iter().find_map(|person| person.name),
        generator: feed.generator.map(|generator| generator.content),
        ..FeedHead::default()
    }
}

fn convert_entry(entry: model::Entry) -> Entry {
    let files = entry.media.into_iter().flat_map(|media| media.content);
    Entry {
        title: entry.title.map(|title| title.content),
        author: entry.authors.into_iter().find_map(|person| person.name),
        enclosures: files.filter_map(convert_file).collect(),
        categories: entry.categories.into_iter().map(|category| category.term).collect(),
        ..Entry::default()
    }
}

fn convert_file(content: model::MediaContent) -> Option<Enclosure> {
    let seconds = |time: std::time::Duration| u32::try_from(time.as_secs()).ok();
    Some(Enclosure {
        url: content.url?.into(),
        media_type: content.content_type.map(|kind| kind.to_string()),
        length: content.size,
        duration_seconds: content.duration.and_then(seconds).filter(|seconds| *seconds > 0),
    })
}

#[cfg(test)]
mod tests {
    use crate::feed::flaws::Flaws;
    use crate::feed::xml::feed_rs_reader::*;
    use crate::feed::xml::fields::{ENTRY, HEAD};
    use crate::feed::xml::tree_builder;

    const DOCUMENT: &str = "<rss><channel><title>t ]]&gt; &amp;amp;lt; u</title><item><title>1</title></item>\
                            <item><title>2</title></item><item><title>3</title></item></channel></rss>";

    fn written() -> FeedRsReader {
        let tree = tree_builder::build_tree(DOCUMENT, &mut Flaws::default());
        let channel = tree.root().and_then(|root| root.children().next()).expect("a channel");
        let chosen = |element, table| {
            let mut chosen = ChosenElements::default();
            chosen.add(element, table, &mut Flaws::default());
            chosen
        };
        let mut reader = FeedRsReader::default();
        reader.add_head(&chosen(channel, HEAD));
        for item in channel.children().filter(|child| child.local() == "item") {
            reader.add_entry(&chosen(item, ENTRY), &[], None);
        }
        reader
    }

    /// Checks the titles of the feed and of its entries.
    fn check(reader: &FeedRsReader, expected: &[Option<&str>]) {
        let (head, entries) = reader.read();
        assert_eq!(head.title.as_deref(), Some("t ]]> &lt; u"));
        let titles: Vec<Option<&str>> =
            entries.iter().map(|entry| entry.as_ref()?.title.as_deref()).collect();
        assert_eq!(titles, expected);
    }

    #[test]
    fn feed_rs_reads_what_was_written() {
        check(&written(), &[Some("1"), Some("2"), Some("3")]);
    }

    #[test]
    fn an_entry_that_feed_rs_cannot_read_costs_no_other() {
        let mut reader = written();
        reader.entries[1] = reader.entries[1].replace("<title>", "<titel>");
        check(&reader, &[Some("1"), None, Some("3")]);
    }
}
