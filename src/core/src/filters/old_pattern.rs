//! Patterns of filters as they were stored before filters had queries, and as `filters add --title` still takes them: a list of words that
//! occur anywhere in a text, or a regular expression between slashes.

/// Returns the query that matches the same entries as a pattern for a field; an empty one if the pattern contains no word.
pub fn pattern_query(field: &str, pattern: &str) -> String {
    let pattern = pattern.trim();
    let between = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    if let Some(expression) = between.filter(|expression| !expression.is_empty()) {
        return format!("{field}:/{}/", escaped(expression));
    }
    let parts = pattern.split(['"', '“', '”']).enumerate();
    let words = parts.flat_map(|(place, part)| {
        let quoted = place % 2 == 1;
        let whole = quoted.then(|| part.trim()).into_iter();
        let single = (!quoted).then(|| part.split_whitespace()).into_iter().flatten();
        whole.chain(single)
    });
    let words = words.filter(|word| !word.is_empty()).map(|word| {
        if word.chars().all(char::is_alphanumeric) {
            format!("{field}:*{word}*")
        } else {
            format!("{field}:*\"{word}\"*")
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Escapes the slashes of a regular expression that are not escaped yet.
fn escaped(expression: &str) -> String {
    let (mut out, mut after_backslash) = (String::with_capacity(expression.len()), false);
    for char in expression.chars() {
        if char == '/' && !after_backslash {
            out.push('\\');
        }
        out.push(char);
        after_backslash = char == '\\' && !after_backslash;
    }
    out
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;
    use proptest::prelude::*;
    use regex::RegexBuilder;

    use super::*;
    use crate::search::{EntryTexts, Leaf, folded, parse};

    /// Checks a title as filters with patterns did.
    fn matched_before(pattern: &str, title: &str) -> bool {
        let pattern = pattern.trim();
        let between = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        if let Some(expression) = between.filter(|expression| !expression.is_empty()) {
            let regex = RegexBuilder::new(expression).case_insensitive(true).build();
            return regex.is_ok_and(|regex| regex.is_match(title));
        }
        pattern.split(['"', '“', '”']).enumerate().all(|(place, part)| {
            let has = |word: &str| folded(title).contains(&folded(word));
            if place % 2 == 1 { has(part.trim()) } else { part.split_whitespace().all(has) }
        })
    }

    fn matches(pattern: &str, title: &str) -> bool {
        let query = parse(&pattern_query("title", pattern), false, Tz::UTC).unwrap();
        let mut texts = EntryTexts::default();
        texts.title = title;
        let mut known = |leaf: &Leaf| match leaf {
            Leaf::Text(test) => Some(test.holds(&texts)),
            Leaf::Name(_) | Leaf::Row(_) => None,
        };
        query.condition.judge(&mut known).unwrap()
    }

    #[test]
    fn stored_patterns_become_queries() {
        for (pattern, query) in [
            ("sponsored", "title:*sponsored*"),
            (" a  \"late frost\" x", "title:*a* title:*\"late frost\"* title:*x*"),
            ("it's", "title:*\"it's\"*"),
            ("/^a/b\\/c$/", "title:/^a\\/b\\/c$/"),
            ("//", "title:*\"//\"*"),
            ("\"\"", ""),
            ("", ""),
        ] {
            assert_eq!(pattern_query("title", pattern), query);
        }
    }

    #[test]
    fn words_match_anywhere_and_expressions_as_written() {
        for (pattern, title, hit) in [
            ("sponsor", "Sponsored: a word", true),
            ("word sponsored", "Sponsored: a word", true),
            ("word missing", "Sponsored: a word", false),
            ("\"a word\"", "Sponsored: a word", true),
            ("\"word a\"", "Sponsored: a word", false),
            ("\"a word", "Sponsored: a word", true),
            ("CAFÉ", "at the cafe", true),
            ("東京", "新東京都庁", true),
            ("", "anything", true),
            ("/^spons?ored/", "Sponsored: a word", true),
            ("/^word/", "Sponsored: a word", false),
            ("/ab|word$/", "Sponsored: a word", true),
            ("/", "and/or", true),
            ("//", "and/or", false),
            ("/etc", "see /etc for it", true),
        ] {
            assert_eq!(matches(pattern, title), hit, "{pattern} in {title}");
            assert_eq!(matched_before(pattern, title), hit, "{pattern} in {title}");
        }
    }

    proptest! {
        #[test]
        fn a_pattern_keeps_its_meaning_as_a_query(
            pattern in r#"((a|b|é| |"|\*|\(|\)|:|-|OR |/|\\/|x{2}){0,8})"#,
            title in "[abéx*():/ -]{0,12}",
        ) {
            let query = pattern_query("title", &pattern);
            // Patterns that could not be saved have no meaning to keep.
            if parse(&query, false, Tz::UTC).is_ok() {
                prop_assert_eq!(matches(&pattern, &title), matched_before(&pattern, &title), "{}", query);
            } else {
                prop_assert!(pattern.trim().starts_with('/'), "{}", query);
            }
        }
    }
}
