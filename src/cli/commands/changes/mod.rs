//! The subcommands that change stored data.

pub(in crate::cli) mod mark;
pub(in crate::cli) mod set;

/// Hint printed after a change that can be undone.
pub(super) const UNDO_HINT: &str = " · 'backissue undo' reverts it";
