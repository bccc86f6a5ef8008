//! Checks of an archive against the neighbouring documents in its chain (RFC 5005 §4, SPEC C.4, C.9).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::table::{self, Findings};
use crate::feed::fingerprint::content_hash;
use crate::feed::{DocumentRole, FeedDocument};
use crate::history::address::canonical;
use crate::history::kind::states_missing;

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
pub(super) fn check(links: &ChainNeighbours<'_>, findings: &mut Findings) {
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
