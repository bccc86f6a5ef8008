//! The subcommands that change stored data, one file each.

pub(in crate::cli) mod answer_trouble;
pub(in crate::cli) mod change_filters;
pub(in crate::cli) mod mark;
mod move_feed;
pub(in crate::cli) mod open;
pub(in crate::cli) mod set;
pub(in crate::cli) mod undo;
pub(in crate::cli) mod unsubscribe;

/// Hint printed after a change that can be undone.
const UNDO_HINT: &str = " · 'backissue undo' reverts it";
