//! Reads RSS, RDF and Atom documents from the XML tree. Locates the head section and the entries, and reads the element chosen for
//! each field.

use std::borrow::Cow;

use url::Url;

use super::attachments::{self, read_attachments};
use super::constructs::{self, Construct};
use super::fields::{self, ChosenElements, FeedField};
use super::names::Ns;
use super::tree::XmlElement;
use super::{links, schedule_hints, tree_builder};
use crate::feed::content::absolute_addresses::make_addresses_absolute;
use crate::feed::dates::date::{DateOrder, parse_date, stated_offset};
use crate::feed::document::{Entry, FeedDocument, FeedHead, Kind, NewLocation, Tombstone};
use crate::feed::flaws::{AMBIGUOUS_DATE, Flaws};
use crate::feed::identity::{self, EntryIds, StatedIdentity};
use crate::feed::text::{self, NAME_MAX, TITLE_MAX};
use crate::feed::xml::constructs::unescaped_if_twice;
use crate::feed::{address, internal_entities};

/// Maximum length of a content that may consist only of a picture, beside a summary with the text.
const PICTURE_BYTES_MAX: usize = 2_000;

/// Maximum number of deleted entries recorded per document.
const TOMBSTONES_MAX: usize = tree_builder::ENTRIES_MAX;

/// Reads an XML document that was fetched from `url`.
pub(in crate::feed) fn read_xml_feed(
    document: &str,
    url: Option<&Url>,
    flaws: &mut Flaws,
) -> FeedDocument {
    let document = &*internal_entities::replace_internal_entities(document, flaws);
    let tree = tree_builder::build_tree(document, flaws);
    let Some(root) = tree.root() else {
        flaws.add("document", document.get(..200).unwrap_or(document), "this is not a feed");
        return FeedDocument::default();
    };
    if root.local() == "redirect" {
        return read_redirect(root, url, flaws);
    }
    let parts = FeedParts::find(root);
    if parts.is_empty() {
        flaws.add("document", root.raw(), "this element contains no feed");
        return FeedDocument::default();
    }
    if tree.in_page {
        if !parts.is_whole_feed() {
            flaws.add("document", root.raw(), "this is a web page, and this element is not a feed");
            return FeedDocument::default();
        }
        flaws.add("document", root.raw(), "the feed is inside a web page");
    }
    let mut found = flaws.clone();
    let read = parts.read(url, None, &mut found);
    if found.has(AMBIGUOUS_DATE)
        && let Some(order) = fields::find_date_order(&parts.entries, fields::ENTRY)
    {
        return parts.read(url, Some(order), flaws);
    }
    *flaws = found;
    read
}

/// Reads a redirect document, `<redirect><newLocation>` (SPEC S1.12, S1.14).
fn read_redirect(root: XmlElement<'_, '_>, url: Option<&Url>, flaws: &mut Flaws) -> FeedDocument {
    let Some(target) = root.children().find(|child| child.local() == "newlocation") else {
        flaws.add("redirect", "", "it contains no newLocation");
        return FeedDocument::default();
    };
    // In the source of SPEC S1.12, the end tag of this element is misprinted as a second start tag. Only the text before the first
    // child element is therefore read.
    let written = target.leading_text();
    let stated = target.attribute("href").filter(|_| written.trim().is_empty());
    let written = stated.unwrap_or(written);
    let location = if written.trim().is_empty() {
        Some(NewLocation::Gone)
    } else {
        // An empty URL means that the feed no longer exists (SPEC S1.14). An unreadable URL does not.
        let resolved = address::resolve_address(&written, target.base(url).as_ref());
        if resolved.is_none() {
            flaws.add("newLocation", &written, "the address is not valid");
        }
        resolved.map(NewLocation::At)
    };
    FeedDocument { kind: Kind::Redirect, new_location: location, ..FeedDocument::default() }
}

/// The elements of an XML tree that form the parts of a feed.
pub(in crate::feed) struct FeedParts<'t, 'a> {
    kind: Kind,
    root: XmlElement<'t, 'a>,
    /// Elements whose children form the head section.
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
            if child.local() == "channel" {
                child.children().for_each(|inner| add_entries(inner, &mut entries));
            } else {
                add_entries(child, &mut entries);
            }
        }
        Self { kind, root, heads, entries }
    }

    /// Checks whether the root is the root of a complete feed rather than a web page element with the same name.
    fn is_whole_feed(&self) -> bool {
        let prefix = self.root.raw().split_once(':').map(|(prefix, _)| format!("xmlns:{prefix}"));
        let declared = self.root.attribute(prefix.as_deref().unwrap_or("xmlns"));
        let is_atom = declared.is_some_and(|name| Ns::from_uri(&name) == Ns::Atom);
        let says_something = |entry: &XmlElement<'_, '_>| {
            let is_text =
                |field| matches!(field, FeedField::Id | FeedField::Title | FeedField::Summary);
            entry.children().any(|child| {
                fields::ENTRY.iter().any(|(ns, local, field, _)| {
                    is_text(*field) && child.is(*ns, local) && !child.is_blank()
                })
            })
        };
        (self.kind != Kind::Atom || is_atom) && self.entries.iter().any(says_something)
    }

    /// Checks whether the feed has neither entries nor a readable head section because it is in an unknown vocabulary (SPEC G.9).
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

    /// Reads the feed. `order` states whether numeric dates in the document start with the day or with the month.
    fn read(&self, url: Option<&Url>, order: Option<DateOrder>, flaws: &mut Flaws) -> FeedDocument {
        // Hints are read first. Otherwise many flaws in the dates of entries could displace flaws in the hints, because the number
        // of flaws is limited.
        let mut hints = schedule_hints::read_hints(&self.heads, flaws);
        if self.entries.is_empty() {
            explain_missing_entries(self.root, flaws);
        }
        let mut chosen = ChosenElements::with_order(order);
        for head in &self.heads {
            chosen.add(*head, fields::HEAD, flaws);
        }
        let links = links::read_head_links(&self.heads, url);
        let page = links::find_home_page(&self.heads, &links, url);
        let context =
            EntryContext { order, document: url, page: page.as_deref().and_then(address::web_url) };
        let entries: Vec<ReadEntry> =
            self.entries.iter().map(|element| read_entry(*element, &context, flaws)).collect();
        let history = links::read_history_links(&self.heads, &links, url, flaws);
        let mut head = self.read_head(&chosen, page, url);
        let mut channels = self.heads.iter();
        head.updated = head
            .updated
            .or_else(|| channels.find_map(|head| fields::read_last_modified(*head, flaws)));
        hints.generator.clone_from(&head.generator);
        FeedDocument {
            kind: self.kind,
            role: links::classify_role(&history),
            head,
            hints,
            history,
            links,
            new_location: self.read_new_feed_url(url),
            tombstones: self.read_tombstones(flaws),
            entries: identify(entries, flaws),
            flaws: Vec::new(),
        }
    }

    /// Reads the head section of the feed.
    fn read_head(
        &self,
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
        let generator = chosen.get(FeedField::Generator).map(XmlElement::text);
        let generator = generator.and_then(|name| non_empty(text::one_line(&name, NAME_MAX)));
        FeedHead {
            id: chosen.get(FeedField::Id).and_then(XmlElement::line),
            link: page,
            updated: chosen.date(FeedField::Updated),
            published: chosen.date(FeedField::Published).filter(|_| self.kind != Kind::Atom),
            subtitle: read_markup(chosen, FeedField::Summary, |element| element.base(url)),
            language: written.or_else(language),
            generator: generator.or_else(program),
            title: read_line(chosen, FeedField::Title),
            rights: read_line(chosen, FeedField::Rights),
            author: read_author(chosen),
        }
    }

    /// Reads `itunes:new-feed-url`, the new URL of a podcast.
    fn read_new_feed_url(&self, url: Option<&Url>) -> Option<NewLocation> {
        let mut children = self.heads.iter().flat_map(|head| head.children());
        let stated = children.find(|child| child.is(Ns::Itunes, "new-feed-url"))?;
        let address = address::resolve_address(&stated.text(), stated.base(url).as_ref())?;
        address::web_url(&address).map(|_| NewLocation::At(address))
    }

    /// Reads the deleted entries that the feed lists as `at:deleted-entry` (RFC 6721 §3).
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

/// Appends an entry to `entries`. An RSS 1.1 list contains its entries one level deeper, so the entries in the list are appended.
fn add_entries<'t, 'a>(element: XmlElement<'t, 'a>, entries: &mut Vec<XmlElement<'t, 'a>>) {
    if is_entry(element) {
        entries.push(element);
    } else if element.local() == "items" {
        entries.extend(element.children().filter(|item| is_entry(*item)));
    }
}

/// Reads an entry. Its `id` is the stated one, because identities are assigned later.
fn read_entry(
    entry: XmlElement<'_, '_>,
    within: &EntryContext<'_>,
    flaws: &mut Flaws,
) -> ReadEntry {
    let url = within.document;
    let mut chosen = ChosenElements::with_order(within.order);
    chosen.add(entry, fields::ENTRY, flaws);
    let links = links::read_entry_links(entry, url);
    let id = chosen.get(FeedField::Id);
    let about = entry.attribute("about").filter(|about| !about.is_empty()).map(Cow::into_owned);
    let attribute = links::read_page_attribute(entry, url);
    let link = links
        .page
        .or_else(|| id.and_then(permanent_link))
        .or_else(|| about.clone().filter(|about| address::is_web(about)))
        .or_else(|| attribute.clone())
        .or_else(|| read_source(&chosen, url));
    let base = |element: XmlElement<'_, '_>| within.base(entry, element, link.as_deref());
    let (author, first_author) = read_authors(&chosen);
    let content = Entry {
        shown: None,
        id: id.and_then(XmlElement::line).or(about).unwrap_or_default(),
        published: chosen.date(FeedField::Published),
        offset_minutes: [FeedField::Published, FeedField::Updated]
            .into_iter()
            .find_map(|field| chosen.get(field))
            .and_then(|element| stated_offset(&element.text())),
        updated: chosen
            .date(FeedField::Updated)
            .or_else(|| fields::read_last_modified(entry, flaws)),
        summary: read_markup(&chosen, FeedField::Summary, base),
        content: read_markup(&chosen, FeedField::Content, base),
        link,
        comments: links.comments,
        title: read_line(&chosen, FeedField::Title),
        author,
        enclosures: read_attachments(&chosen, &links.attached, url),
        categories: chosen.all(FeedField::Category).filter_map(category_name).collect(),
    };
    let mut read =
        ReadEntry { content, identifying_link: links.identifying.or(attribute), first_author };
    if may_show_more(&chosen, &read.content) {
        show_more(&chosen, &mut read.content, entry, within);
    }
    read
}

/// Returns the URL of an entry's content that is in an external file (RFC 4287 §4.1.3.2).
fn read_source(chosen: &ChosenElements<'_, '_>, document: Option<&Url>) -> Option<String> {
    let content =
        chosen.get(FeedField::Content).filter(|content| content.is(Ns::Atom, "content"))?;
    address::resolve_address(&content.attribute("src")?, content.base(document).as_ref())
}

/// Properties of the document that affect how its entries are read.
struct EntryContext<'u> {
    /// Whether numeric dates in this document start with the day or with the month.
    order: Option<DateOrder>,
    document: Option<&'u Url>,
    /// URL of the feed's website.
    page: Option<Url>,
}

impl EntryContext<'_> {
    /// Returns the base for relative URLs in a text. An `xml:base` takes precedence. Otherwise the base of an Atom text is the URL
    /// of the document (RFC 4287 §2). RSS defines no base. The base of an RSS text is the page of its entry, because publishers
    /// copy texts from that page, or else the home page of the feed.
    fn base(
        &self,
        entry: XmlElement<'_, '_>,
        element: XmlElement<'_, '_>,
        link: Option<&str>,
    ) -> Option<Url> {
        if entry.ns() == Ns::Atom || element.has_base() {
            return element.base(self.document);
        }
        link.and_then(address::web_url).or_else(|| self.page.clone()).or(self.document.cloned())
    }
}

/// An entry whose identity is not yet assigned.
struct ReadEntry {
    content: Entry,
    /// Link that serves as the identity if no ID is stated.
    identifying_link: Option<String>,
    /// Name of the first of several authors, which is part of some identities.
    first_author: Option<String>,
}

/// Reads the text of a field as markup with absolute URLs. Returns `None` if the text is blank.
fn read_markup<'t, 'a>(
    chosen: &ChosenElements<'t, 'a>,
    field: FeedField,
    base: impl Fn(XmlElement<'t, 'a>) -> Option<Url>,
) -> Option<String> {
    let element = chosen.get(field)?;
    let inner = element.may_have_inner_base().then(|| base(element)).flatten();
    let markup = Construct::read(element, inner.as_ref()).into_markup();
    let markup = make_addresses_absolute(markup, || base(element));
    let trimmed = markup.trim();
    match trimmed.len() {
        0 => None,
        all if all == markup.len() => Some(markup.into_owned()),
        _ => Some(trimmed.to_owned()),
    }
}

/// Checks whether an entry can have more to show than its text. This is quick, because few entries have.
fn may_show_more(chosen: &ChosenElements<'_, '_>, entry: &Entry) -> bool {
    let text = entry.content.as_ref().or(entry.summary.as_ref());
    chosen.all(FeedField::Attachment).next().is_some()
        || entry.content.is_some() && entry.summary.is_some()
        || text.is_some_and(|text| text.starts_with("&lt;"))
}

/// Sets what is shown of an entry if this is more than its text: the summary beside a mere picture, the text without a second
/// escaping, and attached pictures.
#[inline(never)]
fn show_more<'t, 'a>(
    chosen: &ChosenElements<'t, 'a>,
    entry: &mut Entry,
    element: XmlElement<'t, 'a>,
    within: &EntryContext<'_>,
) {
    if let (Some(content), Some(summary)) = (&entry.content, &entry.summary)
        && content.len() <= PICTURE_BYTES_MAX
        && content.contains("<img")
        && text::strip_markup(content).trim().is_empty()
    {
        let summary = summary.clone();
        entry.add_shown(&summary);
    }
    let field = if entry.content.is_some() { FeedField::Content } else { FeedField::Summary };
    if let Some(markup) = entry.body().and_then(unescaped_if_twice)
        && let Some(stated) = chosen.get(field)
        && matches!(Construct::read(stated, None), Construct::Markup(_))
    {
        let base = || within.base(element, stated, entry.link.as_deref());
        let absolute = make_addresses_absolute(markup.into(), base).into_owned();
        entry.shown = Some(absolute);
    }
    attachments::add_pictures(entry, &attachments::read_pictures(chosen, within.document));
}

/// Returns the ID of an entry if it is also the URL of the entry: an `atom:id` that is a web URL, or such a `guid` unless it is
/// marked as not permanent.
fn permanent_link(id: XmlElement<'_, '_>) -> Option<String> {
    let is_permanent = id.is(Ns::Atom, "id") || is_permanent_guid(id);
    let id = id.line().filter(|address| is_permanent && address::is_web(address));
    id.map(address::with_ascii_host)
}

/// Checks whether an element is a `guid` that is declared to be a URL: its attribute `isPermaLink` is `true` or missing (RSS 2.0).
pub(in crate::feed) fn is_permanent_guid(element: XmlElement<'_, '_>) -> bool {
    let stated = element.attribute("ispermalink");
    element.is(Ns::Rss, "guid") && stated.is_none_or(|value| value.eq_ignore_ascii_case("true"))
}

/// Reads the text of a field as one line of plain text. Returns `None` if the text is blank.
fn read_line(chosen: &ChosenElements<'_, '_>, field: FeedField) -> Option<String> {
    non_empty(Construct::read(chosen.get(field)?, None).into_line(TITLE_MAX))
}

/// Reads the name of the first author that has one.
fn read_author(chosen: &ChosenElements<'_, '_>) -> Option<String> {
    chosen.all(FeedField::Author).find_map(constructs::author_name)
}

/// Reads the names of all authors. If several vocabularies name authors, they usually name the same ones, so only one of these
/// vocabularies is read: the first with a name instead of an email address, but the owner of a podcast last. Also returns the first
/// name if it is not the only one.
fn read_authors(chosen: &ChosenElements<'_, '_>) -> (Option<String>, Option<String>) {
    let named = chosen.all(FeedField::Author);
    let mut named =
        named.filter_map(|element| Some((element.ns(), constructs::author_name(element)?)));
    let Some(one) = named.next() else { return (None, None) };
    let Some(other) = named.next() else { return (Some(one.1), None) };
    let named: Vec<(Ns, String)> = [one, other].into_iter().chain(named).collect();
    let first = named.first().map(|(_, name)| name.clone());
    let best = named.iter().min_by_key(|(ns, name)| (name.contains('@'), *ns == Ns::Itunes));
    let best = best.map(|(ns, _)| *ns);
    let of_best = named.into_iter().filter(|(ns, _)| Some(*ns) == best).map(|(_, name)| name);
    (text::joined_names(of_best), first)
}

/// Reads the name of a category. Returns `None` if the category has no name.
fn category_name(element: XmlElement<'_, '_>) -> Option<String> {
    let stated = || element.attribute("term").or_else(|| element.attribute("label"));
    let name = Some(element).filter(|element| element.ns() == Ns::Atom).and_then(|_| stated());
    non_empty(text::plain_line(&name.unwrap_or_else(|| element.text()), NAME_MAX))
}

fn non_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Assigns an identity to each entry.
fn identify(entries: Vec<ReadEntry>, flaws: &mut Flaws) -> Vec<Entry> {
    let stated: Vec<StatedIdentity<'_>> = entries.iter().map(stated_identity).collect();
    let EntryIds { ids, shared } = identity::entry_ids(&stated);
    for id in shared {
        flaws.add("item", &id, identity::SHARED_ID);
    }
    let with_id = |(entry, id): (ReadEntry, String)| Entry { id, ..entry.content };
    let mut entries: Vec<Entry> = entries.into_iter().zip(ids).map(with_id).collect();
    for entry in entries.iter_mut().filter(|entry| entry.title.is_none()) {
        entry.title = attachments::title_of_pictures(entry);
    }
    entries
}

fn stated_identity(entry: &ReadEntry) -> StatedIdentity<'_> {
    let content = &entry.content;
    let has_date = content.published.or(content.updated).is_some();
    StatedIdentity {
        id: Some(&content.id),
        link: entry.identifying_link.as_deref(),
        title: content.title.as_deref(),
        text: content.summary.as_deref().or(content.content.as_deref()),
        author: entry.first_author.as_deref().or(content.author.as_deref()),
        has_more: has_date || !content.enclosures.is_empty() || !content.categories.is_empty(),
    }
}

/// Records a flaw that explains why no entry was found in the feed with this root element.
fn explain_missing_entries(root: XmlElement<'_, '_>, flaws: &mut Flaws) {
    let Some((parent, found)) = find_like_entry(root) else {
        flaws.add("document", root.raw(), "no entries: it contains no item or entry element");
        return;
    };
    if is_entry(found) {
        let reason = "no entries: they are inside this element, where readers do not look for them";
        flaws.add("document", parent.raw(), reason);
    } else {
        let reason = match (found.ns(), found.local()) {
            (Ns::Atom, _) => "no entries: in Atom an entry is called entry",
            (Ns::Rss, _) => "no entries: in RSS an entry is called item",
            (_, _) => "no entries: the namespace of this element is not a feed namespace",
        };
        flaws.add("document", found.raw(), reason);
    }
}

/// Checks whether an element is an RSS or Atom entry.
pub(super) fn is_entry(element: XmlElement<'_, '_>) -> bool {
    element.is(Ns::Rss, "item") || element.is(Ns::Atom, "entry")
}

/// Finds the first element that is named like an entry. Returns its parent and the element.
fn find_like_entry<'t, 'a>(
    parent: XmlElement<'t, 'a>,
) -> Option<(XmlElement<'t, 'a>, XmlElement<'t, 'a>)> {
    parent.children().find_map(|child| {
        if matches!(child.local(), "item" | "entry") {
            Some((parent, child))
        } else {
            find_like_entry(child)
        }
    })
}

#[cfg(test)]
#[path = "xml_feed_tests.rs"]
mod tests;
