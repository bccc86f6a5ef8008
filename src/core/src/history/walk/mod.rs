//! Walks through a feed's history from archive to archive.

pub(super) mod adapted_walk;
pub mod adaptor;
mod adaptor_links;
pub mod archive_walk;
pub(super) mod chain_ends;
pub mod paging;
pub mod policy;
pub mod retry;
pub(super) mod skipped_archives;
