//! Reads dates that consist of three numbers, and decides which number is the day.

use std::ops::Range;

use chrono::{Datelike as _, NaiveDate};

use super::clock::Half;
use super::tokens::DateToken;

/// Order of day and month in dates of three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    DayFirst,
    MonthFirst,
}

/// A date of three numbers as written, before it is decided which number is the day.
#[derive(Clone, Debug)]
pub(super) struct NumericDate<'a> {
    /// Indices of the tokens that the date occupies.
    pub(super) range: Range<usize>,
    first: &'a str,
    second: &'a str,
    third: &'a str,
    mark: char,
}

/// Parts of a text, other than the date's numbers, that indicate whether the day or the month comes first.
pub(super) struct Circumstances<'a> {
    /// Weekdays that the words of the text can mean, from 1 (Monday) to 7 (Sunday).
    pub(super) days: &'a [u32],
    /// Stated part of the day, such as am or pm, and whether it is written in English.
    pub(super) half: Option<(Half, bool)>,
    /// Whether a letter or word follows the hour, as in `9h15`.
    pub(super) has_hour_word: bool,
}

/// A date of three numbers, after it was decided which number is the day.
pub(super) struct Decided {
    pub(super) date: NaiveDate,
    /// Whether the text does not show which number is the day, so that the decision may be wrong.
    pub(super) is_ambiguous: bool,
    /// Order of day and month that this date shows, to be used for ambiguous dates of the same document.
    pub(super) shows: Option<DateOrder>,
}

/// Finds a date of three numbers. A two-digit year is accepted only if `short_years` is true.
pub(super) fn find<'a>(tokens: &[DateToken<'a>], short_years: bool) -> Option<NumericDate<'a>> {
    let all = 0..tokens.len();
    let full = all.clone().find_map(|at| read_at(tokens, at, false));
    full.or_else(|| all.clone().find_map(|at| read_joined(tokens, at)))
        .or_else(|| all.clone().filter(|_| short_years).find_map(|at| read_spaced(tokens, at)))
        .or_else(|| all.clone().filter(|_| short_years).find_map(|at| read_at(tokens, at, true)))
}

/// Reads a date of three numbers that are separated only by spaces. One of them must be a four-digit year.
fn read_spaced<'a>(tokens: &[DateToken<'a>], at: usize) -> Option<NumericDate<'a>> {
    let [first, second, third] = tokens.get(at..at + 3)? else { return None };
    let (first, second, third) = (first.number()?, second.number()?, third.number()?);
    let is_date =
        matches!((first.len(), second.len(), third.len()), (1..=2, 1..=2, 4) | (4, 1..=2, 1..=2));
    let is_time = tokens.get(at + 3).is_some_and(|next| !next.is_spaced && is_joint(Some(next)));
    let goes_on = is_time || goes_on_before(tokens, at);
    (is_date && !goes_on).then_some(NumericDate {
        range: at..at + 3,
        first,
        second,
        third,
        mark: '.',
    })
}

/// Reads a date written as one number: `yyyymmdd`.
fn read_joined<'a>(tokens: &[DateToken<'a>], at: usize) -> Option<NumericDate<'a>> {
    let digits = tokens.get(at)?.number().filter(|digits| digits.len() == 8)?;
    let (first, rest) = digits.split_at_checked(4)?;
    let (second, third) = rest.split_at_checked(2)?;
    Some(NumericDate { range: at..at + 1, first, second, third, mark: '-' })
}

fn read_at<'a>(tokens: &[DateToken<'a>], at: usize, short_year: bool) -> Option<NumericDate<'a>> {
    let part = tokens.get(at..at + 5)?;
    let [first, mark, second, mark_again, third] = part else { return None };
    let (first_digits, second_digits, third_digits) =
        (first.number()?, second.number()?, third.number()?);
    let separator = mark.mark().filter(|c| matches!(c, '-' | '/' | '.' | ':'))?;
    let widths = (first_digits.len(), second_digits.len(), third_digits.len());
    let is_year_first = matches!(widths, (4, 1..=2, 1..=2));
    let fits = match widths {
        (1..=2, 1..=2, 2) if short_year => true,
        (4, 1..=2, 1..=2) | (1..=2, 1..=2, 4) => !short_year,
        _ => false,
    };
    let spaces = [mark, second, mark_again, third].map(|token| token.is_spaced);
    let spaced_well = match separator {
        '.' if is_year_first => matches!(spaces, [false, one, false, two] if one == two),
        // `21. 7. 5.` is either Korean (year first) or Bosnian (day first).
        '.' if short_year && spaces == [false, true, false, true] => {
            tokens.get(at + 5).and_then(DateToken::mark) != Some('.')
        }
        '.' if !short_year => matches!(spaces, [false, _, false, _]),
        '/' => spaces == [spaces[0]; 4],
        _ => spaces == [false; 4],
    };
    let is_colon_right = separator != ':' || (is_year_first && widths == (4, 2, 2));
    if !(fits && spaced_well && is_colon_right) || mark_again.mark() != Some(separator) {
        return None;
    }
    if goes_on_before(tokens, at) || goes_on_after(tokens, at + 5) {
        return None;
    }
    Some(NumericDate {
        range: at..at + 5,
        first: first_digits,
        second: second_digits,
        third: third_digits,
        mark: separator,
    })
}

fn is_joint(token: Option<&DateToken<'_>>) -> bool {
    token.and_then(DateToken::mark).is_some_and(|c| matches!(c, '-' | '/' | '.' | ':' | '+'))
}

/// Checks whether a further number and a mark precede the token at `at` without a space, as in a version number.
fn goes_on_before(tokens: &[DateToken<'_>], at: usize) -> bool {
    let back = |count: usize| at.checked_sub(count).and_then(|at| tokens.get(at));
    tokens.get(at).is_some_and(|token| !token.is_spaced)
        && is_joint(back(1))
        && back(2).is_none_or(|token| token.number().is_some())
}

fn goes_on_after(tokens: &[DateToken<'_>], at: usize) -> bool {
    let glued = |at: usize| tokens.get(at).filter(|token| !token.is_spaced);
    is_joint(glued(at)) && glued(at + 1).and_then(DateToken::number).is_some()
}

impl NumericDate<'_> {
    /// Decides which number is the day: by the text that contains the date, else by `order`, the order of other dates in the
    /// document, else by the order of RFC 822 (day first). `year` converts the written year to a full year.
    pub(super) fn decide(
        &self,
        seen: &Circumstances<'_>,
        order: Option<DateOrder>,
        year: impl Fn(&str) -> Option<i32>,
    ) -> Option<Decided> {
        let date = |year: &str, month: &str, day: &str, full: &dyn Fn(&str) -> Option<i32>| {
            NaiveDate::from_ymd_opt(full(year)?, month.parse().ok()?, day.parse().ok()?)
        };
        let certain = |date, shows| Decided { date, is_ambiguous: false, shows };
        if self.first.len() == 4 {
            return date(self.first, self.second, self.third, &year)
                .map(|date| certain(date, None));
        }
        let is_short = [self.first, self.second, self.third].iter().all(|part| part.len() == 2);
        if self.mark == '-' && is_short && seen.half.is_none() && order.is_none() {
            // `21-07-05` is read as year, month and day (ISO 8601:1988) unless the document's other dates or a part of the day
            // indicate another order.
            let iso = date(self.first, self.second, self.third, &year);
            if let Some(date) = iso {
                return Some(certain(date, None));
            }
        }
        let day_first = date(self.third, self.second, self.first, &year);
        let month_first = date(self.third, self.first, self.second, &year);
        let has_dots = self.mark == '.';
        match (day_first, month_first) {
            (Some(day_first), Some(month_first)) if day_first == month_first || has_dots => {
                Some(certain(day_first, None))
            }
            (Some(day_first), Some(month_first)) => {
                Some(choose(day_first, month_first, seen, order))
            }
            (Some(date), None) => {
                Some(certain(date, Some(DateOrder::DayFirst).filter(|_| !has_dots)))
            }
            (None, Some(_)) if has_dots && self.third.len() == 2 => None,
            (None, Some(date)) => {
                Some(certain(date, Some(DateOrder::MonthFirst).filter(|_| !has_dots)))
            }
            // Neither reading is a valid date, but the first number can be a two-digit year, as in `94/11/06`.
            (None, None) => date(self.first, self.second, self.third, &year)
                .filter(|_| self.first.len() == 2 && self.third.len() == 2)
                .map(|date| certain(date, None)),
        }
    }
}

/// Chooses between the two dates that result from reading the day first or the month first.
fn choose(
    day_first: NaiveDate,
    month_first: NaiveDate,
    seen: &Circumstances<'_>,
    order: Option<DateOrder>,
) -> Decided {
    let on_day = |date: NaiveDate| seen.days.contains(&date.weekday().number_from_monday());
    let is_english = seen.half.is_some_and(|(_, is_english)| is_english);
    let own = match (on_day(day_first), on_day(month_first)) {
        (true, false) => Some(DateOrder::DayFirst),
        (false, true) => Some(DateOrder::MonthFirst),
        _ if seen.has_hour_word => Some(DateOrder::DayFirst),
        _ if seen.half.is_some() && !is_english => Some(DateOrder::DayFirst),
        _ => None,
    };
    let usual = if is_english { DateOrder::MonthFirst } else { DateOrder::DayFirst };
    let date = match own.or(order).unwrap_or(usual) {
        DateOrder::DayFirst => day_first,
        DateOrder::MonthFirst => month_first,
    };
    let by_half = Some(DateOrder::MonthFirst).filter(|_| is_english);
    Decided { date, is_ambiguous: own.is_none(), shows: own.or(by_half) }
}
