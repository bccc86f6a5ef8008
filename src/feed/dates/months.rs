//! Chooses the month where a word is a month in one language and something else in another.

use chrono::{Datelike as _, NaiveDate};

use super::names::{Meaning, Meanings, Sense};
use super::tokens::Token;

/// Finds the token that names the month. Many names of days are names of months in another language.
pub(super) fn find(tokens: &[Token<'_>]) -> Option<usize> {
    let weight = |meanings: Meanings| {
        let is_main = meanings.has(|meaning| meaning.month().is_some() && !meaning.is_minor);
        let is_filler = meanings.has(|meaning| meaning.sense == Sense::Filler);
        let is_first = meanings.iter().next().is_some_and(|meaning| meaning.month().is_some());
        (meanings.is_clearly_month(), is_main, !is_filler, is_first)
    };
    let is_day = |at: Option<usize>| {
        let token = at.and_then(|at| tokens.get(at));
        token.and_then(Token::number).is_some_and(|digits| digits.len() <= 2)
    };
    let is_day_name = |token: &Token<'_>| token.meanings().is_some_and(is_day_name);
    let has_days = tokens.iter().filter(|token| is_day_name(token)).count() > 1;
    let is_clock = |at: usize| tokens.get(at).and_then(Token::mark) == Some(':');
    let names = tokens.iter().enumerate().filter_map(|(at, token)| {
        let meanings = token.meanings()?;
        let is_beside_day =
            is_day(at.checked_sub(1)) || (is_day(Some(at + 1)) && !is_clock(at + 2));
        // What is a common word of a main language is no month of another one.
        let is_main = meanings.months().any(|(_, meaning)| !meaning.is_minor);
        let other = meanings.iter().find(|m| m.month().is_none() && !m.is_minor);
        let is_month = is_main || other.is_none_or(|other| other.day().is_some() && has_days);
        meanings.months().next().filter(|_| is_month)?;
        Some((at, (weight(meanings), is_beside_day)))
    });
    names.max_by_key(|(_, weight)| *weight).map(|(at, _)| at)
}

/// Whether a name can be that of a day.
fn is_day_name(meanings: Meanings) -> bool {
    meanings.has(|meaning| meaning.day().is_some())
}

/// Decides on the date where the name of its month has several meanings: by the language of the day's name, else
/// by the day of the week that the date has, else for the language that the table names first. `days` are the
/// meanings of the names of days beside it.
pub(super) fn decide(names: Meanings, days: &[Meaning], year: i32, day: u32) -> Option<NaiveDate> {
    let date = |month: u32| NaiveDate::from_ymd_opt(year, month, day);
    let months: Vec<(u32, Meaning)> = names.months().collect();
    if let [(only, _)] = months.as_slice() {
        return date(*only);
    }
    let shares = |meaning: Meaning| days.iter().any(|day| day.shares_language(meaning));
    let in_language = months.iter().any(|(_, meaning)| shares(*meaning));
    let candidates: Vec<u32> = months
        .iter()
        .filter(|(_, meaning)| !in_language || shares(*meaning))
        .map(|(month, _)| *month)
        .collect();
    let is_on_day = |month: u32| {
        date(month).is_some_and(|date| {
            let number = date.weekday().number_from_monday();
            days.iter().any(|day| day.day() == Some(number))
        })
    };
    let on_day = candidates.iter().copied().find(|month| is_on_day(*month));
    on_day.or(candidates.first().copied()).and_then(date)
}
