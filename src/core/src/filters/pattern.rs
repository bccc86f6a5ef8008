//! Filter patterns: a list of words, or a regular expression between slashes.

use regex::{Regex, RegexBuilder};

use crate::search::folded;

/// Maximum length of a pattern in characters.
const PATTERN_CHARS_MAX: usize = 1_000;
/// Maximum size of a compiled regular expression in bytes. Larger expressions are not allowed, because they could slow down
/// polls.
const REGEX_BYTES_MAX: usize = 1 << 20;

/// A condition that a text must meet.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// Matches any text.
    Any,
    /// Matches if all of these words occur anywhere in the text, ignoring case and accents.
    Words(Vec<String>),
    /// Matches if the regular expression matches any part of the text, ignoring case.
    Regex(Box<Regex>),
}

/// Why a filter is invalid. Each variant prints as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterFlaw {
    /// The regular expression is invalid.
    #[error("'/{expression}/' is not a valid regular expression: {why}")]
    Regex {
        /// The expression, as typed between the slashes.
        expression: String,
        /// Description of the error in the expression.
        why: String,
    },
    /// The regular expression is too large when compiled.
    #[error("'/{0}/' is too large: use fewer repetitions")]
    LargeRegex(String),
    /// The pattern is too long.
    #[error("a pattern can have at most {PATTERN_CHARS_MAX} characters")]
    Long,
    /// The filter has no patterns and is not limited to certain feeds, so it would match every entry of every feed.
    #[error("this would match every entry: add a feed, or words from the title, author or text")]
    HitsAll,
    /// The pattern contains no word, so it would match every entry.
    #[error("'{0}' contains no word and would match every entry: enter a word to look for")]
    NoWord(String),
    /// No label was entered for an action that adds a label.
    #[error("enter the label to add to the entries")]
    NoLabel,
    /// The label is too long.
    #[error("this label is too long: use one or two words")]
    LongLabel,
}

impl Pattern {
    /// Parses a pattern as typed. `/like (this|that)/` is a regular expression. Anything else is a list of words that
    /// must all occur, in any order; `"two words"` must occur as a phrase.
    pub fn read(typed: &str) -> Result<Self, FilterFlaw> {
        let typed = typed.trim();
        if typed.chars().count() > PATTERN_CHARS_MAX {
            return Err(FilterFlaw::Long);
        }
        let between = typed.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        if let Some(expression) = between.filter(|expression| !expression.is_empty()) {
            return Ok(Self::Regex(Box::new(compiled(expression)?)));
        }
        let words: Vec<String> = words(typed).map(folded).filter(|word| !word.is_empty()).collect();
        Ok(if words.is_empty() { Self::Any } else { Self::Words(words) })
    }

    /// Checks whether the pattern matches every text.
    pub const fn is_any(&self) -> bool {
        matches!(self, Self::Any)
    }

    /// Checks whether a text matches the pattern. `plain` must return the folded text, and is called only if it is needed.
    pub fn is_in<'t>(&self, text: &str, plain: impl FnOnce() -> &'t str) -> bool {
        match self {
            Self::Any => true,
            Self::Words(words) => {
                let plain = plain();
                words.iter().all(|word| plain.contains(word.as_str()))
            }
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

/// Splits a pattern into words. Words between double quotes stay together as one phrase.
fn words(typed: &str) -> impl Iterator<Item = &str> {
    let parts = typed.split(['"', '“', '”']).enumerate();
    parts.flat_map(|(place, part)| {
        let quoted = place % 2 == 1;
        let whole = quoted.then(|| part.trim()).into_iter();
        let single = (!quoted).then(|| part.split_whitespace()).into_iter().flatten();
        whole.chain(single)
    })
}

fn compiled(expression: &str) -> Result<Regex, FilterFlaw> {
    let built = RegexBuilder::new(expression)
        .case_insensitive(true)
        .size_limit(REGEX_BYTES_MAX)
        .dfa_size_limit(REGEX_BYTES_MAX)
        .build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => FilterFlaw::LargeRegex(expression.to_owned()),
        error @ (regex::Error::Syntax(_) | _) => {
            FilterFlaw::Regex { expression: expression.to_owned(), why: reason(&error.to_string()) }
        }
    })
}

/// Extracts the reason from an error message of the regex library: its last line. The lines before it only show the position
/// of the error.
fn reason(said: &str) -> String {
    let last = said.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_in(typed: &str, text: &str) -> bool {
        let plain = folded(text);
        Pattern::read(typed).unwrap().is_in(text, || &plain)
    }

    #[test]
    fn words_match_anywhere_and_expressions_as_written() {
        for (typed, text, hit) in [
            ("sponsor", "Sponsored: a word", true),
            ("word sponsored", "Sponsored: a word", true),
            ("word missing", "Sponsored: a word", false),
            ("\"a word\"", "Sponsored: a word", true),
            ("\"word a\"", "Sponsored: a word", false),
            ("\"a word", "Sponsored: a word", true),
            ("CAFÉ", "at the cafe", true),
            ("東京", "新東京都庁", true),
            ("", "anything", true),
            ("\"\"", "anything", true),
            ("/^spons?ored/", "Sponsored: a word", true),
            ("/^word/", "Sponsored: a word", false),
            ("/ab|word$/", "Sponsored: a word", true),
            ("/", "and/or", true),
            ("//", "and//or", true),
            ("//", "and/or", false),
            ("/etc", "see /etc for it", true),
        ] {
            assert_eq!(is_in(typed, text), hit, "{typed} in {text}");
        }
    }

    #[test]
    fn invalid_expression_is_reported_in_one_sentence() {
        for (typed, part) in [
            ("/(/", "unclosed group"),
            ("/[z-a]/", "invalid character class range"),
            ("/*/", "repetition operator missing expression"),
            ("/(a{900}){900}/", "too large"),
        ] {
            let why = Pattern::read(typed).unwrap_err().to_string();
            assert!(why.contains(part) && !why.contains('\n'), "{typed}: {why}");
        }
        assert!(matches!(Pattern::read(&"x".repeat(1001)), Err(FilterFlaw::Long)));
    }

    proptest! {
        #[test]
        fn any_pattern_is_read_or_refused_in_one_line(typed in any::<String>(), text in any::<String>()) {
            match Pattern::read(&typed) {
                Ok(pattern) => {
                    let plain = folded(&text);
                    pattern.is_in(&text, || &plain);
                }
                Err(flaw) => prop_assert!(typed.contains('\n') || !flaw.to_string().contains('\n')),
            }
        }
    }
}
