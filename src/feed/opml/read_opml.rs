//! Reading OPML of any version, well-formed or nearly so.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use url::Url;

use super::outline::{Asks, attributes, feed_of, salvaged, stated};
use super::subscription_list::{
    BadOutline, NAMESPACE, NotOpml, Opml, OpmlFeed, OpmlFlaw, TAG_LIST, normal_tag,
};
use crate::feed::encoding::charset::{to_text, xml_encoding};
use crate::feed::text::one_line;
use crate::feed::xml::references::resolve;

/// Larger documents are refused, bytes.
const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Elements within elements; a document that goes deeper breaks off there.
const DEPTH_MAX: usize = 512;

/// New starts after faults; a document with more of them breaks off there.
const RESUMES_MAX: usize = 200;

/// Feeds, bad outlines and flaws kept of one document, each.
const LISTED_MAX: usize = 100_000;

/// Why an outline is skipped whose tag has no end of its own.
const ILL_FORMED: &str = "is ill-formed: a quote or an angle bracket is missing";

/// Titles are cut, characters.
const TITLE_CHARS_MAX: usize = 500;

/// Reads an OPML document.
///
/// An error means that this is something else. A document that breaks off yields what was read up
/// to there, and [`Opml::broken`] says where; faults within are repaired and named in
/// [`Opml::flaws`].
pub fn read(bytes: &[u8]) -> Result<Opml, NotOpml> {
    if bytes.len() > DOCUMENT_BYTES_MAX {
        return Err(NotOpml { found: "it is larger than 16 MB".to_owned(), line: 1 });
    }
    let text = to_text(bytes, xml_encoding(bytes).as_deref());
    let mut list = List::new(&text);
    while let Some(from) = list.resume_at.take() {
        list.read_from(from)?;
    }
    list.finish()
}

/// An open element that matters.
enum Open {
    /// A folder or feed, with its line; `filled` if something stood in it, `lacks` if it is only a
    /// folder if something does.
    Outline {
        name: String,
        line: usize,
        is_feed: bool,
        filled: bool,
        lacks: Option<&'static str>,
    },
    /// The title of the list.
    Title,
    Other(String),
}

/// A list while it is read.
struct List<'a> {
    text: &'a str,
    /// Where to read on, if reading is not at its end.
    resume_at: Option<usize>,
    resumes: usize,
    /// A place in the text and its line.
    counted: (usize, usize),
    /// Prefixes bound to our namespace.
    prefixes: Vec<String>,
    seen_root: bool,
    /// The body was closed: what follows is no part of the list (OPML 2.0).
    body_closed: bool,
    open: Vec<Open>,
    /// Which feed an address is.
    known: BTreeMap<String, usize>,
    opml: Opml,
}

impl<'a> List<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            resume_at: Some(0),
            resumes: 0,
            counted: (0, 1),
            prefixes: vec!["bi".to_owned()],
            seen_root: false,
            body_closed: false,
            open: Vec::new(),
            known: BTreeMap::new(),
            opml: Opml::default(),
        }
    }

    /// Reads on from a place in the text until the end or a fault that needs a new start.
    fn read_from(&mut self, from: usize) -> Result<(), NotOpml> {
        let mut reader = Reader::from_str(self.text.get(from..).unwrap_or_default());
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        loop {
            let start = from + usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => return self.stumble(start, &error.to_string()),
            };
            match event {
                Event::Eof => return Ok(()),
                Event::Start(tag) | Event::Empty(tag) if self.swallows(start, &tag) => {
                    return Ok(());
                }
                Event::Start(_) if self.open.len() >= DEPTH_MAX => {
                    let line = self.line(start);
                    let reason = "The document is nested too deep".to_owned();
                    self.opml.broken.get_or_insert(OpmlFlaw { line, reason });
                    return Ok(());
                }
                Event::Start(tag) => self.start(&tag, start)?,
                Event::Empty(tag) => {
                    let depth = self.open.len();
                    self.start(&tag, start)?;
                    self.close_to(depth);
                }
                Event::End(tag) => self.end(tag.local_name().as_ref(), start),
                Event::Text(text) => self.add_title(&text.into_inner(), start)?,
                Event::CData(text) => self.add_title(&text.into_inner(), start)?,
                Event::GeneralRef(name) => {
                    let reference = format!("&{};", name.into_inner());
                    self.add_title(&resolve(&reference), start)?;
                }
                Event::Decl(_) | Event::DocType(_) | Event::Comment(_) | Event::PI(_) => {}
            }
        }
    }

    /// What to do where no further tag can be read: go on with the next outline, or give up.
    fn stumble(&mut self, at: usize, reason: &str) -> Result<(), NotOpml> {
        let line = self.line(at);
        if !self.seen_root {
            return Err(NotOpml { found: format!("it cannot be read: {reason}"), line });
        }
        self.resumes += 1;
        self.resume_at = self.next_outline(at + 1).filter(|_| self.resumes <= RESUMES_MAX);
        if let Some(end) = self.resume_at
            && self.text.get(at..).unwrap_or_default().starts_with("<outline")
        {
            self.salvage(at, end);
            return Ok(());
        }
        let flaw = OpmlFlaw { line, reason: format!("The document is ill-formed: {reason}") };
        if self.resume_at.is_some() {
            self.flaw(flaw);
        } else {
            self.opml.broken.get_or_insert(flaw);
        }
        Ok(())
    }

    /// Whether a tag has taken another into it, for want of a quote; then reading goes on there.
    fn swallows(&mut self, at: usize, tag: &BytesStart<'_>) -> bool {
        let within = self.text.get(at + 1..at + tag.len()).and_then(|tag| tag.find("<outline"));
        let Some(inner) = within.map(|within| at + 1 + within) else { return false };
        self.resume_at = Some(inner);
        self.salvage(at, inner);
        true
    }

    /// Takes from an outline whose tag cannot be read what can be made out, or reports it.
    fn salvage(&mut self, at: usize, end: usize) {
        let line = self.line(at);
        let raw = self.text.get(at..end).unwrap_or_default();
        let attributes = salvaged(raw);
        if let Asks::Feed(url) = feed_of(&attributes) {
            self.feed(&url, &attributes, line);
            let reason = format!("The outline of {url} {ILL_FORMED}");
            self.flaw(OpmlFlaw { line, reason });
        } else {
            self.bad(one_line(raw, 120), ILL_FORMED, line);
        }
    }

    fn next_outline(&self, from: usize) -> Option<usize> {
        let found = self.text.get(from..)?.find("<outline")?;
        Some(from + found)
    }

    fn start(&mut self, tag: &BytesStart<'_>, at: usize) -> Result<(), NotOpml> {
        let local = tag.local_name();
        let name = local.as_ref().to_ascii_lowercase();
        if !self.seen_root {
            return self.root(&name, tag, at);
        }
        match name.as_str() {
            "outline" => self.outline(tag, at),
            "title" if matches!(self.open.last(), Some(Open::Other(parent)) if parent == "head") => {
                self.open.push(Open::Title);
            }
            _ => self.open.push(Open::Other(name)),
        }
        Ok(())
    }

    fn root(&mut self, name: &str, tag: &BytesStart<'_>, at: usize) -> Result<(), NotOpml> {
        if name != "opml" {
            let line = self.line(at);
            return Err(NotOpml { found: what_is(name).to_owned(), line });
        }
        self.seen_root = true;
        for (key, value) in attributes(tag) {
            if let Some(prefix) = key.strip_prefix("xmlns:").filter(|_| value == NAMESPACE) {
                self.prefixes.push(prefix.to_owned());
            }
        }
        self.open.push(Open::Other("opml".to_owned()));
        Ok(())
    }

    fn outline(&mut self, tag: &BytesStart<'_>, at: usize) {
        let line = self.line(at);
        let attributes = attributes(tag);
        let name = ["text", "title"].iter().find_map(|name| stated(&attributes, name));
        let name = one_line(name.unwrap_or_default(), TITLE_CHARS_MAX);
        let in_body = self.open.iter().any(|open| matches!(open, Open::Other(n) if n == "body"));
        if !in_body {
            self.flaw(OpmlFlaw {
                line,
                reason: format!("Outline “{name}” stands outside the body"),
            });
        }
        if let Some(Open::Outline { filled, .. }) = self.open.last_mut() {
            *filled = true;
        }
        let (is_feed, lacks) = match feed_of(&attributes) {
            Asks::Folder => (false, None),
            Asks::FolderIfFilled(lacks) => (false, Some(lacks)),
            Asks::Feed(_) if self.body_closed && !in_body => {
                self.bad(name.clone(), "stands behind the end of the list", line);
                (true, None)
            }
            Asks::Feed(url) => {
                self.feed(&url, &attributes, line);
                (true, None)
            }
            Asks::InVain(reason) => {
                self.bad(name.clone(), &reason, line);
                (true, None)
            }
        };
        self.open.push(Open::Outline { name, line, is_feed, filled: false, lacks });
    }

    /// Adds a feed, or what is new about it if it is known already.
    fn feed(&mut self, url: &Url, attributes: &[(String, String)], line: usize) {
        let written = stated(attributes, "xmlurl").or_else(|| stated(attributes, "url"));
        let mut feed = self.described(written.unwrap_or_default(), url, attributes);
        let at = *self.known.entry(url.to_string()).or_insert(self.opml.outlines.len());
        let Some(first) = self.opml.outlines.get_mut(at) else {
            if self.opml.outlines.len() < LISTED_MAX {
                self.opml.outlines.push(feed);
            } else {
                self.bad(feed.xml_url, "stands after more feeds than can be taken", line);
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
        let reason = format!("Feed {} stands in the list more than once", first.xml_url);
        self.flaw(OpmlFlaw { line, reason });
    }

    fn described(&self, written: &str, url: &Url, attributes: &[(String, String)]) -> OpmlFeed {
        let is_clean = |c: char| !c.is_whitespace() && !c.is_control();
        let as_written = written.starts_with("http") && written.chars().all(is_clean);
        let xml_url = if as_written { written.to_owned() } else { url.to_string() };
        let line = |name| {
            let text = one_line(stated(attributes, name)?, TITLE_CHARS_MAX);
            (!text.is_empty()).then_some(text)
        };
        let title = line("title").or_else(|| line("text").filter(|text| *text != xml_url));
        let html_url = stated(attributes, "htmlurl").map(|url| one_line(url, 8_192));
        let mut settings = BTreeMap::new();
        for (key, value) in attributes {
            if let Some((prefix, name)) = key.split_once(':')
                && self.prefixes.iter().any(|ours| ours == prefix)
            {
                settings.insert(name.to_owned(), value.clone());
            }
        }
        let mut tags: Vec<String> = self.folder_tag().into_iter().collect();
        let listed = settings.remove(TAG_LIST);
        let further: Vec<&str> = match &listed {
            Some(listed) => listed.split('\n').collect(),
            None => stated(attributes, "category").unwrap_or_default().split(',').collect(),
        };
        for tag in further.into_iter().filter_map(normal_tag) {
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        OpmlFeed { xml_url, html_url, title, tags, settings }
    }

    /// The names of the open folders as one tag.
    fn folder_tag(&self) -> Option<String> {
        let names = self.open.iter().filter_map(|open| match open {
            Open::Outline { name, is_feed: false, .. } => Some(name.as_str()),
            Open::Outline { .. } | Open::Title | Open::Other(_) => None,
        });
        // `normal_tag` keeps no more parts than this, so deep nesting costs no more either.
        normal_tag(&names.take(64).collect::<Vec<_>>().join("/"))
    }

    /// An end tag: ends the innermost element of this name and all within it.
    fn end(&mut self, name: &str, at: usize) {
        let is_named = |open: &Open| match open {
            Open::Outline { .. } => name.eq_ignore_ascii_case("outline"),
            Open::Title => name.eq_ignore_ascii_case("title"),
            Open::Other(other) => name.eq_ignore_ascii_case(other),
        };
        let found = self.open.iter().rposition(is_named);
        if found.is_none_or(|found| found + 1 < self.open.len()) {
            let line = self.line(at);
            self.flaw(OpmlFlaw { line, reason: format!("The end tag of {name} does not fit") });
        }
        if let Some(found) = found {
            self.close_to(found);
        }
    }

    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            let closed = self.open.pop();
            self.body_closed |= matches!(&closed, Some(Open::Other(name)) if name == "body");
            let Some(Open::Outline { name, line, is_feed: false, filled: false, lacks }) = closed
            else {
                continue;
            };
            if let Some(lacks) = lacks {
                self.bad(name, lacks, line);
            } else {
                let reason = format!("Outline “{name}” has neither a feed nor outlines in it");
                self.flaw(OpmlFlaw { line, reason });
            }
        }
    }

    fn add_title(&mut self, text: &str, at: usize) -> Result<(), NotOpml> {
        let first = text.find(|c: char| !c.is_whitespace() && c != '\u{FEFF}');
        if let Some(first) = first.filter(|_| !self.seen_root) {
            let line = self.line(at + first);
            return Err(NotOpml { found: "it starts with text".to_owned(), line });
        }
        if matches!(self.open.last(), Some(Open::Title)) {
            let title = self.opml.title.get_or_insert_default();
            if title.len() < TITLE_CHARS_MAX * 4 {
                title.push_str(text);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Opml, NotOpml> {
        let line = self.line(self.text.trim_end().len());
        if !self.seen_root {
            let found = if self.text.trim().is_empty() { "it is empty" } else { "it has no tags" };
            return Err(NotOpml { found: found.to_owned(), line });
        }
        let inside = self.open.last().map(|open| match open {
            Open::Outline { name, .. } => format!("outline “{name}”"),
            Open::Title => "title".to_owned(),
            Open::Other(name) => name.clone(),
        });
        if let Some(inside) = inside {
            let reason = format!("The document breaks off within {inside}");
            self.opml.broken.get_or_insert(OpmlFlaw { line, reason });
        }
        let title = self.opml.title.take().map(|title| one_line(&title, TITLE_CHARS_MAX));
        self.opml.title = title.filter(|title| !title.is_empty());
        Ok(self.opml)
    }

    fn bad(&mut self, text: String, reason: &str, line: usize) {
        if self.opml.bad.len() < LISTED_MAX {
            self.opml.bad.push(BadOutline { text, reason: reason.to_owned(), line });
        }
    }

    fn flaw(&mut self, flaw: OpmlFlaw) {
        if self.opml.flaws.len() < LISTED_MAX {
            self.opml.flaws.push(flaw);
        }
    }

    /// The line of a place that is not before the last one asked for.
    fn line(&mut self, at: usize) -> usize {
        let (from, line) = self.counted;
        let between = self.text.get(from..at.max(from)).unwrap_or_default();
        let line = line + between.matches('\n').count();
        self.counted = (at.max(from), line);
        line
    }
}

/// What a document with this root element is.
fn what_is(root: &str) -> &'static str {
    match root {
        "rss" | "feed" | "rdf" | "channel" => "it is a feed; add its address instead",
        "html" | "head" | "body" => "it is a web page",
        "urlset" | "sitemapindex" => "it is a site map",
        _ => "its root element is not opml",
    }
}
