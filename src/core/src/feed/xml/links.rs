//! Reads the links of head sections and entries: links to web pages, archive links and paging links (RFC 5005, SPEC C.2, C.4).

use url::Url;

use super::names::Ns;
use super::tree::XmlElement;
use crate::feed::address;
use crate::feed::document::{DocumentRole, HistoryLinks, Link};
use crate::feed::flaws::{Flaws, NO_SWITCH};

/// Maximum number of links kept per head section and per entry.
const LINKS_MAX: usize = 200;

/// Returns the relation of a link element in lower case, with an IANA address shortened to its last segment (SPEC C.2 rule 1). If
/// the element states no relation, returns `alternate`.
pub(super) fn relation(element: XmlElement<'_, '_>) -> String {
    let rel = element.attribute("rel").unwrap_or_default().to_ascii_lowercase();
    let rel =
        ["http://www.iana.org/assignments/relation/", "https://www.iana.org/assignments/relation/"]
            .iter()
            .find_map(|prefix| rel.strip_prefix(prefix))
            .unwrap_or(&rel);
    if rel.is_empty() { "alternate".to_owned() } else { rel.to_owned() }
}

/// Checks whether an element is an Atom link or a `link` that, like Atom links, has its URL in the attribute `href`.
fn is_atom_link(element: XmlElement<'_, '_>) -> bool {
    element.local() == "link" && (element.ns() == Ns::Atom || element.attribute("href").is_some())
}

/// Reads the links among the children of `parents` and resolves their URLs. The links are in document order.
pub(in crate::feed) fn read_head_links(
    parents: &[XmlElement<'_, '_>],
    document: Option<&Url>,
) -> Vec<Link> {
    let mut links = Vec::new();
    for element in parents.iter().flat_map(|parent| parent.children()) {
        if links.len() >= LINKS_MAX {
            break;
        }
        links.extend(read_link(element, document));
    }
    links
}

fn read_link(element: XmlElement<'_, '_>, document: Option<&Url>) -> Option<Link> {
    let base = || element.base(document);
    if is_atom_link(element) {
        let written = element.attribute("href")?;
        // An empty URL means the document itself. It is replaced by the base URL, so that later steps can recognise a link to the
        // document.
        let href = if written.is_empty() {
            base().map(String::from)?
        } else {
            address::resolve_address(&written, base().as_ref())?
        };
        let media_type = element
            .attribute("type")
            .filter(|kind| !kind.is_empty())
            .map(std::borrow::Cow::into_owned);
        return Some(Link { rel: relation(element), href, media_type });
    }
    if element.is(Ns::Rss, "link") {
        let leading = element.leading_text();
        let written = if leading.trim().is_empty() { element.text() } else { leading };
        let href = address::resolve_address(&written, base().as_ref())?;
        return Some(Link { rel: "alternate".to_owned(), href, media_type: None });
    }
    None
}

/// Finds the URL of the feed's website. A link from the feed format itself takes precedence over a link from another vocabulary. In
/// CDF the URL is an attribute of the channel.
pub(in crate::feed) fn find_home_page(
    parents: &[XmlElement<'_, '_>],
    links: &[Link],
    document: Option<&Url>,
) -> Option<String> {
    let mut own = parents
        .iter()
        .flat_map(|parent| parent.children())
        .filter(|child| child.is(Ns::Rss, "link"));
    let own =
        own.find_map(|element| read_link(element, document)).filter(|link| link.rel == "alternate");
    let page = own.as_ref().or_else(|| choose_page(links)).map(|link| link.href.clone());
    page.or_else(|| parents.iter().find_map(|parent| read_page_attribute(*parent, document)))
}

/// Reads the page URL from the `href` attribute of a CDF channel or item.
pub(in crate::feed) fn read_page_attribute(
    element: XmlElement<'_, '_>,
    document: Option<&Url>,
) -> Option<String> {
    address::resolve_address(&element.attribute("href")?, element.base(document).as_ref())
}

/// Chooses the link to the web page from the links with the relation `alternate`: one whose media type is HTML, else one without a
/// media type, else any other.
fn choose_page(links: &[Link]) -> Option<&Link> {
    links.iter().filter(|link| link.rel == "alternate").min_by_key(|link| page_rank(link))
}

/// Returns a rank for how likely a link points to a web page. The lower the rank, the more likely.
fn page_rank(link: &Link) -> u8 {
    match link.media_type.as_deref() {
        Some(kind) if kind.to_ascii_lowercase().contains("html") => 0,
        None => 1,
        Some(_) => 2,
    }
}

/// Links of an entry.
#[derive(Debug)]
pub(in crate::feed) struct EntryLinks<'t, 'a> {
    /// URL of the entry's page.
    pub(in crate::feed) page: Option<String>,
    /// Link that identifies the entry if it has no ID. The choice of this link is independent of the choice of `page`, because the
    /// identities of stored entries must not change.
    pub(in crate::feed) identifying: Option<String>,
    /// URL of the page with the comments: RSS `comments`, or an Atom link with the relation `replies` (RFC 4685).
    pub(in crate::feed) comments: Option<String>,
    /// Links to attached files.
    pub(in crate::feed) attached: Vec<XmlElement<'t, 'a>>,
}

/// Reads the links of an entry. Relative URLs are resolved against the base URL of each link.
pub(in crate::feed) fn read_entry_links<'t, 'a>(
    entry: XmlElement<'t, 'a>,
    document: Option<&Url>,
) -> EntryLinks<'t, 'a> {
    let (mut links, mut attached) = (Vec::new(), Vec::new());
    for element in entry.children().filter(|element| element.local() == "link") {
        if is_atom_link(element) && relation(element) == "enclosure" {
            attached.push(element);
        } else if links.len() < LINKS_MAX {
            links.extend(read_link(element, document).map(|link| (element.ns(), link)));
        }
    }
    let replies = links.iter().filter(|(_, link)| link.rel == "replies");
    let replies = replies.filter(|(_, link)| page_rank(link) < 2).map(|(_, link)| &link.href);
    let stated = entry.children().find(|child| child.is(Ns::Rss, "comments"));
    let stated = stated.and_then(|stated| {
        address::resolve_address(&stated.text(), stated.base(document).as_ref())
    });
    let comments = stated.or_else(|| replies.into_iter().next().cloned());
    let comments = comments.filter(|comments| address::is_web(comments));
    links.retain(|(_, link)| link.rel == "alternate");
    // A link from the feed format itself takes precedence over a link from another vocabulary.
    links.sort_by_key(|(ns, _)| *ns != Ns::Rss);
    let page = links.iter().min_by_key(|(ns, link)| {
        let rank = page_rank(link);
        (rank == 2, *ns != Ns::Rss, rank)
    });
    let may_be_page = |(_, link): &&(Ns, Link)| {
        link.media_type.as_deref().is_none_or(|kind| kind.contains("html"))
    };
    let identifying = links.iter().find(may_be_page).or_else(|| links.first());
    let address = |found: Option<&(Ns, Link)>| found.map(|(_, link)| link.href.clone());
    EntryLinks { page: address(page), identifying: address(identifying), comments, attached }
}

/// Reads the archive and paging links and markers of a head section.
pub(in crate::feed) fn read_history_links(
    parents: &[XmlElement<'_, '_>],
    links: &[Link],
    document: Option<&Url>,
    flaws: &mut Flaws,
) -> HistoryLinks {
    let base = parents.last().and_then(|parent| parent.base(document));
    let own = [document, base.as_ref()];
    let elsewhere = |href: &str| {
        let same = own.iter().flatten().any(|own| address::same_document(href, own));
        (!same && !address::without_fragment(href).is_empty())
            .then(|| address::without_fragment(href).to_owned())
    };
    let named = |rel: &str| find_feed_link(links, rel).map(|link| link.href.clone());
    let walkable = |rel: &str| named(rel).and_then(|href| elsewhere(&href));
    let mut history = HistoryLinks {
        this: named("self"),
        current: walkable("current"),
        prev_archive: walkable("prev-archive"),
        next_archive: walkable("next-archive"),
        first: named("first"),
        last: named("last"),
        next: walkable("next"),
        previous: walkable("previous").or_else(|| walkable("prev")),
        ..HistoryLinks::default()
    };
    for element in parents
        .iter()
        .flat_map(|parent| parent.children())
        .filter(|element| element.ns() == Ns::History)
    {
        read_history_mark(element, &mut history, flaws);
        if element.local() == "prev" && history.prev_archive.is_none() {
            let base = element.base(document);
            history.prev_archive = address::resolve_address(&element.leading_text(), base.as_ref())
                .and_then(|href| elsewhere(&href));
        }
    }
    let missing = parents.iter().flat_map(|parent| parent.children());
    let missing = missing.filter(|element| element.is(Ns::Schedule, "missing"));
    history.missing = missing
        .filter_map(|element| {
            address::resolve_address(&element.attribute("href")?, element.base(document).as_ref())
        })
        .take(LINKS_MAX)
        .collect();
    if history.complete && (history.prev_archive.is_some() || history.next.is_some()) {
        flaws.add(
            "complete",
            "",
            "a complete feed has no archives or pages: its links to them are ignored",
        );
    }
    history
}

/// Finds the first link with the relation `rel`, except links whose media type is HTML.
fn find_feed_link<'l>(links: &'l [Link], rel: &str) -> Option<&'l Link> {
    let may_be_feed =
        |link: &&Link| link.media_type.as_deref().is_none_or(|kind| !kind.starts_with("text/html"));
    links.iter().filter(|link| link.rel == rel).find(may_be_feed)
}

/// Reads the markers `fh:complete` and `fh:archive` (RFC 5005), and `incremental` and `stateful` from the drafts (SPEC A.4).
fn read_history_mark(element: XmlElement<'_, '_>, history: &mut HistoryLinks, flaws: &mut Flaws) {
    match element.local() {
        "complete" => history.complete = true,
        "archive" => history.archive = true,
        "incremental" | "stateful" => match element.text().trim().to_ascii_lowercase().as_str() {
            "true" | "1" => history.incremental = true,
            "false" | "0" => history.complete = true,
            other => flaws.add(element.raw(), other, NO_SWITCH),
        },
        _ => {}
    }
}

/// Determines the role of a document from its links and markers alone (SPEC C.2).
pub(in crate::feed) const fn classify_role(history: &HistoryLinks) -> DocumentRole {
    let archived = history.prev_archive.is_some() || history.incremental;
    let paged = history.first.is_some() || history.last.is_some() || history.next.is_some();
    if history.archive {
        DocumentRole::Archive
    } else if history.complete {
        DocumentRole::Complete
    } else if archived {
        DocumentRole::Subscription
    } else if paged {
        DocumentRole::Paged
    } else if history.previous.is_some() {
        // In draft -05 (SPEC C.2 rule 5), a document whose only paging link is `previous` is part of an archived feed, and this
        // link points to an archive.
        if history.next_archive.is_none() {
            DocumentRole::Subscription
        } else {
            DocumentRole::Paged
        }
    } else {
        DocumentRole::Plain
    }
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
