//! Cuts, pads and wraps text, measured in terminal cells, and formats numbers of bytes. The module also replaces symbols of
//! several characters, such as flags and families, for terminals that calculate a wrong width for them.
//!
//! tmux before 3.4, screen and the Linux console count a flag as two symbols and a family as three people. Everything to the right
//! is then shifted by a few cells, and some of it stays on the screen when the line changes. This module therefore replaces the
//! symbols that such a terminal measures wrongly: a family by its first person, a flag by its letters.

use ratatui::buffer::Buffer;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::ui::reader::lines;

/// Checks whether a text consists only of printable ASCII characters, each of which takes one byte and one cell.
pub(super) fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Returns the width of a text in cells.
pub(super) fn width(text: &str) -> usize {
    lines::cells(text)
}

/// Returns the text. If it is wider than `max` cells, the text is cut and ends with an ellipsis. Characters are never split.
pub(super) fn cut(text: &str, max: usize) -> String {
    if is_printable_ascii(text) {
        let Some(kept) = text.get(..max).filter(|_| text.len() > max) else {
            return text.to_owned();
        };
        let mut kept = kept.to_owned();
        if kept.pop().is_some() {
            kept.push('…');
        }
        return kept;
    }
    if width(text) <= max {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0_usize;
    for grapheme in text.graphemes(true) {
        let cells = grapheme.width();
        if used.saturating_add(cells).saturating_add(1) > max {
            break;
        }
        kept.push_str(grapheme);
        used = used.saturating_add(cells);
    }
    if max > 0 {
        kept.push('…');
    }
    kept
}

/// Returns the text, cut or padded with spaces so that it is exactly `cells` cells wide.
pub(super) fn fit(text: &str, cells: usize) -> String {
    let mut fitted = cut(text, cells);
    let missing = cells.saturating_sub(width(&fitted));
    fitted.extend(std::iter::repeat_n(' ', missing));
    fitted
}

/// Returns a line of `cells` cells with `left` at the left end and `right` at the right end. If they do not fit together, `left` is
/// cut.
pub(super) fn ends(left: &str, right: &str, cells: usize) -> String {
    let right = cut(right, cells);
    let gap = usize::from(!right.is_empty());
    let room = cells.saturating_sub(width(&right).saturating_add(gap));
    format!(
        "{}{}{right}",
        fit(left, room),
        " ".repeat(gap.min(cells.saturating_sub(width(&right))))
    )
}

/// Wraps the text between words into at most `lines` lines of at most `max` cells. Further text is cut.
pub(super) fn wrap(text: &str, max: usize, lines: usize) -> Vec<String> {
    let mut wrapped: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && wrapped.len() < lines {
        let last = wrapped.len().saturating_add(1) == lines;
        let at = if last || width(rest) <= max { rest.len() } else { break_within(rest, max) };
        let (line, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
        wrapped.push(cut(line.trim_end(), max));
        rest = behind.trim_start();
    }
    wrapped
}

/// Returns the byte offset at which a line of at most `max` cells ends: after its last space or, if it contains no space, within
/// the word.
fn break_within(text: &str, max: usize) -> usize {
    let mut used = 0_usize;
    let mut blank = None;
    for (at, grapheme) in text.grapheme_indices(true) {
        if grapheme == " " {
            blank = Some(at);
        }
        used = used.saturating_add(grapheme.width());
        if used > max {
            // If the first character is already wider than the line, it is placed on the line anyway.
            let within = if at == 0 { grapheme.len() } else { at };
            return blank.filter(|&at| at > 0).unwrap_or(within);
        }
    }
    text.len()
}

/// Replaces the symbols on the screen whose width some terminals calculate wrongly.
pub(super) fn simplify(buffer: &mut Buffer) {
    let mut letter = None;
    for cell in &mut buffer.content {
        if let Some((second, style)) = letter.take() {
            // The second cell of a wide symbol has no style, so the second letter of a flag gets the style of the first letter.
            cell.set_char(second).set_style(style);
            continue;
        }
        let symbol = cell.symbol();
        if symbol.is_ascii() {
            continue;
        }
        let mut chars = symbol.chars();
        match (chars.next(), chars.next()) {
            (Some(first), Some(second)) if is_flag_letter(first) && is_flag_letter(second) => {
                cell.set_char(as_letter(first));
                letter = Some((as_letter(second), cell.style()));
            }
            (Some(first), Some(_)) if symbol.chars().any(is_joining) => {
                cell.set_char(first);
            }
            _ => {}
        }
    }
}

const fn is_flag_letter(char: char) -> bool {
    matches!(char, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Returns the Latin letter that corresponds to a regional indicator (half of a flag).
fn as_letter(flag: char) -> char {
    let place = u32::from(flag).saturating_sub(0x1_f1e6).saturating_add(u32::from('A'));
    char::from_u32(place).filter(char::is_ascii_uppercase).unwrap_or(' ')
}

/// Checks whether a character joins its neighbours into one symbol or modifies the character before it: a joiner, a variation
/// selector, a skin tone, a tag or a keycap.
const fn is_joining(char: char) -> bool {
    matches!(
        char,
        '\u{200d}'
            | '\u{fe0f}'
            | '\u{20e3}'
            | '\u{1f3fb}'..='\u{1f3ff}'
            | '\u{e0020}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wide_characters_are_never_cut_in_two() {
        assert_eq!(cut("漢字かな", 5), "漢字…");
        assert_eq!(cut("漢字かな", 4), "漢…");
        assert_eq!(fit("漢字かな", 4), "漢… ");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn texts_of_every_script_are_measured_cut_and_broken() {
        // Columns of the table: text, width in cells, text cut to six cells, text wrapped to lines of six cells.
        for (text, cells, cut_to_six, lines) in [
            ("שלום עולם", 9, "שלום …", &["שלום", "עולם"][..]),
            ("שָׁלוֹם", 4, "שָׁלוֹם", &["שָׁלוֹם"]),
            // A font may draw the letters lam and alef as one glyph, but the terminal uses one cell for each letter.
            ("لا إله", 6, "لا إله", &["لا إله"]),
            ("السلام عليكم", 12, "السلا…", &["السلام", "عليكم"]),
            ("مُحَمَّد", 4, "مُحَمَّد", &["مُحَمَّد"]),
            ("RSS ומה עוד", 11, "RSS ו…", &["RSS", "ומה", "עוד"]),
            ("מחיר 12.50", 10, "מחיר …", &["מחיר", "12.50"]),
            ("漢字かな", 8, "漢字…", &["漢字か", "な"]),
            ("한국어", 6, "한국어", &["한국어"]),
            ("👩‍🚀👩‍🚀👩‍🚀👩‍🚀", 8, "👩‍🚀👩‍🚀…", &["👩‍🚀👩‍🚀👩‍🚀", "👩‍🚀"]),
            ("🇩🇪🇫🇷🇮🇱🇯🇵", 8, "🇩🇪🇫🇷…", &["🇩🇪🇫🇷🇮🇱", "🇯🇵"]),
            ("क्षत्रिय", 6, "क्षत्रिय", &["क्षत्रिय"]),
            (
                "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}",
                7,
                "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}…",
                &["e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}", "e\u{301}"],
            ),
        ] {
            assert_eq!(width(text), cells, "{text}");
            assert_eq!(cut(text, 6), cut_to_six, "{text}");
            assert_eq!(wrap(text, 6, 9), lines, "{text}");
        }
    }

    /// Generates texts with letters that join or combine with others, take two cells, or run from right to left.
    fn mixed() -> impl Strategy<Value = String> {
        let letters = [
            "a",
            " ",
            "é",
            "e\u{301}",
            "ש",
            "שָׁ",
            "ם",
            "ل",
            "ا",
            "مُ",
            "ه\u{200d}",
            "漢",
            "ー",
            "한",
            "👩‍🚀",
            "🇩🇪",
            "❤\u{fe0f}",
            "ก็ำ",
            "क्ष",
            "12",
            "-",
            "ن\u{200c}",
            "ﷺ",
        ];
        prop::collection::vec(prop::sample::select(letters.to_vec()), 0..40)
            .prop_map(|letters| letters.concat())
    }

    proptest! {
        #[test]
        fn text_is_cut_only_between_characters_within_width(text in mixed(), max in 2_usize..40) {
            let signs: Vec<&str> = text.graphemes(true).collect();
            let short = cut(&text, max);
            prop_assert!(width(&short) <= max, "{short:?}");
            let kept: Vec<&str> = short.strip_suffix('…').unwrap_or(&short).graphemes(true).collect();
            prop_assert!(signs.starts_with(&kept), "{short:?} of {text:?}");
            prop_assert_eq!(width(&fit(&text, max)), max);
            for line in wrap(&text, max, 100) {
                prop_assert!(width(&line) <= max, "{line:?}");
                for sign in line.graphemes(true) {
                    prop_assert!(signs.contains(&sign) || sign == "…", "{sign:?} of {signs:?}");
                }
            }
        }
    }

    #[test]
    fn left_part_is_shortened_first() {
        assert_eq!(ends("Orchard Notes", "6  2h", 12), "Orcha… 6  2h");
        assert_eq!(ends("x", "", 4), "x   ");
        assert_eq!(ends("x", "long", 3), "lo…");
    }

    #[test]
    fn titles_are_broken_between_words_and_cut_at_the_last_line() {
        assert_eq!(
            wrap("Nine candidates for harbour master", 16, 4),
            ["Nine candidates", "for harbour", "master"]
        );
        assert_eq!(
            wrap("Nine candidates for harbour master", 16, 2),
            ["Nine candidates", "for harbour mas…"]
        );
        assert_eq!(wrap("abcdefgh", 3, 9), ["abc", "def", "gh"]);
        assert_eq!(wrap("漢字かな", 3, 9), ["漢", "字", "か", "な"]);
        assert_eq!(wrap("", 3, 9), Vec::<String>::new());
    }
}

#[cfg(test)]
mod clusters_tests {
    use ratatui::buffer::Cell;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn mismeasured_characters_are_simplified_and_letters_stay() {
        for (text, expected) in [
            ("a🇩🇪b", "aDEb"),
            ("👩‍🚀x", "👩 x"),
            ("👍🏽x", "👍 x"),
            ("❤️x", "❤ x"),
            ("漢字x", "漢 字 x"),
            ("e\u{301}x", "e\u{301}x"),
            ("שָׁx", "שָׁx"),
        ] {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 1));
            buffer.set_string(0, 0, text, Style::new());
            simplify(&mut buffer);
            let written: String = buffer.content.iter().map(Cell::symbol).collect();
            assert_eq!(written.trim_end(), expected, "{text}");
        }
    }

    #[test]
    fn both_flag_letters_keep_the_style_of_the_flag() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        buffer.set_string(0, 0, "🇵🇹", Style::new().reversed().bold());
        simplify(&mut buffer);
        let [first, second, ..] = buffer.content.as_slice() else { panic!("{buffer:?}") };
        assert_eq!((first.symbol(), second.symbol()), ("P", "T"));
        assert_eq!(first.style(), second.style());
    }
}
