//! Determines whether the dates of a document put the day or the month first.

use super::date;

/// Order of day and month in dates of three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    DayFirst,
    MonthFirst,
}

/// Returns the order that most of a document's unambiguous dates show. English *am* or *pm* next to three numbers shows that
/// the month is first. Dates with dots show nothing.
pub fn order_of<'a>(texts: impl Iterator<Item = &'a str>) -> Option<DateOrder> {
    let (mut day_first, mut month_first) = (0_u32, 0_u32);
    for text in texts.filter(|text| can_show(text)) {
        match date::shown_order(text) {
            Some(DateOrder::DayFirst) => day_first += 1,
            Some(DateOrder::MonthFirst) => month_first += 1,
            None => {}
        }
    }
    match day_first.cmp(&month_first) {
        std::cmp::Ordering::Less => Some(DateOrder::MonthFirst),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(DateOrder::DayFirst),
    }
}

/// Checks whether a text can contain a date of three numbers that starts with its day or month.
fn can_show(text: &str) -> bool {
    if !text.is_ascii() {
        return true;
    }
    let mut digits = 0;
    for byte in text.trim_start().bytes() {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'/' | b'-' if matches!(digits, 1 | 2) => return true,
            b' ' if digits > 0 => {}
            _ => digits = 0,
        }
    }
    false
}
