//! Reads RSS, RDF and Atom documents. The tolerant tree shows where the parts of the feed are and which element fills
//! which field. It yields dates, texts with markup, identities, links, archive marks, hints and deleted entries; feed-rs
//! reads the rest (see `feed_rs_reader`).

use std::borrow::Cow;

use url::Url;

use super::constructs::Construct;
use super::feed_rs_reader::FeedRsReader;
use super::fields::{self, ChosenElements, FeedField};
use super::names::Ns;
use super::tree::XmlElement;
use super::{links, schedule_hints, tree_builder};
use crate::feed::address;
use crate::feed::content::absolute_addresses::make_addresses_absolute;
use crate::feed::dates::date::parse_date;
use crate::feed::document::{FeedDocument, FeedHead, Kind, NewLocation, Tombstone};
use crate::feed::entry::Entry;
use crate::feed::flaws::Flaws;
use crate::feed::identity::{self, StatedIdentity};
use crate::feed::text::{self, NAME_MAX};

/// How many deleted entries of one document are kept.
const TOMBSTONES_MAX: usize = tree_builder::ENTRIES_MAX;

/// Reads a document; `url` is where it came from.
pub(in crate::feed) fn read_xml_feed(
    document: &str,
    url: Option<&Url>,
    flaws: &mut Flaws,
) -> FeedDocument {
    let tree = tree_builder::build_tree(document, flaws);
    let Some(root) = tree.root() else {
        flaws.add("document", document.get(..200).unwrap_or(document), "this is no feed");
        return FeedDocument::default();
    };
    if root.local() == "redirect" {
        return read_redirect(root, url, flaws);
    }
    let parts = FeedParts::find(root);
    if parts.is_empty() {
        flaws.add("document", root.raw(), "no feed stands in this element");
        return FeedDocument::default();
    }
    parts.read(url, flaws)
}

/// `<redirect><newLocation>` (SPEC S1.12, S1.14).
fn read_redirect(root: XmlElement<'_, '_>, url: Option<&Url>, flaws: &mut Flaws) -> FeedDocument {
    let Some(target) = root.children().find(|child| child.local() == "newlocation") else {
        flaws.add("redirect", "", "no newLocation stands in it");
        return FeedDocument::default();
    };
    // The form that the source of SPEC S1.12 prints opens the element a second time instead of closing it.
    let written = target.leading_text();
    let location = if written.trim().is_empty() {
        Some(NewLocation::Gone)
    } else {
        // An address that cannot be read ends nothing: only an empty one does (SPEC S1.14).
        let resolved = address::resolve_address(&written, target.base(url).as_ref());
        if resolved.is_none() {
            flaws.add("newLocation", &written, "the address cannot be read");
        }
        resolved.map(NewLocation::At)
    };
    FeedDocument { kind: Kind::Redirect, new_location: location, ..FeedDocument::default() }
}

/// The parts of a feed in its tree.
pub(in crate::feed) struct FeedParts<'t, 'a> {
    kind: Kind,
    root: XmlElement<'t, 'a>,
    /// The elements whose children are the head section.
    pub(in crate::feed) heads: Vec<XmlElement<'t, 'a>>,
    pub(in crate::feed) entries: Vec<XmlElement<'t, 'a>>,
}

impl<'t, 'a> FeedParts<'t, 'a> {
    pub(in crate::feed) fn find(root: XmlElement<'t, 'a>) -> Self {
        match root.local() {
            "entry" => Self { kind: Kind::Atom, root, heads: Vec::new(), entries: vec![root] },
            "feed" => Self::with_heads(Kind::Atom, root, vec![root]),
            name => {
                let kind = if name == "rdf" { Kind::Rdf } else { Kind::Rss };
                let channels: Vec<_> =
                    root.children().filter(|child| child.local() == "channel").collect();
                Self::with_heads(
                    kind,
                    root,
                    if channels.is_empty() { vec![root] } else { channels },
                )
            }
        }
    }

    fn with_heads(kind: Kind, root: XmlElement<'t, 'a>, heads: Vec<XmlElement<'t, 'a>>) -> Self {
        let mut entries = Vec::new();
        for child in root.children() {
            if is_entry(child) {
                entries.push(child);
            } else if child.local() == "channel" {
                for inner in child.children() {
                    // RSS 1.1 puts its items one step deeper.
                    let list = (inner.local() == "items")
                        .then(|| inner.children().filter(|item| is_entry(*item)));
                    entries.extend(list.into_iter().flatten());
                    entries.extend(Some(inner).filter(|inner| is_entry(*inner)));
                }
            }
        }
        Self { kind, root, heads, entries }
    }

    /// Whether there is neither an entry nor a head section in a known vocabulary (SPEC G.9).
    fn is_empty(&self) -> bool {
        let declared = self.root.attribute("xmlns").map(|name| Ns::from_uri(&name));
        let is_known = declared.is_some_and(|ns| matches!(ns, Ns::Atom | Ns::Rss));
        let may_be_foreign = !is_known && (declared.is_some() || self.kind == Kind::Rdf);
        let is_bare = self.heads.iter().all(|head| {
            !head
                .children()
                .any(|child| matches!(child.local(), "title" | "link" | "description" | "id"))
        });
        let has_channel = self.root.children().any(|child| child.is(Ns::Rss, "channel"));
        self.entries.is_empty() && is_bare && !has_channel && may_be_foreign
    }

    fn read(&self, url: Option<&Url>, flaws: &mut Flaws) -> FeedDocument {
        let mut chosen = ChosenElements::default();
        for head in &self.heads {
            chosen.add(*head, fields::HEAD, flaws);
        }
        let mut reader = FeedRsReader::default();
        reader.add_head(&chosen);
        let mut entries = Vec::with_capacity(self.entries.len());
        for element in &self.entries {
            entries.push(read_entry(*element, &mut reader, url, flaws));
        }
        let (head, completing) = reader.read();
        let links = links::read_head_links(&self.heads, url);
        let history = links::read_history_links(&self.heads, &links, url, flaws);
        let mut hints = schedule_hints::read_hints(&self.heads, flaws);
        let head =
            self.complete_head(head, &chosen, links::find_home_page(&self.heads, &links, url), url);
        hints.generator.clone_from(&head.generator);
        FeedDocument {
            kind: self.kind,
            role: links::judge_role(&history),
            head,
            hints,
            history,
            links,
            new_location: None,
            tombstones: self.read_tombstones(flaws),
            entries: complete_entries(entries, completing, flaws),
            flaws: Vec::new(),
        }
    }

    /// Completes what feed-rs read of the head section.
    fn complete_head(
        &self,
        read: FeedHead,
        chosen: &ChosenElements<'_, '_>,
        page: Option<String>,
        url: Option<&Url>,
    ) -> FeedHead {
        let language = || {
            let stated = self.heads.iter().rev().find_map(|head| head.attribute("xml:lang"));
            stated.map(Cow::into_owned).filter(|tag| !tag.is_empty())
        };
        let written = chosen
            .get(FeedField::Language)
            .and_then(|element| text::some_line(&element.text(), NAME_MAX));
        let element = |local: &str| {
            self.heads.iter().flat_map(|head| head.children()).find(|child| child.local() == local)
        };
        let agent = || element("generatoragent").and_then(|agent| agent.attribute("resource"));
        let uri = || element("generator").and_then(|generator| generator.attribute("uri"));
        let program = || agent().or_else(uri).map(Cow::into_owned);
        FeedHead {
            id: chosen.get(FeedField::Id).and_then(XmlElement::line),
            link: page,
            updated: chosen.date(FeedField::Updated),
            published: chosen.date(FeedField::Published).filter(|_| self.kind != Kind::Atom),
            subtitle: read_markup(chosen, FeedField::Summary, url),
            language: written.or_else(language),
            generator: read.generator.or_else(program),
            ..read
        }
    }

    /// `at:deleted-entry` (RFC 6721 §3).
    fn read_tombstones(&self, flaws: &mut Flaws) -> Vec<Tombstone> {
        let mut tombstones = Vec::new();
        let deleted = self.heads.iter().flat_map(|head| head.children());
        for element in
            deleted.filter(|child| child.is(Ns::Tombstone, "deleted-entry")).take(TOMBSTONES_MAX)
        {
            let id = element.attribute("ref").filter(|id| !id.is_empty());
            let when = element.attribute("when").unwrap_or_default();
            match (id, parse_date(&when)) {
                (Some(id), Some(when)) => tombstones.push(Tombstone { id: id.into_owned(), when }),
                (_, _) => {
                    flaws.add("at:deleted-entry", &when, "without a reference or a date: ignored");
                }
            }
        }
        tombstones
    }
}

fn is_entry(element: XmlElement<'_, '_>) -> bool {
    element.is(Ns::Rss, "item") || element.is(Ns::Atom, "entry")
}

/// Reads from the tree what feed-rs does not read of an entry, with the id as stated, and hands the rest to feed-rs.
fn read_entry(
    entry: XmlElement<'_, '_>,
    reader: &mut FeedRsReader,
    url: Option<&Url>,
    flaws: &mut Flaws,
) -> Entry {
    let mut chosen = ChosenElements::default();
    chosen.add(entry, fields::ENTRY, flaws);
    let (link, attached) = links::read_entry_links(entry, url);
    reader.add_entry(&chosen, &attached, url);
    let id = chosen.get(FeedField::Id);
    let about = entry.attribute("about").filter(|about| !about.is_empty()).map(Cow::into_owned);
    Entry {
        link: link
            .or_else(|| id.and_then(permanent_link))
            .or_else(|| about.clone().filter(|about| address::is_web(about)))
            .or_else(|| links::read_page_attribute(entry, url)),
        id: id.and_then(XmlElement::line).or(about).unwrap_or_default(),
        published: chosen.date(FeedField::Published),
        updated: chosen.date(FeedField::Updated),
        summary: read_markup(&chosen, FeedField::Summary, url),
        content: read_markup(&chosen, FeedField::Content, url),
        ..Entry::default()
    }
}

/// Reads the text of a field as markup with absolute addresses. `None` means that it is blank.
fn read_markup(
    chosen: &ChosenElements<'_, '_>,
    field: FeedField,
    url: Option<&Url>,
) -> Option<String> {
    let element = chosen.get(field)?;
    let markup =
        make_addresses_absolute(Construct::read(element).into_markup(), element.base(url).as_ref());
    let trimmed = markup.trim();
    match trimmed.len() {
        0 => None,
        all if all == markup.len() => Some(markup.into_owned()),
        _ => Some(trimmed.to_owned()),
    }
}

/// Returns a `guid` that is the address of its entry.
fn permanent_link(id: XmlElement<'_, '_>) -> Option<String> {
    let denied =
        id.attribute("ispermalink").is_some_and(|value| value.eq_ignore_ascii_case("false"));
    id.line().filter(|guid| id.is(Ns::Rss, "guid") && !denied && address::is_web(guid))
}

/// Completes entries with what feed-rs read of them, and leaves out those on which it failed.
fn complete_entries(
    entries: Vec<Entry>,
    read: Vec<Option<Entry>>,
    flaws: &mut Flaws,
) -> Vec<Entry> {
    let mut kept = Vec::with_capacity(entries.len());
    for (position, (entry, read)) in entries.into_iter().zip(read).enumerate() {
        let Some(Entry { title, author, enclosures, categories, .. }) = read else {
            const REASON: &str = "this entry could not be read and was left out";
            flaws.add("item", &position.to_string(), REASON);
            continue;
        };
        let id = identity::entry_id(&StatedIdentity {
            id: Some(&entry.id),
            link: entry.link.as_deref(),
            title: title.as_deref(),
            text: entry.summary.as_deref().or(entry.content.as_deref()),
        });
        kept.push(Entry { id, title, author, enclosures, categories, ..entry });
    }
    kept
}

#[cfg(test)]
#[path = "xml_feed_tests.rs"]
mod tests;
