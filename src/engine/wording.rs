//! Proposes words for a new filter from the title of an entry, and turns reasons into sentences.

/// Maximum number of words to propose.
const TELLING_WORDS: usize = 3;

/// Returns the characteristic words of a title: the text before a colon or in brackets, or else its longest words.
pub fn telling(title: &str) -> String {
    let bracketed = title.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let headed = title.split_once(": ").map(|(head, _)| head);
    let head = bracketed.map(|(inside, _)| inside).or(headed).filter(|head| {
        let words = head.split_whitespace().count();
        (1..=4).contains(&words)
    });
    head.map_or_else(|| longest_words(title), |head| head.trim().to_owned())
}

/// Returns the longest words of a title in their original order.
fn longest_words(title: &str) -> String {
    let trimmed = title.split_whitespace().map(|word| word.trim_matches(is_mark));
    let words: Vec<&str> = trimmed.filter(|word| !word.is_empty()).collect();
    let mut places: Vec<usize> = (0..words.len()).collect();
    let length = |place: &usize| words.get(*place).map_or(0, |word| word.chars().count());
    places.sort_by_key(|place| std::cmp::Reverse(length(place)));
    places.truncate(TELLING_WORDS);
    places.sort_unstable();
    let told: Vec<&str> = places.iter().filter_map(|place| words.get(*place).copied()).collect();
    told.join(" ")
}

fn is_mark(char: char) -> bool {
    !char.is_alphanumeric()
}

/// Returns a sentence fragment as a sentence, with a capital letter and an end mark.
pub(super) fn sentence(why: &str) -> String {
    let mut chars = why.chars();
    let first = chars.next().map(|char| char.to_uppercase().to_string());
    let end = if why.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{}{}{end}", first.unwrap_or_default(), chars.as_str())
}

#[cfg(test)]
mod tests {
    use crate::engine::wording::*;

    #[test]
    fn words_that_describe_a_title_are_offered() {
        for (title, expected) in [
            ("Sponsored: a new ladder", "Sponsored"),
            ("[Video] How to prune", "Video"),
            ("Nine candidates for harbour master", "candidates harbour master"),
            ("It was, as they say in the town, odd: so", "was they town"),
            ("One", "One"),
            ("", ""),
        ] {
            assert_eq!(telling(title), expected, "{title}");
        }
    }

    #[test]
    fn sentence_gets_exactly_one_end_mark() {
        for (why, expected) in [
            ("is this a captive portal?", "Is this a captive portal?"),
            ("answered 503", "Answered 503."),
            ("ünder way", "Ünder way."),
        ] {
            assert_eq!(sentence(why), expected);
        }
    }
}
