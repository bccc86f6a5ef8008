//! Decodes the bytes that a terminal sends: keys, mouse events, pasted text, focus, answers. The caller passes their arrival time.
//!
//! A slow connection delivers a sequence in pieces, so nothing that may belong to an unfinished sequence is read as a key. What does
//! not become a key that is known is dropped as a whole.

use std::time::{Duration, Instant};

use super::ground_report::read_report;
use super::sequences::{Decoded, key, read_sequence, read_short};
use crate::ui::input::ScreenInput;
use crate::ui::keys::key::{ALT_BACKSPACE, Code, Key};

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
    /// When the terminal was asked for an answer that has not arrived.
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

/// Where a sequence ends, as a number of bytes after the two with which it starts.
#[derive(Debug, Clone, Copy)]
enum End {
    /// It is complete.
    At(usize),
    /// Another key or sequence begins before its end.
    Broken(usize),
    Open,
}

/// What an incomplete sequence is, which decides how long to wait for its rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// A single ESC.
    Escape,
    /// ESC and the character that starts a kind of sequence: a key with Alt, if nothing follows.
    Alt(char),
    /// More than that, which nobody typed.
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
                        // The first bytes tell what it is, and the last ones whether it is complete.
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

    /// Forgets what has arrived of an incomplete sequence or pasted text.
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
        // A key with Alt, which is read as the key alone.
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

/// Reads an answer of the terminal: a text that BEL, or ESC and a backslash end.
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

/// Adds the Alt modifier to a key. A control character after Esc stays a key of its own.
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

/// Returns the end of a sequence that the first byte for which `is_last` is true ends.
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

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;
