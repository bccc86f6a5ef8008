//! Walks through a feed's history from archive to archive.

pub mod adapted_walk;
pub mod adaptor;
pub mod archive_walk;
pub mod copy;
pub mod policy;
pub mod robots;
pub(super) mod walk_stops;
