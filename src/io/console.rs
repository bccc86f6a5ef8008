//! Output of commands without a screen: results go to standard output, all other messages to standard error.

use std::borrow::Cow;
use std::io::{Write, stderr, stdout};
use std::sync::atomic::{AtomicU8, Ordering};

use backissue_core::feed::characters::is_bidi_control;

/// The state of standard output: good, closed or failed.
static OUTPUT: AtomicU8 = AtomicU8::new(GOOD);
const GOOD: u8 = 0;
const CLOSED: u8 = 1;
const FAILED: u8 = 2;

/// Writes a line of a command's results to standard output.
pub fn put(text: &str) {
    put_piece(&format!("{text}\n"));
}

/// Writes a piece of a command's results to standard output, without a line break.
pub fn put_piece(text: &str) {
    let mut out = stdout().lock();
    let written = write!(out, "{}", without_controls(text)).and_then(|()| out.flush());
    if let Err(error) = written {
        let how = if error.kind() == std::io::ErrorKind::BrokenPipe { CLOSED } else { FAILED };
        OUTPUT.fetch_max(how, Ordering::Relaxed);
    }
}

/// Checks whether further results would be lost, because the program that reads standard output closed the pipe or writing
/// failed.
pub fn is_closed() -> bool {
    OUTPUT.load(Ordering::Relaxed) != GOOD
}

/// Checks whether writing results failed for a reason other than a closed pipe.
pub fn has_failed() -> bool {
    OUTPUT.load(Ordering::Relaxed) == FAILED
}

/// Writes a message to standard error.
pub fn tell(text: &str) {
    writeln!(stderr().lock(), "{}", without_controls(text)).ok();
}

/// Removes control characters other than line breaks and tabs, and bidirectional control characters, so that text from a server
/// cannot control the terminal or be displayed as another text (SPEC G.52).
pub fn without_controls(text: &str) -> Cow<'_, str> {
    let harms =
        |char: char| (char.is_control() && !matches!(char, '\n' | '\t')) || is_bidi_control(char);
    if text.contains(harms) { Cow::Owned(text.replace(harms, "")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_control_characters_are_removed() {
        assert_eq!(without_controls("a\u{1b}[31mb\u{9b}2Jc\r\n\td\u{7}"), "a[31mb2Jc\n\td");
        assert_eq!(without_controls("txt\u{202e}exe\u{202c}\u{2067}.\u{2069}\u{61c}"), "txtexe.");
        assert!(matches!(without_controls("nothing wrong"), Cow::Borrowed(_)));
    }
}
