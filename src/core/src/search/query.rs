//! A parsed query.

use super::condition::{Condition, EntryState, Leaf, RowTest};
use super::parse_query::OPERATORS;
use super::query_value::QUOTES;
use super::words::WordScanner;

/// A parsed query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// What entries must meet.
    pub condition: Condition,
    /// Whether the last word was taken as the beginning of a word, because the user may still be typing it.
    pub unfinished: bool,
}

impl Query {
    /// Checks whether the query finds hidden entries too, because it asks for them.
    pub fn finds_hidden(&self) -> bool {
        let hidden = Leaf::Row(RowTest::Is(EntryState::Hidden));
        self.condition.has_leaf(|leaf, wanted| wanted && *leaf == hidden)
    }
}

/// Returns a query for all words of a text in a field, such as `title:(late frost)`; an empty one if there are none.
pub fn field_query(field: &str, text: &str) -> String {
    let has_word = |part: &&str| WordScanner::new(part).next_into(&mut String::new()).is_some();
    let words = text.split(|c: char| c.is_whitespace() || QUOTES.contains(&c)).filter(has_word);
    let quoted = words.map(|word| {
        let is_plain = word.chars().all(char::is_alphanumeric) && !OPERATORS.contains(&word);
        if is_plain { word.to_owned() } else { format!("\"{word}\"") }
    });
    match quoted.collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        [word] => format!("{field}:{word}"),
        words => format!("{field}:({})", words.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;
    use proptest::prelude::*;

    use super::*;
    use crate::search::parse;

    #[test]
    fn words_of_a_text_become_a_query() {
        for (text, query) in [
            ("Sponsored", "title:Sponsored"),
            ("Late frost - don't", "title:(Late frost \"don't\")"),
            ("a \"b\" OR (c)", "title:(a b \"OR\" \"(c)\")"),
            ("--", ""),
        ] {
            assert_eq!(field_query("title", text), query);
        }
    }

    proptest! {
        #[test]
        fn the_query_of_any_words_is_understood(text in "(a|OR|-|\\*|/|\\(|\\)|:|\"| |é|東京){0,12}") {
            let query = parse(&field_query("title", &text), false, Tz::UTC);
            prop_assert!(query.is_ok(), "{:?}", query);
        }
    }
}
