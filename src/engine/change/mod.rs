//! Changes: shown at once, written, and reverted if the write fails or the user undoes them.
//!
//! A [`Change`] is one value for its whole life:
//!
//! 1. A request shows the change in the engine, records the step that undoes it ([`undo_stack`]), and passes the change to
//!    [`write()`], which derives the store's job from it.
//! 2. The engine keeps it in `Engine::pending` under the job's number until the store answers.
//! 3. If the write succeeds, the change is dropped: what is shown is durable.
//! 4. If it fails, [`failed_write`] reverts exactly this change, its undo step is dropped, and the store's error is shown.
//!
//! [`undo`] applies the recorded steps, which are changes as well.

pub mod failed_write;
pub mod feed_change;
pub mod key_runs;
pub mod undo;
pub mod undo_stack;
pub mod value;
mod write;

pub use value::{Change, ChangeId, MarkChange, PendingChange};
pub use write::write;
