//! Checks of archives, pages and completeness: the combined meaning of links and marks (RFC 5005, SPEC C.2, C.4, D.6).

use url::Url;

use super::finding::{Findings, Level, Topic};
use super::lint_input::LintInput;
use crate::feed::{DocumentRole, HistoryLinks, Kind, Link};
use crate::history::address::is_nearby;

/// Checks the history of a document.
pub(super) fn check(exhibit: &LintInput<'_>, findings: &mut Findings) {
    let document = exhibit.document;
    let history = &document.history;
    let mut review = Review { exhibit, history, findings };
    review.own_address();
    review.links();
    match document.role {
        DocumentRole::Subscription => review.subscription(),
        DocumentRole::Archive => review.archive(),
        DocumentRole::Complete => review.complete(),
        DocumentRole::Paged => review.paged(),
        DocumentRole::Plain => review.plain(),
    }
    review.same_document();
    review.missing();
}

struct Review<'e, 'f> {
    exhibit: &'e LintInput<'e>,
    history: &'e HistoryLinks,
    findings: &'f mut Findings,
}

impl Review<'_, '_> {
    fn note(&mut self, element: &str, text: &str, message: &str) {
        self.findings.add(Level::Note, Topic::History, element, text, message);
    }

    fn warn(&mut self, element: &str, text: &str, message: &str) {
        self.findings.warn(Topic::History, element, text, message);
    }

    /// Checks the address that the document states as its own.
    fn own_address(&mut self) {
        let own = if self.exhibit.document.kind == Kind::Json { "feed_url" } else { "self" };
        match (self.history.this.as_deref(), self.exhibit.url) {
            (None, _) => {
                self.note(own, "", "none: a reader cannot tell the address of a saved copy");
            }
            (Some(this), Some(url)) if !same(this, url) && !self.history.archive => {
                self.note(own, this, "not the address it was read from");
            }
            (Some(_), _) => {}
        }
    }

    /// Checks the addresses that the document links to: they must be resolvable, secure, and not in a private network.
    fn links(&mut self) {
        let history = self.history;
        let links = [
            ("current", &history.current, "the document to subscribe to"),
            ("prev-archive", &history.prev_archive, "the archive before this document"),
            ("next-archive", &history.next_archive, "the archive after this document"),
            ("first", &history.first, "the first page"),
            ("next", &history.next, "the next page"),
            ("previous", &history.previous, "the previous page"),
            ("last", &history.last, "the last page"),
        ];
        for (rel, address, meaning) in links {
            if let Some(address) = address {
                self.link(rel, address, meaning);
            }
        }
    }

    fn link(&mut self, rel: &str, address: &str, meaning: &str) {
        let Ok(target) = Url::parse(address) else {
            let message = "relative: it can be resolved only with the document's address (--url)";
            self.note(rel, address, message);
            return;
        };
        let home = self.exhibit.url.or(self.history.this.as_deref());
        let home = home.and_then(|home| Url::parse(home).ok());
        if !matches!(target.scheme(), "http" | "https") || !target.username().is_empty() {
            self.warn(
                rel,
                address,
                "only http and https without a user name are followed: ignored",
            );
        } else if home.as_ref().is_some_and(|home| home.scheme() == "https")
            && target.scheme() == "http"
        {
            self.warn(rel, address, "leads from https to http: readers refuse to follow it");
        } else if is_nearby(&target) && home.is_some_and(|home| home.host() != target.host()) {
            self.warn(rel, address, "leads into a private network: readers refuse to follow it");
        } else {
            self.note(rel, address, meaning);
        }
    }

    fn subscription(&mut self) {
        let history = self.history;
        let stated = self.stated("prev-archive").is_some();
        match &history.prev_archive {
            Some(address) if !stated => self.warn(
                "fh:prev",
                address,
                "from an old draft: read as prev-archive here, but few readers know it",
            ),
            Some(_) => {
                self.note("prev-archive", "", "readers fetch older entries from the archives");
            }
            None if history.incremental => {
                self.warn(
                    "fh:incremental",
                    "true",
                    "older entries exist, but no link leads to them",
                );
            }
            None => {
                let address = history.previous.as_deref().unwrap_or_default();
                let message = "an archive link of an old draft: readers ask the user once before they follow it; \
                               use prev-archive instead";
                self.warn("previous", address, message);
            }
        }
        if history.next_archive.is_some() {
            let message = "a subscription document has no later archive; mark archive documents with fh:archive";
            self.warn("next-archive", "", message);
        }
        if history.prev_archive.is_some() && self.has_pages() {
            let message =
                "archive and paging links have no meaning together: the paging links are ignored";
            self.warn("next", "", message);
        }
        self.wandering();
    }

    fn archive(&mut self) {
        let history = self.history;
        if history.complete {
            self.warn("fh:complete", "", "an archive document cannot be the whole feed: ignored");
        }
        match &history.current {
            None => {
                let message = "none: if you subscribe to this archive by mistake, readers cannot find the feed";
                self.warn("current", "", message);
            }
            Some(current) if history.this.as_ref().is_some_and(|this| same(this, current)) => {
                let message = "names the subscription document, not this archive: ignored";
                self.warn("self", current, message);
            }
            Some(_) => {}
        }
        if history.prev_archive.is_none() && self.stated("prev-archive").is_none() {
            self.note("prev-archive", "", "none: this is the oldest archive, so readers stop here");
        }
        if history.next_archive.is_none() {
            self.note("next-archive", "", "none: correct only in the newest archive");
        }
        if self.has_pages() {
            self.warn("next", "", "paging links in an archive document have no meaning: ignored");
        }
    }

    fn complete(&mut self) {
        let message =
            "this document is the whole feed: entries that are not in it count as withdrawn";
        self.note("fh:complete", "", message);
    }

    fn paged(&mut self) {
        let message = "only this document is polled; older pages are loaded on request, and the list is never \
                       shown as complete";
        self.note("next", "", message);
        if self.history.next.is_none() {
            self.note("next", "", "none: no older page is offered");
        }
        if self.history.next_archive.is_some() {
            let message =
                "has no meaning without prev-archive or fh:archive: the document counts as a page";
            self.warn("next-archive", "", message);
        }
        self.wandering();
    }

    fn plain(&mut self) {
        if self.history.next_archive.is_some() {
            self.warn("next-archive", "", "has no meaning without fh:archive");
        } else {
            let message = "no archives and no pages: a new reader sees only these entries";
            self.note("feed", "", message);
        }
        self.wandering();
    }

    /// Reports a `current` link in a document that is not an archive (SPEC C.2 rule 3).
    fn wandering(&mut self) {
        if let Some(current) = &self.history.current {
            let message =
                "in a document without fh:archive: followed once, without changing the address";
            self.note("current", current, message);
        }
    }

    /// Reports links that lead to the document itself. Readers ignore such links (SPEC C.4).
    fn same_document(&mut self) {
        let history = self.history;
        let walked = [
            ("prev-archive", history.prev_archive.is_some()),
            ("next-archive", history.next_archive.is_some()),
            ("next", history.next.is_some()),
        ];
        for (rel, is_walkable) in walked {
            let Some(link) = self.stated(rel).filter(|_| !is_walkable) else { continue };
            let address = link.href.clone();
            self.warn(rel, &address, "leads to the document itself: ignored");
        }
    }

    /// Reports archives that are stated to be missing although no link leads to them, so that nobody notices (SPEC H.11).
    fn missing(&mut self) {
        let history = self.history;
        let linked = [history.prev_archive.as_deref(), history.next_archive.as_deref()];
        for missing in &history.missing {
            if !linked.iter().flatten().any(|link| same(link, missing)) {
                let message = "stated to be missing, but no archive link leads to it: ignored";
                self.warn("sched:missing", missing, message);
            }
        }
    }

    fn stated(&self, rel: &str) -> Option<&Link> {
        self.exhibit.document.links.iter().find(|link| link.rel == rel)
    }

    const fn has_pages(&self) -> bool {
        self.history.first.is_some()
            || self.history.last.is_some()
            || self.history.next.is_some()
            || self.history.previous.is_some()
    }
}

/// Checks whether two addresses are equal after normalization, ignoring fragments.
fn same(one: &str, other: &str) -> bool {
    let parsed = |address: &str| {
        let mut url = Url::parse(address).ok()?;
        url.set_fragment(None);
        Some(url)
    };
    match (parsed(one), parsed(other)) {
        (Some(one), Some(other)) => one == other,
        (_, _) => one == other,
    }
}
