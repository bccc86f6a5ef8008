//! Regular expressions in queries.

use crate::{InputFlaw, flaw};
use regex::{Regex, RegexBuilder};

/// Maximum length of an expression in characters.
const CHARS_MAX: usize = 1_000;
/// Maximum size of a compiled expression in bytes. Larger ones are not allowed, because they could slow down polls.
const BYTES_MAX: usize = 1 << 20;

/// A compiled regular expression that ignores case. Two are equal if they are written equally.
#[derive(Debug, Clone)]
pub struct EntryRegex(Regex);

impl PartialEq for EntryRegex {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for EntryRegex {}

impl EntryRegex {
    /// Compiles an expression. The error is a reason without the expression.
    pub(super) fn compile(expression: &str) -> Result<Self, InputFlaw> {
        if expression.chars().count() > CHARS_MAX {
            return Err(flaw!("it has more than {CHARS_MAX} characters"));
        }
        let built = RegexBuilder::new(expression)
            .case_insensitive(true)
            .size_limit(BYTES_MAX)
            .dfa_size_limit(BYTES_MAX)
            .build();
        built.map(Self).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "it is too large: use fewer repetitions".into(),
            error @ (regex::Error::Syntax(_) | _) => reason(&error.to_string()).into(),
        })
    }

    /// Checks whether the expression matches any part of a text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// Extracts the reason from an error message of the regex library: its last line. The lines before it only show the position
/// of the error.
fn reason(said: &str) -> String {
    let last = said.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
