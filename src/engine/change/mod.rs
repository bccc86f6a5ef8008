//! Changes: shown at once, written, and reverted if the write fails or the user undoes them.
//!
//! A [`Change`] passes through these steps:
//!
//! 1. The engine shows the requested change at once, records an undo step ([`undo_stack`]), and passes the change to [`write()`],
//!    which creates the store job.
//! 2. The engine keeps the change in `Engine::pending` under the id of the job until the store reports the result.
//! 3. If the write succeeds, the change is dropped, because the shown values are now durable.
//! 4. If the write fails, [`undo`] reverts exactly this change and drops the undo step, and the engine shows the store's
//!    error.
//!
//! [`undo`] reverts the changes of the recorded steps. Each undo is a change as well.

pub mod key_runs;
pub mod questions;
pub mod undo;
pub mod undo_stack;
pub mod value;
mod write;

pub use undo_stack::PendingChange;
pub use value::{Change, ChangeId, MarkChange};
pub use write::{join_writes, write};
