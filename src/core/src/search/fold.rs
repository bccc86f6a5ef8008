//! Folding of letters for comparison: removes differences in case, accents and width.

use icu_normalizer::properties::{
    CanonicalCombiningClassMapBorrowed, CanonicalCompositionBorrowed,
};
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

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
pub(super) fn is_of_word(char: char) -> bool {
    if char.is_ascii() {
        return char.is_ascii_alphanumeric();
    }
    char.is_alphanumeric() || is_silent(char) || is_mark(char)
}

/// Checks whether a character may occur in words but is ignored: a joiner, the soft hyphen, the Arabic tatweel, which only widens
/// a word, or a variation selector.
pub(super) const fn is_silent(char: char) -> bool {
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
pub(super) fn push_folded(out: &mut String, text: &str) -> usize {
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
