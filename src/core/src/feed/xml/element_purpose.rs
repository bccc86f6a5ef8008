//! What elements may contain, by which missing end tags are noticed.

use super::names::Ns;
use super::tree::ElementName;

/// What an element may contain, which decides where a missing end tag is assumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementPurpose {
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
    /// Returns the purpose of an element; `local` is in lower case.
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

/// Elements of the head section of RSS that no element inside it has.
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

/// Whether a child of an element without an end tag belongs to the entry around that element: it is of the feed's own
/// vocabulary or of a third one, the same element again, or its owner is an element that is always empty.
pub(super) fn is_of_entry(owner: &ElementName<'_>, child: &ElementName<'_>) -> bool {
    const EMPTY: [&str; 6] =
        ["transcript", "chapters", "thumbnail", "image", "player", "alternateenclosure"];
    let prefix = |name: &str| name.split_once(':').map(|(prefix, _)| prefix.to_ascii_lowercase());
    if owner.ns == Ns::Atom {
        // The parts of a person hold nothing but text, and a person nothing but its parts.
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

/// Whether a child of an element without an end tag belongs to the container around that element.
pub(super) fn is_of_container(owner: &ElementName<'_>, child: &ElementName<'_>) -> bool {
    let is_ours = |ns| matches!(ns, Ns::Rss | Ns::Atom);
    let local = child.local.as_ref();
    if ElementPurpose::find(child.ns, local) == ElementPurpose::Entry {
        return true;
    }
    if !is_ours(owner.ns) {
        return is_ours(child.ns);
    }
    // A person consists of these three alone (RFC 4287 §3.2).
    let is_person = owner.ns == Ns::Atom && matches!(&*owner.local, "author" | "contributor");
    let is_of_person = matches!(local, "name" | "uri" | "url" | "email");
    (child.ns == Ns::Rss && HEAD_ONLY.contains(&local))
        || (child.ns == Ns::Atom && is_person && !is_of_person)
}
