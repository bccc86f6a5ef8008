//! Why a query is not understood, and where.

use super::fields::{EntryStates, FieldNames};
use super::name_test::Position;

/// Why a query is not understood, and where. Prints as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("character {}: {why}", at.from.saturating_add(1))]
pub struct QueryFlaw {
    /// The part that is not understood.
    pub at: Position,
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
    /// The label in `label:` is added by no filter.
    #[error("no filter adds the label '{0}'")]
    NoLabel(String),
}
