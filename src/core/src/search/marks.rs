//! Positions of search hits in a text, and a snippet of the text around the first hit.

use std::ops::Range;

use super::condition::Condition;
use super::text_test::TextField;
use super::words::WordScanner;

/// Maximum number of text bytes searched for a snippet.
const SNIPPET_FROM_BYTES: usize = 200_000;

/// The search terms whose occurrences are marked in a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marks {
    terms: Vec<(Vec<String>, bool)>,
}

/// A snippet of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    /// Text of the snippet. An ellipsis replaces each part of the original text that was cut off.
    pub text: String,
    /// Byte ranges of the hits in the snippet.
    pub hits: Vec<Range<usize>>,
}

impl Snippet {
    /// Returns the snippet with each hit between `«` and `»`.
    pub fn marked(&self) -> String {
        let mut out = String::with_capacity(self.text.len().saturating_add(16));
        let mut at = 0;
        for hit in &self.hits {
            out.push_str(self.text.get(at..hit.start).unwrap_or_default());
            out.push('«');
            out.push_str(self.text.get(hit.clone()).unwrap_or_default());
            out.push('»');
            at = hit.end;
        }
        out.push_str(self.text.get(at..).unwrap_or_default());
        out
    }
}

impl Marks {
    /// Creates marks for the words of a condition, except excluded ones and those for other fields than the title and the text.
    pub fn for_condition(condition: &Condition) -> Self {
        let shown = [TextField::Anywhere, TextField::Title, TextField::Text];
        let terms = condition.terms().into_iter();
        let wanted = terms.filter(|(term, wanted)| *wanted && shown.contains(&term.field));
        Self { terms: wanted.map(|(term, _)| (term.words.clone(), term.prefix)).collect() }
    }

    /// Checks whether there are no terms to mark.
    pub const fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the byte ranges in which terms occur in a text, in order and without overlaps.
    pub fn hits(&self, text: &str) -> Vec<Range<usize>> {
        if self.is_empty() {
            return Vec::new();
        }
        let (mut scanner, mut folded) = (WordScanner::new(text), String::new());
        let mut words: Vec<(String, Range<usize>)> = Vec::new();
        while let Some(word) = scanner.next_into(&mut folded) {
            words.push((folded.clone(), word.from..word.to));
        }
        let mut hits: Vec<Range<usize>> = Vec::new();
        for at in 0..words.len() {
            let behind = words.get(at..).unwrap_or_default();
            let long =
                self.terms.iter().filter_map(|term| hit(term, behind)).max_by_key(|hit| hit.end);
            let Some(found) = long else { continue };
            match hits.last_mut() {
                Some(last) if last.end >= found.start => last.end = last.end.max(found.end),
                Some(_) | None => hits.push(found),
            }
        }
        hits
    }

    /// Returns a snippet of about `chars` characters around the first hit, or the beginning of the text if there is no hit.
    pub fn snippet(&self, text: &str, chars: usize) -> Snippet {
        let head = text.get(..text.floor_char_boundary(SNIPPET_FROM_BYTES)).unwrap_or_default();
        let hits = self.hits(head);
        let first = hits.first().map_or(0, |hit| hit.start);
        let before = text.get(..first).unwrap_or_default();
        // About a third of the snippet comes before the first hit.
        let from = before.char_indices().rev().take(chars / 3).last().map_or(0, |(at, _)| at);
        let from = if from == 0 || first == 0 { 0 } else { word_edge(text, from, first) };
        let piece = text.get(from..).unwrap_or_default();
        let to = piece.char_indices().nth(chars).map_or(piece.len(), |(at, _)| at);
        let piece = piece.get(..to).unwrap_or_default();
        let ellipsis = if from > 0 { "…" } else { "" };
        let cut = from.saturating_add(to) < text.len();
        let shift = |at: usize| at.saturating_sub(from).saturating_add(ellipsis.len());
        let end = from.saturating_add(to);
        let inside = hits.into_iter().filter(|hit| hit.start >= from && hit.end <= end);
        Snippet {
            hits: inside.map(|hit| shift(hit.start)..shift(hit.end)).collect(),
            text: format!("{ellipsis}{piece}{}", if cut { "…" } else { "" }),
        }
    }
}

/// Returns the first start of a word after `from` and no later than `limit`.
fn word_edge(text: &str, from: usize, limit: usize) -> usize {
    let between = text.get(from..limit).unwrap_or_default();
    between.find(' ').map_or(from, |blank| from.saturating_add(blank).saturating_add(1))
}

/// Returns the byte range of a term if the given words begin with it.
fn hit(
    (wanted, prefix): &(Vec<String>, bool),
    words: &[(String, Range<usize>)],
) -> Option<Range<usize>> {
    let start = words.first()?.1.start;
    let mut end = start;
    for (place, want) in wanted.iter().enumerate() {
        let (word, range) = words.get(place)?;
        let open = *prefix && place.saturating_add(1) == wanted.len();
        if !(word == want || (open && word.starts_with(want.as_str()))) {
            return None;
        }
        end = range.end;
    }
    (end > start).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;
    use proptest::prelude::*;

    use super::*;

    fn marks(query: &str) -> Marks {
        Marks::for_condition(&super::super::parse(query, true, Tz::UTC).unwrap().condition)
    }

    fn marked(query: &str, text: &str) -> String {
        Snippet { text: text.into(), hits: marks(query).hits(text) }.marked()
    }

    #[test]
    fn words_phrases_and_beginnings_are_marked() {
        for (query, text, expected) in [
            ("frost ", "Frost and frosty", "«Frost» and frosty"),
            ("fros", "Frost and frosty", "«Frost» and «frosty»"),
            ("\"late frost\"", "late late FROST", "late «late FROST»"),
            ("cafe ", "le Café.", "le «Café»."),
            ("東京都", "新東京都庁", "新«東京都»庁"),
            ("-frost author:frost ", "frost", "frost"),
        ] {
            assert_eq!(marked(query, text), expected, "{query}");
        }
    }

    #[test]
    fn excerpt_surrounds_the_first_hit() {
        let text = format!("{} frost {}", "word ".repeat(50), "more ".repeat(50));
        let snippet = marks("frost ").snippet(&text, 60);
        assert!(snippet.text.starts_with("…word ") && snippet.text.ends_with('…'), "{snippet:?}");
        assert!(snippet.marked().contains(" «frost» more"), "{snippet:?}");
        let start = marks("absent ").snippet("a b c", 3);
        assert_eq!((start.text.as_str(), start.hits.len()), ("a b…", 0));
    }

    proptest! {
        #[test]
        fn excerpt_is_cut_between_characters(
            text in any::<String>(), word in "\\PC{0,3}", chars in 0_usize..40,
        ) {
            if let Ok(query) = super::super::parse(&word, true, Tz::UTC) {
                let snippet = Marks::for_condition(&query.condition).snippet(&text, chars);
                prop_assert!(snippet.hits.iter().all(|hit| snippet.text.get(hit.clone()).is_some()));
                prop_assert!(snippet.marked().chars().count() >= snippet.text.chars().count());
            }
        }
    }
}
