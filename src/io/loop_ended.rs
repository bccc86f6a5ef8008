//! What whoever works beside the loop is told when it ends before them.

/// The loop ended before the command did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the backissue that had the store open ended before this was done; what it had reported is saved: run the command again"
)]
pub struct LoopEnded;
