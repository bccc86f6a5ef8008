//! A feed's entry counters, written in the same batch as the entries.

use serde::{Deserialize, Serialize};

use super::row::Flags;

/// Counters over the entries of one feed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Number of unread entries that are shown.
    pub unread: u32,
    /// Number of live entries: entries that are neither withdrawn nor deleted.
    pub total: u32,
    /// Number of starred entries, including withdrawn and deleted ones.
    pub starred: u32,
    /// Sequence number that the next new entry will get.
    pub next_seq: u32,
}

impl Counters {
    /// Updates the counters when the flags of one entry change. `before` is `None` for a new entry; `after` is `None` for a
    /// removed entry.
    pub fn shift(&mut self, before: Option<Flags>, after: Option<Flags>) {
        for (flags, add) in [(before, false), (after, true)] {
            let Some(flags) = flags else { continue };
            let step = |sum: &mut u32, counts: bool| {
                if counts {
                    *sum = if add { sum.saturating_add(1) } else { sum.saturating_sub(1) };
                }
            };
            step(&mut self.total, flags.is_live());
            step(&mut self.unread, flags.is_unread());
            step(&mut self.starred, flags.is_starred());
        }
    }
}
