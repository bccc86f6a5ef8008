//! The fields of the query language, and why a query is not understood.

use std::fmt;

use super::condition::{EntryState, NameKind, NamePosition};
use super::text_test::TextField;

/// Maximum number of typing errors in an unknown name for which a correct name is suggested.
const SLIPS_MAX: usize = 2;

/// A field of the query language.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Name of the field, as typed before a colon.
    pub name: &'static str,
    pub(super) kind: FieldKind,
    /// An example of a value.
    pub example: &'static str,
    /// What the field matches, for the documentation.
    pub matches: &'static str,
}

/// What a field refers to.
#[derive(Debug, Clone, Copy)]
pub(super) enum FieldKind {
    Text(TextField),
    Name(NameKind),
    Rate,
    Is,
    After,
    Before,
    Age,
    Has,
    Longer,
    Shorter,
}

const fn field(
    name: &'static str,
    kind: FieldKind,
    example: &'static str,
    matches: &'static str,
) -> Field {
    Field { name, kind, example, matches }
}

/// All fields.
pub const FIELDS: [Field; 16] = [
    field("title", FieldKind::Text(TextField::Title), "title:frost", "words of the title"),
    field("author", FieldKind::Text(TextField::Author), "author:lee", "words of the author's name"),
    field("text", FieldKind::Text(TextField::Text), "text:frost", "words of the text"),
    field(
        "link",
        FieldKind::Text(TextField::Link),
        "link:youtube.com",
        "any part of the address of the entry's page",
    ),
    field(
        "category",
        FieldKind::Text(TextField::Category),
        "category:pruning",
        "words of a category that the publisher gave the entry",
    ),
    field(
        "feed",
        FieldKind::Name(NameKind::Feed),
        "feed:orchard",
        "a part of the feed's title or address, or its number",
    ),
    field(
        "tag",
        FieldKind::Name(NameKind::Tag),
        "tag:garden",
        "a tag of the feed, a tag above it, or a label of the entry",
    ),
    field("label", FieldKind::Name(NameKind::Label), "label:later", "a label of the entry"),
    field(
        "is",
        FieldKind::Is,
        "is:unread",
        "`unread`, `read`, `starred`, `edited`, `hidden` or `gap`",
    ),
    field("has", FieldKind::Has, "has:file", "an attached `file`, or a `picture` in the text"),
    field("longer", FieldKind::Longer, "longer:6min", "texts of more minutes, or words (`1000`)"),
    field("shorter", FieldKind::Shorter, "shorter:400", "texts of at most these words, or minutes"),
    field("age", FieldKind::Age, "age:<3d", "entries younger (`<`) or older (`>`) than a period"),
    field(
        "rate",
        FieldKind::Rate,
        "rate:<weekly",
        "feeds that publish more rarely (`<`) or more often (`>`) than `yearly`, `monthly`, `weekly`, `daily` or `hourly`",
    ),
    field("after", FieldKind::After, "after:2014-03", "entries of this date or later"),
    field("before", FieldKind::Before, "before:7d", "entries before this date"),
];

/// Values that can follow `is:`.
const STATES: [(&str, EntryState); 6] = [
    ("unread", EntryState::Unread),
    ("read", EntryState::Read),
    ("starred", EntryState::Starred),
    ("edited", EntryState::Edited),
    ("hidden", EntryState::Hidden),
    ("gap", EntryState::Gap),
];

/// Prints the names of all fields.
#[derive(Debug)]
pub(super) struct FieldNames;

/// Prints the values that can follow `is:`.
#[derive(Debug)]
pub(super) struct EntryStates;

impl fmt::Display for FieldNames {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        enumerate(out, &FIELDS.map(|field| field.name))
    }
}

impl fmt::Display for EntryStates {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        enumerate(out, &STATES.map(|(name, _)| name))
    }
}

fn enumerate(out: &mut fmt::Formatter<'_>, names: &[&str]) -> fmt::Result {
    match names.split_last() {
        Some((last, others)) => write!(out, "{} and {last}", others.join(", ")),
        None => Ok(()),
    }
}

/// Returns the field with a name, or the name of the most similar field if one is similar enough.
pub(super) fn find_field(typed: &str) -> Result<&'static Field, Option<&'static str>> {
    let lower = typed.to_ascii_lowercase();
    let known = FIELDS.iter().find(|field| field.name == lower);
    known.ok_or_else(|| nearest(&lower, &FIELDS.map(|field| field.name)))
}

/// Returns the state with a name, or the name of the most similar state if one is similar enough.
pub(super) fn find_state(typed: &str) -> Result<EntryState, Option<&'static str>> {
    let lower = typed.to_ascii_lowercase();
    let known = STATES.iter().find(|(name, _)| *name == lower);
    known.map(|(_, state)| *state).ok_or_else(|| nearest(&lower, &STATES.map(|(name, _)| name)))
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

/// Why a query is not understood, and where. Prints as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("character {}: {why}", at.from.saturating_add(1))]
pub struct QueryFlaw {
    /// The part that is not understood.
    pub at: NamePosition,
    /// What is wrong with it.
    pub why: FlawKind,
}

/// What is wrong with a part of a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlawKind {
    /// A field was typed that does not exist.
    #[error("there is no field '{name}:'; {}", match .nearest {
        Some(nearest) => format!("did you mean '{nearest}:'?"),
        None => format!("the fields are {FieldNames}; quotation marks make it a phrase"),
    })]
    Field {
        name: String,
        /// Name of the field that the user probably meant.
        nearest: Option<&'static str>,
    },
    /// A value was typed after `is:` that does not exist.
    #[error("'is:{word}' is unknown; is: takes {EntryStates}{}", match .nearest {
        Some(nearest) => format!("; did you mean '{nearest}'?"),
        None => String::new(),
    })]
    State {
        word: String,
        /// Value that the user probably meant.
        nearest: Option<&'static str>,
    },
    /// The date cannot be parsed.
    #[error("'{0}' is not a date; write 2014, 2014-03, 2014-03-05, or 7d for seven days ago")]
    Date(String),
    /// The age cannot be parsed.
    #[error(
        "'{0}' is not an age; write <3d for younger than three days or >2w for older than two weeks (h, d, w, m, y)"
    )]
    Age(String),
    /// What an entry should have is unknown.
    #[error("'has:{0}' is unknown; has: takes file and picture")]
    Attachment(String),
    /// The length cannot be parsed.
    #[error("'{0}' is not a length; write 400 for words or 6min for minutes of reading")]
    Length(String),
    /// The frequency cannot be parsed.
    #[error(
        "'{0}' is not a frequency; write <weekly for rarer, >weekly for more often, or yearly, monthly, weekly, daily or hourly"
    )]
    Rate(String),
    /// A field name is not followed by a value.
    #[error("enter a value after '{0}:'")]
    NoValue(&'static str),
    /// A field was put before parentheses that cannot be.
    #[error("'{0}:' cannot be followed by parentheses; write ({0}:a OR {0}:b)")]
    GroupedField(&'static str),
    /// A field was put before a regular expression that cannot be.
    #[error("'{0}:' takes no regular expression")]
    FieldRegex(&'static str),
    /// An operator has nothing before it.
    #[error("there is nothing before '{0}'; in quotation marks it is a word")]
    NothingBefore(&'static str),
    /// An operator has nothing after it.
    #[error("there is nothing after '{0}'; in quotation marks it is a word")]
    NothingAfter(&'static str),
    /// A part that is needed contains no word.
    #[error("'{0}' contains no word to search for")]
    NoWord(String),
    /// A parenthesis is not closed.
    #[error("this '(' is not closed; in quotation marks it is text")]
    Unclosed,
    /// A parenthesis closes nothing.
    #[error("this ')' closes nothing; in quotation marks it is text")]
    Unopened,
    /// There is nothing between parentheses.
    #[error("there is nothing in these parentheses")]
    EmptyGroup,
    /// Parentheses are nested too deeply.
    #[error("parentheses can be nested only {0} deep")]
    Deep(usize),
    /// The query has too many parts.
    #[error("a query can have only {0} parts")]
    Long(usize),
    /// A regular expression is not closed.
    #[error("this regular expression has no '/' at its end; in quotation marks it is a phrase")]
    UnclosedRegex,
    /// A regular expression is followed by something else.
    #[error("leave a space after a regular expression; a '/' inside it is written \\/")]
    AfterRegex,
    /// The regular expression is invalid.
    #[error("'/{expression}/' is not a valid regular expression: {why}")]
    Regex { expression: String, why: String },
    /// Only the beginning of a word has an asterisk.
    #[error("'*' before a word needs one after it too: *frost* finds the letters inside words")]
    Asterisk,
    /// The name in `feed:` does not match any subscription.
    #[error("no subscription is called '{0}'")]
    NoFeed(String),
    /// The tag in `tag:` is neither a tag of a subscription nor a label.
    #[error("no subscription has the tag '{0}', and no filter adds it as a label")]
    NoTag(String),
}
