//! A tree of the elements and texts of an XML document, with namespaces. Broken documents can also be represented.
//!
//! All nodes are in one list and refer to each other by their index in this list. Names, attributes and texts are slices of the
//! document. Character references are resolved when a value is read.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeSet;

use url::Url;

use super::names::Ns;
use super::references;
use crate::feed::content::absolute_addresses::absolute_value;
use crate::feed::content::html_names::{ElementKind, element_kind, is_void};
use crate::feed::content::markup_starts::is_custom;
use crate::feed::text;

/// An XML document as a tree.
#[derive(Debug, Default)]
pub(in crate::feed) struct XmlTree<'a> {
    pub(in crate::feed) nodes: Vec<XmlNode<'a>>,
    pub(in crate::feed) attributes: Vec<(&'a str, &'a str)>,
    /// Whether any element has an `xml:base`.
    pub(in crate::feed) has_base: bool,
    /// Names of end tags that closed no element or more than one element.
    pub(in crate::feed) misfits: Vec<&'a str>,
    /// Name of the first element that was dropped because it was nested too deeply.
    pub(in crate::feed) too_deep: Option<&'a str>,
    /// Innermost element that was still open at the end of the document.
    pub(in crate::feed) unclosed: Option<NodeId>,
    /// Whether an element of a web page, such as `html`, precedes the root.
    pub(in crate::feed) in_page: bool,
    /// Elements that were closed without an end tag of their own.
    pub(in crate::feed) open_ended: BTreeSet<NodeId>,
}

/// Index of a node in [`XmlTree::nodes`].
pub(in crate::feed) type NodeId = usize;

/// An element or text, and its position in the tree.
#[derive(Debug)]
pub(in crate::feed) struct XmlNode<'a> {
    pub(in crate::feed) kind: NodeKind<'a>,
    pub(in crate::feed) parent: Option<NodeId>,
    pub(in crate::feed) first: Option<NodeId>,
    pub(in crate::feed) last: Option<NodeId>,
    pub(in crate::feed) next: Option<NodeId>,
}

/// What a node is: an element or a text.
#[derive(Debug)]
pub(in crate::feed) enum NodeKind<'a> {
    Element(ElementName<'a>),
    /// Text whose character references are not yet resolved.
    Text(&'a str),
    /// Content of a CDATA section, in which there are no character references.
    Cdata(&'a str),
}

/// Name and attributes of an element.
#[derive(Debug)]
pub(in crate::feed) struct ElementName<'a> {
    pub(in crate::feed) ns: Ns,
    /// Name without prefix, in lower case.
    pub(in crate::feed) local: Cow<'a, str>,
    /// Name as written, with prefix.
    pub(in crate::feed) raw: &'a str,
    /// Range of the element's attributes in [`XmlTree::attributes`].
    pub(in crate::feed) attributes: std::ops::Range<usize>,
}

/// An element of a tree.
#[derive(Debug, Clone, Copy)]
pub(in crate::feed) struct XmlElement<'t, 'a> {
    tree: &'t XmlTree<'a>,
    id: NodeId,
    name: &'t ElementName<'a>,
}

impl<'a> XmlTree<'a> {
    pub(in crate::feed) fn root(&self) -> Option<XmlElement<'_, 'a>> {
        self.element(0)
    }

    /// Returns the innermost element that was still open at the end of the document.
    pub(in crate::feed) fn unclosed(&self) -> Option<XmlElement<'_, 'a>> {
        self.element(self.unclosed?)
    }

    /// Moves children of the element `from` to the end of another element: the first child for which `starts` returns true and all
    /// children after it. The other element must not be inside `from`.
    pub(in crate::feed) fn move_children(
        &mut self,
        from: NodeId,
        to: NodeId,
        starts: impl Fn(&ElementName<'a>, &ElementName<'a>) -> bool,
    ) {
        let Some(owner) = self.element(from) else { return };
        let Some(first) = owner.children().find(|child| starts(owner.name, child.name)) else {
            return;
        };
        let first = first.id;
        let before = owner.nodes().take_while(|id| *id != first).last();
        let moved: Vec<NodeId> = owner.nodes().skip_while(|id| *id != first).collect();
        match before.and_then(|before| self.nodes.get_mut(before)) {
            Some(before) => before.next = None,
            None => self.change_node(from, |node| node.first = None),
        }
        self.change_node(from, |node| node.last = before);
        for id in &moved {
            self.change_node(*id, |node| node.parent = Some(to));
        }
        let end = self.nodes.get_mut(to).and_then(|to| {
            to.first.get_or_insert(first);
            to.last.replace(moved.last().copied().unwrap_or(first))
        });
        if let Some(end) = end {
            self.change_node(end, |node| node.next = Some(first));
        }
    }

    fn change_node(&mut self, id: NodeId, change: impl FnOnce(&mut XmlNode<'a>)) {
        if let Some(node) = self.nodes.get_mut(id) {
            change(node);
        }
    }

    pub(in crate::feed) fn element(&self, id: NodeId) -> Option<XmlElement<'_, 'a>> {
        match &self.nodes.get(id)?.kind {
            NodeKind::Element(name) => Some(XmlElement { tree: self, id, name }),
            NodeKind::Text(_) | NodeKind::Cdata(_) => None,
        }
    }
}

impl<'t, 'a> XmlElement<'t, 'a> {
    pub(in crate::feed) const fn ns(self) -> Ns {
        self.name.ns
    }

    /// Returns the name of the element in lower case, without its prefix.
    pub(in crate::feed) fn local(self) -> &'t str {
        &self.name.local
    }

    /// Returns the name of the element as written, including its prefix.
    pub(in crate::feed) const fn raw(self) -> &'a str {
        self.name.raw
    }

    pub(in crate::feed) fn is(self, ns: Ns, local: &str) -> bool {
        self.name.ns == ns && self.name.local == local
    }

    fn nodes(self) -> impl Iterator<Item = NodeId> + use<'t, 'a> {
        let tree = self.tree;
        let first = tree.nodes.get(self.id).and_then(|node| node.first);
        std::iter::successors(first, move |id| tree.nodes.get(*id).and_then(|node| node.next))
    }

    /// Returns the child elements in document order.
    pub(in crate::feed) fn children(self) -> impl Iterator<Item = Self> + use<'t, 'a> {
        let tree = self.tree;
        self.nodes().filter_map(move |id| tree.element(id))
    }

    /// Returns the texts that are direct children of the element, as written.
    pub(in crate::feed) fn raw_texts(self) -> impl Iterator<Item = &'a str> + use<'t, 'a> {
        let tree = self.tree;
        self.nodes().filter_map(move |id| match tree.nodes.get(id)?.kind {
            NodeKind::Text(text) => Some(text),
            NodeKind::Cdata(_) | NodeKind::Element(_) => None,
        })
    }

    /// Returns the names and values of the element's attributes, as written.
    pub(in crate::feed) fn raw_attributes(self) -> &'t [(&'a str, &'a str)] {
        self.tree.attributes.get(self.name.attributes.clone()).unwrap_or_default()
    }

    /// Returns the trimmed value of the attribute `name`, which must be in lower case. An attribute without a prefix takes
    /// precedence over one with a prefix.
    pub(in crate::feed) fn attribute(self, name: &str) -> Option<Cow<'a, str>> {
        let all = self.raw_attributes();
        let local = |raw: &str| {
            raw.rsplit(':').next().is_some_and(|local| local.eq_ignore_ascii_case(name))
        };
        let exact = all.iter().find(|(raw, _)| raw.eq_ignore_ascii_case(name));
        let (_, value) = exact
            .or_else(|| all.iter().find(|(raw, _)| local(raw) && !raw.starts_with("xmlns")))?;
        let value = value.trim_matches(|c: char| c.is_ascii_whitespace());
        Some(if value.contains('&') {
            Cow::Owned(references::resolve(value))
        } else {
            Cow::Borrowed(value)
        })
    }

    /// Checks whether the element has child elements.
    pub(in crate::feed) fn has_elements(self) -> bool {
        self.children().next().is_some()
    }

    /// Checks whether the element has neither child elements nor visible text.
    pub(in crate::feed) fn is_blank(self) -> bool {
        self.nodes().all(|id| match self.tree.nodes.get(id).map(|node| &node.kind) {
            Some(NodeKind::Text(text) | NodeKind::Cdata(text)) => text.trim_ascii().is_empty(),
            Some(NodeKind::Element(_)) | None => false,
        })
    }

    /// Returns all text inside the element, without tags. Character references are resolved once.
    pub(in crate::feed) fn text(self) -> Cow<'a, str> {
        let mut nodes = self.nodes();
        let (first, second) = (nodes.next(), nodes.next());
        let Some(first) = first else { return Cow::Borrowed("") };
        if second.is_none() && self.tree.element(first).is_none() {
            return self.piece(first);
        }
        let mut out = String::new();
        self.collect_text(&mut out);
        Cow::Owned(out)
    }

    /// Like [`Self::text`], but trimmed. Returns `None` if the text is blank.
    pub(in crate::feed) fn line(self) -> Option<String> {
        let text = self.text();
        Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Returns the text of the element before its first child element.
    pub(in crate::feed) fn leading_text(self) -> Cow<'a, str> {
        let tree = self.tree;
        let mut pieces =
            self.nodes().take_while(|id| tree.element(*id).is_none()).map(|id| self.piece(id));
        let Some(first) = pieces.next() else { return Cow::Borrowed("") };
        pieces.fold(first, |text, piece| Cow::Owned(text.into_owned() + &piece))
    }

    fn piece(self, id: NodeId) -> Cow<'a, str> {
        match self.tree.nodes.get(id).map(|node| &node.kind) {
            Some(NodeKind::Text(text)) if text.contains('&') => {
                Cow::Owned(references::resolve(text))
            }
            Some(NodeKind::Text(text) | NodeKind::Cdata(text)) => Cow::Borrowed(text),
            Some(NodeKind::Element(_)) | None => Cow::Borrowed(""),
        }
    }

    fn collect_text(self, out: &mut String) {
        for id in self.nodes() {
            match self.tree.element(id) {
                Some(element) => element.collect_text(out),
                None => out.push_str(&self.piece(id)),
            }
        }
    }

    /// Returns the content of the element as markup. If there are child elements, the content is serialised as HTML. Otherwise the
    /// text is returned, because it is escaped markup.
    pub(in crate::feed) fn markup(self, base: Option<&Url>) -> Cow<'a, str> {
        if self.has_elements() { Cow::Owned(self.written_out(base)) } else { self.text() }
    }

    /// Serialises the content of the element as HTML, without prefixes and with its text escaped. For an inner element that does
    /// not exist in HTML, only its content is written. If such an element has no end tag, it was meant as text (`Vec<T>`) and its
    /// tag is written as text. URLs inside an element with an `xml:base` are resolved against this base, which is itself resolved
    /// against `base`.
    pub(in crate::feed) fn written_out(self, base: Option<&Url>) -> String {
        let mut out = String::new();
        self.write_inside(&mut out, &Writing { is_foreign: false, base, inner: None });
        out
    }

    fn write_inside(self, out: &mut String, writing: &Writing<'_>) {
        let inner = self.tree.has_base.then(|| self.inner_base(writing)).flatten();
        let writing = &Writing { inner: inner.as_ref().or(writing.inner), ..*writing };
        for id in self.nodes() {
            match (self.tree.element(id), self.tree.nodes.get(id).map(|node| &node.kind)) {
                (Some(element), _) => element.write(out, writing),
                (None, Some(NodeKind::Text(text))) => {
                    text::push_escaped(out, &references::resolve(text), false);
                }
                (None, _) => text::push_escaped(out, &self.piece(id), false),
            }
        }
    }

    /// Returns the base URL for the content of this element if the element has an `xml:base`.
    fn inner_base(self, writing: &Writing<'_>) -> Option<Url> {
        let stated = self.attribute("xml:base").filter(|base| base.len() <= BASE_BYTES_MAX)?;
        let outer = writing.inner.or(writing.base);
        outer.map_or_else(|| Url::parse(&stated), |outer| outer.join(&stated)).ok()
    }

    fn write(self, out: &mut String, writing: &Writing<'_>) {
        let name = self.raw().rsplit(':').next().unwrap_or("");
        let kind = element_kind(name);
        if kind.is_none() && !writing.is_foreign && !is_custom(name) {
            if self.tree.open_ended.contains(&self.id) {
                text::push_escaped(out, &self.start_tag_as_written(), false);
            }
            return self.write_inside(out, writing);
        }
        out.push('<');
        out.push_str(name);
        let own = self.tree.has_base.then(|| self.inner_base(writing)).flatten();
        for (raw, value) in self.raw_attributes() {
            if raw.starts_with("xmlns") || raw.eq_ignore_ascii_case("xml:base") {
                continue;
            }
            let base = own.as_ref().or(writing.inner);
            let absolute = absolute_value(raw, value, &LazyCell::new(|| base.cloned()));
            out.push(' ');
            out.push_str(raw);
            out.push_str("=\"");
            let value = absolute.unwrap_or_else(|| references::resolve(value));
            text::push_escaped(out, &value, true);
            out.push('"');
        }
        if is_void(name) {
            out.push_str(" />");
            return;
        }
        out.push('>');
        let is_foreign = writing.is_foreign || kind == Some(ElementKind::Foreign);
        self.write_inside(out, &Writing { is_foreign, ..*writing });
        if self.tree.open_ended.contains(&self.id) {
            return;
        }
        out.push_str("</");
        out.push_str(name);
        out.push('>');
    }

    /// Returns the start tag of an element that was meant as text, as written in the document.
    fn start_tag_as_written(self) -> String {
        let mut tag = format!("<{}", self.raw());
        for (name, value) in self.raw_attributes() {
            tag.push(' ');
            tag.push_str(name);
            if !value.is_empty() {
                tag.push('=');
                tag.push_str(value);
            }
        }
        tag.push('>');
        tag
    }

    /// Returns the base for relative URLs in this element. The `xml:base` values of the element and its ancestors are resolved one
    /// after another, the outermost first, starting with the URL of the document (SPEC C.4).
    pub(in crate::feed) fn base(self, document: Option<&Url>) -> Option<Url> {
        self.stated_bases().iter().rev().fold(document.cloned(), |base, value| {
            let joined = base.as_ref().map_or_else(|| Url::parse(value), |base| base.join(value));
            joined.ok().or(base)
        })
    }

    /// Checks whether an element inside this one may have an `xml:base`.
    pub(in crate::feed) fn may_have_inner_base(self) -> bool {
        self.tree.has_base && self.has_elements()
    }

    /// Checks whether this element or an ancestor has an `xml:base`.
    pub(in crate::feed) fn has_base(self) -> bool {
        !self.stated_bases().is_empty()
    }

    /// Returns the `xml:base` values of this element and its ancestors, the innermost first.
    fn stated_bases(self) -> Vec<String> {
        let mut stated = Vec::new();
        let mut at = Some(self.id).filter(|_| self.tree.has_base);
        while let Some(element) = at.and_then(|id| self.tree.element(id)) {
            if let Some((_, value)) = element.raw_attributes().iter().find(|(raw, value)| {
                raw.eq_ignore_ascii_case("xml:base") && value.len() <= BASE_BYTES_MAX
            }) {
                stated.push(references::resolve(value.trim()));
            }
            at = self.tree.nodes.get(element.id).and_then(|node| node.parent);
        }
        stated
    }
}

/// State while the content of an element is serialised.
#[derive(Clone, Copy)]
struct Writing<'u> {
    /// Whether the content is inside `svg` or `math`.
    is_foreign: bool,
    /// Base URL of the whole text. URLs without an inner base are resolved against it later.
    base: Option<&'u Url>,
    /// Base URL stated by an `xml:base` inside the text.
    inner: Option<&'u Url>,
}

/// Maximum length of an `xml:base` value, in bytes. Longer values are ignored.
const BASE_BYTES_MAX: usize = 2_048;
