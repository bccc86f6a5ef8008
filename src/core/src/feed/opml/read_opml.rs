//! Reads OPML subscription lists of any version, using the same error-tolerant XML tree as for feeds.

use std::collections::BTreeMap;

use url::Url;

use super::subscription_list::{
    BadOutline, FeedSource, NAMESPACE, NotOpml, Opml, OpmlFeed, OpmlFlaw, TAG_LIST, normal_tag,
};
use crate::feed::address::{is_web, without_feed_scheme, without_logins};
use crate::feed::decode::decode;
use crate::feed::document::{DocumentRole, Entry, FeedDocument, FeedHead, HistoryLinks, Kind};
use crate::feed::flaws::Flaws;
use crate::feed::hints::Hints;
use crate::feed::outgoing::escaped_attribute;
use crate::feed::text::one_line;
use crate::feed::xml::lexer::{Lexer, Token};
use crate::feed::xml::references::resolve;
use crate::feed::xml::tree::{XmlElement, XmlTree};
use crate::feed::xml::tree_builder::{self, ENTRIES_MAX};

/// Maximum size of an OPML document, in bytes.
const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Maximum number of feeds, of bad outlines and of flaws kept from one OPML document.
const LISTED_MAX: usize = 100_000;

/// Maximum length of the title of a list or feed, in characters.
const TITLE_CHARS_MAX: usize = 500;

/// Maximum length of an outline tag that is searched for misplaced quotes, in bytes.
const TAG_BYTES_MAX: usize = 8_192;

const OUTLINE: &str = "<outline";

/// Reason for skipping an outline whose tag is broken.
const ILL_FORMED: &str = "is ill-formed: a quote or an angle bracket is missing";

/// Reads an OPML document, which may be broken.
///
/// Returns an error if the input is not OPML. For a truncated document, returns the feeds before the position where it ends, and
/// this position in [`Opml::broken`]. Other faults are repaired and listed in [`Opml::flaws`].
pub fn read_opml(bytes: &[u8]) -> Result<Opml, NotOpml> {
    if bytes.len() > DOCUMENT_BYTES_MAX {
        return Err(NotOpml { found: "it is larger than 16 MB".to_owned(), line: 1 });
    }
    // The flaws recorded by the decoder and the tree have no line numbers. The relevant ones are found again in the tree itself.
    let mut ignored = Flaws::default();
    let text = decode(bytes, None, &mut ignored);
    let mut reader = OpmlReader::new(&text);
    reader.check_root()?;
    let tree = tree_builder::build_tree_below(&text, &["opml"], &mut ignored);
    if let Some(root) = tree.root() {
        reader.read_namespaces(root);
        reader.read_inside(root);
    }
    Ok(reader.finish(&tree))
}

/// State of a subscription list that is being read.
struct OpmlReader<'a> {
    text: &'a str,
    /// Positions of the line ends in the text.
    line_ends: Vec<usize>,
    /// XML prefixes bound to the namespace of this program.
    prefixes: Vec<&'a str>,
    /// Number of open `body` elements.
    bodies: usize,
    /// Whether the `body` was closed. Elements after the `body` are not part of the list (OPML 2.0).
    body_closed: bool,
    /// Names of the open folders.
    folders: Vec<String>,
    /// Index of each feed in [`Opml::outlines`], by URL.
    known: BTreeMap<String, usize>,
    opml: Opml,
}

impl<'a> OpmlReader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            line_ends: memchr::memchr_iter(b'\n', text.as_bytes()).collect(),
            prefixes: vec!["bi"],
            bodies: 0,
            body_closed: false,
            folders: Vec::new(),
            known: BTreeMap::new(),
            opml: Opml::default(),
        }
    }

    /// Checks that the first element is `opml` and that no text precedes it.
    fn check_root(&self) -> Result<(), NotOpml> {
        let mut lexer = Lexer::new(self.text);
        while let Some(token) = lexer.next(None) {
            let (found, at) = match token {
                Token::Start { name, .. } => {
                    let local = name.rsplit(':').next().unwrap_or(name).to_ascii_lowercase();
                    if local == "opml" {
                        return Ok(());
                    }
                    (what_is(&local), name)
                }
                Token::Text(text) | Token::Cdata(text) => {
                    let shown =
                        text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
                    if shown.is_empty() {
                        continue;
                    }
                    ("it starts with text", shown)
                }
                Token::End { .. } => continue,
            };
            return Err(NotOpml { found: found.to_owned(), line: self.line(at) });
        }
        let end = self.text.trim_end();
        let found = if end.is_empty() { "it is empty" } else { "it has no tags" };
        Err(NotOpml { found: found.to_owned(), line: self.line_at(end.len()) })
    }

    fn read_namespaces(&mut self, root: XmlElement<'_, 'a>) {
        for (key, value) in root.raw_attributes() {
            if let Some(prefix) = key.strip_prefix("xmlns:").filter(|_| *value == NAMESPACE) {
                self.prefixes.push(prefix);
            }
        }
    }

    /// Reads the children of an element recursively. The nesting limit of the tree bounds the recursion depth.
    fn read_inside(&mut self, parent: XmlElement<'_, 'a>) {
        for child in parent.children() {
            match child.local() {
                "outline" => self.read_outline(child),
                "body" => {
                    self.bodies += 1;
                    self.read_inside(child);
                    self.bodies -= 1;
                    self.body_closed = true;
                }
                "title" if parent.local() == "head" && self.opml.title.is_none() => {
                    let title = one_line(&child.text(), TITLE_CHARS_MAX);
                    self.opml.title = Some(title).filter(|title| !title.is_empty());
                }
                _ => self.read_inside(child),
            }
        }
        for text in parent.raw_texts().filter(|text| text.starts_with(OUTLINE)) {
            if self.place(text) + text.len() == self.text.len() {
                let reason = "The document is ill-formed: it ends inside a tag".to_owned();
                self.opml.broken.get_or_insert(OpmlFlaw { line: self.line(text), reason });
            } else {
                self.salvage(text);
            }
        }
    }

    fn read_outline(&mut self, outline: XmlElement<'_, 'a>) {
        let line = self.line(outline.raw());
        if let Some(tag) = self.ill_formed_tag(outline) {
            self.salvage(tag);
            self.read_inside(outline);
            return;
        }
        let attributes = read_attributes(outline);
        let name = name_of(&attributes);
        if self.bodies == 0 {
            self.add_flaw(line, &format!("Outline “{name}” is outside the body"));
        }
        let is_empty = !outline.children().any(|child| child.local() == "outline");
        match read_meaning(&attributes) {
            OutlineMeaning::Feed(_) if self.body_closed && self.bodies == 0 => {
                self.add_bad(&name, "comes after the end of the list", line);
            }
            OutlineMeaning::Feed(url) => self.add_feed(&url, &attributes, line),
            OutlineMeaning::Unusable(reason) => self.add_bad(&name, &reason, line),
            OutlineMeaning::FolderIfFilled(lacks) if is_empty => self.add_bad(&name, lacks, line),
            OutlineMeaning::Folder if is_empty => {
                let reason = format!("Outline “{name}” has neither a feed nor outlines in it");
                self.add_flaw(line, &reason);
            }
            OutlineMeaning::Folder | OutlineMeaning::FolderIfFilled(_) => {
                // Pocket Casts writes all feeds in one outline of this name, which nobody chose.
                let is_frame = self.folders.is_empty()
                    && matches!(&*attributes, [(name, text)] if name == "text" && text == "feeds");
                self.folders.push(if is_frame { String::new() } else { name });
                self.read_inside(outline);
                self.folders.pop();
                return;
            }
        }
        self.read_inside(outline);
    }

    /// Returns the tag of an outline if the quotes in it are misplaced, or `None` if the tag is intact.
    fn ill_formed_tag(&self, outline: XmlElement<'_, 'a>) -> Option<&'a str> {
        let tag = self.text.get(self.place(outline.raw()).checked_sub(1)?..)?;
        let tag = (0..=TAG_BYTES_MAX.min(tag.len())).rev().find_map(|end| tag.get(..end))?;
        let next = tag.get(1..)?.find(OUTLINE).map(|at| at + 1);
        let tag = tag.get(..next.unwrap_or(tag.len()))?;
        let (mut open, mut before) = (None, b' ');
        for (at, byte) in tag.bytes().enumerate() {
            match (open, byte) {
                (None, b'"' | b'\'') => open = Some(byte),
                (Some(quote), _) if quote == byte => open = None,
                (None, b'>') => return None,
                (None, _) if matches!(before, b'"' | b'\'') && !may_follow_a_value(tag, at) => {
                    return Some(tag);
                }
                _ => {}
            }
            before = byte;
        }
        next.map(|_| tag)
    }

    /// Adds the feed of an outline with a broken tag, or reports the outline as bad if the tag contains no usable URL.
    fn salvage(&mut self, tag: &str) {
        let line = self.line(tag);
        let attributes = salvage_attributes(tag);
        if let OutlineMeaning::Feed(url) = read_meaning(&attributes) {
            self.add_feed(&url, &attributes, line);
            self.add_flaw(line, &format!("The outline of {url} {ILL_FORMED}"));
        } else {
            self.add_bad(&one_line(&without_logins(tag), 120), ILL_FORMED, line);
        }
    }

    /// Adds a feed to the list. If a feed with this URL is already in the list, adds the missing properties to that feed.
    fn add_feed(&mut self, url: &str, attributes: &[(String, String)], line: usize) {
        let written =
            find_attribute(attributes, "xmlurl").or_else(|| find_attribute(attributes, "url"));
        let mut feed = self.describe(written.unwrap_or_default(), url, attributes);
        let at = *self.known.entry(url.to_owned()).or_insert(self.opml.outlines.len());
        let Some(first) = self.opml.outlines.get_mut(at) else {
            if self.opml.outlines.len() < LISTED_MAX {
                self.opml.outlines.push(feed);
            } else {
                self.add_bad(&feed.xml_url, "comes after the maximum number of feeds", line);
            }
            return;
        };
        first.title = first.title.take().or(feed.title);
        first.html_url = first.html_url.take().or(feed.html_url);
        feed.tags.retain(|tag| !first.tags.contains(tag));
        first.tags.append(&mut feed.tags);
        for (name, value) in feed.settings {
            first.settings.entry(name).or_insert(value);
        }
        let reason = format!("Feed {} is in the list more than once", first.xml_url);
        self.add_flaw(line, &reason);
    }

    fn describe(&self, written: &str, url: &str, attributes: &[(String, String)]) -> OpmlFeed {
        let is_clean = |c: char| !c.is_whitespace() && !c.is_control();
        let as_written = written.starts_with("http") && written.chars().all(is_clean);
        let xml_url = if as_written { written } else { url }.to_owned();
        let line = |name| {
            let text = without_logins(find_attribute(attributes, name)?);
            let text = one_line(&text, TITLE_CHARS_MAX);
            (!text.is_empty()).then_some(text)
        };
        let title =
            line("title").or_else(|| line("text").filter(|text| *text != without_logins(&xml_url)));
        let html_url =
            find_attribute(attributes, "htmlurl").map(|url| one_line(&without_logins(url), 8_192));
        let mut settings = BTreeMap::new();
        for (key, value) in attributes {
            if let Some((prefix, name)) = key.split_once(':')
                && self.prefixes.contains(&prefix)
            {
                settings.insert(name.to_owned(), value.clone());
            }
        }
        let mut tags: Vec<String> = self.folder_tag().into_iter().collect();
        let listed = settings.remove(TAG_LIST);
        let further: Vec<&str> = match &listed {
            Some(listed) => listed.split('\n').collect(),
            None => find_attribute(attributes, "category").unwrap_or_default().split(',').collect(),
        };
        for tag in further.into_iter().filter_map(normal_tag) {
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        OpmlFeed { xml_url, html_url, title, tags, settings }
    }

    /// Returns the names of the open folders, joined to one tag.
    fn folder_tag(&self) -> Option<String> {
        // `normal_tag` keeps fewer parts than this, so the limit only bounds the cost of deeply nested folders.
        normal_tag(&self.folders.get(..64).unwrap_or(&self.folders).join("/"))
    }

    fn finish(mut self, tree: &XmlTree<'_>) -> Opml {
        for end_tag in &tree.misfits {
            let name = end_tag.rsplit(':').next().unwrap_or(end_tag);
            self.add_flaw(self.line(end_tag), &format!("The end tag of {name} does not match"));
        }
        self.opml.flaws.sort_by_key(|flaw| flaw.line);
        let deep = tree
            .too_deep
            .map(|name| (self.line(name), "The document is nested too deeply".to_owned()));
        let open = || {
            let unclosed = tree.unclosed()?;
            let inside = match unclosed.local() {
                "outline" => format!("outline “{}”", name_of(&read_attributes(unclosed))),
                name => name.to_owned(),
            };
            let line = self.line_at(self.text.trim_end().len());
            Some((line, format!("The document ends inside {inside}")))
        };
        if let Some((line, reason)) = deep.or_else(open) {
            self.opml.broken.get_or_insert(OpmlFlaw { line, reason });
        }
        self.opml
    }

    fn add_bad(&mut self, text: &str, reason: &str, line: usize) {
        if self.opml.bad.len() < LISTED_MAX {
            let text = without_logins(text);
            self.opml.bad.push(BadOutline { text, reason: reason.to_owned(), line });
        }
    }

    fn add_flaw(&mut self, line: usize, reason: &str) {
        if self.opml.flaws.len() < LISTED_MAX {
            let reason = without_logins(reason);
            self.opml.flaws.push(OpmlFlaw { line, reason });
        }
    }

    /// Returns the byte offset at which `piece`, a slice of the text, begins.
    fn place(&self, piece: &str) -> usize {
        piece.as_ptr().addr().saturating_sub(self.text.as_ptr().addr())
    }

    /// Returns the number of the line in which `piece`, a slice of the text, begins.
    fn line(&self, piece: &str) -> usize {
        self.line_at(self.place(piece))
    }

    fn line_at(&self, place: usize) -> usize {
        self.line_ends.partition_point(|end| *end < place) + 1
    }
}

/// Checks whether the text at the offset `at` can follow the value of an attribute: a blank, the end of the tag or another
/// attribute.
fn may_follow_a_value(tag: &str, at: usize) -> bool {
    let rest = tag.get(at..).unwrap_or_default();
    let behind_name =
        rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c));
    rest.starts_with(|c: char| c.is_ascii_whitespace() || c == '/') || behind_name.starts_with('=')
}

/// Returns the name of an outline as one line of text that is safe to display.
fn name_of(attributes: &[(String, String)]) -> String {
    let name = ["text", "title"].iter().find_map(|name| find_attribute(attributes, name));
    one_line(name.unwrap_or_default(), TITLE_CHARS_MAX)
}

/// Returns a sentence fragment that explains what a document with this root element is instead of OPML.
fn what_is(root: &str) -> &'static str {
    match root {
        "rss" | "feed" | "rdf" | "channel" => "it is a feed; add its address instead",
        "html" | "head" | "body" => "it is a web page",
        "urlset" | "sitemapindex" => "it is a site map",
        _ => "its root element is not opml",
    }
}

/// Meaning of an outline.
pub(in crate::feed) enum OutlineMeaning {
    Folder,
    /// A folder if the outline contains other outlines. Otherwise a feed that cannot be used, for the reason given.
    FolderIfFilled(&'static str),
    /// A feed, with the normalized form of its address.
    Feed(String),
    /// A feed whose URL cannot be used, with the reason.
    Unusable(String),
}

/// Determines the meaning of an outline from its attributes.
fn read_meaning(attributes: &[(String, String)]) -> OutlineMeaning {
    let kind = find_attribute(attributes, "type").unwrap_or_default().trim().to_ascii_lowercase();
    let is_feed = matches!(kind.as_str(), "rss" | "atom" | "feed" | "json" | "rss1" | "rdf");
    let written = find_attribute(attributes, "xmlurl")
        .or_else(|| find_attribute(attributes, "url").filter(|_| is_feed));
    let Some(written) = written.map(str::trim).filter(|written| !written.is_empty()) else {
        return match kind.as_str() {
            "link" => OutlineMeaning::FolderIfFilled("is a link, not a feed"),
            "include" => OutlineMeaning::FolderIfFilled("refers to another list"),
            _ if is_feed || find_attribute(attributes, "xmlurl").is_some() => {
                OutlineMeaning::FolderIfFilled("has no feed address")
            }
            _ => OutlineMeaning::Folder,
        };
    };
    // A command keeps its blanks, which may be within quotes.
    if FeedSource::of(written) != FeedSource::Web && !written.contains(char::is_control) {
        return OutlineMeaning::Feed(written.to_owned());
    }
    match Url::parse(&without_feed_scheme(written)) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => {
            OutlineMeaning::Feed(url.into())
        }
        Ok(url) => {
            OutlineMeaning::Unusable(format!("has an address with the scheme {}", url.scheme()))
        }
        Err(_) => OutlineMeaning::Unusable(format!(
            "has no usable address: {}",
            one_line(&without_logins(written), 120)
        )),
    }
}

/// Reads the attributes of an outline and resolves character references in their values. Attribute names without a prefix are
/// converted to lower case.
fn read_attributes(outline: XmlElement<'_, '_>) -> Vec<(String, String)> {
    let lower =
        |key: &str| if key.contains(':') { key.to_owned() } else { key.to_ascii_lowercase() };
    outline.raw_attributes().iter().map(|(key, value)| (lower(key), resolve(value))).collect()
}

/// Extracts the known attributes from an outline tag with misplaced quotes. The value of an attribute ends at a quote only if text
/// that can follow an attribute comes after it.
fn salvage_attributes(tag: &str) -> Vec<(String, String)> {
    const NAMES: [&str; 5] = ["text", "title", "xmlUrl", "htmlUrl", "category"];
    let value = |name: &str| {
        ['"', '\''].into_iter().find_map(|quote| {
            let (_, after) = tag.split_once(&format!(" {name}={quote}"))?;
            let ends = after.match_indices(quote).map(|(at, _)| at);
            let may_follow = |at: &usize| {
                after.get(at + 1..).is_some_and(|rest| {
                    rest.is_empty() || rest.starts_with([' ', '/', '>', '\n', '\t', '\r'])
                })
            };
            let value = ends.into_iter().find(may_follow).and_then(|end| after.get(..end))?;
            Some((name.to_ascii_lowercase(), resolve(value)))
        })
    };
    NAMES.into_iter().filter_map(value).collect()
}

/// Returns the value of the first attribute with this name.
fn find_attribute<'a>(attributes: &'a [(String, String)], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Interval between two looks at a list, in minutes: a day.
const LIST_MINUTES: u32 = 24 * 60;

/// Reads a list as a feed. Returns `None` if the document is not OPML, or lists no feed.
pub(in crate::feed) fn read_list_feed(bytes: &[u8], flaws: &mut Flaws) -> Option<FeedDocument> {
    let list = read_opml(bytes).ok()?;
    let feeds = list.outlines.iter().filter(|feed| is_web(&feed.xml_url)).take(ENTRIES_MAX);
    let entries: Vec<Entry> = feeds.map(entry_of).collect();
    if entries.is_empty() {
        return None;
    }
    // What was found wrong before was that this is not a feed.
    *flaws = Flaws::default();
    if list.broken.is_some() {
        flaws.truncated("opml");
    }
    Some(FeedDocument {
        kind: Kind::Opml,
        role: DocumentRole::Complete,
        head: FeedHead { title: list.title, ..FeedHead::default() },
        hints: Hints { ttl_minutes: Some(LIST_MINUTES), ..Hints::default() },
        history: HistoryLinks { complete: true, ..HistoryLinks::default() },
        entries,
        ..FeedDocument::default()
    })
}

fn entry_of(feed: &OpmlFeed) -> Entry {
    let address = escaped_attribute(&feed.xml_url);
    let site = feed.html_url.as_deref().filter(|site| is_web(site)).map(|site| {
        let site = escaped_attribute(site);
        format!("<p>Site: <a href=\"{site}\">{site}</a></p>")
    });
    let text =
        format!("<p>Feed: <a href=\"{address}\">{address}</a></p>{}", site.unwrap_or_default());
    Entry {
        id: feed.xml_url.clone(),
        title: Some(feed.title.clone().unwrap_or_else(|| feed.xml_url.clone())),
        link: Some(feed.xml_url.clone()),
        summary: Some(text),
        categories: feed.tags.clone(),
        ..Entry::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::feed::{Kind, Origin, parse};

    #[test]
    fn a_list_is_a_complete_feed_with_an_entry_for_each_feed() {
        let list = "<?xml version=\"1.0\"?><opml version=\"2.0\"><head><title>Friends</title></head><body>\
            <outline text=\"garden\"><outline text=\"A &amp; B\" xmlUrl=\"https://a.example/feed?x=1&amp;y=2\" \
            htmlUrl=\"https://a.example/\"/></outline>\
            <outline xmlUrl=\"https://b.example/\"/><outline xmlUrl=\"exec:rm\"/></body></opml>";
        let document = parse(list.as_bytes(), &Origin::default());
        assert_eq!((document.kind, document.history.complete), (Kind::Opml, true));
        assert_eq!(document.head.title.as_deref(), Some("Friends"));
        assert_eq!(document.hints.ttl_minutes, Some(1440));
        let read: Vec<_> = document.entries.iter().map(|entry| entry.title.as_deref()).collect();
        assert_eq!(read, [Some("A & B"), Some("https://b.example/")]);
        let first = &document.entries[0];
        assert_eq!(first.link.as_deref(), Some("https://a.example/feed?x=1&y=2"));
        assert_eq!(first.categories, ["garden"]);
        assert!(first.summary.as_ref().unwrap().contains("x=1&amp;y=2"), "{first:?}");
        assert!(!document.is_truncated());
    }

    #[test]
    fn a_cut_off_list_withdraws_nothing() {
        let list =
            "<opml><body><outline xmlUrl=\"https://a.example/\"/><outline xmlUrl=\"https://b";
        assert!(parse(list.as_bytes(), &Origin::default()).is_truncated());
        for other in ["<opml><body></body></opml>", "<html><body>opml</body></html>"] {
            assert_eq!(parse(other.as_bytes(), &Origin::default()).kind, Kind::None, "{other}");
        }
    }
}
