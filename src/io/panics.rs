//! Catching panics: damaged files, faults of libraries and faults of our own become errors, and their messages stay off the
//! screen.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use backissue_core::feed::library_panics::is_library_at_work;

/// How a panic is caught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caught {
    /// Not by us: its thread ends.
    Nowhere,
    /// As what libraries do with damaged files and with what publishers send.
    AsForeseen,
    /// As a fault of the program: its work is given up, everything else goes on.
    AsFault,
}

thread_local! {
    /// How a panic of this thread is caught. The panic hook runs on the thread that panics.
    static CATCHING: Cell<Caught> = const { Cell::new(Caught::Nowhere) };
}

/// Does work of a library that may panic at what it is given; `None` if it did. The log says so.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    caught(Caught::AsForeseen, work)
}

/// Does work of the program; `None` if it panics, which leaves a report.
pub fn catch_fault<T>(work: impl FnOnce() -> T) -> Option<T> {
    caught(Caught::AsFault, work)
}

fn caught<T>(how: Caught, work: impl FnOnce() -> T) -> Option<T> {
    let before = CATCHING.replace(how);
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(before);
    done.ok()
}

/// How a panic of this thread is caught.
pub(super) fn how_caught() -> Caught {
    if is_library_at_work() { Caught::AsForeseen } else { CATCHING.get() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backissue_core::feed::library_panics::catch_library_panic;

    #[test]
    fn what_stands_inside_says_how_a_panic_is_caught() {
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
