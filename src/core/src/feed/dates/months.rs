//! Chooses the month of a date if a word in it means a month in one language and something else in another.

use chrono::{Datelike as _, NaiveDate};

use super::names::{Meaning, Meanings, Sense};
use super::tokens::Token;

/// A token that may name the month.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) at: usize,
    names: Meanings,
    /// Whether each criterion indicates that this token is the month, the most important criterion first.
    weight: [bool; 5],
}

/// Finds the tokens that may name the month.
pub(super) fn candidates(tokens: &[Token<'_>]) -> Vec<Candidate> {
    let is_day = |at: Option<usize>| {
        let token = at.and_then(|at| tokens.get(at));
        token.and_then(Token::number).is_some_and(|digits| digits.len() <= 2)
    };
    let is_day_name = |token: &Token<'_>| token.meanings().is_some_and(is_day_name);
    let has_days = tokens.iter().filter(|token| is_day_name(token)).count() > 1;
    let is_clock = |at: usize| tokens.get(at).and_then(Token::mark) == Some(':');
    let candidate = |(at, token): (usize, &Token<'_>)| {
        let names = token.meanings()?;
        names.months().next()?;
        let is_main = names.months().any(|(_, meaning)| !meaning.is_minor);
        let other = names.iter().find(|meaning| meaning.month().is_none() && !meaning.is_minor);
        // A word that is common in a main language is not read as a month of a minor language.
        if !is_main && other.is_some_and(|other| other.day().is_none() || !has_days) {
            return None;
        }
        let is_filler = names.has(|meaning| meaning.sense == Sense::Filler);
        let is_first = names.iter().next().is_some_and(|meaning| meaning.month().is_some());
        let is_beside_day =
            is_day(at.checked_sub(1)) || (is_day(Some(at + 1)) && !is_clock(at + 2));
        let weight = [names.is_clearly_month(), is_main, !is_filler, is_first, is_beside_day];
        Some(Candidate { at, names, weight })
    };
    tokens.iter().enumerate().filter_map(candidate).collect()
}

/// Checks whether a word can mean a weekday.
fn is_day_name(names: Meanings) -> bool {
    names.has(|meaning| meaning.day().is_some())
}

/// Chooses the date if several words, or several meanings of one word, can be the month. The language of the weekday name and the
/// actual weekday of the date decide, then `Candidate::weight`. If these are equal, the first language in the table of names is
/// used.
pub(super) fn decide(
    tokens: &[Token<'_>],
    candidates: &[Candidate],
    year: i32,
    day: u32,
) -> Option<NaiveDate> {
    let date = |month: u32| NaiveDate::from_ymd_opt(year, month, day);
    if let [only] = candidates {
        let mut months = only.names.months();
        if let (Some((month, _)), None) = (months.next(), months.next()) {
            return date(month);
        }
    }
    let mut best = None;
    for candidate in candidates {
        let others = candidates.iter().filter(|other| other.at != candidate.at);
        let is_month_only = |other: &Candidate| other.names.iter().all(|m| m.month().is_some());
        if others.into_iter().any(is_month_only) {
            continue;
        }
        let days = days_beside(tokens, candidate.at);
        for (month, meaning) in candidate.names.months() {
            let Some(date) = date(month) else { continue };
            let number = date.weekday().number_from_monday();
            let shares = days.iter().any(|day| day.shares_language(meaning));
            let is_on_day = days.iter().any(|day| day.day() == Some(number));
            let score = (shares && is_on_day, candidate.weight, shares, is_on_day);
            if best.is_none_or(|(known, _)| score > known) {
                best = Some((score, date));
            }
        }
    }
    best.map(|(_, date)| date)
}

/// Returns the weekday meanings of all tokens except the one at index `except`.
fn days_beside(tokens: &[Token<'_>], except: usize) -> Vec<Meaning> {
    let names = tokens.iter().enumerate().filter(|(at, _)| *at != except);
    names.filter_map(|(_, token)| token.meanings()).flat_map(Meanings::days).collect()
}
