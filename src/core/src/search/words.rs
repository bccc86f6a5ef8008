//! The words of a text, as stored in the index and used in queries, and the folding of letters that removes differences in case,
//! accents and width.
//!
//! A word is a run of letters and digits, folded to remove case and accents. Scripts written without spaces have no such
//! runs: in them, every two neighbouring letters form a word, and the last letter of a run is also a word. Any part of
//! a text can therefore be found by its consecutive words.

use icu_normalizer::properties::{
    CanonicalCombiningClassMapBorrowed, CanonicalCompositionBorrowed,
};
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// Maximum number of characters in a word. A longer word is indexed by its beginning.
const WORD_CHARS_MAX: usize = 48;

/// What a byte of a text is, by its value.
const BYTE_KINDS: [ByteKind; 256] = byte_kinds();

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteKind {
    /// An ASCII letter or digit.
    OfWord,
    /// Another ASCII character: it is between words.
    Between,
    /// A part of a character that is not ASCII.
    NotAscii,
}

const fn byte_kinds() -> [ByteKind; 256] {
    let mut kinds = [ByteKind::NotAscii; 256];
    let (mut left, mut byte) = (kinds.as_mut_slice(), 0_u8);
    while let Some((kind, rest)) = left.split_first_mut() {
        if byte.is_ascii_alphanumeric() {
            *kind = ByteKind::OfWord;
        } else if byte.is_ascii() {
            *kind = ByteKind::Between;
        }
        (left, byte) = (rest, byte.wrapping_add(1));
    }
    kinds
}

fn kind_of(byte: u8) -> ByteKind {
    BYTE_KINDS.get(usize::from(byte)).copied().unwrap_or(ByteKind::NotAscii)
}

/// The position of a word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScannedWord {
    /// Offset of the word's first byte.
    pub from: usize,
    /// Offset of the byte after the word.
    pub to: usize,
    /// Number of words before this word in the text.
    pub place: usize,
}

/// A scanner that returns the words of a text one by one.
#[derive(Debug, Clone)]
pub struct WordScanner<'t> {
    text: &'t str,
    at: usize,
    place: usize,
}

impl<'t> WordScanner<'t> {
    /// Creates a scanner at the beginning of a text.
    pub const fn new(text: &'t str) -> Self {
        Self { text, at: 0, place: 0 }
    }

    /// Returns the position of the next word, and writes its folded form to `folded`.
    pub fn next_into(&mut self, folded: &mut String) -> Option<ScannedWord> {
        loop {
            folded.clear();
            let first = self.skip_to_word()?;
            let from = self.at;
            let to = if !first.is_ascii() && is_dense(first) {
                self.pair(folded)
            } else {
                self.run(folded)
            };
            if folded.is_empty() {
                // The run contains only joiners and accents, so it is not a word.
                continue;
            }
            let place = self.place;
            self.place = place.saturating_add(1);
            return Some(ScannedWord { from, to, place });
        }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_to_word(&mut self) -> Option<char> {
        loop {
            let bytes = self.text.as_bytes().get(self.at..)?;
            let found = bytes.iter().position(|byte| kind_of(*byte) != ByteKind::Between);
            self.at = self.at.saturating_add(found.unwrap_or(bytes.len()));
            let char = self.rest().chars().next()?;
            if char.is_ascii() || is_of_word(char) {
                return Some(char);
            }
            self.at = self.at.saturating_add(char.len_utf8());
        }
    }

    /// Reads a word in a script without spaces: two neighbouring letters, or the last letter of a run. Returns the
    /// offset of its end.
    fn pair(&mut self, folded: &mut String) -> usize {
        self.at = self.at.saturating_add(push_folded(folded, self.rest()));
        match self.rest().chars().next() {
            Some(next) if is_dense(next) => {
                self.at.saturating_add(push_folded(folded, self.rest()))
            }
            Some(_) | None => self.at,
        }
    }

    /// Reads a word that is a run of letters and digits. Returns the offset of its end.
    fn run(&mut self, folded: &mut String) -> usize {
        let mut chars = 0_usize;
        loop {
            chars =
                chars.saturating_add(self.ascii_run(folded, WORD_CHARS_MAX.saturating_sub(chars)));
            let to = self.at;
            let Some(char) = self.rest().chars().next().filter(|char| !char.is_ascii()) else {
                return to;
            };
            if !is_of_word(char) {
                // The next word cannot begin with it.
                self.at = to.saturating_add(char.len_utf8());
                return to;
            }
            if is_dense(char) {
                return to;
            }
            if chars < WORD_CHARS_MAX && !is_silent(char) {
                push_folded(folded, self.rest());
                chars = chars.saturating_add(1);
            }
            self.at = to.saturating_add(char.len_utf8());
        }
    }

    /// Reads ASCII letters and digits, as many as there are, and folds at most `max` of them. Returns how many were folded.
    fn ascii_run(&mut self, folded: &mut String, max: usize) -> usize {
        let bytes = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let end = bytes.iter().position(|byte| kind_of(*byte) != ByteKind::OfWord);
        let length = end.unwrap_or(bytes.len());
        let kept = length.min(max);
        let before = folded.len();
        folded.push_str(self.rest().get(..kept).unwrap_or_default());
        if let Some(added) = folded.get_mut(before..) {
            added.make_ascii_lowercase();
        }
        self.at = self.at.saturating_add(length);
        kept
    }
}

/// Letters that cannot be decomposed, with the plain letters that people type instead of them.
const WRITTEN_AS: [(char, &str); 12] = [
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('đ', "d"),
    ('ð', "d"),
    ('ł', "l"),
    ('ħ', "h"),
    ('ı', "i"),
    ('þ', "th"),
    ('ς', "σ"),
    ('ŋ', "ng"),
];

/// Checks whether a character can be part of a word: a letter, a digit, or a mark on one.
fn is_of_word(char: char) -> bool {
    if char.is_ascii() {
        return char.is_ascii_alphanumeric();
    }
    char.is_alphanumeric() || is_silent(char) || is_mark(char)
}

/// Checks whether a character may occur in words but is ignored: a joiner, the soft hyphen, the Arabic tatweel, which only widens
/// a word, or a variation selector.
const fn is_silent(char: char) -> bool {
    matches!(
        char,
        '\u{ad}' | '\u{640}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}'
    )
}

fn is_mark(char: char) -> bool {
    CanonicalCombiningClassMapBorrowed::new().get_u8(char) != 0
}

/// Checks whether a mark is removed: an accent, a Hebrew point, or an Arabic vowel sign. Marks of other scripts count as
/// letters.
const fn is_accent(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}')
}

/// Checks whether a character belongs to a script that is written without spaces between words, or in which people
/// search for parts of words: Han, kana, Hangul, Thai, Lao, Khmer, Burmese.
pub(super) fn is_dense(char: char) -> bool {
    let in_script = matches!(char,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{312f}' | '\u{3131}'..='\u{318f}' | '\u{31a0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}' | '\u{20000}'..='\u{3ffff}');
    in_script && is_of_word(char)
}

/// Returns a text without differences in case, accents and width.
pub fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let length = push_folded(&mut out, rest);
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

/// Appends the folded form of the first letter of a text: without case, accent and width, and as one character if it is written
/// as several (conjoining jamo, kana with a sound mark). Returns the length of the letter in bytes.
fn push_folded(out: &mut String, text: &str) -> usize {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return 0 };
    if first.is_ascii() {
        out.push(first.to_ascii_lowercase());
    } else if is_dense(first) {
        let mut letter = full_width(first);
        let mut length = first.len_utf8();
        for next in chars {
            let Some(joined) = composed(letter, next) else { break };
            letter = joined;
            length = length.saturating_add(next.len_utf8());
        }
        out.push(letter);
        return length;
    } else {
        push_base(out, first);
    }
    first.len_utf8()
}

/// Appends the lowercase base of a letter, without its accents.
fn push_base(out: &mut String, letter: char) {
    let parts = DecomposingNormalizerBorrowed::new_nfkd().normalize_iter(std::iter::once(letter));
    let lower = parts.flat_map(char::to_lowercase);
    for char in lower.filter(|char| !is_accent(*char) && !is_silent(*char)) {
        match WRITTEN_AS.iter().find(|(letter, _)| *letter == char) {
            Some((_, written)) => out.push_str(written),
            None => out.push(char),
        }
    }
}

/// Joins a letter of a dense script with the part of it that follows.
fn composed(letter: char, next: char) -> Option<char> {
    let is_part =
        matches!(next, '\u{1160}'..='\u{11ff}' | '\u{3099}' | '\u{309a}' | '\u{ff9e}' | '\u{ff9f}');
    is_part.then(|| CanonicalCompositionBorrowed::new().compose(letter, full_width(next))).flatten()
}

/// Returns the usual form of a letter of a dense script: kana and jamo of half the width, radicals, ideographs kept for
/// compatibility.
fn full_width(letter: char) -> char {
    if matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
    {
        return letter;
    }
    let mut forms = ComposingNormalizerBorrowed::new_nfkc().normalize_iter(std::iter::once(letter));
    match (forms.next(), forms.next()) {
        (Some(one), None) => one,
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let (mut scanner, mut folded, mut words) = (WordScanner::new(text), String::new(), vec![]);
        while scanner.next_into(&mut folded).is_some() {
            words.push(folded.clone());
        }
        words
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        for (text, expected) in [
            ("The late Frost, 2014!", vec!["the", "late", "frost", "2014"]),
            ("don't re-use C++", vec!["don", "t", "re", "use", "c"]),
            ("caf\u{e9} soft\u{ad}ware", vec!["cafe", "software"]),
            ("漢字かな", vec!["漢字", "字か", "かな", "な"]),
            ("東京2020", vec!["東京", "京", "2020"]),
            ("한국어 글", vec!["한국", "국어", "어", "글"]),
            ("ﾊﾟﾝ", vec!["パン", "ン"]),
            ("\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}", vec!["한국", "국"]),
            ("हिन्दी", vec!["हिन्दी"]),
            ("\u{301} \u{200d}", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
        assert_eq!(words(&"x".repeat(500)), ["x".repeat(WORD_CHARS_MAX)]);
    }

    /// The letters of a text with their offsets.
    fn letters(text: &str) -> Vec<(usize, char, &str)> {
        let (mut letters, mut at) = (Vec::new(), 0);
        while let Some(first) = text[at..].chars().next() {
            let length = if is_dense(first) {
                push_folded(&mut String::new(), &text[at..])
            } else {
                first.len_utf8()
            };
            letters.push((at, first, &text[at..at + length]));
            at += length;
        }
        letters
    }

    /// The words of a text, found letter by letter.
    fn slowly_scanned(text: &str) -> Vec<(ScannedWord, String)> {
        let letters = letters(text);
        let (mut words, mut next) = (Vec::new(), 0);
        while let Some((from, first, _)) = letters.get(next).copied() {
            let end = if !is_of_word(first) {
                next + 1
            } else if is_dense(first) {
                next + letters[next..]
                    .iter()
                    .take(2)
                    .take_while(|letter| is_dense(letter.1))
                    .count()
            } else {
                let is_of_run = |char| is_of_word(char) && !is_dense(char);
                next + letters[next..].iter().take_while(|letter| is_of_run(letter.1)).count()
            };
            let of_word = letters[next..end].iter().filter(|(_, char, _)| is_of_word(*char));
            let heard = of_word.filter(|(_, char, _)| !is_silent(*char)).take(WORD_CHARS_MAX);
            let folded: String = heard.map(|(.., letter)| folded(letter)).collect();
            let to = letters.get(end).map_or(text.len(), |(at, ..)| *at);
            if !folded.is_empty() {
                words.push((ScannedWord { from, to, place: words.len() }, folded));
            }
            // The next pair begins in this one.
            next = if is_dense(first) { next + 1 } else { end };
        }
        words
    }

    fn scanned(text: &str) -> Vec<(ScannedWord, String)> {
        let (mut scanner, mut folded) = (WordScanner::new(text), String::new());
        let next = || scanner.next_into(&mut folded).map(|word| (word, folded.clone()));
        std::iter::from_fn(next).collect()
    }

    /// A piece of a text: ASCII, accents, joiners, dense scripts, marks, emoji, apostrophes and other punctuation.
    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[a-zA-Z0-9]{1,9}",
            3 => "[ .,'<\\t\\x00-]{1,2}",
            1 => "[a-zA-Z0-9]{45,52}",
            2 => "[éÀßøıİŁñ½ªЖάΣשא²]{1,3}",
            2 => "[\u{301}\u{308}\u{5b4}\u{64b}\u{93f}\u{94d}\u{ad}\u{200c}\u{200d}\u{fe0f}\u{2060}]{1,2}",
            2 => "[漢字かなカ한글ไทย々〇ｱﾊＡ１\u{ff9e}\u{ff9f}\u{3099}\u{1112}\u{1161}\u{11ab}\u{20000}]{1,3}",
            2 => "[’‘“”—…\u{a0}\u{2028}€😀👩🏽🇩]{1,2}",
            1 => any::<char>().prop_map(String::from),
        ]
    }

    proptest! {
        #[test]
        fn ascii_is_scanned_like_all_else(pieces in prop::collection::vec(piece(), 0..24)) {
            let text = pieces.concat();
            prop_assert_eq!(scanned(&text), slowly_scanned(&text));
        }

        #[test]
        fn words_are_ordered_at_character_boundaries(text in any::<String>()) {
            let (mut scanner, mut folded) = (WordScanner::new(&text), String::new());
            let (mut place, mut from) = (0, 0);
            while let Some(word) = scanner.next_into(&mut folded) {
                prop_assert!(text.get(word.from..word.to).is_some());
                prop_assert!(word.from >= from && word.to > word.from && word.place == place);
                prop_assert!(!folded.is_empty());
                (place, from) = (place + 1, word.from);
            }
        }
    }
}

#[cfg(test)]
mod fold_tests {
    use super::*;

    #[test]
    fn case_accents_and_width_are_left_out() {
        for (text, expected) in [
            ("Élan", "elan"),
            ("e\u{301}lan", "elan"),
            ("Straße ŁÓDŹ Ørsted", "strasse lodz orsted"),
            ("Việt İstanbul", "viet istanbul"),
            ("ΆΣ λόγος", "ασ λογοσ"),
            ("ＡＢＣ１", "abc1"),
            ("Ёлка", "елка"),
            ("がガ한", "がガ한"),
            ("oﬃce ﬁre جمـيل ℡ ㎏ ²", "office fire جميل tel kg 2"),
            ("ﾊﾟﾝｱﾞ は\u{309a}", "パンア\u{3099} ぱ"),
            ("\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8} ﾡ", "한국 ᄀ"),
            ("⽇ \u{f9dc} ำ", "日 隆 ำ"),
            ("कि", "कि"),
            ("שָׁלוֹם", "שלום"),
        ] {
            assert_eq!(folded(text), expected, "{text}");
        }
    }
}
