//! The subcommands that change what is kept, one file each.

pub(in crate::cli) mod answer_trouble;
pub(in crate::cli) mod change_filters;
pub(in crate::cli) mod mark;
pub(in crate::cli) mod open;
pub(in crate::cli) mod set;
pub(in crate::cli) mod undo;
pub(in crate::cli) mod unsubscribe;

/// Stands behind a change that can be taken back.
const UNDO_HINT: &str = " · 'backissue undo' takes it back";
