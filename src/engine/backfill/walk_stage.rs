//! A walk through a feed's archives: its stage, and the state to restore if a write fails; and the actions that the user can
//! request on a feed's history, with their effect on the history record.

use backissue_core::history::walk::archive_walk::ArchiveRequest;
use backissue_core::history::{GapKey, GapKind, GoOn, HistoryRecord, Nodes, WalkPolicy};
use serde::{Deserialize, Serialize};

use crate::engine::poll::fetch::FetchId;
use crate::engine::poll::poll_stage::ReadArchive;

/// A walk under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Backfill {
    /// Stage of the walk.
    pub(in crate::engine) stage: WalkStage,
    /// `true` if the walk may send requests. If `false`, the walk only stores `read_before`.
    pub(super) asks: bool,
    /// Number of archives and pages fetched in this walk, and number of new entries in them.
    pub(super) fetched: (u32, u32),
    /// Address of the copy that is read, if the walk is one through a copy by another reader.
    pub(super) copy: Option<String>,
    /// Numbers of the new entries that came from another source than the publisher's links.
    pub(super) brought: Vec<u32>,
    /// The archives of the feed that were ever fetched.
    pub(in crate::engine) nodes: Nodes,
    /// An archive that a poll read as the subscription document and that is not stored as an archive yet.
    pub(super) read_before: Option<Box<ReadArchive>>,
    /// The user's actions that have not been handled yet.
    pub(in crate::engine) actions: Vec<HistoryAction>,
    /// The archive request that is waiting or under way.
    pub(in crate::engine) request: Option<ArchiveRequest>,
    /// The fetch that the walk waits for.
    pub fetch: Option<FetchId>,
    /// `true` if the request is for a page, `false` for an archive.
    pub(super) paging: bool,
    /// `Some` while fetched entries are being written; `true` if they come from a page that another page follows.
    pub(super) merging: Option<bool>,
    /// `true` if the user requested the walk; the end of the walk is then reported.
    pub(in crate::engine) asked: bool,
}

impl Backfill {
    /// Creates a walk that first reads which archives were fetched. It may send requests if `asks` is `true`.
    pub(super) fn new(asks: bool) -> Self {
        Self {
            stage: WalkStage::Loading,
            asks,
            fetched: (0, 0),
            copy: None,
            brought: Vec::new(),
            nodes: Nodes::default(),
            read_before: None,
            asked: false,
            actions: Vec::new(),
            request: None,
            fetch: None,
            paging: false,
            merging: None,
        }
    }

    /// Creates a walk through a copy, which the user asked for.
    pub(super) fn of_copy(url: String) -> Self {
        Self { stage: WalkStage::Ready, copy: Some(url), asked: true, ..Self::new(true) }
    }
}

/// The stage of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum WalkStage {
    /// The archives that were fetched earlier are being read from the store.
    Loading,
    /// Nothing is under way, so the walk can take its next step.
    Ready,
    /// The request waits in the queue of its site.
    Waiting,
    /// The request is under way.
    Asking,
    /// The changes of a response are being written.
    Writing,
}

/// An action on a feed's history that the user can request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HistoryAction {
    /// Resume at this gap: repeat the failed request, or continue the archive walk from there.
    GoOn(GapKey),
    /// Resume at every gap whose documents can be requested.
    Everywhere,
    /// Resume where a limit or an interruption ended a walk, or load the next older page.
    Continue,
    /// Retry archives that could not be fetched or read.
    Retry,
    /// Load the next older page of a paged feed.
    Page,
    /// Forget which archives were fetched and read all of them again. Entries are kept.
    Reread,
}

/// Applies the user's actions to a history record. Returns the older page to request, if any, and a message if an action has
/// nothing to fetch.
pub(in crate::engine) fn grant(
    record: &mut HistoryRecord,
    nodes: &mut Nodes,
    actions: &mut Vec<HistoryAction>,
    policy: &WalkPolicy,
) -> (Option<ArchiveRequest>, Option<String>) {
    let mut refused = None;
    let mut page = None;
    for action in std::mem::take(actions) {
        let granted = match action {
            HistoryAction::GoOn(key) => record.go_on(key, nodes),
            HistoryAction::Everywhere => record.go_on_everywhere(nodes),
            HistoryAction::Continue => go_on_where(record, nodes, |kind| {
                matches!(kind, GapKind::Limit | GapKind::Interrupted | GapKind::Paged)
            }),
            HistoryAction::Retry => go_on_where(record, nodes, |kind| {
                matches!(kind, GapKind::Unavailable | GapKind::Unreadable | GapKind::Loop)
            }),
            HistoryAction::Page => GoOn::Page,
            HistoryAction::Reread => {
                record.reread(nodes);
                GoOn::Walking
            }
        };
        match granted {
            GoOn::Walking => {}
            GoOn::Page => {
                page = next_page(record, policy);
                if page.is_none() {
                    refused = Some("there is no older page".to_owned());
                }
            }
            GoOn::Nothing => refused = Some("there is nothing to fetch".to_owned()),
        }
    }
    (page, refused)
}

/// Resumes at the gaps of the wanted kinds, including hidden gaps.
fn go_on_where(
    record: &mut HistoryRecord,
    nodes: &Nodes,
    wanted: impl Fn(GapKind) -> bool,
) -> GoOn {
    let kept = record.gaps.iter().map(|(key, gap)| (*key, gap.kind()));
    let rests = record.frontiers.iter().filter(|next| next.gap.is_none());
    let rests = rests.map(|next| (GapKey::archive(&next.edge.key), GapKind::Interrupted));
    let keys: Vec<(GapKey, GapKind)> =
        kept.chain(rests).filter(|(_, kind)| wanted(*kind)).collect();
    let mut answer = GoOn::Nothing;
    for (key, _) in keys {
        match record.go_on(key, nodes) {
            GoOn::Nothing => {}
            granted @ (GoOn::Walking | GoOn::Page) => answer = granted,
        }
    }
    answer
}

/// Returns the request for the next older page. After the oldest page, starts again with the page that the subscription document
/// links to.
fn next_page(record: &mut HistoryRecord, policy: &WalkPolicy) -> Option<ArchiveRequest> {
    if let Ok(Some(request)) = record.next_page(policy) {
        return Some(request);
    }
    record.begin_paging();
    record.next_page(policy).ok().flatten()
}
