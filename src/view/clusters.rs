//! Signs of several characters, such as flags and families, for terminals that measure them otherwise than we do.
//!
//! tmux before 3.4, screen and the Linux console take a flag for two signs and a family for three people: whatever stands behind
//! is then a few cells too far to the right, and is left behind when the line changes. What such a terminal cannot measure is not
//! written: of a family its first person, of a flag its letters.

use ratatui::buffer::Buffer;

/// Writes signs that such a terminal measures right.
pub(super) fn simplify(buffer: &mut Buffer) {
    let mut letter = None;
    for cell in &mut buffer.content {
        if let Some((second, style)) = letter.take() {
            // The cell behind a wide sign has no look of its own.
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

/// The Latin letter that a letter of a flag stands for.
fn as_letter(flag: char) -> char {
    let place = u32::from(flag).saturating_sub(0x1_f1e6).saturating_add(u32::from('A'));
    char::from_u32(place).filter(char::is_ascii_uppercase).unwrap_or(' ')
}

/// Whether a character makes one sign of its neighbours, or another look of the one before: a joiner, a choice of look, a
/// colour of skin, a tag, a keycap.
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
    fn what_a_terminal_measures_wrong_is_written_simply_and_letters_stay() {
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
    fn both_letters_of_a_flag_look_as_the_flag_did() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        buffer.set_string(0, 0, "🇵🇹", Style::new().reversed().bold());
        simplify(&mut buffer);
        let [first, second, ..] = buffer.content.as_slice() else { panic!("{buffer:?}") };
        assert_eq!((first.symbol(), second.symbol()), ("P", "T"));
        assert_eq!(first.style(), second.style());
    }
}
