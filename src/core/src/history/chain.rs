//! The chain of archives: where it ends, and that every link in it leads to something that is known (SPEC C.9).

use std::collections::BTreeSet;

use super::gap::Reason;
use super::node::{End, NodeState, Nodes};
use super::proof::Doubt;
use super::record::HistoryRecord;

impl Nodes {
    /// Returns where the chain from the newest archive ends, and the first archive in it that has a flaw.
    pub(super) fn fold(
        &self,
        record: &HistoryRecord,
        head: &str,
    ) -> (End, Option<(String, Doubt)>) {
        let end = self.chain_end(record, None, head);
        let (mut link, mut left) = (head, self.kept.len());
        while let Some((key, node)) = self.find(link).filter(|_| left > 0) {
            if let Some(flaw) = node.flaw {
                return (end, Some((key.to_owned(), flaw)));
            }
            let Some(prev) = node.prev.as_deref() else { break };
            (link, left) = (prev, left.saturating_sub(1));
        }
        (end, None)
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
        if record.nodes_outdated {
            return Ok(());
        }
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

/// Returns the gap or the pending archive (frontier) to which a link leads; `None` if the link leads to neither.
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
