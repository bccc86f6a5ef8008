//! Folding of letters for comparison: removes differences in case, accents and width.

use icu_normalizer::properties::{
    CanonicalCombiningClassMapBorrowed, CanonicalDecompositionBorrowed, Decomposed,
};

/// Letters that cannot be decomposed, with the plain letters that people type instead of them.
const WRITTEN_AS: [(char, &str); 19] = [
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
    ('ﬀ', "ff"),
    ('ﬁ', "fi"),
    ('ﬂ', "fl"),
    ('ﬃ', "ffi"),
    ('ﬄ', "ffl"),
    ('ﬅ', "st"),
    ('ﬆ', "st"),
];

/// Maximum depth of nested decompositions. No letter needs more.
const DEPTH_MAX: u8 = 4;

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
    text.chars().for_each(|char| push_folded(&mut out, char));
    out
}

/// Appends the folded form of a character: without case, accent and width.
pub(super) fn push_folded(out: &mut String, char: char) {
    if char.is_ascii() {
        out.push(char.to_ascii_lowercase());
    } else if is_dense(char) {
        out.push(char);
    } else if matches!(char, '\u{ff01}'..='\u{ff5e}') {
        let narrow = u32::from(char).saturating_sub(0xfee0);
        out.extend(char::from_u32(narrow).map(|narrow| narrow.to_ascii_lowercase()));
    } else {
        for lower in char.to_lowercase() {
            push_base(out, lower, 0);
        }
    }
}

/// Appends the base of a lowercase letter, without its accents. Decompositions are followed down to a maximum depth.
fn push_base(out: &mut String, char: char, depth: u8) {
    if is_accent(char) || is_silent(char) {
        return;
    }
    if let Some((_, written)) = WRITTEN_AS.iter().find(|(letter, _)| *letter == char) {
        out.push_str(written);
        return;
    }
    if depth >= DEPTH_MAX {
        out.push(char);
        return;
    }
    match CanonicalDecompositionBorrowed::new().decompose(char) {
        Decomposed::Default => out.push(char),
        Decomposed::Singleton(same) => push_base(out, same, depth.saturating_add(1)),
        Decomposed::Expansion(base, mark) => {
            push_base(out, base, depth.saturating_add(1));
            push_base(out, mark, depth.saturating_add(1));
        }
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
            ("oﬃce ﬁre جمـيل", "office fire جميل"),
            ("कि", "कि"),
            ("שָׁלוֹם", "שלום"),
        ] {
            assert_eq!(folded(text), expected, "{text}");
        }
    }
}
