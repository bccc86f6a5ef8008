//! Libraries that panic at some of what publishers send: that is foreseen, and no fault of the program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Whether such a library is at work on this thread.
    static AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// Has a library do what it may panic at; `None` if it did.
pub fn catch_library_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = AT_WORK.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    AT_WORK.set(before);
    done.ok()
}

/// Whether a panic of this thread is one of those. Whoever reports panics asks it on the thread that panics.
pub fn is_library_at_work() -> bool {
    AT_WORK.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_at_work_until_it_ends_in_whatever_way() {
        assert!(!is_library_at_work());
        assert_eq!(catch_library_panic(is_library_at_work), Some(true));
        let inner = catch_library_panic(|| {
            assert_eq!(catch_library_panic(|| panic!("feed-rs does that")).map(|(): ()| ()), None);
            is_library_at_work()
        });
        assert_eq!(inner, Some(true));
        assert!(!is_library_at_work());
    }
}
