//! The order of day and month in dates of three numbers.

/// Order of day and month in dates of three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    DayFirst,
    MonthFirst,
}
