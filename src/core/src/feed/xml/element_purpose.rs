//! Permitted contents of elements, used to detect missing end tags.

use super::names::Ns;
use super::tree::ElementName;

/// Permitted contents of an element. They determine where a missing end tag is assumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementPurpose {
    /// Contains entries.
    Container,
    Entry,
    /// Contains short text and no other feed elements.
    Leaf,
    /// Contains text that may be markup.
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

/// RSS head section elements that cannot occur inside its other elements.
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

/// Checks whether a child of an element without an end tag belongs to the surrounding entry. It does if it uses a vocabulary
/// other than its parent's, repeats its parent, or has a parent that is always empty.
pub(super) fn is_of_entry(owner: &ElementName<'_>, child: &ElementName<'_>) -> bool {
    const EMPTY: [&str; 6] =
        ["transcript", "chapters", "thumbnail", "image", "player", "alternateenclosure"];
    let prefix = |name: &str| name.split_once(':').map(|(prefix, _)| prefix.to_ascii_lowercase());
    if owner.ns == Ns::Atom {
        // The parts of a person contain only text, and a person contains only these parts.
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

/// Checks whether a child of an element without an end tag belongs to the surrounding container.
pub(super) fn is_of_container(owner: &ElementName<'_>, child: &ElementName<'_>) -> bool {
    let is_ours = |ns| matches!(ns, Ns::Rss | Ns::Atom);
    let local = child.local.as_ref();
    if ElementPurpose::find(child.ns, local) == ElementPurpose::Entry {
        return true;
    }
    if !is_ours(owner.ns) {
        return is_ours(child.ns);
    }
    // A person has only these three parts (RFC 4287 §3.2).
    let is_person = owner.ns == Ns::Atom && matches!(&*owner.local, "author" | "contributor");
    let is_of_person = matches!(local, "name" | "uri" | "url" | "email");
    (child.ns == Ns::Rss && HEAD_ONLY.contains(&local))
        || (child.ns == Ns::Atom && is_person && !is_of_person)
}
