//! The fetched archives of a feed. An archive is not fetched again unless the user rereads the whole history (SPEC C.9).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher as _;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use super::proof::Doubt;
use crate::feed::FeedDocument;
use crate::feed::fingerprint::content_hash;
use crate::feed::hints::is_default;

/// Keys of the hash function of [`fingerprint`]. Fingerprints are stored, so these values must never change.
const KEYS: (u64, u64) = (0x6172_6368_6976_6520, 0x7468_6174_206d_6f76);

/// The record of a fetched archive, or of another address (alias) of one.
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
    /// Number of archives between this one and the subscription document in that walk.
    pub depth: u32,
    /// Time at which the archive was fetched.
    pub fetched_at: DateTime<Utc>,
    /// Time of the last change, as stated in the archive document.
    pub document_time: Option<DateTime<Utc>>,
    /// Number of entries in the archive.
    pub entries: u32,
    /// Newest and oldest date among the archive's entries.
    pub span: Option<(DateTime<Utc>, DateTime<Utc>)>,
    /// Hash of the archive's contents, computed by [`fingerprint`].
    pub fingerprint: u64,
    /// Identity hashes of the archive's entries.
    #[serde(skip_serializing_if = "is_default")]
    pub ids: Vec<u64>,
    /// Why the archive does not prove that its part of the history is whole.
    #[serde(skip_serializing_if = "is_default")]
    pub flaw: Option<Doubt>,
    /// Whether the archive was the newest one and shared no entry with the subscription document, so that the entries between
    /// the two may be added to it later.
    #[serde(skip_serializing_if = "is_default")]
    pub is_apart: bool,
}

/// The state of an archive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeState {
    /// The archive's entries are merged.
    #[default]
    Applied,
    /// The archive's entries are merged, but an archive at another address has replaced it in the chain.
    Superseded,
    /// The record's address is an alias of the archive with this canonical address.
    AliasOf(String),
    /// No entries are merged from this document, because it is a listing of captures, a missing page, or a document that
    /// repeats a known one.
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
    pub(super) kept: BTreeMap<String, ArchiveNode>,
    /// Addresses whose records have changed since the last call of [`Nodes::take_touched`].
    #[serde(skip)]
    touched: BTreeSet<String>,
}

/// Where a chain of known archives ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The chain ends at an archive without a link to an older one: there is nothing older.
    NoLink,
    /// The chain ends at a gap.
    Gap,
    /// The chain ends at an archive that is still to be fetched.
    Frontier,
    /// The chain returns to an archive that it already passed.
    Loop {
        /// The archive that was reached twice.
        at: String,
        /// The archive whose link led to `at`.
        from: String,
        /// The canonical address in the link that closes the loop.
        link: String,
    },
    /// The chain ends at an address about which nothing is recorded. This must never happen (SPEC C.9).
    Dangling(String),
}

impl Nodes {
    /// Creates the set from stored records.
    pub fn from_records(records: impl IntoIterator<Item = (String, ArchiveNode)>) -> Self {
        Self { kept: records.into_iter().collect(), touched: BTreeSet::new() }
    }

    /// Finds the archive with the given address or alias. Also returns the address under which its record is stored.
    pub fn find(&self, key: &str) -> Option<(&str, &ArchiveNode)> {
        let (kept, node) = self.kept.get_key_value(key)?;
        match &node.state {
            NodeState::AliasOf(other) => {
                self.kept.get_key_value(other).map(|(kept, node)| (kept.as_str(), node))
            }
            NodeState::Applied | NodeState::Superseded | NodeState::Empty => Some((kept, node)),
        }
    }

    /// Forgets which entries the archives have, which nothing asks of a copy.
    pub(super) fn drop_ids(&mut self) {
        self.kept.values_mut().for_each(|node| node.ids = Vec::new());
        self.touched.clear();
    }

    /// Adds the record of an archive or of an alias.
    pub fn insert(&mut self, key: String, node: ArchiveNode) {
        self.touched.insert(key.clone());
        self.kept.insert(key, node);
    }

    /// Marks archives as superseded if they link to the same older archive as the one at `by`, or if neither links to one and
    /// their addresses differ in the query only (SPEC C.9).
    pub(super) fn supersede(&mut self, by: &str, prev: Option<&str>) {
        let path = |key: &str| key.split('?').next().map(str::to_owned);
        for (key, node) in &mut self.kept {
            let same = node.state == NodeState::Applied
                && node.prev.as_deref() == prev
                && (prev.is_some() || path(key) == path(by));
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

    /// Returns the number of archives and aliases together.
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

    /// Checks whether any record has changed since the last call of [`Nodes::take_touched`].
    pub fn are_touched(&self) -> bool {
        !self.touched.is_empty()
    }

    /// Returns the records that have changed since the last call, by address. The value is `None` for a removed record.
    pub fn take_touched(&mut self) -> Vec<(String, Option<ArchiveNode>)> {
        let touched = std::mem::take(&mut self.touched);
        touched.into_iter().map(|key| (key.clone(), self.kept.get(&key).cloned())).collect()
    }

    /// Checks whether a fetched archive contains the entry with this identity hash.
    pub(super) fn hold(&self, id: u64) -> bool {
        self.kept.values().any(|node| node.ids.contains(&id))
    }

    /// Returns the number of archives that the chain of today contains.
    pub(super) fn count(&self) -> u32 {
        let applied = self.kept.values().filter(|node| node.state == NodeState::Applied);
        u32::try_from(applied.count()).unwrap_or(u32::MAX)
    }
}
