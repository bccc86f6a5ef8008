//! The known history of each logical feed: which entries are kept, which copy of an entry wins, what is missing, and the walk
//! back through the archives (RFC 5005). Has no side effects; depends on `feed`.
//!
//! This module does not read or write the store, does not fetch and does not read the clock. It takes the stored state and the
//! received documents, and returns what to write and what to request.
//!
//! # Interface
//!
//! **Stored for each feed.** [`HistoryRecord`] is small and stays in memory for every feed; it contains the gaps and
//! the places where walks continue. [`Nodes`] has one record for each archive. It is read when a walk begins and
//! dropped when the walk pauses; [`Nodes::take_touched`] returns the records to write. Both are written **in the same
//! batch** as the entries that changed them, so a crash falls between two steps and no step is repeated or lost.
//!
//! **A poll.** When a 200 or 226 of the subscription document has been parsed, call [`HistoryRecord::apply_poll`], then
//! [`HistoryRecord::compare_windows`], and write the record with the commit. The result may request one more fetch
//! without validators. The commit merges with [`merge_as`]; for a complete feed it also calls [`merge::withdraw`] on
//! the feed's rows. When the commit of a 200, 226 or 304 is durable, call [`HistoryRecord::apply_check`], and start a
//! walk if [`HistoryRecord::has_work`].
//!
//! **A walk.** [`ArchiveWalk::next`] names an archive. Its request waits in the site's queue after all polls, is
//! unconditional, and may go only where SPEC D.6 allows for a supplied address ([`ArchiveRequest::by`]). Pass a feed
//! document to [`ArchiveWalk::arrived`]. Write its entries ([`merge_as`] with the returned [`Merging`]), the record and
//! the nodes in one batch, then call [`ArchiveWalk::merged`] with the number of new entries, then `next` again. Pass
//! any other result to [`ArchiveWalk::failed`] and write the record, then call `next` again, except after
//! [`ArchiveFailure::Offline`]. [`Next::Rest`] ends the walk: write the record and show the notice. The walk continues
//! only after a poll or at the user's request.
//!
//! **An adaptor.** Call [`HistoryRecord::adapt`] after every successful poll, before [`HistoryRecord::apply_check`],
//! and when the user selects or removes an adaptor. Pass a requested listing to [`ArchiveWalk::listed`] instead of
//! [`ArchiveWalk::arrived`].
//!
//! **The list.** [`HistoryRecord::shown_gaps`] returns the gaps shown as rows, each after all entries of the date
//! [`Gap::listed`]. [`HistoryRecord::status`] is the header line. User actions are [`HistoryRecord::go_on`],
//! `go_on_everywhere`, `dismiss`, `show_again`, `stop` and `reread`, and for pages `begin_paging`, `next_page`,
//! `page_arrived` and `page_merged`.

pub mod address;
pub mod completeness;
pub mod edits;
mod extend_proof;
pub mod gap;
pub mod gap_wording;
pub mod kept;
pub mod kind;
pub mod merge;
pub mod node;
pub mod polled;
pub mod proof;
pub mod record;
pub mod row;
pub mod timeline;
pub mod windows;

pub use crate::history::actions::GoOn;
pub use crate::history::walk::adaptor::{ActiveAdaptor, Adaptor, FoundBy};
pub use crate::history::walk::archive_walk::{
    ArchiveRequest, ArchiveWalk, Arrival, Next, WalkNotice,
};
pub use crate::history::walk::policy::{Mode, WalkPolicy};
pub use completeness::HistoryStatus;
pub use gap::{Gap, GapKey, GapKind, GapState, Limit, Reason};
pub use gap_wording::GapLines;
pub use kept::{EntryBody, KeptEntry, PreviousText, Rank, listed};
pub use kind::{DocumentKind, Reached, document_kind};
pub use merge::{
    DocumentPlace, Known, KnownEntry, Merged, MergedEntry, Merging, kept_content_hash, merge,
    merge_as,
};
pub use node::{ArchiveNode, NodeState, Nodes};
pub use polled::Polled;
pub use record::{HistoryRecord, Tombstones, WalkRun};
pub use row::{Counters, EntryKey, FeedKey, Flag, Flags, IndexRow, TEXT_LOST};
pub use walk::policy::ArchiveFailure;
pub use windows::overrun;

pub mod actions;
pub mod walk;
