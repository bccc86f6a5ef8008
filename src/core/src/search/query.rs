//! The query language: words, phrases, excluded terms, and fields.
//!
//! ```text
//! frost "late pruning" -apple title:wax feed:orchard tag:garden is:unread after:2014-03 before:7d
//! ```

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::date;
use super::words::WordScanner;

/// Names of the fields, as typed before a colon.
const FIELDS: [&str; 7] = ["feed", "tag", "title", "author", "is", "after", "before"];
/// Values that can follow `is:`.
const STATES: [(&str, EntryState); 5] = [
    ("unread", EntryState::Unread),
    ("read", EntryState::Read),
    ("starred", EntryState::Starred),
    ("hidden", EntryState::Hidden),
    ("gap", EntryState::Gap),
];
/// Maximum number of parts in a query. All further parts are ignored.
const PARTS_MAX: usize = 64;
/// Maximum number of typing errors in an unknown name for which a correct name is suggested.
const SLIPS_MAX: usize = 2;

/// A parsed query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// Words and phrases. All of them must occur in an entry, except excluded ones, which must not.
    pub terms: Vec<Term>,
    /// Names of the feeds to search. An entry must belong to one of the named feeds and to none of the excluded ones.
    pub feeds: Vec<Named>,
    /// Tags of the feeds to search. A feed must have one of the named tags and none of the excluded ones.
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
    /// Consecutive words of the term, in folded form; never empty.
    pub words: Vec<String>,
    /// Whether a word that begins with the last word of the term also matches.
    pub prefix: bool,
    /// Whether the term must not occur.
    pub excluded: bool,
}

/// The field in which a term must occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryField {
    /// The term may occur in the title, the author's name or the text.
    Anywhere,
    Title,
    /// The term must occur in the author's name.
    Author,
}

/// A part of the name of a feed or a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Part of the name, as typed by the user.
    pub name: String,
    pub excluded: bool,
}

/// A state of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// The entry is not read.
    Unread,
    Read,
    /// The entry is starred.
    Starred,
    /// A filter hides the entry.
    Hidden,
    /// The result is a gap in a feed's history instead of an entry.
    Gap,
}

/// Why a query is invalid. Each variant prints as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryFlaw {
    /// A field was typed that does not exist.
    #[error("there is no field '{name}:'; {}", match .nearest {
        Some(nearest) => format!("did you mean '{nearest}:'?"),
        None => "the fields are feed, tag, title, author, is, after and before".to_owned(),
    })]
    Field {
        name: String,
        /// Name of the field that the user probably meant.
        nearest: Option<&'static str>,
    },
    /// A value was typed after `is:` that does not exist.
    #[error("'is:{word}' is unknown; is: takes {}", match .nearest {
        Some(nearest) => format!("unread, read, starred, hidden and gap; did you mean '{nearest}'?"),
        None => "unread, read, starred, hidden and gap".to_owned(),
    })]
    State {
        word: String,
        /// Value that the user probably meant.
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
    /// The name in `feed:` does not match any subscription.
    #[error("no subscription is called '{0}'")]
    NoFeed(String),
    /// The tag in `tag:` does not match any tag.
    #[error("no subscription has the tag '{0}'")]
    NoTag(String),
}

/// A part of a query as typed: a word or phrase, with its optional field and exclusion mark.
struct QueryPart<'t> {
    excluded: bool,
    field: Option<&'t str>,
    text: &'t str,
    quoted: bool,
    /// Whether the part reaches to the end of the query, so the user may still be typing it.
    last: bool,
}

/// Parses a query. `typing` is true while the user is typing; the last word then matches as a prefix.
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
            // An entry that is not listed at or after an instant is listed before that instant, and vice versa.
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

/// Returns the name that is most similar to the typed one; `None` if none is similar enough.
fn nearest(typed: &str, names: &[&'static str]) -> Option<&'static str> {
    let slips = |name: &str| strsim::osa_distance(typed, name);
    let begun = names.iter().find(|name| typed.len() > 1 && name.starts_with(typed));
    let alike = || names.iter().min_by_key(|name| slips(name));
    begun.or_else(alike).copied().filter(|name| {
        name.starts_with(typed) || slips(name) <= SLIPS_MAX.min(name.len().saturating_sub(1))
    })
}

/// Returns the words of a part as a term; `None` if the part contains no words.
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
    // In scripts without spaces, the text may continue after the typed characters. The pairs of typed characters already
    // match its beginning, so the last word, which is a single character, is dropped.
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

/// Checks whether the last word of a text is a single character that ends a run of two or more characters of a script
/// without spaces.
fn ends_run(text: &str, last: &str) -> bool {
    is_one_dense(last)
        && text.trim_end_matches('*').chars().rev().take(2).all(super::fold::is_dense)
}

fn is_one_dense(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(super::fold::is_dense) && chars.next().is_none()
}

/// Returns the next part of a query and the text after it.
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
            // The closing quotation mark has not been typed yet.
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

/// Splits a text into a field name and the value after the colon. Returns `None` for an address, a time or a path (`a::b`).
fn field_of(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_name && !value.starts_with(['/', ':'])).then_some((name, value))
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
