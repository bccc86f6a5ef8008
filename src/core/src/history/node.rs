//! The fetched archives of a feed. None is fetched again unless the user rereads the whole history (SPEC C.9).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher as _;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use super::gap::Reason;
use super::record::HistoryRecord;
use crate::feed::FeedDocument;
use crate::feed::fingerprint::content_hash;

/// Hash keys of [`fingerprint`]. Stored fingerprints depend on them, so they never change.
const KEYS: (u64, u64) = (0x6172_6368_6976_6520, 0x7468_6174_206d_6f76);

/// An archive that was fetched, or an alias of one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchiveNode {
    /// State of the archive.
    pub state: NodeState,
    /// Address of the archive, as requested.
    pub url: String,
    /// Canonical address of the next older archive; `None` if there is none.
    pub prev: Option<String>,
    /// Number of the archive walk that fetched the archive.
    pub epoch: u32,
    /// Distance from the subscription document in that walk.
    pub depth: u32,
    /// Time at which the archive was fetched.
    pub fetched_at: DateTime<Utc>,
    /// Time of the last change, as stated in the archive.
    pub document_time: Option<DateTime<Utc>>,
    /// Number of entries in the archive.
    pub entries: u32,
    /// Newest and oldest date among the entries.
    pub span: Option<(DateTime<Utc>, DateTime<Utc>)>,
    /// Hash of the contents ([`fingerprint`]).
    pub fingerprint: u64,
}

/// The state of an archive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeState {
    /// Its entries are merged.
    #[default]
    Applied,
    /// Its entries are merged, but another address replaced it in the chain.
    Superseded,
    /// An alias of the archive with this canonical address.
    AliasOf(String),
    /// Nothing is merged from it: it is a listing of other archives or a missing page.
    Empty,
}

/// Returns a hash of a document's contents that does not depend on the order of its entries. Archives should not change
/// (SPEC S2.6); the hash detects those that do.
pub(crate) fn fingerprint(document: &FeedDocument) -> u64 {
    let contents: BTreeSet<(&str, u128)> =
        document.entries.iter().map(|entry| (entry.id.as_str(), content_hash(entry))).collect();
    let mut hasher = SipHasher13::new_with_keys(KEYS.0, KEYS.1);
    for (id, content) in contents {
        hasher.write(id.as_bytes());
        hasher.write_u8(0x1f);
        hasher.write_u128(content);
    }
    hasher.finish()
}

/// All fetched archives of one feed, by canonical address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nodes {
    kept: BTreeMap<String, ArchiveNode>,
    /// Addresses changed since [`Nodes::take_touched`].
    #[serde(skip)]
    touched: BTreeSet<String>,
}

/// The end of a chain of known archives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// An archive without a link: there is nothing older.
    NoLink,
    /// A gap.
    Gap,
    /// An archive that is still to be fetched.
    Frontier,
    /// An archive that the chain already passed.
    Loop {
        /// The archive that was reached twice.
        at: String,
        /// The archive whose link led to it.
        from: String,
        /// That link.
        link: String,
    },
    /// An address about which nothing is known. This must never happen (SPEC C.9).
    Dangling(String),
}

impl Nodes {
    /// Creates the set from stored records.
    pub fn from_records(records: impl IntoIterator<Item = (String, ArchiveNode)>) -> Self {
        Self { kept: records.into_iter().collect(), touched: BTreeSet::new() }
    }

    /// Finds the archive known under an address, together with the address under which it is stored.
    pub fn find(&self, key: &str) -> Option<(&str, &ArchiveNode)> {
        let (kept, node) = self.kept.get_key_value(key)?;
        match &node.state {
            NodeState::AliasOf(other) => {
                self.kept.get_key_value(other).map(|(kept, node)| (kept.as_str(), node))
            }
            NodeState::Applied | NodeState::Superseded | NodeState::Empty => Some((kept, node)),
        }
    }

    /// Adds an archive or an alias.
    pub fn insert(&mut self, key: String, node: ArchiveNode) {
        self.touched.insert(key.clone());
        self.kept.insert(key, node);
    }

    /// Marks archives as superseded if they link to the same older archive as the one at `by` (SPEC C.9).
    pub(super) fn supersede(&mut self, by: &str, prev: &str) {
        for (key, node) in &mut self.kept {
            let same = node.state == NodeState::Applied && node.prev.as_deref() == Some(prev);
            if same && key != by {
                node.state = NodeState::Superseded;
                self.touched.insert(key.clone());
            }
        }
    }

    /// Removes all archive records; the archives' entries are kept.
    pub(super) fn clear(&mut self) {
        self.touched.extend(self.kept.keys().cloned());
        self.kept.clear();
    }

    /// Returns the number of archives and aliases.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Checks whether there are no archives.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Iterates over all archives, including aliases.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ArchiveNode)> {
        self.kept.iter().map(|(key, node)| (key.as_str(), node))
    }

    /// Checks whether any record has changed since [`Nodes::take_touched`].
    pub fn are_touched(&self) -> bool {
        !self.touched.is_empty()
    }

    /// Returns the records changed since the last call, by address; `None` for a removed one.
    pub fn take_touched(&mut self) -> Vec<(String, Option<ArchiveNode>)> {
        let touched = std::mem::take(&mut self.touched);
        touched.into_iter().map(|key| (key.clone(), self.kept.get(&key).cloned())).collect()
    }

    /// Follows the chain from a link to its end. `newer` is the archive that holds the link.
    pub(crate) fn chain_end(&self, record: &HistoryRecord, newer: Option<&str>, link: &str) -> End {
        let mut passed: BTreeSet<&str> = newer.into_iter().collect();
        let (mut newer, mut link) = (newer, link);
        loop {
            if let Some(end) = stop(record, newer, link) {
                return end;
            }
            let Some((key, node)) = self.find(link) else { return End::Dangling(link.to_owned()) };
            if !passed.insert(key) {
                let from = newer.unwrap_or_default().to_owned();
                return End::Loop { at: key.to_owned(), from, link: link.to_owned() };
            }
            match node.prev.as_deref() {
                Some(prev) => (newer, link) = (Some(key), prev),
                None => return End::NoLink,
            }
        }
    }

    /// Checks the invariant of SPEC C.9: from every archive, and from the subscription document, following the links
    /// ends at an archive without a link, a gap or a frontier. The error describes the violation.
    pub fn check_invariant(&self, record: &HistoryRecord) -> Result<(), String> {
        let mut sound: BTreeSet<&str> = BTreeSet::new();
        let head = record.head.as_ref().map(|edge| (None, edge.key.as_str()));
        let links = self.kept.iter().filter_map(|(key, node)| match node.state {
            NodeState::Applied | NodeState::Superseded | NodeState::Empty => {
                Some((Some(key.as_str()), node.prev.as_deref()?))
            }
            NodeState::AliasOf(_) => None,
        });
        for (from, link) in head.into_iter().chain(links) {
            let mut path: BTreeSet<&str> = from.into_iter().collect();
            let (mut newer, mut link) = (from, link);
            while stop(record, newer, link).is_none() {
                let Some((key, node)) = self.find(link) else {
                    return Err(format!("there is no record of {link}, which {newer:?} links to"));
                };
                if sound.contains(key) {
                    break;
                }
                if !path.insert(key) {
                    return Err(format!(
                        "the chain from {from:?} loops at {key}, but no gap records it"
                    ));
                }
                let Some(prev) = node.prev.as_deref() else { break };
                (newer, link) = (Some(key), prev);
            }
            sound.extend(path);
        }
        Ok(())
    }
}

/// Returns the gap or the frontier at which a link ends, if any.
fn stop(record: &HistoryRecord, newer: Option<&str>, link: &str) -> Option<End> {
    if record.frontiers.iter().any(|frontier| frontier.edge.key == link && !frontier.again) {
        return Some(End::Frontier);
    }
    let ends = record.gaps.values().any(|gap| {
        gap.edge.key == link
            && (gap.reason != Reason::Loop || gap.edge.newer.archive.as_deref() == newer)
    });
    ends.then_some(End::Gap)
}
