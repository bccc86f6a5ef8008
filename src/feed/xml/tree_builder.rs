//! Builds the tree of an XML document from its tokens, and repairs missing, stray and misplaced end tags.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::lexer::{Lexer, Token};
use super::names::{NamespaceScope, Ns};
use super::tree::{ElementName, NodeId, NodeKind, XmlNode, XmlTree, is_void};
use crate::feed::document::TOO_MANY_ENTRIES;
use crate::feed::flaws::Flaws;

/// Deepest nesting that is kept (SPEC 0, `XML_DEPTH_MAX`).
const DEPTH_MAX: usize = 256;
/// How many nodes of one document are kept.
const NODES_MAX: usize = 700_000;
/// How many attributes of one document are kept.
const ATTRIBUTES_MAX: usize = 1_000_000;
/// How many end tags of one document may not fit.
const MISFITS_MAX: usize = 100_000;
/// How many entries of one document are kept (SPEC 0, `ENTRIES_MAX`).
pub(in crate::feed) const ENTRIES_MAX: usize = 10_000;

/// Names of the root elements of feeds.
const ROOTS: [&str; 6] = ["rss", "feed", "rdf", "channel", "entry", "redirect"];
/// Elements by which a web page is recognised.
const PAGE: [&str; 3] = ["html", "head", "body"];

/// Builds the tree of the first element that can be the root of a feed. What comes before and after it is
/// left out; without such an element the tree is empty.
pub(in crate::feed) fn build_tree<'a>(document: &'a str, flaws: &mut Flaws) -> XmlTree<'a> {
    build_tree_below(document, &ROOTS, flaws)
}

/// Builds the tree of the first element with one of these names.
pub(in crate::feed) fn build_tree_below<'a>(
    document: &'a str,
    roots: &'static [&'static str],
    flaws: &mut Flaws,
) -> XmlTree<'a> {
    let mut lexer = Lexer::new(document);
    let mut builder = TreeBuilder::new(roots, flaws);
    while let Some(token) = lexer.next(builder.stack.last().map(|open| open.raw)) {
        if let Some(reason) = lexer.repaired.take()
            && builder.started
        {
            builder.flaws.add_once("document", "", reason);
        }
        if builder.add_token(token).is_break() || builder.is_full() {
            break;
        }
    }
    if let Some(open) = builder.stack.last() {
        builder.flaws.truncated(open.raw);
        builder.tree.unclosed = Some(open.id);
    }
    builder.tree
}

/// What an element may contain, which decides where a missing end tag is assumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElementPurpose {
    /// Holds entries.
    Container,
    Entry,
    /// Holds a short text and no other element of a feed.
    Leaf,
    /// Holds text that may be markup.
    Body,
    Other,
}

impl ElementPurpose {
    fn find(ns: Ns, local: &str) -> Self {
        match (ns, local) {
            (Ns::Rss | Ns::Atom | Ns::Rdf, "rss" | "rdf" | "feed" | "channel" | "items") => {
                Self::Container
            }
            (Ns::Rss, "item") | (Ns::Atom, "entry") => Self::Entry,
            (Ns::Rss, "description")
            | (Ns::Atom, "content" | "summary")
            | (Ns::Content, "encoded") => Self::Body,
            (
                Ns::Rss | Ns::Atom,
                "title" | "link" | "guid" | "id" | "pubdate" | "category" | "updated" | "published"
                | "modified" | "issued" | "created" | "ttl" | "language" | "copyright"
                | "lastbuilddate" | "comments" | "generator" | "docs" | "rights" | "tagline"
                | "subtitle" | "enclosure" | "icon" | "logo" | "interval",
            )
            | (Ns::History | Ns::Sy | Ns::Dc | Ns::DcTerms | Ns::Schedule, _) => Self::Leaf,
            _ => Self::Other,
        }
    }
}

/// An element that is open.
#[derive(Debug)]
struct OpenElement<'a> {
    id: NodeId,
    raw: &'a str,
    purpose: ElementPurpose,
}

#[derive(Debug)]
struct TreeBuilder<'a, 'f> {
    roots: &'static [&'static str],
    tree: XmlTree<'a>,
    scope: NamespaceScope<'a>,
    stack: Vec<OpenElement<'a>>,
    started: bool,
    entries: usize,
    /// Name of an element that is left out with all it contains, and how many of that name are open.
    skipped: Option<(&'a str, usize)>,
    flaws: &'f mut Flaws,
}

impl<'a, 'f> TreeBuilder<'a, 'f> {
    fn new(roots: &'static [&'static str], flaws: &'f mut Flaws) -> Self {
        Self {
            roots,
            tree: XmlTree::default(),
            scope: NamespaceScope::new(Ns::Rss),
            stack: Vec::new(),
            started: false,
            entries: 0,
            skipped: None,
            flaws,
        }
    }

    fn add_token(&mut self, token: Token<'a>) -> ControlFlow<()> {
        if let Some((name, open)) = &mut self.skipped {
            match token {
                Token::Start { name: other, empty: false, .. } if other == *name => *open += 1,
                Token::End { name: other } if other == *name => *open -= 1,
                Token::Start { .. } | Token::End { .. } | Token::Text(_) | Token::Cdata(_) => {}
            }
            if *open == 0 {
                self.skipped = None;
            }
            return ControlFlow::Continue(());
        }
        match token {
            Token::Start { name, attributes, empty } => {
                return self.open_element(name, &attributes, empty);
            }
            Token::End { name } => {
                self.close_element(name);
                if self.started && self.stack.is_empty() {
                    return ControlFlow::Break(());
                }
            }
            Token::Text(text) => self.add_text(text, NodeKind::Text(text)),
            Token::Cdata(text) => self.add_text(text, NodeKind::Cdata(text)),
        }
        ControlFlow::Continue(())
    }

    fn is_full(&mut self) -> bool {
        let is_full = self.tree.nodes.len() >= NODES_MAX || self.tree.misfits.len() >= MISFITS_MAX;
        if is_full {
            self.flaws.add("document", "", "too many elements: the rest was left out");
        }
        is_full
    }

    fn add_text(&mut self, text: &str, kind: NodeKind<'a>) {
        let Some(open) = self.stack.last() else { return };
        let blank = matches!(open.purpose, ElementPurpose::Container | ElementPurpose::Entry)
            && text.trim_ascii().is_empty();
        if !blank && !text.is_empty() {
            let parent = open.id;
            self.append_node(Some(parent), kind);
        }
    }

    fn append_node(&mut self, parent: Option<NodeId>, kind: NodeKind<'a>) -> NodeId {
        let id = self.tree.nodes.len();
        self.tree.nodes.push(XmlNode { kind, parent, first: None, last: None, next: None });
        let before = parent.and_then(|parent| self.tree.nodes.get_mut(parent)).and_then(|parent| {
            parent.first.get_or_insert(id);
            parent.last.replace(id)
        });
        if let Some(before) = before.and_then(|before| self.tree.nodes.get_mut(before)) {
            before.next = Some(id);
        }
        id
    }

    fn open_element(
        &mut self,
        raw: &'a str,
        attributes: &[(&'a str, &'a str)],
        empty: bool,
    ) -> ControlFlow<()> {
        let (prefix, local) = raw.rsplit_once(':').unwrap_or(("", raw));
        let local = lower_case(local);
        if !self.started {
            if PAGE.contains(&local.as_ref()) {
                return ControlFlow::Break(());
            }
            if !self.roots.contains(&local.as_ref()) {
                return ControlFlow::Continue(());
            }
            let home = match local.as_ref() {
                "feed" | "entry" => Ns::Atom,
                "opml" => Ns::Other,
                _ => Ns::Rss,
            };
            self.scope = NamespaceScope::new(home);
        }
        let depth = self.stack.len();
        self.declare_namespaces(attributes, depth);
        let ns = self.scope.resolve(prefix);
        if !self.started {
            if !prefix.is_empty() && !matches!(ns, Ns::Atom | Ns::Rss | Ns::Rdf) {
                self.scope.leave(0);
                return ControlFlow::Continue(());
            }
            self.started = true;
        }
        let purpose = ElementPurpose::find(ns, &local);
        if self.make_room(ns, &local, purpose) {
            self.scope.leave(self.stack.len());
            self.declare_namespaces(attributes, self.stack.len());
        }
        if purpose == ElementPurpose::Entry
            && self.stack.iter().all(|open| open.purpose == ElementPurpose::Container)
        {
            self.entries += 1;
        }
        if self.is_over_a_limit(raw) {
            self.scope.leave(self.stack.len());
            self.skipped = (!empty).then_some((raw, 1));
            return ControlFlow::Continue(());
        }
        let void = is_void(&local)
            && self
                .stack
                .iter()
                .any(|open| matches!(open.purpose, ElementPurpose::Body | ElementPurpose::Leaf));
        let from = self.tree.attributes.len();
        if from < ATTRIBUTES_MAX {
            self.tree.attributes.extend_from_slice(attributes);
        }
        let name = ElementName { ns, local, raw, attributes: from..self.tree.attributes.len() };
        let parent = self.stack.last().map(|open| open.id);
        let id = self.append_node(parent, NodeKind::Element(name));
        if empty || void {
            self.scope.leave(self.stack.len());
        } else {
            self.stack.push(OpenElement { id, raw, purpose });
        }
        if self.stack.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Whether an element that begins here is too much for the tree.
    fn is_over_a_limit(&mut self, raw: &'a str) -> bool {
        let reason = if self.entries > ENTRIES_MAX {
            TOO_MANY_ENTRIES
        } else if self.stack.len() >= DEPTH_MAX {
            self.tree.too_deep.get_or_insert(raw);
            "nested too deeply"
        } else {
            return false;
        };
        self.flaws.add_once("document", raw, reason);
        true
    }

    fn declare_namespaces(&mut self, attributes: &[(&'a str, &'a str)], depth: usize) {
        for (name, value) in attributes {
            if let Some(declared) = name.strip_prefix("xmlns") {
                match declared.strip_prefix(':') {
                    Some(prefix) => self.scope.declare(prefix, value, depth),
                    None if declared.is_empty() => self.scope.declare("", value, depth),
                    None => {}
                }
            } else if name.eq_ignore_ascii_case("xml:base") {
                self.tree.has_base = true;
            }
        }
    }

    /// Closes elements that cannot contain the one that begins, so that a mistyped or missing end tag does
    /// not let one element swallow the rest of the feed. Returns whether it closed any.
    fn make_room(&mut self, ns: Ns, local: &str, purpose: ElementPurpose) -> bool {
        let Some(at) = self.stack.iter().rposition(|open| open.purpose != ElementPurpose::Other)
        else {
            return false;
        };
        let Some(innermost) = self.stack.get(at).map(|open| open.purpose) else { return false };
        let keep =
            match (purpose, innermost) {
                (ElementPurpose::Entry, ElementPurpose::Entry | ElementPurpose::Leaf) => self
                    .stack
                    .iter()
                    .rposition(|open| open.purpose == ElementPurpose::Container)
                    .map_or(at, |container| container + 1),
                (ElementPurpose::Leaf | ElementPurpose::Body, ElementPurpose::Leaf)
                    if matches!(ns, Ns::Rss | Ns::Atom | Ns::Content) =>
                {
                    at
                }
                (_, ElementPurpose::Body)
                    if ns == Ns::Rss
                        && matches!(local, "guid" | "pubdate" | "enclosure" | "item") =>
                {
                    if purpose == ElementPurpose::Entry { at.saturating_sub(1) } else { at }
                }
                _ => return false,
            };
        let closed = self.stack.get(keep).map_or("", |open| open.raw);
        self.flaws.add_once(closed, local, "its end tag was missing");
        self.close_to(keep);
        true
    }

    fn close_to(&mut self, depth: usize) {
        self.stack.truncate(depth);
        self.scope.leave(depth);
    }

    fn close_element(&mut self, name: &'a str) {
        let at =
            self.stack.iter().rposition(|open| open.raw == name).or_else(|| {
                self.stack.iter().rposition(|open| open.raw.eq_ignore_ascii_case(name))
            });
        match at {
            Some(at) => {
                if at + 1 < self.stack.len() {
                    self.note_unclosed(at + 1);
                    self.tree.misfits.push(name);
                }
                self.close_to(at);
            }
            None if self.started && !is_void(name) => {
                self.tree.misfits.push(name);
                self.flaws.add_once(
                    "document",
                    name,
                    "an end tag without a start tag was left out",
                );
            }
            None => {}
        }
    }

    fn note_unclosed(&mut self, from: usize) {
        let unclosed = self.stack.get(from).map_or("", |open| open.raw);
        self.flaws.add_once(unclosed, "", "its end tag was missing");
    }
}

fn lower_case(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

#[cfg(test)]
mod tests {
    use crate::feed::xml::tree::XmlElement;
    use crate::feed::xml::tree_builder::*;

    fn shape(element: XmlElement<'_, '_>) -> String {
        let inside: Vec<String> = element.children().map(shape).collect();
        let text = if inside.is_empty() { element.text().into_owned() } else { String::new() };
        format!("{}({}{})", element.local(), inside.join(" "), text)
    }

    fn check(document: &str, expected: &str) {
        let mut flaws = Flaws::default();
        let tree = build_tree(document, &mut flaws);
        assert_eq!(tree.root().map(shape).unwrap_or_default(), expected, "{document}");
    }

    #[test]
    fn the_root_is_found_behind_junk() {
        check(
            "<b>Warning</b> in line 3 <?xml version='1.0'?><!DOCTYPE rss><RSS><channel/></RSS>junk<rss/>",
            "rss(channel())",
        );
        check("<html><head><rss/></head></html>", "");
        check("nothing", "");
    }

    #[test]
    fn missing_end_tags_do_not_swallow_the_rest() {
        check(
            "<rss><channel><title>a<link>b</link><item><title>c</titel><guid>1</guid></item><item><guid>2",
            "rss(channel(title(a) link(b) item(title(c) guid(1)) item(guid(2))))",
        );
        check(
            "<rss><channel><item><title>a<item><title>b</title></item></channel></rss>",
            "rss(channel(item(title(a)) item(title(b))))",
        );
        check(
            "<rss><channel><item><description>a<p>b<br>c</descripton><pubDate>d</pubDate></item></channel></rss>",
            "rss(channel(item(description(p(br())) pubdate(d))))",
        );
        check(
            "<feed xmlns:h='http://purl.org/syndication/history/1.0'><h:prev>x<h:prev><entry><id>1</id></entry></feed>",
            "feed(prev(prev()) entry(id(1)))",
        );
    }

    #[test]
    fn deep_and_long_documents_are_cut() {
        let deep = format!("<rss>{}", "<a>".repeat(100_000));
        let mut flaws = Flaws::default();
        assert!(build_tree(&deep, &mut flaws).nodes.len() <= DEPTH_MAX);
        let long = format!("<rss><channel>{}", "<item/>".repeat(ENTRIES_MAX + 5));
        let mut flaws = Flaws::default();
        assert_eq!(build_tree(&long, &mut flaws).nodes.len(), ENTRIES_MAX + 2);
    }
}
