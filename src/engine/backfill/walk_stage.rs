//! A walk through a feed's archives: how far it is, and what to go back to if it cannot be written.

use std::sync::Arc;

use super::history_actions::HistoryAction;
use crate::engine::poll::current_document::ReadArchive;
use crate::engine::poll::fetch::FetchId;
use backissue_core::history::walk::archive_walk::ArchiveRequest;
use backissue_core::history::{HistoryRecord, Nodes};

/// A walk under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Backfill {
    /// How far it is.
    pub(in crate::engine) stage: WalkStage,
    /// More may be asked for than was read already: whoever polls without archives only keeps that.
    pub(super) asks: bool,
    /// Archives and pages that it fetched, and entries never seen before that they brought.
    pub(super) fetched: (u32, u32),
    /// The archives fetched before.
    pub(in crate::engine) nodes: Nodes,
    /// An archive that was read as the subscription document and is still to be kept as what it is.
    pub(super) read_before: Option<Box<ReadArchive>>,
    /// What the reader wants of it and has not been looked at.
    pub(in crate::engine) actions: Vec<HistoryAction>,
    /// The archive that waits or is asked.
    pub(in crate::engine) request: Option<ArchiveRequest>,
    /// The fetch it waits for.
    pub fetch: Option<FetchId>,
    /// It is a page that is asked for, not an archive.
    pub(super) paging: bool,
    /// What is being written has entries that are to be counted; of a page, whether another one follows.
    pub(super) merging: Option<bool>,
    /// The record as it was before the answer, to go back to if it cannot be written.
    pub(super) before: Option<Arc<HistoryRecord>>,
    /// The reader asked for it: its end is told.
    pub(in crate::engine) asked: bool,
}

/// How far a walk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum WalkStage {
    /// The archives fetched before are being read.
    Loading,
    /// The next step is to be taken.
    Ready,
    /// Its request waits for its site.
    Waiting,
    /// Its request is under way.
    Asking,
    /// What came is being written.
    Writing,
}
