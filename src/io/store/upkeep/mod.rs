//! Maintains the store: backups, checks, compaction, recovery, size limits.

pub(super) mod backup;
pub(super) mod check;
pub(super) mod compact;
pub(super) mod daily_backup;
pub(super) mod fresh_store;
pub(super) mod mending;
pub(super) mod recovery;
pub(super) mod repair;
pub(super) mod sync;
pub(super) mod text_bounds;
