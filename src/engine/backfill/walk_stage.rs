//! A walk through a feed's archives: its stage, and the state to restore if a write fails.

use std::sync::Arc;

use super::history_actions::HistoryAction;
use crate::engine::poll::fetch::FetchId;
use crate::engine::poll::poll_stage::ReadArchive;
use backissue_core::history::walk::archive_walk::ArchiveRequest;
use backissue_core::history::{HistoryRecord, Nodes};

/// A walk under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Backfill {
    /// Stage of the walk.
    pub(in crate::engine) stage: WalkStage,
    /// `true` if the walk may send requests. If `false`, the walk only stores `read_before`.
    pub(super) asks: bool,
    /// Number of archives and pages fetched in this walk, and number of new entries in them.
    pub(super) fetched: (u32, u32),
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
    /// The history record before the changes that are being written; restored if the write fails.
    pub(super) before: Option<Arc<HistoryRecord>>,
    /// `true` if the user requested the walk; the end of the walk is then reported.
    pub(in crate::engine) asked: bool,
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
