//! Builds the tree of an XML document from its tokens, repairs missing, stray and misplaced end tags, and drops entries above the
//! limit.

use std::borrow::Cow;
use std::ops::ControlFlow;

use chrono::{DateTime, Utc};
use memchr::memmem;

use super::super::dates::date::parse_date;
use super::lexer::{Lexer, Token};
use super::names::{NamespaceScope, Ns};
use super::tree::{ElementName, NodeId, NodeKind, XmlNode, XmlTree};
use crate::feed::content::html_names::is_void;
use crate::feed::flaws::{Flaws, NO_END_TAG, TOO_DEEP, TOO_MANY_ENTRIES};

/// Maximum nesting depth of elements (SPEC 0, `XML_DEPTH_MAX`).
const DEPTH_MAX: usize = 256;
/// Maximum number of elements and texts kept per document.
const NODES_MAX: usize = 700_000;
/// Maximum number of attributes kept per document.
const ATTRIBUTES_MAX: usize = 1_000_000;
/// Maximum number of end tags recorded in `XmlTree::misfits`.
const MISFITS_MAX: usize = 100_000;
/// Maximum number of entries kept per document (SPEC 0, `ENTRIES_MAX`).
pub(in crate::feed) const ENTRIES_MAX: usize = 10_000;

/// Names of the root elements of feeds.
const ROOTS: [&str; 6] = ["rss", "feed", "rdf", "channel", "entry", "redirect"];
/// Root elements that are also recognised inside a web page.
const ROOTS_IN_PAGE: [&str; 4] = ["rss", "feed", "rdf", "channel"];
/// Elements that show that a document is a web page.
const PAGE: [&str; 3] = ["html", "head", "body"];
/// Elements of a web page whose content is not part of the page's own markup.
const NO_MARKUP: [&str; 4] = ["script", "style", "template", "textarea"];

/// Builds the tree of the first element that can be the root of a feed. The text before and after this element is ignored. If there
/// is no such element, the tree is empty.
pub(in crate::feed) fn build_tree<'a>(document: &'a str, flaws: &mut Flaws) -> XmlTree<'a> {
    let mut found = flaws.clone();
    let tree = build_tree_of(document, &ROOTS, &ROOTS_IN_PAGE, 0, &mut found);
    let is_too_long = found.has(TOO_MANY_ENTRIES);
    let left_out = if is_too_long { oldest_left_out(document) } else { 0 };
    if left_out > 0 {
        return build_tree_of(document, &ROOTS, &ROOTS_IN_PAGE, left_out, flaws);
    }
    *flaws = found;
    tree
}

/// Builds the tree of the first element whose name is in `roots`. Web pages are not searched for this element.
pub(in crate::feed) fn build_tree_below<'a>(
    document: &'a str,
    roots: &'static [&'static str],
    flaws: &mut Flaws,
) -> XmlTree<'a> {
    build_tree_of(document, roots, &[], 0, flaws)
}

fn build_tree_of<'a>(
    document: &'a str,
    roots: &'static [&'static str],
    roots_in_page: &'static [&'static str],
    left_out: usize,
    flaws: &mut Flaws,
) -> XmlTree<'a> {
    let mut lexer = Lexer::new(document);
    let mut builder = TreeBuilder { left_out, ..TreeBuilder::new(roots, roots_in_page, flaws) };
    let mut ends_in_text = false;
    while let Some(token) = lexer.next(builder.stack.last().map(|open| open.raw)) {
        ends_in_text = matches!(&token, Token::Text(text) if !text.trim_ascii().is_empty());
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
        builder.tree.unclosed = Some(open.id);
        let is_container = |open: &OpenElement<'_>| open.purpose == ElementPurpose::Container;
        if !ends_in_text && builder.entries > 0 && builder.stack.iter().all(is_container) {
            builder.flaws.lacks_end(open.raw);
        } else {
            builder.flaws.truncated(open.raw);
        }
    }
    builder.release_swallowed(0);
    builder.tree
}

/// An element whose end tag was not reached yet.
#[derive(Debug)]
struct OpenElement<'a> {
    id: NodeId,
    raw: &'a str,
    purpose: ElementPurpose,
}

#[derive(Debug)]
struct TreeBuilder<'a, 'f> {
    roots: &'static [&'static str],
    /// Root elements accepted inside a web page. If empty, web pages are not searched for a root.
    roots_in_page: &'static [&'static str],
    tree: XmlTree<'a>,
    scope: NamespaceScope<'a>,
    stack: Vec<OpenElement<'a>>,
    started: bool,
    entries: usize,
    /// Number of entries to drop at the start of the document, because they are the oldest ones.
    left_out: usize,
    /// Name of the element that is being skipped with its content, and the number of open elements with this name.
    skipped: Option<(&'a str, usize)>,
    flaws: &'f mut Flaws,
}

impl<'a, 'f> TreeBuilder<'a, 'f> {
    fn new(
        roots: &'static [&'static str],
        roots_in_page: &'static [&'static str],
        flaws: &'f mut Flaws,
    ) -> Self {
        Self {
            roots,
            roots_in_page,
            tree: XmlTree::default(),
            scope: NamespaceScope::new(Ns::Rss),
            stack: Vec::new(),
            started: false,
            entries: 0,
            left_out: 0,
            skipped: None,
            flaws,
        }
    }

    fn add_token(&mut self, token: Token<'a>) -> ControlFlow<()> {
        if let Some((name, open)) = &mut self.skipped {
            match token {
                // Before the root is found, the skipped element is a script or similar, which ends at the first end tag with its
                // name, even if start tags with the same name precede it.
                Token::Start { name: other, empty: false, .. } if other == *name => {
                    *open += usize::from(self.started);
                }
                Token::End { name: other } if other.eq_ignore_ascii_case(name) => *open -= 1,
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
                self.tree.in_page = true;
                if self.roots_in_page.is_empty() {
                    return ControlFlow::Break(());
                }
            }
            if self.tree.in_page && NO_MARKUP.contains(&local.as_ref()) {
                self.skipped = (!empty).then_some((raw, 1));
                return ControlFlow::Continue(());
            }
            let roots = if self.tree.in_page { self.roots_in_page } else { self.roots };
            if !roots.contains(&local.as_ref()) {
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
        let is_entry = purpose == ElementPurpose::Entry
            && self.stack.iter().all(|open| {
                matches!(open.purpose, ElementPurpose::Container | ElementPurpose::Other)
            });
        self.entries += usize::from(is_entry);
        if self.is_over_a_limit(raw, is_entry) {
            self.scope.leave(self.stack.len());
            self.skipped = (!empty).then_some((raw, 1));
            return ControlFlow::Continue(());
        }
        let is_markup = self
            .stack
            .iter()
            .any(|open| matches!(open.purpose, ElementPurpose::Body | ElementPurpose::Leaf));
        // RSS has its own elements `link` and `image`, which have content.
        let void = is_markup && !matches!(&*local, "link" | "image") && is_void(&local);
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

    /// Checks whether an element that begins at this position exceeds the limit on entries or nesting. If so, records a flaw.
    fn is_over_a_limit(&mut self, raw: &'a str, is_entry: bool) -> bool {
        let is_before = is_entry && self.entries <= self.left_out;
        let reason = if is_before || self.entries > ENTRIES_MAX.saturating_add(self.left_out) {
            TOO_MANY_ENTRIES
        } else if self.stack.len() >= DEPTH_MAX {
            self.tree.too_deep.get_or_insert(raw);
            TOO_DEEP
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

    /// Closes open elements that cannot contain the new element, so that an element with a missing or mistyped end tag does not
    /// absorb the rest of the feed. Returns whether any element was closed.
    fn make_room(&mut self, ns: Ns, local: &str, purpose: ElementPurpose) -> bool {
        let Some(at) = self.stack.iter().rposition(|open| open.purpose != ElementPurpose::Other)
        else {
            return false;
        };
        let Some(innermost) = self.stack.get(at).map(|open| open.purpose) else { return false };
        let in_container = || {
            let holder = self.stack.iter().rposition(|o| o.purpose == ElementPurpose::Container);
            holder.map_or(at, |container| container + 1)
        };
        let keep = match (purpose, innermost) {
            (ElementPurpose::Entry, ElementPurpose::Entry | ElementPurpose::Leaf) => in_container(),
            (ElementPurpose::Leaf | ElementPurpose::Body, ElementPurpose::Leaf)
                if matches!(ns, Ns::Rss | Ns::Atom | Ns::Content | Ns::Dc | Ns::DcTerms) =>
            {
                at
            }
            // A text element whose end tag is missing ends at the start of the next field, if it contains no markup.
            (ElementPurpose::Leaf | ElementPurpose::Body, ElementPurpose::Body)
                if matches!(ns, Ns::Rss | Ns::Atom | Ns::Content | Ns::Dc)
                    && self.is_field_of_entry(at, ns)
                    && self.holds_text_only(at) =>
            {
                at
            }
            (ElementPurpose::Entry, ElementPurpose::Body) if ns == Ns::Rss => in_container(),
            (_, ElementPurpose::Body)
                if ns == Ns::Rss && matches!(local, "guid" | "pubdate" | "enclosure") =>
            {
                at
            }
            _ => return false,
        };
        let closed = self.stack.get(keep).map_or("", |open| open.raw);
        self.flaws.add_once(closed, local, NO_END_TAG);
        self.close_open_ended(keep);
        true
    }

    /// Checks whether an element with the namespace `ns` is a field of the entry that contains the open element at `at`.
    fn is_field_of_entry(&self, at: usize, ns: Ns) -> bool {
        let parent = at.checked_sub(1).and_then(|parent| self.stack.get(parent));
        let is_in_entry = parent.is_some_and(|parent| parent.purpose == ElementPurpose::Entry);
        let is_atom = parent.is_some_and(|parent| parent.raw.ends_with("entry"));
        is_in_entry && (!is_atom || ns != Ns::Rss)
    }

    /// Checks whether the open element at `at` contains some text and no elements.
    fn holds_text_only(&self, at: usize) -> bool {
        self.stack.get(at).is_some_and(|open| {
            let element = self.tree.element(open.id);
            element.is_some_and(|element| !element.has_elements() && !element.is_blank())
        })
    }

    /// Closes the open elements from `depth` on, which have no end tag of their own.
    fn close_open_ended(&mut self, depth: usize) {
        self.release_swallowed(depth);
        self.tree.open_ended.extend(self.stack.iter().skip(depth).map(|open| open.id));
        self.close_to(depth);
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
                    self.close_open_ended(at + 1);
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

    /// Moves children out of open elements from depth `from` on that have no end tag, back to the surrounding container or entry.
    /// An element without an end tag keeps only the children before the first one that belongs to the container or entry.
    fn release_swallowed(&mut self, from: usize) {
        // Starting with the outermost element preserves the document order.
        for at in from..self.stack.len() {
            let outer = self.stack.iter().take(at).rfind(|o| o.purpose != ElementPurpose::Other);
            let swallower = self.stack.get(at).filter(|open| open.purpose == ElementPurpose::Other);
            let (Some(outer), Some(swallower)) = (outer, swallower) else { continue };
            let is_swallowed = match outer.purpose {
                ElementPurpose::Container => is_of_container,
                ElementPurpose::Entry => is_of_entry,
                ElementPurpose::Leaf | ElementPurpose::Body | ElementPurpose::Other => continue,
            };
            let (outer, swallower) = (outer.id, swallower.id);
            self.tree.move_children(swallower, outer, is_swallowed);
        }
    }

    fn note_unclosed(&mut self, from: usize) {
        let unclosed = self.stack.get(from).map_or("", |open| open.raw);
        self.flaws.add_once(unclosed, "", NO_END_TAG);
    }
}

fn lower_case(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

/// What an element may contain. A missing end tag is assumed where an element contains something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementPurpose {
    /// The element contains entries.
    Container,
    Entry,
    /// The element contains short text and no other feed elements.
    Leaf,
    /// The element contains text that may be markup.
    Body,
    Other,
}

impl ElementPurpose {
    /// Returns the purpose of an element. `local` is in lower case.
    pub(super) fn find(ns: Ns, local: &str) -> Self {
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

/// Elements of an RSS head section that cannot occur inside another element of the head section.
const HEAD_ONLY: [&str; 12] = [
    "ttl",
    "skiphours",
    "skipdays",
    "cloud",
    "language",
    "copyright",
    "managingeditor",
    "webmaster",
    "pubdate",
    "lastbuilddate",
    "generator",
    "docs",
];

/// Checks whether `child`, which was read inside `owner`, an element without an end tag, belongs to the surrounding entry. If
/// `owner` is an RSS or Atom element, its permitted contents decide. Otherwise `child` belongs to the entry if the two elements are
/// from different vocabularies, if they have the same name, or if `owner` is always empty.
fn is_of_entry(owner: &ElementName<'_>, child: &ElementName<'_>) -> bool {
    const EMPTY: [&str; 6] =
        ["transcript", "chapters", "thumbnail", "image", "player", "alternateenclosure"];
    let prefix = |name: &str| name.split_once(':').map(|(prefix, _)| prefix.to_ascii_lowercase());
    if owner.ns == Ns::Atom {
        // The elements of a person (`author` or `contributor`) contain only text, and a person contains only these elements.
        let is_person = matches!(&*owner.local, "author" | "contributor");
        let is_part = matches!(&*child.local, "name" | "uri" | "url" | "email");
        return matches!(&*owner.local, "name" | "uri" | "email") || (is_person && !is_part);
    }
    if owner.ns == Ns::Rss {
        return is_of_container(owner, child);
    }
    owner.local == child.local
        || owner.ns != child.ns
        || prefix(owner.raw) != prefix(child.raw)
        || EMPTY.contains(&&*owner.local)
}

/// Checks whether `child`, which was read inside `owner`, an element without an end tag, belongs to the surrounding container.
fn is_of_container(owner: &ElementName<'_>, child: &ElementName<'_>) -> bool {
    let is_ours = |ns| matches!(ns, Ns::Rss | Ns::Atom);
    let local = child.local.as_ref();
    if ElementPurpose::find(child.ns, local) == ElementPurpose::Entry {
        return true;
    }
    if !is_ours(owner.ns) {
        return is_ours(child.ns);
    }
    // An Atom person contains only the elements `name`, `uri` and `email` (RFC 4287 §3.2). Some publishers write `url`.
    let is_person = owner.ns == Ns::Atom && matches!(&*owner.local, "author" | "contributor");
    let is_of_person = matches!(local, "name" | "uri" | "url" | "email");
    (child.ns == Ns::Rss && HEAD_ONLY.contains(&local))
        || (child.ns == Ns::Atom && is_person && !is_of_person)
}

/// Returns how many entries at the start of a document must be dropped. The result is 0 unless the document has too many entries
/// and their dates show that the oldest come first.
fn oldest_left_out(document: &str) -> usize {
    let is_start = |at: &usize, name: &str| {
        let after = document.as_bytes().get(at + name.len()).copied().unwrap_or_default();
        after == b'>' || after.is_ascii_whitespace()
    };
    let starts = |name: &'static str| {
        let found = memmem::find_iter(document.as_bytes(), name);
        found.filter(|at| is_start(at, name)).collect::<Vec<_>>()
    };
    let [items, entries] = ["<item", "<entry"].map(starts);
    let places = if items.len() > entries.len() { items } else { entries };
    let date_after = |place: &usize| {
        let entry = document.get(*place..)?;
        let entry = entry.get(..entry.floor_char_boundary(DATED_WITHIN)).unwrap_or(entry);
        let start = DATES.iter().filter_map(|name| Some(entry.find(name)? + name.len())).min()?;
        parse_date(entry.get(start..)?.split('<').next()?)
    };
    let surplus = places.len().saturating_sub(ENTRIES_MAX);
    if surplus > 0 && is_oldest_first(places.iter().map(date_after)) { surplus } else { 0 }
}

/// Checks whether the dates of a list show that the oldest entries come first. Compares consecutive dates of a sample from the
/// whole list, so one pinned entry does not decide the result.
pub(in crate::feed) fn is_oldest_first(
    dates: impl ExactSizeIterator<Item = Option<DateTime<Utc>>>,
) -> bool {
    let count = dates.len();
    let step = (count / DATES_MAX).max(1);
    let sample: Vec<_> = dates.step_by(step).flatten().collect();
    let rising = sample.windows(2).filter(|pair| pair.first() < pair.last()).count();
    let falling = sample.windows(2).filter(|pair| pair.first() > pair.last()).count();
    rising > falling
}

/// Approximate number of dates sampled from a long list.
const DATES_MAX: usize = 100;
/// Maximum distance from the start tag of an entry to its date, in bytes.
const DATED_WITHIN: usize = 64 << 10;
/// Start tags of elements that contain the date of an entry.
const DATES: [&str; 4] = ["<pubDate>", "<dc:date>", "<published>", "<updated>"];

#[cfg(test)]
#[path = "tree_builder_tests.rs"]
mod tests;
