//! Simplifies symbols of several characters, such as flags and families, for terminals that calculate a wrong width for them.
//!
//! tmux before 3.4, screen and the Linux console count a flag as two symbols and a family as three people. Everything to the right
//! is then shifted by a few cells, and some of it stays on the screen when the line changes. This module therefore replaces the
//! symbols that such a terminal measures wrongly: a family by its first person, a flag by its letters.

use ratatui::buffer::Buffer;

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
