//! User actions on a feed's history: continue at a gap, stop the archive walk, read everything again, dismiss a gap.

use super::gap::{GapKey, GapKind, GapState, Limit, Reason};
use super::node::Nodes;
use super::record::{Frontier, HistoryRecord, WalkRun};

/// What happens after the user asks to continue at a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoOn {
    /// The archive walk continues; [`super::ArchiveWalk::next`] returns the next archive.
    Walking,
    /// The next page of the paged feed must be requested with [`super::walk::adapted_walk`].
    Page,
    /// Nothing can be requested at this gap.
    Nothing,
}

impl HistoryRecord {
    /// Requests the part of the history that is missing at a gap. By asking, the user consents to one more run of archive
    /// requests (SPEC C.10).
    pub fn go_on(&mut self, key: GapKey, nodes: &Nodes) -> GoOn {
        let Some(gap) = self.gaps.get(&key).cloned() else {
            // If the archive walk is paused at this place (G7), it continues.
            let rests = self.frontiers.iter().any(|next| GapKey::archive(&next.edge.key) == key);
            if rests {
                self.start_agreed_run();
            }
            return if rests { GoOn::Walking } else { GoOn::Nothing };
        };
        match gap.kind() {
            GapKind::Unavailable | GapKind::Unreadable | GapKind::Limit => {
                let old_form = Reason::Limit { limit: Limit::OldForm, fetched: 0 };
                self.old_form_confirmed |= gap.reason.is_like(&old_form);
                self.start_agreed_run();
                self.retry(key, gap.edge, true);
                GoOn::Walking
            }
            GapKind::Loop => self.read_again(key, nodes),
            GapKind::Paged if gap.edge.url.is_empty() => GoOn::Nothing,
            GapKind::Paged => GoOn::Page,
            GapKind::Overrun | GapKind::Interrupted => GoOn::Nothing,
        }
    }

    /// Requests again an archive whose link closes a loop, in case the publisher has corrected the link.
    fn read_again(&mut self, key: GapKey, nodes: &Nodes) -> GoOn {
        let Some(gap) = self.gaps.get(&key) else { return GoOn::Nothing };
        let Some(archive) = gap.edge.newer.archive.clone() else { return GoOn::Nothing };
        let Some((_, node)) = nodes.find(&archive) else { return GoOn::Nothing };
        let mut edge = gap.edge.clone();
        (edge.url, edge.key) = (node.url.clone(), archive);
        (edge.epoch, edge.depth) = (node.epoch, node.depth);
        self.start_agreed_run();
        self.push(Frontier {
            edge,
            gap: Some(key),
            asked: true,
            again: true,
            ..Frontier::default()
        });
        GoOn::Walking
    }

    /// Continues a paused archive walk and retries every gap that can be retried. The gap of a paged feed is not retried.
    pub fn go_on_everywhere(&mut self, nodes: &Nodes) -> GoOn {
        let keys: Vec<GapKey> = self.gaps.keys().copied().collect();
        let mut answer = GoOn::Nothing;
        if self.frontiers.iter().any(|next| next.gap.is_none()) {
            self.start_agreed_run();
            answer = GoOn::Walking;
        }
        for key in keys {
            let kind = self.gaps.get(&key).map(super::gap::Gap::kind);
            if kind != Some(GapKind::Paged) && self.go_on(key, nodes) == GoOn::Walking {
                answer = GoOn::Walking;
            }
        }
        answer
    }

    /// Starts a new run of archive requests with the user's consent. If a run is under way, the new run keeps its purpose
    /// (closing gaps or reading everything again).
    fn start_agreed_run(&mut self) {
        let under_way = !self.frontiers.is_empty();
        self.run = WalkRun {
            consented: true,
            recovering: under_way && self.run.recovering,
            rereading: under_way && self.run.rereading,
            ..WalkRun::default()
        };
    }

    /// Stops the archive walk at the user's request. Each place where it would have continued becomes a gap (G3).
    pub fn stop(&mut self, now: chrono::DateTime<chrono::Utc>) {
        let fetched = self.run.fetched;
        for next in std::mem::take(&mut self.frontiers) {
            if let Some(gap) = next.gap.and_then(|key| self.gaps.get_mut(&key)) {
                gap.state = GapState::Open;
                continue;
            }
            let reason = Reason::Limit { limit: Limit::Stopped, fetched };
            let key = GapKey::archive(&next.edge.key);
            self.open(key, super::gap::Gap::new(next.edge, reason, now));
        }
        self.asking = None;
    }

    /// Hides a gap from lists at the user's request. The gap stays in the record. Returns `false` if there is no such gap.
    pub fn dismiss(&mut self, key: GapKey) -> bool {
        self.gaps.get_mut(&key).is_some_and(|gap| {
            gap.state = GapState::Dismissed;
            true
        })
    }

    /// Starts reading the whole history again. The archive records are deleted so that the archives are fetched again; the
    /// entries are kept (SPEC C.9).
    pub fn reread(&mut self, nodes: &mut Nodes) {
        nodes.clear();
        self.gaps.retain(|_, gap| !gap.is_of_archive() && gap.kind() != GapKind::Loop);
        self.frontiers.clear();
        (self.settled, self.asking) = (None, None);
        (self.archives, self.reaches) = (0, None);
        self.doubts.retain(|doubt| !doubt.is_of_archive());
        let newest = self.head.clone();
        let proof = self.prove();
        proof.flawed = None;
        if let Some(parted) = &mut proof.parted {
            (parted.stale, parted.is_lost) = (newest.into_iter().collect(), false);
        }
        self.epoch = self.epoch.saturating_add(1);
        self.start_agreed_run();
        self.run.rereading = true;
        if let Some(head) = &mut self.head {
            head.epoch = self.epoch;
            let edge = head.clone();
            self.push(Frontier { edge, asked: true, ..Frontier::default() });
        }
    }
}
