//! Changes: shown at once, written, and taken back if they cannot be written or the user wants that.
//!
//! A [`Change`] is one value for its whole life. Whoever makes one shows it in the engine and passes it to [`write()`], which
//! derives the store's job from it. The engine keeps it until the store answers: after a failed write [`failed_write`] reverts
//! exactly this change. What the user can undo is kept in [`undo_stack`] and done in [`undo`].

pub mod failed_write;
pub mod feed_change;
pub mod key_runs;
pub mod undo;
pub mod undo_stack;
pub mod value;
mod write;

pub use value::{Change, ChangeId, MarkChange, PendingChange};
pub use write::write;
