//! The error for a command that is still running when the main loop ends.

/// The main loop ended before the command was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the backissue that had the store open ended before this was done; what it reported is saved; run the command again"
)]
pub struct LoopEnded;
