//! Maintains the store: backups, checks, compaction, recovery, size limits.

pub(super) mod backing_up;
pub(super) mod backup;
pub(super) mod check;
pub(super) mod compact;
pub(super) mod daily_backup;
pub(super) mod disk_room;
pub(super) mod free_room;
pub(super) mod mending;
pub(super) mod newest_backup;
pub(super) mod reading_copy;
pub(super) mod recovery;
pub(super) mod recovery_report;
mod reopening;
pub(super) mod repair;
pub(super) mod text_bounds;
