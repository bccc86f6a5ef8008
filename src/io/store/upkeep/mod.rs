//! Maintains the store: backups, checks, compaction, recovery, size limits.

pub(super) mod backup;
pub(super) mod daily_backup;
pub(super) mod disk_room;
pub(super) mod recovery;
pub(super) mod reopening;
pub(super) mod repair;
