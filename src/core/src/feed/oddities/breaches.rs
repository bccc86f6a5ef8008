//! Finds rules of RSS 2.0, Atom (RFC 4287) and JSON Feed 1.1 that a document breaks although this program can read it. Other
//! readers lose the part in question, or show something else.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;
use url::Url;

use super::{Sighting, Sightings};
use crate::feed::address::has_scheme;
use crate::feed::content::absolute_addresses::make_addresses_absolute;
use crate::feed::xml::names::Ns;
use crate::feed::xml::tree::XmlElement;
use crate::feed::xml::tree_builder::ENTRIES_MAX;
use crate::feed::xml::xml_feed::FeedParts;

/// A rule that a document breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreachKind {
    /// A text of RSS or JSON Feed with a relative address in its markup. [`Sighting::element`] is the element of the text.
    RelativeText,
    /// A relative address in an element or attribute of RSS or JSON Feed.
    RelativeAddress,
    /// An attached file without an address, a size or a media type, as far as the format requires them. [`Sighting::text`] lists what
    /// is missing.
    BareAttachment,
    /// A second element where the format allows one.
    Repeated,
    /// An Atom text with markup, without a `type`, so that it is plain text.
    UntypedMarkup,
    /// A `type` of an Atom text that Atom does not define.
    UnknownType,
    /// An Atom text of the type `xhtml` that does not consist of one `div`.
    NoDiv,
    /// A second `alternate` link of the same media type and language (Atom).
    SecondAlternate,
    /// A JSON Feed whose `version` is not one of the defined addresses.
    OtherVersion,
    /// A JSON Feed item with a title or a summary but neither `content_html` nor `content_text`.
    NoContent,
}

/// A rule that a document breaks at least once.
pub type Breach = Sighting<BreachKind>;

/// Elements that an RSS channel or item has at most once.
const RSS_ONCE: [&str; 5] = ["title", "link", "description", "guid", "pubdate"];
/// Elements that an Atom feed or entry has at most once.
const ATOM_ONCE: [&str; 8] =
    ["id", "title", "subtitle", "updated", "published", "summary", "content", "rights"];
/// Elements of Atom whose content is a text.
const ATOM_TEXTS: [&str; 5] = ["title", "subtitle", "summary", "rights", "content"];
/// Text that is escaped twice or is markup: parts that plain text rarely contains.
const MARKUP_PARTS: [&str; 8] = ["</", "<br", "<img", "&amp;", "&lt;", "&quot;", "&nbsp;", "&#"];
/// The addresses that name the versions of JSON Feed.
const JSON_VERSIONS: [&str; 2] =
    ["https://jsonfeed.org/version/1", "https://jsonfeed.org/version/1.1"];
/// Address against which relative addresses are resolved to find them. No such site exists.
const NOWHERE: &str = "https://base.invalid/";

impl Sightings<BreachKind> {
    pub(super) fn check_xml(&mut self, root: XmlElement<'_, '_>) {
        let parts = FeedParts::find(root);
        let places = || parts.heads.iter().map(|head| (*head, true));
        let places = || places().chain(parts.entries.iter().map(|entry| (*entry, false)));
        if matches!(root.local(), "feed" | "entry") {
            // The drafts before Atom 1.0 had other rules for texts.
            let is_final = root.attribute("version").is_none();
            for (place, _) in places() {
                self.check_once(place, Ns::Atom, &ATOM_ONCE);
                self.check_alternates(place);
                let texts = place.children().filter(|child| child.ns() == Ns::Atom && is_final);
                texts.for_each(|text| self.check_text(text));
            }
            return;
        }
        // With a base, addresses may be relative.
        let has_base = |element: XmlElement<'_, '_>| element.attribute("xml:base").is_some();
        let may_be_relative = has_base(root) || parts.heads.iter().any(|head| has_base(*head));
        for (place, is_head) in places() {
            self.check_once(place, Ns::Rss, &RSS_ONCE);
            for child in place.children() {
                self.check_attachment(child);
                if !may_be_relative && !has_base(place) && !has_base(child) {
                    self.check_addresses(child, is_head);
                }
            }
        }
    }

    fn check_once(&mut self, place: XmlElement<'_, '_>, ns: Ns, names: &[&str]) {
        let mut seen = BTreeSet::new();
        for child in place.children().filter(|child| child.ns() == ns && !child.is_blank()) {
            let local = child.local();
            if names.contains(&local) && !seen.insert(local) {
                self.add(BreachKind::Repeated, child.raw(), &child.text());
            }
        }
    }

    fn check_alternates(&mut self, place: XmlElement<'_, '_>) {
        let mut seen = BTreeSet::new();
        for link in place.children().filter(|child| child.is(Ns::Atom, "link")) {
            let attribute = |name| link.attribute(name).unwrap_or_default().to_ascii_lowercase();
            let is_alternate = matches!(attribute("rel").as_str(), "" | "alternate");
            if is_alternate && !seen.insert((attribute("type"), attribute("hreflang"))) {
                let href = link.attribute("href").unwrap_or_default();
                self.add(BreachKind::SecondAlternate, link.raw(), &href);
            }
        }
    }

    /// Checks the type of an Atom text. The content of an entry may also have a media type.
    fn check_text(&mut self, element: XmlElement<'_, '_>) {
        if !ATOM_TEXTS.contains(&element.local()) || element.attribute("mode").is_some() {
            return;
        }
        let stated = element.attribute("type").map(|kind| kind.to_ascii_lowercase());
        match stated.as_deref() {
            None => {
                let text = element.text();
                let is_linked = element.attribute("src").is_some();
                if !is_linked && MARKUP_PARTS.iter().any(|part| text.contains(part)) {
                    self.add(BreachKind::UntypedMarkup, element.raw(), &text);
                }
            }
            Some("xhtml") => {
                let mut children = element.children();
                let is_div = children.next().is_some_and(|child| child.local() == "div");
                if !is_div || children.next().is_some() {
                    self.add(BreachKind::NoDiv, element.raw(), &element.text());
                }
            }
            Some("text" | "html") => {}
            Some(kind) => {
                let is_content = element.local() == "content" && kind != "text/html";
                if !is_content && element.attribute("src").is_none() {
                    self.add(BreachKind::UnknownType, element.raw(), kind);
                }
            }
        }
    }

    fn check_attachment(&mut self, element: XmlElement<'_, '_>) {
        if !element.is(Ns::Rss, "enclosure") {
            return;
        }
        let lacks = |name: &&str| element.attribute(name).is_none_or(|value| value.is_empty());
        let missing: Vec<&str> = ["url", "length", "type"].into_iter().filter(lacks).collect();
        if !missing.is_empty() {
            self.add(BreachKind::BareAttachment, element.raw(), &missing.join(", "));
        }
    }

    fn check_addresses(&mut self, element: XmlElement<'_, '_>, is_head: bool) {
        let address = match (element.ns(), element.local()) {
            (Ns::Rss, "link" | "comments") => element.text(),
            (Ns::Rss, "enclosure") => element.attribute("url").unwrap_or_default(),
            (Ns::Rss, "description") | (Ns::Content, "encoded") if !is_head => {
                self.check_markup(element.raw(), &element.text());
                return;
            }
            _ => return,
        };
        self.check_address(element.raw(), address.trim());
    }

    fn check_address(&mut self, element: &str, address: &str) {
        if !address.is_empty() && !has_scheme(address) {
            self.add(BreachKind::RelativeAddress, element, address);
        }
    }

    fn check_markup(&mut self, element: &str, markup: &str) {
        let resolved = make_addresses_absolute(Cow::Borrowed(markup), || Url::parse(NOWHERE).ok());
        if let Some((_, after)) = resolved.split_once(NOWHERE) {
            let end = after.find(['"', '\'', ' ', '>']).unwrap_or(after.len());
            self.add(BreachKind::RelativeText, element, after.get(..end).unwrap_or_default());
        }
    }

    pub(super) fn check_json(&mut self, feed: &Value) {
        let text = |value: &Value, key: &str| {
            value.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
        };
        let version = text(feed, "version");
        if !JSON_VERSIONS.contains(&version.as_str()) {
            self.add(BreachKind::OtherVersion, "version", &version);
        }
        for key in ["home_page_url", "feed_url", "next_url"] {
            self.check_address(key, &text(feed, key));
        }
        let items = feed.get("items").and_then(Value::as_array).into_iter().flatten();
        for item in items.take(ENTRIES_MAX) {
            for key in ["url", "external_url"] {
                self.check_address(key, &text(item, key));
            }
            self.check_markup("content_html", &text(item, "content_html"));
            let has = |key| !text(item, key).is_empty();
            let is_bare = !has("content_html") && !has("content_text");
            if is_bare && (has("title") || has("summary")) {
                self.add(BreachKind::NoContent, "content_html", &text(item, "title"));
            }
            let files = item.get("attachments").and_then(Value::as_array).into_iter().flatten();
            for file in files {
                let lacks = |key: &&str| text(file, key).is_empty();
                let missing: Vec<&str> = ["url", "mime_type"].into_iter().filter(lacks).collect();
                if !missing.is_empty() {
                    self.add(BreachKind::BareAttachment, "attachments", &missing.join(", "));
                }
                self.check_address("attachments", &text(file, "url"));
            }
        }
    }
}
