//! Checks of archives, pages and completeness: the combined meaning of links and marks (RFC 5005, SPEC C.2, C.4, D.6).

use url::Url;

use super::lint_input::LintInput;
use super::table::{self, Findings, Rule};
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
        DocumentRole::Complete => review.say(table::COMPLETE, ""),
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
    fn say(&mut self, rule: Rule<'_>, text: &str) {
        self.findings.say(rule, text, &[]);
    }

    /// Checks the address that the document states as its own.
    fn own_address(&mut self) {
        let own = if self.exhibit.document.kind == Kind::Json { "feed_url" } else { "self" };
        match (self.history.this.as_deref(), self.exhibit.url) {
            (None, _) => self.say(table::NO_SELF.of(own), ""),
            (Some(this), Some(url)) if !same(this, url) && !self.history.archive => {
                self.say(table::MOVED_SELF.of(own), this);
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
            return self.say(table::RELATIVE_LINK.of(rel), address);
        };
        let home = self.exhibit.url.or(self.history.this.as_deref());
        let home = home.and_then(|home| Url::parse(home).ok());
        if !matches!(target.scheme(), "http" | "https") || !target.username().is_empty() {
            self.say(table::OTHER_SCHEME.of(rel), address);
        } else if home.as_ref().is_some_and(|home| home.scheme() == "https")
            && target.scheme() == "http"
        {
            self.say(table::TO_HTTP.of(rel), address);
        } else if is_nearby(&target) && home.is_some_and(|home| home.host() != target.host()) {
            self.say(table::TO_PRIVATE.of(rel), address);
        } else {
            self.findings.say(table::LINK.of(rel), address, &[&meaning]);
        }
    }

    fn subscription(&mut self) {
        let history = self.history;
        let stated = self.stated("prev-archive").is_some();
        match &history.prev_archive {
            Some(address) if !stated => self.say(table::OLD_PREV, address),
            Some(_) => self.say(table::ARCHIVES_OFFERED, ""),
            None if history.incremental => self.say(table::UNLINKED_ARCHIVES, "true"),
            None => self.say(table::OLD_PREVIOUS, history.previous.as_deref().unwrap_or_default()),
        }
        if history.next_archive.is_some() {
            self.say(table::NEXT_OF_SUBSCRIPTION, "");
        }
        if history.prev_archive.is_some() && self.has_pages() {
            self.say(table::PAGES_AND_ARCHIVES, "");
        }
        self.wandering();
    }

    fn archive(&mut self) {
        let history = self.history;
        if history.complete {
            self.say(table::COMPLETE_ARCHIVE, "");
        }
        match &history.current {
            None => self.say(table::NO_CURRENT, ""),
            Some(current) if history.this.as_ref().is_some_and(|this| same(this, current)) => {
                self.say(table::OTHER_SELF, current);
            }
            Some(_) => {}
        }
        if history.prev_archive.is_none() && self.stated("prev-archive").is_none() {
            self.say(table::OLDEST_ARCHIVE, "");
        }
        if history.next_archive.is_none() {
            self.say(table::NEWEST_ARCHIVE, "");
        }
        if self.has_pages() {
            self.say(table::PAGES_OF_ARCHIVE, "");
        }
    }

    fn paged(&mut self) {
        self.say(table::PAGED, "");
        if self.history.next.is_none() {
            self.say(table::LAST_PAGE, "");
        }
        if self.history.next_archive.is_some() {
            self.say(table::NEXT_OF_PAGE, "");
        }
        self.wandering();
    }

    fn plain(&mut self) {
        if self.history.next_archive.is_some() {
            self.say(table::NEXT_OF_PLAIN, "");
        } else {
            self.say(table::NO_ARCHIVES.of("feed"), "");
        }
        self.wandering();
    }

    /// Reports a `current` link in a document that is not an archive (SPEC C.2 rule 3).
    fn wandering(&mut self) {
        if let Some(current) = &self.history.current {
            self.say(table::CURRENT_FOLLOWED, current);
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
            self.say(table::TO_ITSELF.of(rel), &address);
        }
    }

    /// Reports archives that are stated to be missing although no link leads to them, so that nobody notices (SPEC H.11).
    fn missing(&mut self) {
        let history = self.history;
        let linked = [history.prev_archive.as_deref(), history.next_archive.as_deref()];
        for missing in &history.missing {
            if !linked.iter().flatten().any(|link| same(link, missing)) {
                self.say(table::UNLINKED_MISSING, missing);
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
