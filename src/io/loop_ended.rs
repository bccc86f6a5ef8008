//! The error for work that outlasts the main loop.

/// The loop ended before the command was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the backissue that had the store open ended before this was done; what it reported is saved; run the command again"
)]
pub struct LoopEnded;
