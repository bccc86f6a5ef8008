//! A count that the store makes: its last value, and whether it is being made anew.

/// A count, and whether it is being made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted<T> {
    /// The last answer.
    pub value: T,
    /// It has been asked for.
    pub(in crate::ui) waiting: bool,
    /// Something changed since: it is to be asked for again.
    again: bool,
}

impl<T> Counted<T> {
    /// Whether it may be asked for now; if not, it is asked for again when the answer has come.
    pub(in crate::ui) const fn begin(&mut self) -> bool {
        self.again = self.waiting;
        !std::mem::replace(&mut self.waiting, true)
    }

    /// The answer came; says whether to ask again.
    pub(in crate::ui) fn end(&mut self, value: T) -> bool {
        (self.value, self.waiting) = (value, false);
        std::mem::take(&mut self.again)
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::state::counted::*;

    #[test]
    fn what_changes_while_it_is_counted_is_counted_once_more() {
        let mut count: Counted<u32> = Counted::default();
        assert!(count.begin());
        assert!(!count.begin() && !count.begin(), "an answer is on its way");
        assert!(count.end(3), "it is asked for again");
        assert!(count.begin());
        assert!(!count.end(4));
        assert_eq!(count.value, 4);
    }
}
