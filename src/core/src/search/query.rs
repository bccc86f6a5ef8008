//! The query language: words, phrases, exclusion, and fields.
//!
//! ```text
//! frost "late pruning" -apple title:wax feed:orchard tag:garden is:unread after:2014-03 before:7d
//! ```

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::date;
use super::words::WordScanner;

/// Field names, as typed.
const FIELDS: [&str; 7] = ["feed", "tag", "title", "author", "is", "after", "before"];
/// Values of `is:`.
const STATES: [(&str, EntryState); 5] = [
    ("unread", EntryState::Unread),
    ("read", EntryState::Read),
    ("starred", EntryState::Starred),
    ("hidden", EntryState::Hidden),
    ("gap", EntryState::Gap),
];
/// Maximum number of parts in a query; the rest is ignored.
const PARTS_MAX: usize = 64;
/// Maximum number of typing errors in a name for which a suggestion is made.
const SLIPS_MAX: usize = 2;

/// A parsed query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// Words and phrases. All of them must occur, except excluded ones, which must not.
    pub terms: Vec<Term>,
    /// Feeds to search: any of the named ones, none of the excluded ones.
    pub feeds: Vec<Named>,
    /// Tags of the feeds to search: any of the named tags, none of the excluded ones.
    pub tags: Vec<Named>,
    /// States that entries must have (`true`) or must not have (`false`).
    pub states: Vec<(EntryState, bool)>,
    /// Entries must be listed at this instant or later.
    pub after: Option<DateTime<Utc>>,
    /// Entries must be listed before this instant.
    pub before: Option<DateTime<Utc>>,
}

/// A word or a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Field in which the term must occur.
    pub field: QueryField,
    /// Consecutive words of the term, folded; never empty.
    pub words: Vec<String>,
    /// Whether the last word matches as a prefix.
    pub prefix: bool,
    /// Whether the term must not occur.
    pub excluded: bool,
}

/// The field in which a term must occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryField {
    /// Title, author or text.
    Anywhere,
    Title,
    /// The author's name.
    Author,
}

/// A part of the name of a feed or a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Part of the name, as typed.
    pub name: String,
    pub excluded: bool,
}

/// A state of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// Not read.
    Unread,
    Read,
    /// Starred.
    Starred,
    /// Hidden by a filter.
    Hidden,
    /// A gap instead of an entry.
    Gap,
}

/// Why a query is invalid. Each variant prints as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryFlaw {
    /// There is no field with this name.
    #[error("there is no field '{name}:'; {}", match .nearest {
        Some(nearest) => format!("did you mean '{nearest}:'?"),
        None => "the fields are feed, tag, title, author, is, after and before".to_owned(),
    })]
    Field {
        name: String,
        /// Field that was probably meant.
        nearest: Option<&'static str>,
    },
    /// `is:` has no such value.
    #[error("'is:{word}' is unknown; is: takes {}", match .nearest {
        Some(nearest) => format!("unread, read, starred, hidden and gap; did you mean '{nearest}'?"),
        None => "unread, read, starred, hidden and gap".to_owned(),
    })]
    State {
        word: String,
        /// Value that was probably meant.
        nearest: Option<&'static str>,
    },
    /// The date cannot be parsed.
    #[error(
        "'{field}:{date}' is not a date; write 2014, 2014-03, 2014-03-05, or 7d for seven days ago"
    )]
    Date {
        field: &'static str,
        /// The date as typed.
        date: String,
    },
    /// A field name is not followed by a value.
    #[error("enter a value after '{0}:'")]
    Nothing(&'static str),
    /// No subscription matches.
    #[error("no subscription is called '{0}'")]
    NoFeed(String),
    /// No tag matches.
    #[error("no subscription has the tag '{0}'")]
    NoTag(String),
}

/// A part of a query as typed.
struct QueryPart<'t> {
    excluded: bool,
    field: Option<&'t str>,
    text: &'t str,
    quoted: bool,
    /// Whether the part reaches to the end of the query, so the user may still be typing it.
    last: bool,
}

/// Parses a query. If `typing` is true, the last word matches as a prefix.
pub fn parse(text: &str, typing: bool, now: DateTime<Utc>, zone: Tz) -> Result<Query, QueryFlaw> {
    let mut query = Query::default();
    let mut rest = text;
    for _ in 0..PARTS_MAX {
        let Some((part, behind)) = next_part(rest) else { break };
        rest = behind;
        apply_part(&mut query, &part, typing, now, zone)?;
    }
    Ok(query)
}

fn apply_part(
    query: &mut Query,
    part: &QueryPart<'_>,
    typing: bool,
    now: DateTime<Utc>,
    zone: Tz,
) -> Result<(), QueryFlaw> {
    let Some(name) = part.field else {
        query.terms.extend(term(part, QueryField::Anywhere, typing));
        return Ok(());
    };
    let lower = name.to_ascii_lowercase();
    let Some(&field) = FIELDS.iter().find(|field| **field == lower) else {
        return Err(QueryFlaw::Field { name: name.into(), nearest: nearest(&lower, &FIELDS) });
    };
    if part.text.trim().is_empty() {
        return Err(QueryFlaw::Nothing(field));
    }
    let named = || Named { name: part.text.trim().to_owned(), excluded: part.excluded };
    match field {
        "feed" => query.feeds.push(named()),
        "tag" => query.tags.push(named()),
        "title" => query.terms.extend(term(part, QueryField::Title, typing)),
        "author" => query.terms.extend(term(part, QueryField::Author, typing)),
        "is" => query.states.push((state(part.text)?, !part.excluded)),
        dated => {
            let at = date::beginning(part.text, now, zone)
                .ok_or_else(|| QueryFlaw::Date { field, date: part.text.into() })?;
            // An entry not listed after an instant is listed before it.
            if (dated == "after") == part.excluded {
                query.before = Some(query.before.map_or(at, |other| other.min(at)));
            } else {
                query.after = Some(query.after.map_or(at, |other| other.max(at)));
            }
        }
    }
    Ok(())
}

fn state(word: &str) -> Result<EntryState, QueryFlaw> {
    let lower = word.to_ascii_lowercase();
    let known = STATES.iter().find(|(name, _)| *name == lower);
    known.map(|(_, state)| *state).ok_or_else(|| {
        let names: Vec<&'static str> = STATES.iter().map(|(name, _)| *name).collect();
        QueryFlaw::State { word: word.into(), nearest: nearest(&lower, &names) }
    })
}

/// Returns the name most similar to the typed one, if any is similar enough.
fn nearest(typed: &str, names: &[&'static str]) -> Option<&'static str> {
    let slips = |name: &str| strsim::osa_distance(typed, name);
    let begun = names.iter().find(|name| typed.len() > 1 && name.starts_with(typed));
    let alike = || names.iter().min_by_key(|name| slips(name));
    begun.or_else(alike).copied().filter(|name| {
        name.starts_with(typed) || slips(name) <= SLIPS_MAX.min(name.len().saturating_sub(1))
    })
}

/// Returns the words of a part as a term; `None` if it has none.
fn term(part: &QueryPart<'_>, field: QueryField, typing: bool) -> Option<Term> {
    let (mut scanner, mut folded, mut words) =
        (WordScanner::new(part.text), String::new(), Vec::new());
    let mut end = 0;
    while let Some(word) = scanner.next_into(&mut folded) {
        words.push(folded.clone());
        end = word.to;
    }
    let behind = part.text.get(end..).unwrap_or_default();
    let open = typing && part.last && !part.quoted && behind.is_empty() && !part.excluded;
    // In a dense script, more characters may follow the typed ones. The pairs of the typed characters already match the
    // beginning, so the single last character is dropped.
    let dense = words.len() > 1 && words.last().is_some_and(|last| ends_run(part.text, last));
    if dense {
        words.pop();
    }
    let single = words.len() == 1 && words.first().is_some_and(|word| is_one_dense(word));
    let prefix = open || (behind == "*" && !part.quoted) || single;
    (!words.is_empty()).then_some(Term {
        field,
        words,
        prefix: prefix && !dense,
        excluded: part.excluded,
    })
}

/// Checks whether the last word of a text is the single final character of a run of two or more.
fn ends_run(text: &str, last: &str) -> bool {
    is_one_dense(last)
        && text.trim_end_matches('*').chars().rev().take(2).all(super::fold::is_dense)
}

fn is_one_dense(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(super::fold::is_dense) && chars.next().is_none()
}

/// Returns the next part of a query, and the remaining text.
fn next_part(text: &str) -> Option<(QueryPart<'_>, &str)> {
    let text = text.trim_start();
    if text.is_empty() {
        return None;
    }
    let bare = text.strip_prefix('-').filter(|rest| !rest.starts_with([' ', '-']));
    let (excluded, text) = bare.map_or((false, text), |rest| (true, rest));
    let (field, value) = match field_of(text) {
        Some((name, value)) => (Some(name), value),
        None => (None, text),
    };
    let (text, quoted, behind) = match value.strip_prefix(['"', '“', '”']) {
        Some(inner) => match inner.split_once(['"', '“', '”']) {
            Some((inside, behind)) => (inside, true, behind),
            // The closing quotation mark is not typed yet.
            None => (inner, true, ""),
        },
        None => match value.split_once(char::is_whitespace) {
            Some((word, behind)) => (word, false, behind),
            None => (value, false, ""),
        },
    };
    let last = behind.is_empty() && !value.ends_with(char::is_whitespace);
    Some((QueryPart { excluded, field, text, quoted, last }, behind))
}

/// Splits off a field name before a colon; an address, a time or a path (`a::b`) has none.
fn field_of(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_name && !value.starts_with(['/', ':'])).then_some((name, value))
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
