//! XML namespaces of feed documents, recognised by their URI, by their usual prefix or by the declarations in scope (SPEC G.9,
//! G.11).

/// Namespace of the schedule extension (SPEC H.1).
const SCHED_NS: &str = "tag:backissue.example,2026:schedule";

/// A vocabulary of XML elements. All namespace URIs of one vocabulary map to the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::feed) enum Ns {
    /// Atom 1.0, 0.3 and the drafts between them.
    Atom,
    /// All versions of RSS, with or without a namespace.
    Rss,
    Rdf,
    /// Dublin Core elements.
    Dc,
    /// Dublin Core terms.
    DcTerms,
    /// `content:encoded` (RSS content module).
    Content,
    /// RSS syndication module (`mod_syndication`).
    Sy,
    /// Feed history (RFC 5005).
    History,
    Schedule,
    /// Apple's podcast elements.
    Itunes,
    Media,
    /// Elements for journals (PRISM).
    Prism,
    /// Podcast elements of the Podcasting 2.0 project.
    Podcast,
    Xhtml,
    /// Deleted entries (RFC 6721).
    Tombstone,
    Other,
}

/// Namespace URIs in lower case, without scheme and trailing slash. A `*` at the end matches every URI with this start.
const NAMES: [(&str, Ns); 31] = [
    ("www.w3.org/2005/atom", Ns::Atom),
    ("purl.org/atom/ns*", Ns::Atom),
    ("purl.org/rss/1.0/modules/content", Ns::Content),
    ("purl.org/rss/1.0/modules/syndication", Ns::Sy),
    ("purl.org/rss/1.0", Ns::Rss),
    ("purl.org/net/rss1.1*", Ns::Rss),
    ("backend.userland.com/*", Ns::Rss),
    ("blogs.law.harvard.edu/tech/rss", Ns::Rss),
    ("cyber.harvard.edu/rss*", Ns::Rss),
    ("www.rssboard.org/media-rss", Ns::Media),
    ("video.search.yahoo.com/mrss", Ns::Media),
    ("www.rssboard.org/*", Ns::Rss),
    ("my.netscape.com/*", Ns::Rss),
    ("channel.netscape.com/*", Ns::Rss),
    ("www.w3.org/1999/02/22-rdf-syntax-ns*", Ns::Rdf),
    ("purl.org/dc/elements/1.1", Ns::Dc),
    ("purl.org/dc/elements/1.0", Ns::Dc),
    ("purl.org/dc/terms", Ns::DcTerms),
    ("prismstandard.org/namespaces/*", Ns::Prism),
    ("purl.org/rss/1.0/modules/prism", Ns::Prism),
    ("purl.org/syndication/history/1.0", Ns::History),
    (SCHED_NS, Ns::Schedule),
    ("www.itunes.com/dtds/podcast-1.0.dtd", Ns::Itunes),
    ("example.com/dtds/podcast-1.0.dtd", Ns::Itunes),
    ("search.yahoo.com/mrss*", Ns::Media),
    ("podcastindex.org/namespace/1.0", Ns::Podcast),
    ("github.com/podcastindex-org/podcast-namespace*", Ns::Podcast),
    ("www.w3.org/1999/xhtml", Ns::Xhtml),
    ("purl.org/atompub/tombstones/1.0", Ns::Tombstone),
    ("purl.org/rss/1.0/modules/dcterms", Ns::DcTerms),
    ("purl.org/rss/1.0/modules/dc", Ns::Dc),
];

/// Usual prefixes of vocabularies, for documents that use a prefix without declaring it.
const PREFIXES: [(&str, Ns); 25] = [
    ("podcast", Ns::Podcast),
    ("atom", Ns::Atom),
    ("atom10", Ns::Atom),
    ("a10", Ns::Atom),
    ("a", Ns::Atom),
    ("rss", Ns::Rss),
    ("rdf", Ns::Rdf),
    ("dc", Ns::Dc),
    ("dcterms", Ns::DcTerms),
    ("dct", Ns::DcTerms),
    ("content", Ns::Content),
    ("sy", Ns::Sy),
    ("syn", Ns::Sy),
    ("fh", Ns::History),
    ("history", Ns::History),
    ("sched", Ns::Schedule),
    ("itunes", Ns::Itunes),
    ("media", Ns::Media),
    ("mrss", Ns::Media),
    ("xhtml", Ns::Xhtml),
    ("html", Ns::Xhtml),
    ("h", Ns::Xhtml),
    ("xh", Ns::Xhtml),
    ("at", Ns::Tombstone),
    ("dcq", Ns::DcTerms),
];

impl Ns {
    /// Returns the vocabulary to which a namespace URI belongs.
    pub(in crate::feed) fn from_uri(name: &str) -> Self {
        let name = name.trim().to_ascii_lowercase();
        let bare =
            name.strip_prefix("http://").or_else(|| name.strip_prefix("https://")).unwrap_or(&name);
        let bare = bare.trim_end_matches(['/', '#']);
        let matches = |known: &str| match known.strip_suffix('*') {
            Some(start) => bare.starts_with(start),
            None => bare == known,
        };
        NAMES.iter().find(|(known, _)| matches(known)).map_or(Self::Other, |(_, ns)| *ns)
    }

    /// Returns the vocabulary for which a prefix is usually used. Call this for a prefix that the document does not declare.
    pub(in crate::feed) fn from_prefix(prefix: &str) -> Self {
        PREFIXES
            .iter()
            .find(|(known, _)| prefix.eq_ignore_ascii_case(known))
            .map_or(Self::Other, |(_, ns)| *ns)
    }
}

/// Maximum number of namespace declarations in scope. Further declarations are ignored.
const BINDINGS_MAX: usize = 128;

/// The namespace declarations that apply to the current element.
#[derive(Debug)]
pub(in crate::feed) struct NamespaceScope<'a> {
    /// Vocabulary of elements without a prefix, unless an element below the root declares another default namespace. The root's
    /// own default namespace is replaced by this vocabulary.
    home: Ns,
    /// Prefix, vocabulary and depth of the declaring element for each declaration. The empty prefix means the default namespace.
    bindings: Vec<(&'a str, Ns, usize)>,
}

impl<'a> NamespaceScope<'a> {
    /// Creates the scope of a root element without declarations. Elements without a prefix belong to the vocabulary `home`.
    pub(in crate::feed) const fn new(home: Ns) -> Self {
        Self { home, bindings: Vec::new() }
    }

    /// Records a namespace declaration of the element at `depth`. For the default namespace, `prefix` is empty.
    pub(in crate::feed) fn declare(&mut self, prefix: &'a str, name: &str, depth: usize) {
        if self.bindings.len() >= BINDINGS_MAX {
            return;
        }
        let ns = if prefix.is_empty() && (depth == 0 || name.trim().is_empty()) {
            self.home
        } else {
            Self::resolve_declared(prefix, name)
        };
        self.bindings.push((prefix, ns, depth));
    }

    /// Returns the vocabulary that a namespace declaration refers to. A well-known prefix that is declared with an empty URI keeps
    /// its usual meaning.
    fn resolve_declared(prefix: &str, name: &str) -> Ns {
        if name.trim().is_empty() { Ns::from_prefix(prefix) } else { Ns::from_uri(name) }
    }

    /// Removes the namespace declarations of the element at `depth` and of deeper elements.
    pub(in crate::feed) fn leave(&mut self, depth: usize) {
        while self.bindings.last().is_some_and(|(_, _, at)| *at >= depth) {
            self.bindings.pop();
        }
    }

    /// Returns the vocabulary of an element or attribute with this prefix. `prefix` is empty if the name has no prefix.
    pub(in crate::feed) fn resolve(&self, prefix: &str) -> Ns {
        match self.bindings.iter().rev().find(|(known, _, _)| *known == prefix) {
            Some((_, ns, _)) => *ns,
            None if prefix.is_empty() => self.home,
            None => Ns::from_prefix(prefix),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::feed::xml::names::*;

    #[test]
    fn names_of_one_vocabulary_are_one() {
        for (name, expected) in [
            ("http://www.w3.org/2005/Atom", Ns::Atom),
            ("https://www.w3.org/2005/Atom/", Ns::Atom),
            ("http://purl.org/atom/ns#", Ns::Atom),
            ("http://purl.org/atom/ns#draft-ietf-atompub-format-09", Ns::Atom),
            ("http://backend.userland.com/rss2", Ns::Rss),
            ("http://my.netscape.com/rdf/simple/0.9/", Ns::Rss),
            ("http://purl.org/rss/1.0/", Ns::Rss),
            ("http://purl.org/rss/1.0/modules/syndication", Ns::Sy),
            ("http://purl.org/rss/1.0/modules/syndication/", Ns::Sy),
            ("http://purl.org/syndication/history/1.0", Ns::History),
            (SCHED_NS, Ns::Schedule),
            ("http://purl.org/rss/1.0/modules/slash/", Ns::Other),
            ("urn:nothing", Ns::Other),
        ] {
            assert_eq!(Ns::from_uri(name), expected, "{name}");
        }
    }

    #[test]
    fn declarations_hold_inside_their_element_only() {
        let mut scope = NamespaceScope::new(Ns::Rss);
        scope.declare("", "http://unknown.example/feeds", 0);
        scope.declare("f", "http://purl.org/syndication/history/1.0", 1);
        scope.declare("", "http://www.w3.org/1999/xhtml", 2);
        assert_eq!((scope.resolve(""), scope.resolve("f")), (Ns::Xhtml, Ns::History));
        scope.leave(2);
        assert_eq!((scope.resolve(""), scope.resolve("f")), (Ns::Rss, Ns::History));
        scope.leave(1);
        assert_eq!((scope.resolve("f"), scope.resolve("dc")), (Ns::Other, Ns::Dc));
    }
}
