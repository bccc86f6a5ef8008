//! The archives of a feed that were fetched: never fetched again unless the reader wants all re-read (SPEC C.9).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher as _;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use super::gap::Reason;
use super::record::HistoryRecord;
use crate::feed::FeedDocument;
use crate::feed::fingerprint::content_hash;

/// Keys of [`fingerprint`]. They are part of what is stored and never change.
const KEYS: (u64, u64) = (0x6172_6368_6976_6520, 0x7468_6174_206d_6f76);

/// An archive that was fetched, or another name of one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchiveNode {
    /// What became of it.
    pub state: NodeState,
    /// Its address as it was asked for.
    pub url: String,
    /// Canonical address of the next older archive; `None`: nothing is older.
    pub prev: Option<String>,
    /// Number of the walk that fetched it.
    pub epoch: u32,
    /// Its distance from the subscription document in that walk.
    pub depth: u32,
    /// When it was fetched.
    pub fetched_at: DateTime<Utc>,
    /// When it says it was changed.
    pub document_time: Option<DateTime<Utc>>,
    /// Entries it held.
    pub entries: u32,
    /// Newest and oldest date among them.
    pub span: Option<(DateTime<Utc>, DateTime<Utc>)>,
    /// What it held, as a number ([`fingerprint`]).
    pub fingerprint: u64,
}

/// What became of an archive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeState {
    /// Its entries are kept.
    #[default]
    Applied,
    /// The same, but another address took its place in the chain.
    Superseded,
    /// Another name of the archive with this canonical address.
    AliasOf(String),
    /// Nothing is taken from it: a listing of others, or a page that is not there.
    Empty,
}

/// What a document holds, as a number that does not depend on the order of its entries: archives should not
/// change (SPEC S2.6), and one that did can be told.
pub fn fingerprint(document: &FeedDocument) -> u64 {
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

/// All archives of one feed that were fetched, by canonical address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nodes {
    kept: BTreeMap<String, ArchiveNode>,
    /// Addresses changed since [`Nodes::take_touched`].
    #[serde(skip)]
    touched: BTreeSet<String>,
}

/// Where a chain of known archives ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// At an archive without a link: nothing is older.
    NoLink,
    /// At a gap.
    Gap,
    /// At an archive that is still to be fetched.
    Frontier,
    /// Where it passed before.
    Loop {
        /// The archive that was met again.
        at: String,
        /// The archive whose link led there.
        from: String,
        /// That link.
        link: String,
    },
    /// At an address nothing is known of. This must never be (SPEC C.9).
    Dangling(String),
}

impl Nodes {
    /// Those with these records, as a store kept them.
    pub fn from_records(records: impl IntoIterator<Item = (String, ArchiveNode)>) -> Self {
        Self { kept: records.into_iter().collect(), touched: BTreeSet::new() }
    }

    /// The archive known under an address, and the address it is kept under.
    pub fn find(&self, key: &str) -> Option<(&str, &ArchiveNode)> {
        let (kept, node) = self.kept.get_key_value(key)?;
        match &node.state {
            NodeState::AliasOf(other) => {
                self.kept.get_key_value(other).map(|(kept, node)| (kept.as_str(), node))
            }
            NodeState::Applied | NodeState::Superseded | NodeState::Empty => Some((kept, node)),
        }
    }

    /// Keeps an archive, or another name of one.
    pub fn insert(&mut self, key: String, node: ArchiveNode) {
        self.touched.insert(key.clone());
        self.kept.insert(key, node);
    }

    /// Another address took the place of an archive that leads to the same older one (SPEC C.9).
    pub(super) fn supersede(&mut self, by: &str, prev: &str) {
        for (key, node) in &mut self.kept {
            let same = node.state == NodeState::Applied && node.prev.as_deref() == Some(prev);
            if same && key != by {
                node.state = NodeState::Superseded;
                self.touched.insert(key.clone());
            }
        }
    }

    /// Forgets all archives; their entries stay.
    pub(super) fn clear(&mut self) {
        self.touched.extend(self.kept.keys().cloned());
        self.kept.clear();
    }

    /// Names and archives kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether none was fetched.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// All of them, aliases included.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ArchiveNode)> {
        self.kept.iter().map(|(key, node)| (key.as_str(), node))
    }

    /// Whether anything is to be written.
    pub fn are_touched(&self) -> bool {
        !self.touched.is_empty()
    }

    /// What is to be written since the last call: records by address, `None` for one that is gone.
    pub fn take_touched(&mut self) -> Vec<(String, Option<ArchiveNode>)> {
        let touched = std::mem::take(&mut self.touched);
        touched.into_iter().map(|key| (key.clone(), self.kept.get(&key).cloned())).collect()
    }

    /// Where the chain below a link ends. `newer` is the archive that holds the link.
    pub fn chain_end(&self, record: &HistoryRecord, newer: Option<&str>, link: &str) -> End {
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

    /// The invariant of SPEC C.9: from every archive, and from the subscription document, following the links
    /// ends at no link, a gap or a frontier. Says what is wrong.
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
                    return Err(format!("nothing is known of {link}, to which {newer:?} leads"));
                };
                if sound.contains(key) {
                    break;
                }
                if !path.insert(key) {
                    return Err(format!(
                        "the chain from {from:?} loops at {key} and no gap says so"
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

/// Whether a link ends at a gap or at a frontier.
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
