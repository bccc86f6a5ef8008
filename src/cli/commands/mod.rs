//! The subcommands.

pub(super) mod accounts;
pub(super) mod add;
mod ahead;
pub(super) mod devices;
pub(super) mod doctor;
pub(super) mod downloads;
pub(super) mod entries;
pub(super) mod events;
pub(super) mod export;
pub(super) mod feeds;
pub(super) mod filters;
pub(super) mod generated;
pub(super) mod history;
pub(super) mod import;
pub(super) mod lint;
pub(super) mod mark;
pub(super) mod newsboat_lines;
pub(super) mod poll;
pub(super) mod publish;
pub(super) mod publishing;
pub(super) mod screen;
pub(super) mod set;
pub(super) mod simulate;
pub(super) mod simulate_own;
pub(super) mod watch;

/// Hint printed after a change that can be undone.
pub(super) const UNDO_HINT: &str = " · 'backissue undo' reverts it";
