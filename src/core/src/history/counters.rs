//! The three sums a feed keeps of its entries, moved in the same batch as the entries they count.

use serde::{Deserialize, Serialize};

use super::row::Flags;

/// Sums over the entries of one feed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Shown entries not read yet.
    pub unread: u32,
    /// Shown entries: live, neither withdrawn nor deleted.
    pub total: u32,
    /// Starred entries, whether still live or not.
    pub starred: u32,
    /// Number the next new entry gets.
    pub next_seq: u32,
}

impl Counters {
    /// Moves the sums for one entry whose flags change; `None` stands for "not there".
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
