//! A number that the store computes: its last value, and whether a new value is pending.

/// A number that the store computes, and whether a new value is pending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted<T> {
    /// Last value that the store returned.
    pub value: T,
    /// `true` while a requested value is pending.
    pub(in crate::ui) waiting: bool,
    /// `true` if the value may have changed after the pending request, so that it must be requested again.
    again: bool,
}

impl<T> Counted<T> {
    /// Checks whether the value may be requested now. While an earlier request is pending, returns `false`; in this case,
    /// [`Self::end`] indicates that the value must be requested again.
    pub(in crate::ui) const fn begin(&mut self) -> bool {
        self.again = self.waiting;
        !std::mem::replace(&mut self.waiting, true)
    }

    /// Stores a value that the store returned. Returns `true` if the value must be requested again.
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
