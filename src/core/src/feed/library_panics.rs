//! Catches panics in third-party libraries, which panic on some published data. Such panics are expected and are not bugs in this
//! program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Whether this thread is inside a library call that may panic.
    static AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// Runs library code that may panic, and returns `None` if it panics.
pub fn catch_library_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = AT_WORK.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    AT_WORK.set(before);
    done.ok()
}

/// Checks whether a panic on the current thread comes from a library call that is expected to panic. A panic hook calls this on the
/// panicking thread.
pub fn is_library_at_work() -> bool {
    AT_WORK.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_call_is_active_until_it_ends_in_any_way() {
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
