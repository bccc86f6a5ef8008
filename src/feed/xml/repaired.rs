//! The repaired document: what was understood of a broken one, written again so that feed-rs reads it.
//!
//! It is well-formed, in UTF-8, of a version feed-rs knows, with one element for each thing said; texts
//! stand in CDATA sections and addresses are absolute. Each entry carries its position as its id, so that
//! what feed-rs reads can be joined with what it drops. It is handed over in pieces, so that a large feed does not
//! stand in memory once more.

use std::ops::Range;

use url::Url;

use super::constructs::Construct;
use super::fields::{Chosen, Field};
use super::names::Ns;
use super::tree::Element;
use super::{attachments, person};
use crate::feed::content::rebased::rebased;
use crate::feed::dates::date::parse_date;
use crate::feed::text::{self, NAME_MAX, TITLE_MAX};

/// The two forms feed-rs gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::feed) enum Family {
    /// As Atom 1.0.
    Atom,
    /// As RSS 2.0, RSS 0.9x and 1.0 too.
    Rss,
}

impl Family {
    const fn start(self) -> &'static str {
        match self {
            Self::Atom => ATOM_START,
            Self::Rss => RSS_START,
        }
    }

    const fn end(self) -> &'static str {
        match self {
            Self::Atom => "</feed>",
            Self::Rss => "</channel></rss>",
        }
    }
}

/// How long a piece may get before it is handed over.
const PIECE_BYTES: usize = 1 << 20;

/// A document for feed-rs, or a piece of it.
#[derive(Debug)]
pub(in crate::feed) struct Repaired<'u> {
    family: Family,
    /// Where the document came from.
    document: Option<&'u Url>,
    text: String,
    /// Where the head section ends.
    head_end: usize,
    entries: Vec<Range<usize>>,
    /// Entries in the pieces before.
    before: usize,
}

const ATOM_START: &str =
    "<feed xmlns=\"http://www.w3.org/2005/Atom\" xmlns:media=\"http://search.yahoo.com/mrss/\">";
const RSS_START: &str = "<rss version=\"2.0\" xmlns:atom=\"http://www.w3.org/2005/Atom\" \
     xmlns:content=\"http://purl.org/rss/1.0/modules/content/\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
     xmlns:media=\"http://search.yahoo.com/mrss/\" \
     xmlns:itunes=\"http://www.itunes.com/dtds/podcast-1.0.dtd\"><channel>";

/// How a family spells the fields that are plain texts or markup: field, RSS, Atom.
const SPELLING: [(Field, &str, &str); 8] = [
    (Field::Title, "title", "title"),
    (Field::Summary, "description", "summary"),
    (Field::Content, "content:encoded", "content"),
    (Field::Published, "pubDate", "published"),
    (Field::Updated, "atom:updated", "updated"),
    (Field::Language, "language", ""),
    (Field::Rights, "copyright", "rights"),
    (Field::Generator, "generator", "generator"),
];

impl<'u> Repaired<'u> {
    /// An empty document; `size` is that of the broken one.
    pub(in crate::feed) fn new(family: Family, size: usize, document: Option<&'u Url>) -> Self {
        let mut text = String::with_capacity(size.min(PIECE_BYTES) * 9 / 8 + 512);
        text.push_str(family.start());
        Self { family, document, head_end: text.len(), text, entries: Vec::new(), before: 0 }
    }

    /// Whether it should be handed over before more is written.
    pub(in crate::feed) const fn is_full(&self) -> bool {
        self.text.len() > PIECE_BYTES
    }

    /// Begins the next piece, which has no head section.
    pub(in crate::feed) fn begin_next(&mut self) {
        self.before = self.before.saturating_add(self.entries.len());
        self.entries.clear();
        self.text.clear();
        self.text.push_str(self.family.start());
        self.head_end = self.text.len();
    }

    /// All of it.
    pub(in crate::feed) fn whole(&mut self) -> &str {
        self.text.push_str(self.family.end());
        &self.text
    }

    /// The positions of its entries.
    pub(in crate::feed) const fn positions(&self) -> Range<usize> {
        self.before..self.before.saturating_add(self.entries.len())
    }

    /// A document with the head section alone, or with the entry at a position alone.
    pub(in crate::feed) fn part(&self, position: Option<usize>) -> String {
        let start = self.family.start();
        let inside = match position {
            None => self.text.get(start.len()..self.head_end),
            Some(position) => {
                let at = position.checked_sub(self.before).and_then(|at| self.entries.get(at));
                at.and_then(|range| self.text.get(range.clone()))
            }
        };
        [start, inside.unwrap_or(""), self.family.end()].concat()
    }

    /// Writes the head section.
    pub(in crate::feed) fn head(&mut self, chosen: &Chosen<'_, '_>) {
        for field in
            [Field::Title, Field::Published, Field::Language, Field::Rights, Field::Generator]
        {
            self.field(field, chosen);
        }
        let (subtitle, updated) = match self.family {
            Family::Atom => ("subtitle", "updated"),
            Family::Rss => ("description", "lastBuildDate"),
        };
        if let Some(element) = chosen.get(Field::Summary) {
            self.markup(subtitle, element);
        }
        if let Some(element) = chosen.get(Field::Updated) {
            self.element(updated, "", &element.text());
        }
        for name in person::names(chosen) {
            self.author("itunes:author", &name);
        }
        self.head_end = self.text.len();
    }

    /// Writes an entry.
    pub(in crate::feed) fn entry(&mut self, chosen: &Chosen<'_, '_>, links: &[Element<'_, '_>]) {
        let start = self.text.len();
        let position = self.positions().end.to_string();
        let (open, id, close) = match self.family {
            Family::Atom => ("<entry>", "id", "</entry>"),
            Family::Rss => ("<item>", "guid", "</item>"),
        };
        self.text.push_str(open);
        self.element(id, "", &position);
        for field in
            [Field::Title, Field::Published, Field::Updated, Field::Summary, Field::Content]
        {
            self.field(field, chosen);
        }
        for name in person::names(chosen) {
            self.author("dc:creator", &name);
        }
        for element in chosen.all(Field::Category) {
            self.category(element);
        }
        for file in attachments::of_entry(chosen, links, self.document) {
            // The one form that feed-rs reads in both families with all that is known of a file.
            self.tag(
                "media:content",
                &[
                    ("url", &file.url),
                    ("type", &file.media_type),
                    ("fileSize", &file.length),
                    ("duration", &file.duration),
                ],
            );
        }
        self.text.push_str(close);
        self.entries.push(start..self.text.len());
    }

    fn field(&mut self, field: Field, chosen: &Chosen<'_, '_>) {
        let spelt = SPELLING.iter().find(|(at, _, _)| *at == field);
        let name = spelt
            .map_or("", |(_, rss, atom)| if self.family == Family::Atom { *atom } else { *rss });
        let Some(element) = chosen.get(field).filter(|_| !name.is_empty()) else { return };
        if matches!(field, Field::Summary | Field::Content) {
            self.markup(name, element);
            return;
        }
        let line = match field {
            Field::Title | Field::Rights => Some(Construct::of(element).into_line(TITLE_MAX)),
            Field::Published | Field::Updated => {
                parse_date(&element.text()).map(|date| date.to_rfc3339())
            }
            Field::Language | Field::Generator => Some(text::one_line(&element.text(), NAME_MAX)),
            Field::Id
            | Field::Duration
            | Field::Summary
            | Field::Content
            | Field::Author
            | Field::Category
            | Field::Attachment => None,
        };
        self.element(name, "", &line.unwrap_or_default());
    }

    fn markup(&mut self, name: &str, element: Element<'_, '_>) {
        let attributes = if self.family == Family::Atom { " type=\"html\"" } else { "" };
        let markup = Construct::of(element).into_markup();
        self.element(name, attributes, &rebased(markup, element.base(self.document).as_ref()));
    }

    /// Writes an element with a text; nothing where the text is blank.
    fn element(&mut self, name: &str, attributes: &str, inside: &str) {
        let inside = inside.trim();
        if inside.is_empty() {
            return;
        }
        for part in ["<", name, attributes, "><![CDATA["] {
            self.text.push_str(part);
        }
        let mut from = 0;
        let may_end = memchr::memchr(b']', inside.as_bytes()).is_some();
        for end in memchr::memmem::find_iter(if may_end { inside.as_bytes() } else { b"" }, b"]]>")
        {
            self.text.push_str(inside.get(from..end).unwrap_or_default());
            self.text.push_str("]]]]><![CDATA[");
            from = end + 2;
        }
        let rest = inside.get(from..).unwrap_or_default();
        for part in [rest, "]]></", name, ">"] {
            self.text.push_str(part);
        }
    }

    fn author(&mut self, rss: &str, name: &str) {
        match self.family {
            Family::Rss => self.element(rss, "", name),
            Family::Atom => {
                self.text.push_str("<author>");
                self.element("name", "", name);
                self.text.push_str("</author>");
            }
        }
    }

    fn category(&mut self, element: Element<'_, '_>) {
        let stated = || element.attribute("term").or_else(|| element.attribute("label"));
        let value = if element.ns() == Ns::Atom {
            stated().unwrap_or_else(|| element.text())
        } else {
            element.text()
        };
        let name = text::plain_line(&value, NAME_MAX);
        match self.family {
            Family::Rss => self.element("category", "", &name),
            Family::Atom if !name.is_empty() => self.tag("category", &[("term", &name)]),
            Family::Atom => {}
        }
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.text.push('<');
        self.text.push_str(name);
        for (name, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
            for part in [" ", name, "=\""] {
                self.text.push_str(part);
            }
            text::push_escaped_attribute(&mut self.text, value);
            self.text.push('"');
        }
        self.text.push_str("/>");
    }
}

#[cfg(test)]
mod tests {
    use crate::feed::flaws::Flaws;
    use crate::feed::xml::feed_rs_reader::Read;
    use crate::feed::xml::fields::{ENTRY, HEAD};
    use crate::feed::xml::repaired::*;
    use crate::feed::xml::tree_builder;

    const DOCUMENT: &str = "<rss><channel><title>t ]]&gt; u</title><item><title>1</title></item>\
                            <item><title>2</title></item><item><title>3</title></item></channel></rss>";

    fn repaired(family: Family) -> Repaired<'static> {
        let tree = tree_builder::build(DOCUMENT, &mut Flaws::default());
        let channel = tree.root().and_then(|root| root.children().next()).expect("a channel");
        let mut repaired = Repaired::new(family, DOCUMENT.len(), None);
        let chosen = |element, table| {
            let mut chosen = Chosen::default();
            chosen.add(element, table, &mut Flaws::default());
            chosen
        };
        repaired.head(&chosen(channel, HEAD));
        for item in channel.children().filter(|child| child.local() == "item") {
            repaired.entry(&chosen(item, ENTRY), &[]);
        }
        repaired
    }

    /// Titles of the feed and of its entries with their positions, and the number of flaws.
    fn check(mut repaired: Repaired<'_>, expected: &str, expected_flaws: usize) {
        let mut flaws = Flaws::default();
        let mut read = Read::default();
        read.piece(&mut repaired, &mut flaws);
        let Read { head, entries } = read;
        let entries = entries
            .iter()
            .map(|(at, entry)| format!(" {at}:{}", entry.title.as_deref().unwrap_or("")));
        let shown: Vec<String> = head.title.into_iter().chain(entries).collect();
        assert_eq!((shown.concat().as_str(), flaws.into_list().len()), (expected, expected_flaws));
    }

    #[test]
    fn feed_rs_reads_what_was_written_in_both_families() {
        for family in [Family::Atom, Family::Rss] {
            check(repaired(family), "t ]]> u 0:1 1:2 2:3", 0);
        }
    }

    #[test]
    fn an_entry_that_feed_rs_cannot_read_costs_no_other() {
        for family in [Family::Atom, Family::Rss] {
            let mut repaired = repaired(family);
            let bad = repaired.entries[1].clone();
            let inside = repaired.text[bad.clone()].replace("<title>", "<titel>");
            repaired.text.replace_range(bad, &inside);
            check(repaired, "t ]]> u 0:1 2:3", 1);
        }
    }

    #[test]
    fn a_large_feed_is_read_in_pieces_without_a_seam() {
        let text = "word ".repeat(PIECE_BYTES / 25);
        let items = (0..12)
            .map(|at| format!("<item><title>{at}</title><description>{text}</description></item>"));
        let document =
            format!("<rss><channel><title>t</title>{}</channel></rss>", items.collect::<String>());
        let mut flaws = Flaws::default();
        let read = crate::feed::xml::xml_feed::read(&document, None, &mut flaws);
        assert_eq!(read.head.title.as_deref(), Some("t"));
        let titles: Vec<_> = read.entries.iter().filter_map(|entry| entry.title.clone()).collect();
        assert_eq!(titles, (0..12).map(|at| at.to_string()).collect::<Vec<_>>());
        let whole = |entry: &crate::feed::Entry| entry.summary.as_deref() == Some(text.trim());
        assert!(read.entries.iter().all(whole));
        assert_eq!(flaws.into_list(), []);
    }
}
