//! Reads the time zone from the tokens of a date.

use chrono::{NaiveDateTime, TimeZone as _};

use super::tokens::Token;
use super::zone_names;

/// Time zone of a date.
#[derive(Clone, Copy)]
pub(super) enum Zone {
    /// Minutes east of UTC.
    Offset(i32),
    Place(chrono_tz::Tz),
}

impl Zone {
    /// Returns the minutes east of UTC that apply in this zone at the local time `there`.
    pub(super) fn minutes_at(self, there: NaiveDateTime) -> i32 {
        match self {
            Self::Offset(minutes) => minutes,
            Self::Place(place) => {
                let local = place.from_local_datetime(&there).earliest();
                let minutes = local.map(|local| (there - local.naive_utc()).num_minutes());
                minutes.and_then(|minutes| i32::try_from(minutes).ok()).unwrap_or(0)
            }
        }
    }
}

/// Finds the zone at the first of these tokens. Returns the zone and the number of tokens that it occupies. `is_next` is true if
/// the tokens directly follow the time. In this case lower-case names and unknown names also count as zones.
pub(super) fn find(tokens: &[Token<'_>], is_next: bool) -> Option<(Zone, usize)> {
    if let Some((minutes, count)) = read_offset(tokens) {
        return Some((Zone::Offset(minutes), count));
    }
    let (token, behind) = tokens.split_first()?;
    let word = token.word()?;
    if is_next {
        let words: Vec<&str> = tokens.iter().map_while(Token::word).take(4).collect();
        if let Some((minutes, count)) = zone_names::find_phrase(&words) {
            return Some((Zone::Offset(minutes), count));
        }
    }
    let is_name = token
        .meanings()
        .is_some_and(|names| names.has(|m| m.month().or(m.day()).is_some() && !m.is_minor));
    let is_capital = word.bytes().all(|byte| byte.is_ascii_uppercase());
    let known = zone_names::find(word)
        .filter(|_| (is_capital && (is_next || !is_name)) || (is_next && word.len() != 2));
    let zone = match known {
        Some(minutes) => Zone::Offset(minutes),
        None if is_next && token.meanings().is_none() && zone_names::is_like_zone(word) => {
            word.parse().map_or(Zone::Offset(0), Zone::Place)
        }
        None => return None,
    };
    // The name can be followed directly by an offset, as in `GMT+2`.
    match read_offset(behind).filter(|_| behind.first().is_some_and(|sign| !sign.is_spaced)) {
        Some((minutes, count)) => Some((Zone::Offset(minutes), count + 1)),
        None => Some((zone, 1)),
    }
}

/// Reads the zone offset `+hh`, `-hhmm` or `+hh:mm`. Returns the minutes east of UTC and the number of tokens that the offset
/// occupies.
fn read_offset(tokens: &[Token<'_>]) -> Option<(i32, usize)> {
    let sign = tokens.first()?.mark().filter(|mark| matches!(mark, '+' | '-'))?;
    let glued = |at: usize| tokens.get(at).filter(|token| !token.is_spaced);
    let digits = glued(1)?.number()?;
    let number: i32 = digits.parse().ok().filter(|_| digits.len() <= 4)?;
    let (hours, minutes, count) = match digits.len() {
        1 | 2 => match (glued(2).and_then(Token::mark), glued(3).and_then(Token::number)) {
            (Some(':'), Some(minutes)) if minutes.len() == 2 => (number, minutes.parse().ok()?, 4),
            _ => (number, 0, 2),
        },
        _ => (number / 100, number % 100, 2),
    };
    let east = (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)?;
    Some((if sign == '+' { east } else { -east }, count))
}
