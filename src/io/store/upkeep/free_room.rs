//! How much room there is on the disk.

use std::path::Path;

/// Says how many bytes are free for a folder; `None`: that is not known.
pub type MeasureRoom = fn(&Path) -> Option<u64>;

/// How many bytes are free for a folder.
pub fn measure_room(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}
