//! Catches panics. Damaged files, faults of libraries and faults of the program become errors, and the messages of such panics do
//! not appear on the screen.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use backissue_core::feed::parse::is_library_at_work;

/// The way in which a panic is caught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caught {
    /// Not caught: the panicking thread ends.
    Nowhere,
    /// An expected panic of a library, caused by damaged files or by data from publishers.
    AsForeseen,
    /// A fault of the program: the failed work is cancelled, and everything else continues.
    AsFault,
}

thread_local! {
    /// The current way to catch panics on this thread. The panic hook can read it, because the hook runs on the panicking thread.
    static CATCHING: Cell<Caught> = const { Cell::new(Caught::Nowhere) };
}

/// Runs library code that may panic on its input. Returns `None` after a panic, which is logged.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    caught(Caught::AsForeseen, work)
}

/// Runs the program's own code. Returns `None` after a panic, which leaves a report.
pub fn catch_fault<T>(work: impl FnOnce() -> T) -> Option<T> {
    caught(Caught::AsFault, work)
}

fn caught<T>(how: Caught, work: impl FnOnce() -> T) -> Option<T> {
    let before = CATCHING.replace(how);
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(before);
    done.ok()
}

/// Returns how a panic on this thread is caught.
pub(super) fn how_caught() -> Caught {
    if is_library_at_work() { Caught::AsForeseen } else { CATCHING.get() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backissue_core::feed::parse::catch_library_panic;

    #[test]
    fn panic_reports_how_it_is_caught() {
        assert_eq!(how_caught(), Caught::Nowhere);
        assert_eq!(catch_panic(how_caught), Some(Caught::AsForeseen));
        assert_eq!(catch_fault(how_caught), Some(Caught::AsFault));
        let library = catch_fault(|| catch_library_panic(how_caught));
        assert_eq!(library, Some(Some(Caught::AsForeseen)));
        let inner = catch_fault(|| {
            assert_eq!(catch_panic(|| panic!("sled does that")).map(|(): ()| ()), None);
            how_caught()
        });
        assert_eq!(inner, Some(Caught::AsFault));
        assert_eq!(how_caught(), Caught::Nowhere);
    }
}
