//! Reads feeds in XML, in three steps: a tolerant tree of the document; a repaired document made from
//! it, which feed-rs reads; and from the same tree all that feed-rs drops or spoils: identity, links,
//! archive marks, hints, tombstones.
//!
//! feed-rs sees clean input only, so its strictness costs no feed: it stops at the first bare `&`, fails on
//! versions and namespaces it does not know, and can panic. What it reads is joined to the rest by the
//! position of each entry.

use url::Url;

use super::feed_rs_reader::Read;
use super::fields::{self, Chosen, Field};
use super::names::Ns;
use super::repaired::{Family, Repaired};
use super::tree::Element;
use super::{links, schedule_hints, tree_builder};
use crate::feed::address;
use crate::feed::dates::date::parse_date;
use crate::feed::document::{FeedDocument, FeedHead, Kind, NewLocation, Tombstone};
use crate::feed::entry::Entry;
use crate::feed::flaws::Flaws;
use crate::feed::identity::{self, Stated};
use crate::feed::text::{self, NAME_MAX, TITLE_MAX};

/// How many deleted entries of one document are kept.
const TOMBSTONES_MAX: usize = tree_builder::ENTRIES_MAX;

/// Reads a document; `url` is where it came from.
pub(in crate::feed) fn read(document: &str, url: Option<&Url>, flaws: &mut Flaws) -> FeedDocument {
    let tree = tree_builder::build(document, flaws);
    let Some(root) = tree.root() else {
        flaws.add("document", document.get(..200).unwrap_or(document), "this is no feed");
        return FeedDocument::default();
    };
    if root.local() == "redirect" {
        return redirect(root, url, flaws);
    }
    let outline = Outline::of(root);
    if outline.is_empty() {
        flaws.add("document", root.raw(), "no feed stands in this element");
        return FeedDocument::default();
    }
    outline.read(document.len(), url, flaws)
}

/// `<redirect><newLocation>` (SPEC S1.12, S1.14).
fn redirect(root: Element<'_, '_>, url: Option<&Url>, flaws: &mut Flaws) -> FeedDocument {
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
        let resolved = address::resolved(&written, target.base(url).as_ref());
        if resolved.is_none() {
            flaws.add("newLocation", &written, "the address cannot be read");
        }
        resolved.map(NewLocation::At)
    };
    FeedDocument { kind: Kind::Redirect, new_location: location, ..FeedDocument::default() }
}

/// Where the parts of a feed stand in its tree.
pub(in crate::feed) struct Outline<'t, 'a> {
    kind: Kind,
    root: Element<'t, 'a>,
    /// The elements whose children are the head section.
    pub(in crate::feed) heads: Vec<Element<'t, 'a>>,
    pub(in crate::feed) entries: Vec<Element<'t, 'a>>,
}

impl<'t, 'a> Outline<'t, 'a> {
    pub(in crate::feed) fn of(root: Element<'t, 'a>) -> Self {
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

    fn with_heads(kind: Kind, root: Element<'t, 'a>, heads: Vec<Element<'t, 'a>>) -> Self {
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

    /// Neither an entry nor a head section in a vocabulary we know (SPEC G.9).
    fn is_empty(&self) -> bool {
        let declared = self.root.attribute("xmlns").map(|name| Ns::of_name(&name));
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

    fn read(&self, size: usize, url: Option<&Url>, flaws: &mut Flaws) -> FeedDocument {
        let mut chosen = Chosen::default();
        for head in &self.heads {
            chosen.add(*head, fields::HEAD, flaws);
        }
        let family = if self.kind == Kind::Atom { Family::Atom } else { Family::Rss };
        let mut repaired = Repaired::new(family, size, url);
        repaired.head(&chosen);
        let mut read = Read::default();
        let mut besides = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            besides.push(beside(*entry, &mut repaired, url, flaws));
            if repaired.is_full() {
                read.piece(&mut repaired, flaws);
            }
        }
        read.piece(&mut repaired, flaws);
        let Read { head, entries } = read;
        let links = links::of_head(&self.heads, url);
        let history = links::history(&self.heads, &links, url, flaws);
        let mut hints = schedule_hints::read(&self.heads, flaws);
        let head = self.head(head, &chosen, links::home(&self.heads, &links, url));
        hints.generator.clone_from(&head.generator);
        FeedDocument {
            kind: self.kind,
            role: links::role(&history),
            head,
            hints,
            history,
            links,
            new_location: None,
            tombstones: self.tombstones(flaws),
            entries: joined(besides, entries),
            flaws: Vec::new(),
        }
    }

    /// What feed-rs read of the head section, completed.
    fn head(&self, read: FeedHead, chosen: &Chosen<'_, '_>, page: Option<String>) -> FeedHead {
        let language = || {
            let stated = self.heads.iter().rev().find_map(|head| head.attribute("xml:lang"));
            stated.map(std::borrow::Cow::into_owned).filter(|tag| !tag.is_empty())
        };
        let written = chosen
            .get(Field::Language)
            .and_then(|element| text::some_line(&element.text(), NAME_MAX));
        let element = |local: &str| {
            self.heads.iter().flat_map(|head| head.children()).find(|child| child.local() == local)
        };
        let agent = || element("generatoragent").and_then(|agent| agent.attribute("resource"));
        let uri = || element("generator").and_then(|generator| generator.attribute("uri"));
        let program = || agent().or_else(uri).map(std::borrow::Cow::into_owned);
        FeedHead {
            id: chosen.get(Field::Id).and_then(Element::line),
            link: page,
            language: written.or(read.language).or_else(language),
            generator: read.generator.or_else(program),
            title: read.title.and_then(|title| {
                Some(text::one_line(&title, TITLE_MAX)).filter(|title| !title.is_empty())
            }),
            ..read
        }
    }

    /// `at:deleted-entry` (RFC 6721 §3).
    fn tombstones(&self, flaws: &mut Flaws) -> Vec<Tombstone> {
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

fn is_entry(element: Element<'_, '_>) -> bool {
    element.is(Ns::Rss, "item") || element.is(Ns::Atom, "entry")
}

/// What feed-rs does not tell of an entry.
struct Beside {
    stated_id: Option<String>,
    link: Option<String>,
    /// Whether a time of change is stated: feed-rs copies the time of publication.
    is_dated: bool,
}

/// Writes an entry into the repaired document, and keeps beside it what feed-rs would drop.
fn beside(
    entry: Element<'_, '_>,
    repaired: &mut Repaired<'_>,
    url: Option<&Url>,
    flaws: &mut Flaws,
) -> Beside {
    let mut chosen = Chosen::default();
    chosen.add(entry, fields::ENTRY, flaws);
    let (link, attached) = links::of_entry(entry, url);
    repaired.entry(&chosen, &attached);
    let id = chosen.get(Field::Id);
    let about = entry
        .attribute("about")
        .filter(|about| !about.is_empty())
        .map(std::borrow::Cow::into_owned);
    Beside {
        link: link
            .or_else(|| id.and_then(permanent_link))
            .or_else(|| about.clone().filter(|about| address::is_web(about)))
            .or_else(|| links::of_attribute(entry, url)),
        stated_id: id.and_then(Element::line).or(about),
        is_dated: chosen.get(Field::Updated).is_some(),
    }
}

/// A `guid` that is the address of its entry.
fn permanent_link(id: Element<'_, '_>) -> Option<String> {
    let denied =
        id.attribute("ispermalink").is_some_and(|value| value.eq_ignore_ascii_case("false"));
    id.line().filter(|guid| id.is(Ns::Rss, "guid") && !denied && address::is_web(guid))
}

/// Joins what feed-rs read with what stands beside it, by position.
fn joined(beside: Vec<Beside>, read: Vec<(usize, Entry)>) -> Vec<Entry> {
    let mut read = read.into_iter().peekable();
    let mut entries = Vec::with_capacity(beside.len());
    for (position, beside) in beside.into_iter().enumerate() {
        let Some((_, mut entry)) = read.next_if(|(at, _)| *at == position) else { continue };
        entry.link = beside.link;
        entry.updated = entry.updated.filter(|_| beside.is_dated);
        entry.id = identity::entry_id(&Stated {
            id: beside.stated_id.as_deref(),
            link: entry.link.as_deref(),
            title: entry.title.as_deref(),
            text: entry.summary.as_deref().or(entry.content.as_deref()),
        });
        entries.push(entry);
    }
    entries
}

#[cfg(test)]
#[path = "xml_feed_tests.rs"]
mod tests;
