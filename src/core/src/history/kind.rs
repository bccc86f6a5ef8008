//! Document kinds: what a feed document is, and which of its links leads to older entries (SPEC C.2).

use serde::{Deserialize, Serialize};

use super::address::{canonical, host};
use crate::feed::FeedDocument;

/// How a document was reached. The meaning of its history links and marks depends on this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// The document is the subscription document.
    Subscribed,
    /// The document was reached through a `prev-archive`, `fh:prev` or `next-archive` link.
    ArchiveLink,
    /// The document was reached through a `previous` link that counts as an archive link (SPEC C.2 rule 5).
    PreviousLink,
    /// The document was reached as a page of a paged feed.
    PageLink,
}

/// The kind of a document, depending on how it was reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DocumentKind {
    /// The document has no history links.
    #[default]
    Plain,
    /// The document contains the whole logical feed (RFC 5005 §2). Only a subscription document can have this kind.
    Complete,
    /// An archive document (RFC 5005 §4).
    Archive,
    /// The subscription document of an archived feed (RFC 5005 §4).
    Archived,
    /// The subscription document of an archived feed in the form of draft -05: `previous` leads to the archives
    /// (SPEC C.2 rule 5).
    ArchivedByPrevious,
    /// A page of a paged feed (RFC 5005 §3, JSON Feed `next_url`).
    Paged,
}

/// Returns the kind of a document: the first kind whose conditions are met (SPEC C.2 rules 2 to 7). `own` contains the
/// addresses of the subscription document.
pub fn document_kind<A: AsRef<str>>(
    document: &FeedDocument,
    reached: Reached,
    own: &[A],
) -> DocumentKind {
    let history = &document.history;
    let by_archive_link = matches!(reached, Reached::ArchiveLink | Reached::PreviousLink);
    let is_subscribed = reached == Reached::Subscribed;
    if by_archive_link || (is_subscribed && says_archive(document, own)) {
        DocumentKind::Archive
    } else if is_subscribed && history.complete && !names_newer(document, own) {
        DocumentKind::Complete
    } else if history.prev_archive.is_some() || history.incremental {
        DocumentKind::Archived
    } else if reached == Reached::Subscribed && previous_is_archive(document) {
        DocumentKind::ArchivedByPrevious
    } else if is_paged(document) {
        DocumentKind::Paged
    } else {
        DocumentKind::Plain
    }
}

/// Checks whether `previous` leads to an archive: only if the document has no marks of paging or of RFC 5005 archives
/// (SPEC C.2 rule 5).
const fn previous_is_archive(document: &FeedDocument) -> bool {
    let history = &document.history;
    history.previous.is_some()
        && history.prev_archive.is_none()
        && history.next_archive.is_none()
        && history.first.is_none()
        && history.last.is_none()
        && history.next.is_none()
        && !history.complete
}

/// Returns a link unless it leads to one of the document's own addresses.
fn elsewhere<'d, A: AsRef<str>>(link: Option<&'d str>, own: &[A]) -> Option<&'d str> {
    let link = link?;
    let is_own = |own: &A| canonical(own.as_ref()) == canonical(link);
    (!own.iter().any(is_own)).then_some(link)
}

/// Returns the address that the document names as the current document; `None` if this is one of the document's own
/// addresses.
fn current_elsewhere<'d, A: AsRef<str>>(document: &'d FeedDocument, own: &[A]) -> Option<&'d str> {
    elsewhere(document.history.current.as_deref(), own)
}

/// Checks whether a document is an archive, either because it is marked as one or because of its links alone.
fn says_archive<A: AsRef<str>>(document: &FeedDocument, own: &[A]) -> bool {
    let history = &document.history;
    history.archive
        || (history.next_archive.is_some() && current_elsewhere(document, own).is_some())
}

/// Checks whether a document links to a newer document. If so, it is neither the newest part of its feed nor the whole feed.
pub(crate) fn names_newer<A: AsRef<str>>(document: &FeedDocument, own: &[A]) -> bool {
    let history = &document.history;
    history.archive
        || history.next_archive.is_some()
        || current_elsewhere(document, own).is_some()
        || first_page_elsewhere(document, own).is_some()
}

/// Returns the address of the first page if this document is a later page of a paged feed. In such a document, `previous`
/// leads to a newer page (RFC 5005 section 3).
pub fn first_page_elsewhere<'d, A: AsRef<str>>(
    document: &'d FeedDocument,
    own: &[A],
) -> Option<&'d str> {
    let history = &document.history;
    let is_page = history.previous.is_some() && history.prev_archive.is_none();
    elsewhere(history.first.as_deref().filter(|_| is_page), own)
}

const fn is_paged(document: &FeedDocument) -> bool {
    let history = &document.history;
    history.first.is_some()
        || history.last.is_some()
        || history.next.is_some()
        || history.previous.is_some()
}

/// Returns the link to the next older archive: `prev-archive`, else `fh:prev`, else `previous` if it counts as an archive
/// link. The second value is true in the last case (SPEC C.2 rule 5). Not called for a complete subscription document
/// (SPEC C.2).
pub(crate) fn older_link(document: &FeedDocument, reached: Reached) -> Option<(&str, bool)> {
    let history = &document.history;
    if reached == Reached::PageLink {
        return None;
    }
    if let Some(link) = &history.prev_archive {
        return Some((link, false));
    }
    let by_rule_5 = matches!(reached, Reached::Subscribed | Reached::PreviousLink);
    let previous = history.previous.as_deref().filter(|_| previous_is_archive(document));
    previous.filter(|_| by_rule_5).map(|link| (link, true))
}

/// Checks whether a document states that the archive at a canonical address is missing (SPEC H.11).
pub(crate) fn states_missing(document: &FeedDocument, key: &str) -> bool {
    document.history.missing.iter().any(|missing| canonical(missing) == key)
}

/// Checks whether a document reached through a `previous` link is a page: it has a `next` link, or it names another document
/// as the first or last page.
pub fn is_page(document: &FeedDocument, own: &[&str]) -> bool {
    let history = &document.history;
    let ends = [&history.first, &history.last];
    let mut ends = ends.into_iter().flatten();
    history.next.is_some() || ends.any(|end| !own.contains(&canonical(end).as_str()))
}

/// What to do when the user subscribes to a document that may be an archive (SPEC C.2 rule 3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subscribed {
    /// The document is a subscription document, as expected.
    Rightly,
    /// It is an archive. Request this document, and if [`takes_over`] returns `Yes`, subscribe to it and treat the first document
    /// as an archive that is already fetched.
    ToAnArchiveOf(String),
    /// The document is an archive that does not name its subscription document. The document will therefore not change.
    ToAnArchive,
    /// The document is not an archive but links to a newer document (draft -05). Each poll follows the link once, and the
    /// subscription keeps its address.
    FollowOnce(String),
}

/// Classifies a document received at the address of a subscription. `own` contains the requested address and the address that
/// answered.
pub fn subscribed(document: &FeedDocument, own: &[&str]) -> Subscribed {
    let current = current_elsewhere(document, own).map(str::to_owned);
    match (says_archive(document, own), current) {
        (true, Some(current)) => Subscribed::ToAnArchiveOf(current),
        (true, None) => Subscribed::ToAnArchive,
        (false, Some(current)) => Subscribed::FollowOnce(current),
        (false, None) => Subscribed::Rightly,
    }
}

/// Whether the document that an archive names as its current document becomes the subscription document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakesOver {
    /// The document becomes the subscription document.
    Yes,
    /// The feed ids (or the addresses of the websites and the hosts, for documents without ids) differ, so the user is asked.
    Ask,
    /// The document does not become the subscription document: it is not a feed, is cut off, or is itself an archive.
    No,
}

/// Decides whether the document found at the address `to` becomes the subscription document of the feed (SPEC C.2 rule 3). The
/// document `first`, requested at `asked`, names it as current.
pub fn takes_over(
    (asked, first): (&str, &FeedDocument),
    (to, found): (&str, &FeedDocument),
) -> TakesOver {
    let is_whole = !found.is_truncated() && !found.lacks_end();
    if !found.kind.is_feed() || !is_whole || found.history.archive {
        return TakesOver::No;
    }
    // RSS has no feed id, so the addresses of the websites are compared instead.
    let known = |document: &FeedDocument| document.head.id.clone().or(document.head.link.clone());
    let is_known = known(first).is_some() && known(first) == known(found);
    let states_ids = first.head.id.is_some() && found.head.id.is_some();
    if is_known || (!states_ids && same_host(asked, to)) { TakesOver::Yes } else { TakesOver::Ask }
}

/// Checks whether two addresses have the same host.
pub fn same_host(a: &str, b: &str) -> bool {
    host(a).is_some() && host(a) == host(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{Kind, document};

    fn with(change: impl Fn(&mut document::HistoryLinks)) -> FeedDocument {
        let mut document = FeedDocument { kind: Kind::Atom, ..FeedDocument::default() };
        change(&mut document.history);
        document
    }

    fn link() -> Option<String> {
        Some("https://a.example/1".into())
    }

    #[test]
    fn the_first_rule_that_fits_names_the_kind() {
        use DocumentKind::{Archive, Archived, ArchivedByPrevious, Complete, Paged, Plain};
        let current = || Some("https://a.example/current".to_owned());
        let cases: [(FeedDocument, DocumentKind); 14] = [
            (with(|h| (h.complete, h.archive) = (true, true)), Archive),
            (with(|h| (h.next_archive, h.current) = (link(), current())), Archive),
            (with(|h| (h.complete, h.current) = (true, current())), Plain),
            (
                with(|h| (h.complete, h.current) = (true, Some("https://a.example".into()))),
                Complete,
            ),
            (with(|h| (h.complete, h.next_archive) = (true, link())), Plain),
            (with(|_| ()), Plain),
            (with(|h| (h.complete, h.prev_archive) = (true, link())), Complete),
            (with(|h| (h.complete, h.next) = (true, link())), Complete),
            (with(|h| h.archive = true), Archive),
            (with(|h| h.incremental = true), Archived),
            (with(|h| (h.prev_archive, h.next) = (link(), link())), Archived),
            (with(|h| h.previous = link()), ArchivedByPrevious),
            (with(|h| (h.previous, h.first) = (link(), link())), Paged),
            (with(|h| h.next = link()), Paged),
        ];
        for (document, kind) in cases {
            let own = ["https://a.example/"];
            assert_eq!(document_kind(&document, Reached::Subscribed, &own), kind, "{document:?}");
        }
    }

    #[test]
    fn an_archive_never_wipes_the_store() {
        let complete = with(|h| h.complete = true);
        let own = ["https://a.example/"];
        assert_eq!(document_kind(&complete, Reached::ArchiveLink, &own), DocumentKind::Archive);
    }

    #[test]
    fn previous_link_starts_archives_only_at_the_feed_document() {
        let document = with(|h| h.previous = link());
        for (reached, expected) in [
            (Reached::Subscribed, Some(("https://a.example/1", true))),
            (Reached::PreviousLink, Some(("https://a.example/1", true))),
            (Reached::ArchiveLink, None),
            (Reached::PageLink, None),
        ] {
            assert_eq!(older_link(&document, reached), expected, "{reached:?}");
        }
    }

    #[test]
    fn subscribing_to_an_archive_leads_to_the_current_feed() {
        let archive = with(|h| (h.archive, h.current) = (true, link()));
        let own = ["https://a.example/0", "HTTPS://A.example/1"];
        assert_eq!(
            subscribed(&archive, &own[..1]),
            Subscribed::ToAnArchiveOf("https://a.example/1".into())
        );
        assert_eq!(subscribed(&archive, &own), Subscribed::ToAnArchive);
        let newer = with(|h| h.current = link());
        assert_eq!(
            subscribed(&newer, &own[..1]),
            Subscribed::FollowOnce("https://a.example/1".into())
        );
        assert_eq!(subscribed(&newer, &own), Subscribed::Rightly);
    }
}
