//! The fields of the query language.

use std::fmt;

use super::condition::EntryState;
use super::name_test::NameKind;
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
    Is,
    After,
    Before,
    Age,
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
pub const FIELDS: [Field; 12] = [
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
    field("is", FieldKind::Is, "is:unread", "`unread`, `read`, `starred`, `hidden` or `gap`"),
    field("age", FieldKind::Age, "age:<3d", "entries younger (`<`) or older (`>`) than a period"),
    field("after", FieldKind::After, "after:2014-03", "entries of this date or later"),
    field("before", FieldKind::Before, "before:7d", "entries before this date"),
];

/// Values that can follow `is:`.
const STATES: [(&str, EntryState); 5] = [
    ("unread", EntryState::Unread),
    ("read", EntryState::Read),
    ("starred", EntryState::Starred),
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
