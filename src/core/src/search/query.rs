//! The query language: words, phrases, exclusion, and fields.
//!
//! ```text
//! frost "late pruning" -apple title:wax feed:orchard tag:garden is:unread after:2014-03 before:7d
//! ```

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::date;
use super::words::WordScanner;

/// Names of fields, as they are typed.
const FIELDS: [&str; 7] = ["feed", "tag", "title", "author", "is", "after", "before"];
/// What `is:` takes.
const STATES: [(&str, EntryState); 5] = [
    ("unread", EntryState::Unread),
    ("read", EntryState::Read),
    ("starred", EntryState::Starred),
    ("hidden", EntryState::Hidden),
    ("gap", EntryState::Gap),
];
/// Parts of a query at most; what is typed beyond them is not looked at.
const PARTS_MAX: usize = 64;
/// How many letters may be wrong in a name for it to be recognised.
const SLIPS_MAX: usize = 2;

/// What a reader looks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// Words and phrases; all of them must occur, the excluded ones must not.
    pub terms: Vec<Term>,
    /// Feeds: one of those named, none of those excluded.
    pub feeds: Vec<Named>,
    /// Tags, in the same way.
    pub tags: Vec<Named>,
    /// What entries must be; `false`: must not be.
    pub states: Vec<(EntryState, bool)>,
    /// Listed at this instant or later.
    pub after: Option<DateTime<Utc>>,
    /// Listed before this instant.
    pub before: Option<DateTime<Utc>>,
}

/// A word or a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Where it must stand.
    pub field: QueryField,
    /// Its words one behind the other, folded; never empty.
    pub words: Vec<String>,
    /// The last word may go on.
    pub prefix: bool,
    /// It must not occur.
    pub excluded: bool,
}

/// Where a term must stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryField {
    /// In title, author or text.
    Anywhere,
    Title,
    /// In the author's name.
    Author,
}

/// A part of the name of a feed or a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The part, as typed.
    pub name: String,
    pub excluded: bool,
}

/// What an entry can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// Not read.
    Unread,
    Read,
    /// With a star.
    Starred,
    /// Hidden by a filter.
    Hidden,
    /// No entry, but a place where some are missing.
    Gap,
}

/// Why a query cannot be read. Each prints as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryFlaw {
    /// No field has this name.
    #[error("there is no field '{name}:'; {}", match .nearest {
        Some(nearest) => format!("is '{nearest}:' meant?"),
        None => "the fields are feed, tag, title, author, is, after and before".to_owned(),
    })]
    Field {
        name: String,
        /// The field that is perhaps meant.
        nearest: Option<&'static str>,
    },
    /// `is:` takes no such word.
    #[error("'is:{word}' is not known; is: takes {}", match .nearest {
        Some(nearest) => format!("unread, read, starred, hidden and gap: is '{nearest}' meant?"),
        None => "unread, read, starred, hidden and gap".to_owned(),
    })]
    State {
        word: String,
        /// The word that is perhaps meant.
        nearest: Option<&'static str>,
    },
    /// A date cannot be read.
    #[error(
        "'{field}:{date}' is not a date; write 2014, 2014-03, 2014-03-05, or 7d for seven days ago"
    )]
    Date {
        field: &'static str,
        /// What was typed.
        date: String,
    },
    /// Nothing stands behind a field's name.
    #[error("something must stand behind '{0}:'")]
    Nothing(&'static str),
    /// No subscription fits.
    #[error("no subscription is called '{0}'")]
    NoFeed(String),
    /// No tag fits.
    #[error("no subscription has the tag '{0}'")]
    NoTag(String),
}

/// One part of a query as typed.
struct QueryPart<'t> {
    excluded: bool,
    field: Option<&'t str>,
    text: &'t str,
    quoted: bool,
    /// It reaches to the end of the query: it may still be typed.
    last: bool,
}

/// Reads a query. `typing`: its last word may go on.
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
            // What is not after an instant is before it.
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

/// The name that is most like what was typed, if one is like it at all.
fn nearest(typed: &str, names: &[&'static str]) -> Option<&'static str> {
    let slips = |name: &str| strsim::osa_distance(typed, name);
    let begun = names.iter().find(|name| typed.len() > 1 && name.starts_with(typed));
    let alike = || names.iter().min_by_key(|name| slips(name));
    begun.or_else(alike).copied().filter(|name| {
        name.starts_with(typed) || slips(name) <= SLIPS_MAX.min(name.len().saturating_sub(1))
    })
}

/// The words of a part; `None` if it has none.
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
    // The last character of a run of a dense script may have any neighbour behind it: what was typed of a run is
    // its beginning, and the pairs before already say so.
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

/// Whether the last word of a text is the single end of a run of two characters or more.
fn ends_run(text: &str, last: &str) -> bool {
    is_one_dense(last)
        && text.trim_end_matches('*').chars().rev().take(2).all(super::fold::is_dense)
}

fn is_one_dense(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(super::fold::is_dense) && chars.next().is_none()
}

/// The next part of a query, and what stands behind it.
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
            // The closing mark is still to be typed.
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

/// A field's name before a colon; an address, a time or a path (`a::b`) has none.
fn field_of(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_name && !value.starts_with(['/', ':'])).then_some((name, value))
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
