//! The meanings of complete escape sequences of a terminal: keys, mouse events, focus.

use crate::ui::input::ScreenInput;
use crate::ui::keys::key::{Code, Key};
use crate::ui::keys::mouse::{Gesture, Mouse};

/// The meaning of a key or escape sequence.
#[derive(Debug, PartialEq)]
pub(super) enum Decoded {
    Input(ScreenInput),
    PasteBegins,
    /// The answer to the question for the kind of the terminal.
    Attributes,
}

/// Returns a key as the meaning of a sequence.
pub(super) const fn key(code: Code) -> Option<Decoded> {
    Some(Decoded::Input(ScreenInput::Key(Key::code(code))))
}

/// Decodes a sequence after `ESC O`: an arrow, Home, End or F1 to F4. The lower-case letters are the arrows of rxvt with Ctrl. The
/// keys of a number pad are ignored, because such a sequence may also be `Alt-O` and another key.
pub(super) fn read_short(sequence: &[u8]) -> Option<Decoded> {
    let letter = sequence.last()?;
    let ctrl = matches!(letter, b'a'..=b'd');
    let code =
        lettered(letter.to_ascii_uppercase()).filter(|_| ctrl || letter.is_ascii_uppercase())?;
    Some(Decoded::Input(ScreenInput::Key(Key { code, ctrl })))
}

/// Decodes a complete control sequence, without its `ESC [`.
pub(super) fn read_sequence(sequence: &[u8]) -> Option<Decoded> {
    let input = |input| Some(Decoded::Input(input));
    let (last, parameters) = sequence.split_last()?;
    if let [b'M', button, column, row] = sequence {
        let (column, row) = (column.saturating_sub(32), row.saturating_sub(32));
        return read_mouse(button.saturating_sub(32), column.into(), row.into(), true);
    }
    let text = std::str::from_utf8(parameters).ok()?;
    match (last, text) {
        (b'I', "") => return input(ScreenInput::Focused(true)),
        (b'O', "") => return input(ScreenInput::Focused(false)),
        (b'Z', _) => return key(Code::BackTab),
        (b'A'..=b'E', "[") => {
            return key(Code::Function(last.wrapping_sub(b'A').wrapping_add(1)));
        }
        (b'~', "200") => return Some(Decoded::PasteBegins),
        (b'c', text) if text.starts_with('?') => return Some(Decoded::Attributes),
        (_, _) => {}
    }
    let mouse = text.strip_prefix('<');
    let mut numbers = mouse.unwrap_or(text).split(';').map(|number| {
        let mut parts = number.split(':').map(|part| part.parse::<u32>().ok());
        (parts.next().flatten(), parts.next().flatten())
    });
    let mut next = || numbers.next().unwrap_or_default();
    let ((first, shifted), (second, event), (third, _)) = (next(), next(), next());
    if mouse.is_some() || *last == b'M' {
        let button = u8::try_from(first?).ok()?;
        // In a report without `<`, the button has the same offset of 32 as in the old three-byte format.
        let button = if mouse.is_some() { button } else { button.saturating_sub(32) };
        let (column, row) = (u16::try_from(second?).ok()?, u16::try_from(third?).ok()?);
        return read_mouse(button, column, row, *last == b'M');
    }
    if text.contains(|char: char| !char.is_ascii_digit() && !matches!(char, ';' | ':')) {
        return None;
    }
    let modifiers = second.unwrap_or(1).saturating_sub(1);
    // Keys with Super, Hyper or Meta, and keys that are released.
    if modifiers & 0b11_1000 > 0 || event == Some(3) {
        return None;
    }
    let (shift, alt, ctrl) = (modifiers & 1 > 0, modifiers & 2 > 0, modifiers & 4 > 0);
    let code = match last {
        b'~' | b'$' => numbered(first?)?,
        // Keys of rxvt with Ctrl.
        b'^' | b'@' => {
            return Some(Decoded::Input(ScreenInput::Key(Key {
                code: numbered(first?)?,
                ctrl: true,
            })));
        }
        b'u' => described(first?, shifted, (shift, alt, ctrl))?,
        // Arrows of rxvt with Shift.
        b'a'..=b'd' if text.is_empty() => lettered(last.to_ascii_uppercase())?,
        letter => lettered(*letter)?,
    };
    input(ScreenInput::Key(Key { code, ctrl }))
}

/// Returns the key that a control sequence describes by the number of its character, and by the number with Shift, if it gives one.
fn described(
    number: u32,
    shifted: Option<u32>,
    (shift, alt, ctrl): (bool, bool, bool),
) -> Option<Code> {
    Some(match number {
        27 => Code::Esc,
        13 => Code::Enter,
        9 if shift => Code::BackTab,
        9 => Code::Tab,
        127 => Code::Backspace,
        // The kitty protocol numbers keys without a character from the private use area of Unicode.
        0xe000..=0xf8ff => return None,
        number => {
            let typed = shifted.filter(|_| shift).and_then(char::from_u32);
            let char =
                typed.or_else(|| char::from_u32(number)).filter(|char| !char.is_control())?;
            match (alt, ctrl) {
                (true, _) => Code::Alt(char),
                (false, true) => Key::ctrl(char).code,
                (false, false) => Code::Char(char),
            }
        }
    })
}

/// Returns the key for a control sequence that ends with this letter.
const fn lettered(letter: u8) -> Option<Code> {
    Some(match letter {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'F' => Code::End,
        b'H' => Code::Home,
        b'P' => Code::Function(1),
        b'Q' => Code::Function(2),
        b'R' => Code::Function(3),
        b'S' => Code::Function(4),
        _ => return None,
    })
}

/// Returns the key for a control sequence that contains this number and ends with `~`.
fn numbered(number: u32) -> Option<Code> {
    let function = match number {
        1 | 7 => return Some(Code::Home),
        2 => return Some(Code::Insert),
        3 => return Some(Code::Delete),
        4 | 8 => return Some(Code::End),
        5 => return Some(Code::PageUp),
        6 => return Some(Code::PageDown),
        11..=15 => number.wrapping_sub(10),
        17..=21 => number.wrapping_sub(11),
        23..=26 => number.wrapping_sub(12),
        28 | 29 => number.wrapping_sub(15),
        31..=34 => number.wrapping_sub(17),
        _ => return None,
    };
    u8::try_from(function).ok().map(Code::Function)
}

/// Decodes a mouse report. Only the first button and the wheel are used. Columns and rows are counted from 1.
fn read_mouse(button: u8, column: u16, row: u16, is_pressed: bool) -> Option<Decoded> {
    let is_moved = button & 0b10_0000 > 0;
    let gesture = match (button & 0b11) | ((button & 0b1100_0000) >> 4) {
        0 if is_pressed && is_moved => Gesture::Drag,
        0 if is_pressed => Gesture::Click,
        4 => Gesture::WheelUp,
        5 => Gesture::WheelDown,
        6 => Gesture::WheelLeft,
        7 => Gesture::WheelRight,
        _ => return None,
    };
    let (column, row) = (column.saturating_sub(1), row.saturating_sub(1));
    Some(Decoded::Input(ScreenInput::Mouse(Mouse { gesture, column, row })))
}
