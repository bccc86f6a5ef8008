//! Decodes the bytes that a terminal sends: keys, mouse events, pasted text, focus, answers. The caller passes their arrival time.
//!
//! A slow connection delivers a sequence in pieces, so nothing that may belong to an unfinished sequence is read as a key. A
//! sequence that is not a known key is dropped as a whole.

use std::time::{Duration, Instant};

use crate::ui::keys::key::{ALT_BACKSPACE, Code, Key};
use crate::ui::keys::mouse::{Gesture, Mouse};
use crate::ui::theme::colours::is_light;
use crate::ui::update::ScreenInput;

/// Maximum wait for the next bytes of a sequence. Pieces of one key arrive up to 150 ms apart.
const SEQUENCE_TIME: Duration = Duration::from_millis(200);
/// Maximum wait for the next bytes of an answer of the terminal.
const ANSWER_TIME: Duration = Duration::from_secs(1);
/// Maximum wait for the next bytes of pasted text. What arrives after it is read as keys.
const PASTE_TIME: Duration = Duration::from_secs(5);
/// Maximum number of bytes to keep of an unfinished sequence. The longest known sequence has 30 bytes.
const SEQUENCE_MAX: usize = 4096;
/// The mark at the end of a pasted text.
const PASTE_END: &[u8] = b"\x1b[201~";
/// The byte that Ctrl-C sends. It is part of no sequence, so it always works.
const INTERRUPT: u8 = 3;
/// The byte that starts each sequence.
const ESC: u8 = 0x1b;

/// Decodes the input of a terminal.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// Time after which ESC is the Esc key, and not the start of a sequence.
    pub(super) escape_time: Duration,
    /// Set if the terminal sends ESC before the whole sequence of a key that is pressed together with Alt.
    alt_is_escape: bool,
    /// Time at which the terminal was asked for an answer that has not arrived yet.
    pub(super) asked: Option<Instant>,
    bytes: Vec<u8>,
    /// Arrival time of the last bytes.
    last: Option<Instant>,
    /// The text being pasted, as far as it has arrived.
    pasted: Option<Vec<u8>>,
}

/// The key or sequence at the start of the buffered bytes.
#[derive(Debug, PartialEq)]
enum Start {
    /// A complete key or sequence with this length, or `None` if the program does not use it.
    Whole(Option<Decoded>, usize),
    /// All buffered bytes are an incomplete sequence.
    Unfinished(Wait),
}

/// The end of a sequence, as a number of bytes after the two bytes with which it starts.
#[derive(Debug, Clone, Copy)]
enum End {
    /// The sequence is complete.
    At(usize),
    /// Another key or sequence begins before its end.
    Broken(usize),
    Open,
}

/// The kind of an incomplete sequence, which determines how long to wait for the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// A single ESC.
    Escape,
    /// ESC and the character that starts a kind of sequence: a key with Alt, if nothing follows.
    Alt(char),
    /// A longer beginning, which nobody types.
    Sequence,
    /// An answer of the terminal.
    Answer,
}

impl Decoder {
    pub(super) fn new(alt_is_escape: bool) -> Self {
        Self { alt_is_escape, ..Self::default() }
    }

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
            let (decoded, length) = match read_start(&self.bytes, self.alt_is_escape)? {
                Start::Whole(decoded, length) => (decoded, length),
                Start::Unfinished(wait) if self.has_passed(now, self.time_of(wait)) => match wait {
                    Wait::Escape => (key(Code::Esc), 1),
                    Wait::Alt(char) => (key(Code::Alt(char)), 2),
                    Wait::Sequence | Wait::Answer => (None, self.bytes.len()),
                },
                Start::Unfinished(_) => {
                    if let surplus @ 1.. = self.bytes.len().saturating_sub(SEQUENCE_MAX) {
                        // The first bytes show what kind of sequence it is, and the last bytes whether it is complete.
                        self.bytes.drain(3..surplus.saturating_add(3));
                    }
                    return None;
                }
            };
            self.bytes.drain(..length.min(self.bytes.len()));
            match decoded {
                Some(Decoded::Input(input)) => return Some(input),
                Some(Decoded::PasteBegins) => self.pasted = Some(Vec::new()),
                Some(Decoded::Attributes) => self.asked = None,
                None => {}
            }
        }
    }

    /// Returns the time after which an incomplete sequence or pasted text counts as ended.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let time = match (&self.pasted, read_start(&self.bytes, self.alt_is_escape)) {
            (Some(_), _) => PASTE_TIME,
            (None, Some(Start::Unfinished(wait))) => self.time_of(wait),
            (None, Some(Start::Whole(..))) => Duration::ZERO,
            (None, None) => return None,
        };
        self.last?.checked_add(time)
    }

    /// Discards an incomplete sequence or pasted text.
    pub(super) fn forget(&mut self) {
        (self.bytes, self.pasted) = (Vec::new(), None);
    }

    const fn time_of(&self, wait: Wait) -> Duration {
        match wait {
            Wait::Escape => self.escape_time,
            Wait::Alt(_) | Wait::Sequence => SEQUENCE_TIME,
            Wait::Answer => ANSWER_TIME,
        }
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

/// Returns the key or sequence at the start of the bytes, or `None` if there are no bytes.
fn read_start(bytes: &[u8], alt_is_escape: bool) -> Option<Start> {
    Some(match bytes {
        [] => return None,
        [ESC] => Start::Unfinished(Wait::Escape),
        [ESC, ESC] if alt_is_escape => Start::Unfinished(Wait::Escape),
        // A sequence of a key that is pressed with Alt. It is read as the key without Alt.
        [ESC, sequence @ ..] if alt_is_escape && matches!(sequence, [ESC, b'[' | b'O', ..]) => {
            match read_start(sequence, false)? {
                Start::Whole(decoded, length) => Start::Whole(decoded, length.saturating_add(1)),
                Start::Unfinished(_) => Start::Unfinished(Wait::Sequence),
            }
        }
        [ESC, ESC, ..] => Start::Whole(key(Code::Esc), 1),
        [ESC, first @ (b'[' | b'O' | b']' | b'P' | b'_')] => {
            Start::Unfinished(Wait::Alt(char::from(*first)))
        }
        [ESC, b'[', rest @ ..] => sequence(rest, sequence_end(rest), read_sequence),
        [ESC, b'O', rest @ ..] => sequence(rest, short_end(rest), read_short),
        [ESC, b']', rest @ ..] => answer(rest, read_report),
        [ESC, b'P' | b'_', rest @ ..] => answer(rest, |_| None),
        [ESC, rest @ ..] => with_alt(read_key(rest)),
        bytes => read_key(bytes),
    })
}

fn sequence(rest: &[u8], end: End, read: impl FnOnce(&[u8]) -> Option<Decoded>) -> Start {
    match end {
        End::At(length) => {
            Start::Whole(rest.get(..length).and_then(read), length.saturating_add(2))
        }
        End::Broken(length) => Start::Whole(None, length.saturating_add(2)),
        End::Open => Start::Unfinished(Wait::Sequence),
    }
}

/// Reads an answer of the terminal, which is a text that ends with BEL or with ESC and a backslash.
fn answer(rest: &[u8], read: impl FnOnce(&[u8]) -> Option<bool>) -> Start {
    let end = match rest.iter().position(|byte| is_break(*byte) || *byte == 7) {
        None => End::Open,
        Some(at) => match rest.get(at..).unwrap_or_default() {
            [ESC] => End::Open,
            [ESC, b'\\', ..] => End::At(at.saturating_add(2)),
            [ESC | INTERRUPT, ..] => End::Broken(at),
            [..] => End::At(at.saturating_add(1)),
        },
    };
    let read = |text: &[u8]| Some(Decoded::Input(ScreenInput::Ground(read(text)?)));
    let start = sequence(rest, end, read);
    // Typed text rarely begins like an answer.
    let is_answer = rest.first().is_some_and(|byte| b"0123456789>!G".contains(byte));
    if is_answer && start == Start::Unfinished(Wait::Sequence) {
        return Start::Unfinished(Wait::Answer);
    }
    start
}

/// Adds the Alt modifier to a key. A control character after Esc is read as a separate key.
fn with_alt(start: Start) -> Start {
    let Start::Whole(decoded, length) = start else { return start };
    let char = match decoded {
        Some(Decoded::Input(ScreenInput::Key(Key { code: Code::Char(char), ctrl: false }))) => char,
        Some(Decoded::Input(ScreenInput::Key(Key { code: Code::Backspace, .. }))) => ALT_BACKSPACE,
        Some(_) | None => return Start::Whole(key(Code::Esc), 1),
    };
    Start::Whole(key(Code::Alt(char)), length.saturating_add(1))
}

/// Reads a character or a control character.
fn read_key(bytes: &[u8]) -> Start {
    let control = |key| Start::Whole(Some(Decoded::Input(ScreenInput::Key(key))), 1);
    match bytes.first() {
        Some(b'\r') => control(Key::code(Code::Enter)),
        Some(b'\t') => control(Key::code(Code::Tab)),
        Some(0x7f) => control(Key::code(Code::Backspace)),
        Some(byte @ 0..0x20) => control(Key::ctrl(char::from(byte.wrapping_add(0x40)))),
        Some(_) | None => {
            let text = bytes.get(..bytes.len().min(4)).unwrap_or_default();
            let (length, is_cut) = match std::str::from_utf8(text) {
                Ok(text) => (text.len(), false),
                Err(error) => (error.valid_up_to(), error.error_len().is_none()),
            };
            let whole = std::str::from_utf8(text.get(..length).unwrap_or_default());
            match whole.unwrap_or_default().chars().next() {
                Some(char) => Start::Whole(key(Code::Char(char)), char.len_utf8()),
                None if is_cut => Start::Unfinished(Wait::Sequence),
                None => Start::Whole(None, 1),
            }
        }
    }
}

/// Checks whether a byte can be part of no sequence: a new sequence begins, or Ctrl-C was typed.
const fn is_break(byte: u8) -> bool {
    matches!(byte, ESC | INTERRUPT)
}

/// Returns the end of a sequence. Its last byte is the first one for which `is_last` returns `true`.
fn end_at(rest: &[u8], is_last: impl Fn(u8) -> bool) -> End {
    match rest.iter().position(|byte| is_break(*byte) || is_last(*byte)) {
        Some(at) if rest.get(at).is_some_and(|byte| is_break(*byte)) => End::Broken(at),
        Some(at) => End::At(at.saturating_add(1)),
        None => End::Open,
    }
}

/// Returns the end of a control sequence after `ESC [`.
fn sequence_end(rest: &[u8]) -> End {
    let count = match rest.first() {
        // The keys F1 to F5 of the Linux console have two bytes after `ESC [`.
        Some(b'[') => 2,
        // A mouse report in the old format has three bytes after its `M`.
        Some(b'M') => 4,
        Some(_) | None => 0,
    };
    if count > 0 {
        let bytes = rest.get(..rest.len().min(count)).unwrap_or_default();
        return match end_at(bytes, |_| false) {
            End::Open if bytes.len() == count => End::At(count),
            end @ (End::At(_) | End::Broken(_) | End::Open) => end,
        };
    }
    // With Shift, the keys of rxvt end in a dollar sign, which would otherwise belong to the middle of a sequence.
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if (1..=2).contains(&digits) && rest.get(digits) == Some(&b'$') {
        return End::At(digits.saturating_add(1));
    }
    end_at(rest, |byte| (0x40..=0x7e).contains(&byte))
}

/// Returns the end of a sequence after `ESC O`. Some terminals put the modifiers, as digits, before its letter.
fn short_end(rest: &[u8]) -> End {
    end_at(rest, |byte| (0x20..0x7f).contains(&byte) && !byte.is_ascii_digit() && byte != b';')
}

/// The meaning of a key or escape sequence.
#[derive(Debug, PartialEq)]
pub(super) enum Decoded {
    Input(ScreenInput),
    PasteBegins,
    /// The answer to the request for the kind of the terminal.
    Attributes,
}

/// Returns a key as the meaning of a sequence.
pub(super) const fn key(code: Code) -> Option<Decoded> {
    Some(Decoded::Input(ScreenInput::Key(Key::code(code))))
}

/// Decodes a sequence after `ESC O`: an arrow, Home, End or F1 to F4. Lower-case letters are the arrows of rxvt with Ctrl. Keys
/// of a number pad are ignored, because such a sequence may also be `Alt-O` followed by another key.
fn read_short(sequence: &[u8]) -> Option<Decoded> {
    let letter = sequence.last()?;
    let ctrl = matches!(letter, b'a'..=b'd');
    let code =
        lettered(letter.to_ascii_uppercase()).filter(|_| ctrl || letter.is_ascii_uppercase())?;
    Some(Decoded::Input(ScreenInput::Key(Key { code, ctrl })))
}

/// Decodes a complete control sequence, without its `ESC [`.
fn read_sequence(sequence: &[u8]) -> Option<Decoded> {
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

/// Returns the key that a control sequence describes by the number of its character and, if given, the number of the character
/// with Shift.
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

/// The beginning of the terminal's report of its background colour, after `ESC ]`.
const GROUND_REPORT: &[u8] = b"11;rgb:";

/// Decodes a report of the background colour: `11;rgb:` and three hexadecimal numbers with one to four digits each. Returns `true` if
/// the colour is light.
pub(super) fn read_report(report: &[u8]) -> Option<bool> {
    let text = std::str::from_utf8(report.strip_prefix(GROUND_REPORT)?).ok()?;
    let text = text.trim_end_matches(['\u{7}', '\u{1b}', '\\']);
    let mut parts = text.split('/').map(|part| {
        let value = u32::from_str_radix(part, 16).ok().filter(|_| part.len() <= 4)?;
        let most = (1_u32 << (4 * part.len())).saturating_sub(1);
        u8::try_from(value.saturating_mul(255).checked_div(most)?).ok()
    });
    let mut part = || parts.next().flatten();
    let (red, green, blue) = (part()?, part()?, part()?);
    Some(is_light(red, green, blue))
}

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;

#[cfg(test)]
mod ground_report_tests {
    use super::*;

    #[test]
    fn reports_are_read_and_nothing_else() {
        for (report, light) in [
            ("11;rgb:1616/1818/1d1d\x1b\\", Some(false)),
            ("11;rgb:ff/fa/f7\x07", Some(true)),
            ("11;rgb:f/f/f\x07", Some(true)),
            ("11;rgb:fffff/f/f\x07", None),
            ("11;rgb:ff/fa\x07", None),
            ("12;rgb:ff/fa/f7\x07", None),
            ("\x07", None),
        ] {
            assert_eq!(read_report(report.as_bytes()), light, "{report:?}");
        }
    }
}
