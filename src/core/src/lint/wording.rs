//! Formats times as a report states them.

use chrono::{DateTime, Utc};

use crate::schedule::limits::MINUTE;

/// Formats a time as `Monday 2026-03-02 10:00 UTC`.
pub(super) fn instant(at: DateTime<Utc>) -> String {
    at.format("%A %Y-%m-%d %H:%M UTC").to_string()
}

/// Formats a time as `Monday 10:30`, with seconds unless they are zero.
pub(super) fn moment(at: DateTime<Utc>) -> String {
    let form = if at.timestamp() % MINUTE == 0 { "%A %H:%M" } else { "%A %H:%M:%S" };
    at.format(form).to_string()
}
