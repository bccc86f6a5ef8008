//! A count that the store computes: its last value, and whether a new one is pending.

/// A count, and whether a new value is pending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted<T> {
    /// Last value.
    pub value: T,
    /// `true` if a request is pending.
    pub(in crate::ui) waiting: bool,
    /// `true` if something changed since the request, so that it must be repeated.
    again: bool,
}

impl<T> Counted<T> {
    /// Checks whether the count may be requested now. If not, it is requested again when the pending answer arrives.
    pub(in crate::ui) const fn begin(&mut self) -> bool {
        self.again = self.waiting;
        !std::mem::replace(&mut self.waiting, true)
    }

    /// Stores an answer. Returns whether to request the count again.
    pub(in crate::ui) fn end(&mut self, value: T) -> bool {
        (self.value, self.waiting) = (value, false);
        std::mem::take(&mut self.again)
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::state::counted::*;

    #[test]
    fn change_during_a_count_starts_one_more_count() {
        let mut count: Counted<u32> = Counted::default();
        assert!(count.begin());
        assert!(!count.begin() && !count.begin(), "an answer is on its way");
        assert!(count.end(3), "it is asked for again");
        assert!(count.begin());
        assert!(!count.end(4));
        assert_eq!(count.value, 4);
    }
}
