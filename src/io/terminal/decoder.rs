//! Decodes the bytes that a terminal sends: keys, mouse events, pasted text, focus. The caller passes their arrival time.
//!
//! An incomplete sequence must not delay later keys: `Alt-[` sends the two bytes that the sequence of an arrow key starts with.

use std::time::{Duration, Instant};

use super::ground_report::{read_report, report_length};
use crate::ui::input::ScreenInput;
use crate::ui::keys::key::{Code, Key};
use crate::ui::keys::mouse::{Gesture, Mouse};

/// Maximum wait for the next bytes of an incomplete escape sequence or pasted text.
const SEQUENCE_TIME: Duration = Duration::from_millis(100);
const PASTE_TIME: Duration = Duration::from_secs(1);
/// Maximum length of an escape sequence, bytes. The longest known sequence has 20 bytes.
const SEQUENCE_MAX: usize = 64;
/// The mark at the end of a pasted text.
const PASTE_END: &[u8] = b"\x1b[201~";
/// The byte that Ctrl-C sends.
const INTERRUPT: u8 = 3;

/// Decodes the input of a terminal.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    bytes: Vec<u8>,
    /// Arrival time of the last bytes.
    last: Option<Instant>,
    /// The text being pasted, as far as it has arrived.
    pasted: Option<Vec<u8>>,
}

/// The key or sequence at the start of the buffered bytes.
#[derive(Debug, PartialEq)]
enum Start {
    /// A complete key or sequence, or `None` if the program does not use it.
    Whole(Option<Decoded>),
    /// An incomplete sequence.
    Unfinished,
}

/// The meaning of a key or escape sequence.
#[derive(Debug, PartialEq)]
enum Decoded {
    Input(ScreenInput),
    PasteBegins,
}

impl Decoder {
    /// Adds newly arrived bytes.
    pub(super) fn push(&mut self, now: Instant, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.last = Some(now);
    }

    /// Returns the next input, or `None` if none is complete. Call it again after more bytes, or at [`Decoder::deadline`].
    pub(super) fn next(&mut self, now: Instant) -> Option<ScreenInput> {
        loop {
            if self.pasted.is_some() {
                return self.end_paste(now);
            }
            let is_late = self.has_passed(now, SEQUENCE_TIME);
            let (start, length) = read_start(&self.bytes, is_late)?;
            match start {
                Start::Unfinished => return None,
                Start::Whole(decoded) => {
                    self.bytes.drain(..length.min(self.bytes.len()));
                    match decoded {
                        Some(Decoded::Input(input)) => return Some(input),
                        Some(Decoded::PasteBegins) => self.pasted = Some(Vec::new()),
                        None => {}
                    }
                }
            }
        }
    }

    /// Returns the time after which an incomplete sequence or pasted text counts as ended.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let time = match (&self.pasted, self.bytes.is_empty()) {
            (Some(_), _) => PASTE_TIME,
            (None, false) => SEQUENCE_TIME,
            (None, true) => return None,
        };
        self.last?.checked_add(time)
    }

    fn has_passed(&self, now: Instant, time: Duration) -> bool {
        self.last.is_some_and(|last| now.saturating_duration_since(last) >= time)
    }

    /// Returns the pasted text if an end mark, some time without bytes, or Ctrl-C as the last byte has ended it.
    fn end_paste(&mut self, now: Instant) -> Option<ScreenInput> {
        let mark = self.bytes.windows(PASTE_END.len()).position(|bytes| bytes == PASTE_END);
        let is_typed = self.bytes.last() == Some(&INTERRUPT);
        let (length, behind) = match mark {
            Some(at) => (at, PASTE_END.len()),
            None if is_typed => (self.bytes.len().saturating_sub(1), 0),
            None if self.has_passed(now, PASTE_TIME) => (self.bytes.len(), 0),
            None => {
                // Keep the last bytes, which may be the beginning of the end mark.
                let surely = self.bytes.len().saturating_sub(PASTE_END.len());
                self.pasted.as_mut()?.extend(self.bytes.drain(..surely));
                return None;
            }
        };
        let mut text = self.pasted.take()?;
        text.extend(self.bytes.drain(..length));
        self.bytes.drain(..behind);
        Some(ScreenInput::Pasted(String::from_utf8_lossy(&text).into_owned()))
    }
}

/// Returns the key or sequence at the start of the bytes and its length, or `None` if there are no bytes. If `is_late` is set,
/// nothing counts as incomplete.
fn read_start(bytes: &[u8], is_late: bool) -> Option<(Start, usize)> {
    let unfinished = Some((Start::Unfinished, 0));
    match bytes {
        [] => None,
        [0x1b] | [0x1b, 0x1b, ..] => Some((key(Code::Esc), 1)),
        [0x1b, b'[', rest @ ..] => match sequence_length(rest) {
            Some(0) if !is_late => unfinished,
            // The bytes are not a sequence, so they are separate keys.
            Some(0) | None => Some((key(Code::Alt('[')), 2)),
            Some(length) => {
                let meant = rest.get(..length).and_then(read_sequence);
                Some((Start::Whole(meant), length.saturating_add(2)))
            }
        },
        [0x1b, b'O', rest @ ..] => match rest {
            [] if !is_late => unfinished,
            [letter @ (b'A'..=b'H' | b'P'..=b'S'), ..] => Some((
                Start::Whole(
                    lettered(*letter).map(|code| Decoded::Input(ScreenInput::Key(Key::code(code)))),
                ),
                3,
            )),
            [] | [..] => Some((key(Code::Alt('O')), 2)),
        },
        [0x1b, b']', rest @ ..] => match report_length(rest) {
            Some(0) if !is_late => unfinished,
            Some(length) if length > 0 => {
                let report = rest.get(..length).and_then(read_report);
                let report = report.map(|light| Decoded::Input(ScreenInput::Ground(light)));
                Some((Start::Whole(report), length.saturating_add(2)))
            }
            Some(_) | None => Some((key(Code::Alt(']')), 2)),
        },
        [0x1b, rest @ ..] => {
            let (start, length) = read_key(rest, is_late)?;
            Some((with_alt(start), length.saturating_add(1)))
        }
        bytes => read_key(bytes, is_late),
    }
}

/// Adds the Alt modifier to a key, if the key is a character.
fn with_alt(start: Start) -> Start {
    if let Start::Whole(Some(Decoded::Input(ScreenInput::Key(key)))) = &start
        && let Code::Char(char) = key.code
    {
        let key = Key { code: Code::Alt(char), ctrl: key.ctrl };
        return Start::Whole(Some(Decoded::Input(ScreenInput::Key(key))));
    }
    start
}

fn key(code: Code) -> Start {
    Start::Whole(Some(Decoded::Input(ScreenInput::Key(Key::code(code)))))
}

/// Reads a character or a control character.
fn read_key(bytes: &[u8], is_late: bool) -> Option<(Start, usize)> {
    let ctrl = |first: u8, byte: u8, of: u8| {
        let char = char::from(byte.wrapping_sub(first).wrapping_add(of));
        Start::Whole(Some(Decoded::Input(ScreenInput::Key(Key::ctrl(char)))))
    };
    let start = match *bytes.first()? {
        0 => ctrl(0, 0, b' '),
        b'\r' => key(Code::Enter),
        b'\t' => key(Code::Tab),
        0x7f => key(Code::Backspace),
        byte @ 0x01..=0x1a => ctrl(1, byte, b'a'),
        byte @ 0x1c..=0x1f => ctrl(0x1c, byte, b'4'),
        _ => {
            let text = bytes.get(..bytes.len().min(4)).unwrap_or_default();
            let (text, broken) = match std::str::from_utf8(text) {
                Ok(text) => (text, None),
                Err(error) => {
                    let whole = text.get(..error.valid_up_to()).unwrap_or_default();
                    (std::str::from_utf8(whole).unwrap_or_default(), Some(error))
                }
            };
            return Some(match text.chars().next() {
                Some(char) => (key(Code::Char(char)), char.len_utf8()),
                None if !is_late && broken.is_some_and(|error| error.error_len().is_none()) => {
                    (Start::Unfinished, 0)
                }
                None => (Start::Whole(None), 1),
            });
        }
    };
    Some((start, 1))
}

/// Returns the length of a control sequence after `ESC [`, 0 if its end has not arrived, or `None` if it is no such sequence.
fn sequence_length(rest: &[u8]) -> Option<usize> {
    let fixed = match rest.first() {
        // The keys F1 to F5 of the Linux console have two bytes after `ESC [`.
        Some(b'[') => 2,
        // A mouse report in the old format has three bytes after its `M`.
        Some(b'M') => 4,
        Some(_) | None => 0,
    };
    if fixed > 0 {
        let bytes = rest.get(..rest.len().min(fixed)).unwrap_or_default();
        let is_typed = bytes.iter().any(u8::is_ascii_control);
        return if is_typed { None } else { Some(if rest.len() < fixed { 0 } else { fixed }) };
    }
    match rest.iter().position(|byte| !(0x20..=0x3f).contains(byte)) {
        Some(at) if rest.get(at).is_some_and(|byte| (0x40..=0x7e).contains(byte)) => {
            at.checked_add(1)
        }
        None if rest.len() < SEQUENCE_MAX => Some(0),
        Some(_) | None => None,
    }
}

/// Decodes a complete control sequence, without its `ESC [`.
fn read_sequence(sequence: &[u8]) -> Option<Decoded> {
    let input = |input| Some(Decoded::Input(input));
    let pressed = |code, ctrl| input(ScreenInput::Key(Key { code, ctrl }));
    let (last, parameters) = sequence.split_last()?;
    let text = std::str::from_utf8(parameters).ok();
    match (last, text.unwrap_or_default()) {
        (b'I', "") => return input(ScreenInput::Focused(true)),
        (b'O', "") => return input(ScreenInput::Focused(false)),
        (b'Z', _) => return pressed(Code::BackTab, false),
        (b'A'..=b'E', "[") => {
            return pressed(Code::Function(last.wrapping_sub(b'A').wrapping_add(1)), false);
        }
        (b'~', "200") => return Some(Decoded::PasteBegins),
        (_, _) => {}
    }
    if let [b'M', button, column, row] = sequence {
        let (column, row) = (column.saturating_sub(32), row.saturating_sub(32));
        return read_mouse(button.saturating_sub(32), column.into(), row.into(), true);
    }
    let mouse = text?.strip_prefix('<');
    let mut numbers = mouse.unwrap_or(text?).split(';').map(|number| {
        // Subparameters after a colon are ignored.
        number.split(':').next().and_then(|number| number.parse::<u32>().ok())
    });
    let (first, second, third) =
        (numbers.next().flatten(), numbers.next().flatten(), numbers.next().flatten());
    if mouse.is_some() || *last == b'M' {
        let button = u8::try_from(first?).ok()?;
        // In a report without `<`, the button has the same offset of 32 as in the old three-byte format.
        let button = if mouse.is_some() { button } else { button.saturating_sub(32) };
        let (column, row) = (u16::try_from(second?).ok()?, u16::try_from(third?).ok()?);
        return read_mouse(button, column, row, *last == b'M');
    }
    let modifiers = second.unwrap_or(1).saturating_sub(1);
    let (shift, alt, ctrl) = (modifiers & 1 > 0, modifiers & 2 > 0, modifiers & 4 > 0);
    let code = match last {
        b'~' => numbered(first?)?,
        b'u' => match first? {
            27 => Code::Esc,
            13 => Code::Enter,
            9 if shift => Code::BackTab,
            9 => Code::Tab,
            127 => Code::Backspace,
            number if alt => Code::Alt(char::from_u32(number)?),
            number => Code::Char(char::from_u32(number)?),
        },
        letter => lettered(*letter)?,
    };
    pressed(code, ctrl)
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

/// Decodes a mouse report. Only clicks of the first button and the wheel are used. Columns and rows are counted from 1.
fn read_mouse(button: u8, column: u16, row: u16, is_pressed: bool) -> Option<Decoded> {
    let is_moved = button & 0b10_0000 > 0;
    let gesture = match (button & 0b11) | ((button & 0b1100_0000) >> 4) {
        0 if is_pressed && !is_moved => Gesture::Click,
        4 => Gesture::WheelUp,
        5 => Gesture::WheelDown,
        6 => Gesture::WheelLeft,
        7 => Gesture::WheelRight,
        _ => return None,
    };
    let (column, row) = (column.saturating_sub(1), row.saturating_sub(1));
    Some(Decoded::Input(ScreenInput::Mouse(Mouse { gesture, column, row })))
}

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;
