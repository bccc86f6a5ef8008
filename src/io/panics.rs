//! Catching panics: damaged files and faults of libraries become errors, and their messages stay off the screen.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Whether a panic of this thread is caught. The panic hook runs on the thread that panics.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Does work that may panic; `None` if it did.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = CATCHING.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(before);
    done.ok()
}

/// Whether a panic of this thread is caught, so that its message must not be printed.
pub(super) fn is_catching() -> bool {
    CATCHING.get()
}
