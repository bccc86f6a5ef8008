//! What we know of each logical feed: which entries are kept, which copy of an entry wins, what is missing, and
//! the way back through the archives (RFC 5005). Pure; stands on `feed`.
//!
//! This folder does not read or write the store, does not fetch and does not know the time: it is handed what is
//! known and what came, and answers with what to write and what to ask for.
//!
//! # The seam
//!
//! **Kept of each feed.** [`HistoryRecord`] (small, in memory for every feed; gaps and the places where walks go on are in
//! it) and [`Nodes`] (one record for each archive, read when a walk begins, dropped when it rests;
//! [`Nodes::take_touched`] says which to write). Both are written **in the batch** of the entries that brought them
//! about: a crash then falls between two steps, and no step is done twice or forgotten.
//!
//! **A poll.** When a 200 or 226 of the subscription document is settled: [`HistoryRecord::apply_poll`], then
//! [`HistoryRecord::compare_windows`], and the record goes into the commit; its verdict may ask for one more request without
//! validators. The commit merges with [`merge_as`], and for a complete feed calls
//! [`complete::withdraw`] on the feed's rows. When the commit of a 200, 226 or 304 is durable:
//! [`HistoryRecord::apply_check`], and if [`HistoryRecord::has_work`], a walk.
//!
//! **A walk.** [`ArchiveWalk::next`] names an archive; its request takes its turn in the site's queue behind all polls, is
//! unconditional, and goes where SPEC D.6 lets a supplied address go ([`ArchiveRequest::by`]). A feed document comes to
//! [`ArchiveWalk::arrived`]: write entries ([`merge_as`] with the [`Merging`] it answers), record and nodes in one batch, then
//! [`ArchiveWalk::merged`] with the number of new entries, then `next` again. Anything else comes to [`ArchiveWalk::failed`]: write the
//! record, then `next` again, but not after [`ArchiveFailure::Offline`]. [`Next::Rest`] ends it: write the record, tell the notice.
//! Only after a check, or when the reader asks, does it go on.
//!
//! **An adaptor.** [`HistoryRecord::adapt`] after every good check, before [`HistoryRecord::apply_check`], and when the reader
//! chooses one or none. Of a listing that was asked for, [`ArchiveWalk::listed`] is told instead of [`ArchiveWalk::arrived`].
//!
//! **The list.** [`HistoryRecord::shown_gaps`] are rows: each stands at [`Gap::listed`], after all entries of that date.
//! [`HistoryRecord::status`] is the header line. What a reader can ask of it: [`HistoryRecord::go_on`], `go_on_everywhere`,
//! `dismiss`, `show_again`, `stop`, `reread`, and for pages `begin_paging`, `next_page`, `page_arrived`, `page_merged`.

pub mod address;
pub mod complete;
pub mod completeness;
pub mod counters;
pub mod gap;
mod gap_wording;
pub mod kept;
pub mod keys;
pub mod kind;
pub mod merge;
pub mod node;
pub mod polled;
pub mod rank;
pub mod record;
pub mod row;
pub mod windows;

pub use crate::history::actions::GoOn;
pub use crate::history::tombstones::Tombstones;
pub use crate::history::walk::adaptor::{ActiveAdaptor, Adaptor, Via};
pub use crate::history::walk::archive_walk::{
    ArchiveRequest, ArchiveWalk, Arrival, Next, WalkNotice,
};
pub use crate::history::walk::policy::{Mode, WalkPolicy};
pub use crate::history::walk::retry::ArchiveFailure;
pub use counters::Counters;
pub use gap::{Gap, GapKey, GapKind, GapState, Limit, Reason};
pub use gap_wording::GapLines;
pub use kept::{EntryBody, KeptEntry, listed};
pub use keys::{EntryKey, FeedKey};
pub use kind::{DocumentKind, Reached, document_kind};
pub use merge::{
    DocumentPlace, Known, KnownEntry, Merged, MergedEntry, Merging, kept_content_hash, merge,
    merge_as,
};
pub use node::{ArchiveNode, NodeState, Nodes};
pub use polled::Polled;
pub use rank::Rank;
pub use record::{HistoryRecord, HistoryStatus, WalkRun};
pub use row::{Flag, Flags, IndexRow, TEXT_LOST};
pub use windows::overrun;

pub mod actions;
pub mod tombstones;
pub mod walk;
