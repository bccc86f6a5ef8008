//! Classifies elements by what they may contain, to detect missing end tags.

use super::names::Ns;
use super::tree::ElementName;

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
pub(super) fn is_of_entry(owner: &ElementName<'_>, child: &ElementName<'_>) -> bool {
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
pub(super) fn is_of_container(owner: &ElementName<'_>, child: &ElementName<'_>) -> bool {
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
