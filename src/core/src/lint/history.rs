//! Checks of archives, pages and completeness: the combined meaning of links and marks (RFC 5005, SPEC C.2, C.4, D.6), and an
//! archive next to the neighbouring documents of its chain (SPEC C.9).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use url::Url;

use super::table::{self, Findings, LintInput, Rule};
use crate::feed::fingerprint::content_hash;
use crate::feed::{DocumentRole, FeedDocument, HistoryLinks, Kind, Link};
use crate::history::address::{canonical, is_nearby};
use crate::history::kind::states_missing;

/// Checks the history of a document.
pub(super) fn check(input: &LintInput<'_>, findings: &mut Findings) {
    let document = input.document;
    let history = &document.history;
    let mut review = Review { input, history, findings };
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
    input: &'e LintInput<'e>,
    history: &'e HistoryLinks,
    findings: &'f mut Findings,
}

impl Review<'_, '_> {
    fn say(&mut self, rule: Rule<'_>, text: &str) {
        self.findings.say(rule, text, &[]);
    }

    /// Checks the address that the document states as its own.
    fn own_address(&mut self) {
        let own = if self.input.document.kind == Kind::Json { "feed_url" } else { "self" };
        match (self.history.this.as_deref(), self.input.url) {
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
        let home = self.input.url.or(self.history.this.as_deref());
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
        self.input.document.links.iter().find(|link| link.rel == rel)
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

/// A document of the chain, reduced to the parts that are compared with its neighbours.
#[derive(Debug)]
pub(super) struct ChainDocument {
    /// Canonical form of the requested address.
    pub(super) asked: String,
    /// Canonical form of the address that answered.
    pub(super) answered: String,
    /// Whether this is an archive rather than the subscription document.
    pub(super) is_archive: bool,
    /// Content hash of each entry, by id.
    contents: BTreeMap<String, u128>,
    newest: Option<DateTime<Utc>>,
    /// Feed id stated by the publisher.
    feed_id: Option<String>,
}

impl ChainDocument {
    pub(super) fn new(
        asked: &str,
        answered: &str,
        is_archive: bool,
        document: &FeedDocument,
    ) -> Self {
        let dates = document.entries.iter().filter_map(|entry| entry.published.or(entry.updated));
        Self {
            asked: canonical(asked),
            answered: canonical(answered),
            is_archive,
            contents: document
                .entries
                .iter()
                .map(|entry| (entry.id.clone(), content_hash(entry)))
                .collect(),
            newest: dates.max(),
            feed_id: document.head.id.clone(),
        }
    }

    fn is_at(&self, address: &str) -> bool {
        let address = canonical(address);
        address == self.asked || address == self.answered
    }
}

/// An archive to be checked, and the documents of the chain that were found before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChainNeighbours<'a> {
    pub(super) document: &'a FeedDocument,
    /// The archive itself.
    pub(super) here: &'a ChainDocument,
    /// Document whose link led to the archive; it should be newer.
    pub(super) newer: &'a ChainDocument,
    /// Subscription document of the feed.
    pub(super) subscription: &'a ChainDocument,
    /// All documents of the chain found before this archive, newest first.
    pub(super) before: &'a [ChainDocument],
}

/// Checks an archive against the subscription document and against the newer documents of its chain.
pub(super) fn check_chain(links: &ChainNeighbours<'_>, findings: &mut Findings) {
    let ChainNeighbours { document, here, subscription, .. } = *links;
    let history = &document.history;
    if !history.archive {
        findings.say(table::UNMARKED_ARCHIVE, "", &[]);
        if history.current.is_none() {
            findings.say(table::ARCHIVE_WITHOUT_CURRENT, "", &[]);
        }
    }
    if document.role == DocumentRole::Complete {
        findings.say(table::WHOLE_ARCHIVE, "", &[]);
    }
    if let Some(current) = history.current.as_deref().filter(|current| !subscription.is_at(current))
    {
        findings.say(table::OTHER_CURRENT, current, &[]);
    }
    if let Some(this) = history.this.as_deref().filter(|this| !here.is_at(this)) {
        let is_feed = subscription.is_at(this);
        let rule = if is_feed { table::SUBSCRIPTION_AS_SELF } else { table::ARCHIVE_SELF };
        findings.say(rule, this, &[]);
    }
    if here.feed_id.is_some()
        && subscription.feed_id.is_some()
        && here.feed_id != subscription.feed_id
    {
        let id = here.feed_id.as_deref().unwrap_or_default();
        findings.say(table::OTHER_FEED_ID, id, &[]);
    }
    newer_neighbour(links, findings);
    order(links, findings);
    overlap(links, findings);
}

fn newer_neighbour(links: &ChainNeighbours<'_>, findings: &mut Findings) {
    let ChainNeighbours { document, newer, .. } = *links;
    let history = &document.history;
    let stated =
        history.next_archive.as_deref().filter(|next| states_missing(document, &canonical(next)));
    if let Some(next) = stated {
        findings.say(table::STATED_GAP, next, &[]);
        return;
    }
    match history.next_archive.as_deref() {
        Some(next) if newer.is_archive && !newer.is_at(next) => {
            findings.say(table::SKIPPING_LINK, next, &[]);
        }
        Some(next) if !newer.is_archive && !newer.is_at(next) => {
            findings.say(table::UNLINKED_NEWEST, next, &[]);
        }
        None if newer.is_archive && history.prev_archive.is_none() => {
            findings.say(table::LONELY_ARCHIVE, "", &[]);
        }
        None if newer.is_archive => findings.say(table::NO_NEXT, "", &[]),
        Some(_) | None => {}
    }
}

/// Checks that the newest entry of an archive is not newer than all entries of the document that links to the archive.
fn order(links: &ChainNeighbours<'_>, findings: &mut Findings) {
    if let (Some(here), Some(newer)) = (links.here.newest, links.newer.newest)
        && here > newer
    {
        let text = here.format("%Y-%m-%d").to_string();
        findings.say(table::OUT_OF_ORDER, &text, &[]);
    }
}

/// Reports entries of an archive that are also in a newer archive.
fn overlap(links: &ChainNeighbours<'_>, findings: &mut Findings) {
    let (mut same, mut changed) = (Vec::new(), 0_usize);
    for (id, content) in &links.here.contents {
        let mut archives = links.before.iter().filter(|met| met.is_archive);
        match archives.find_map(|met| met.contents.get(id)) {
            Some(newer) if newer == content => same.push(id),
            Some(_) => changed = changed.saturating_add(1),
            None => {}
        }
    }
    if let Some(first) = same.first() {
        findings.say(table::REPEATED_ENTRIES, first, &[&same.len()]);
    }
    if changed > 0 {
        findings.say(table::CHANGED_ENTRIES, "", &[&changed]);
    }
}
