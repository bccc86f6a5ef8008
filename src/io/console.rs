//! Lines for a person or a program outside the screen: results to standard output, the rest to standard error.

use std::borrow::Cow;
use std::io::{Write, stderr, stdout};
use std::sync::atomic::{AtomicU8, Ordering};

/// How writing to standard output went so far.
static OUTPUT: AtomicU8 = AtomicU8::new(GOOD);
const GOOD: u8 = 0;
const CLOSED: u8 = 1;
const FAILED: u8 = 2;

/// Writes a result.
pub fn put(text: &str) {
    let mut out = stdout().lock();
    let written = writeln!(out, "{}", harmless(text)).and_then(|()| out.flush());
    if let Err(error) = written {
        let how = if error.kind() == std::io::ErrorKind::BrokenPipe { CLOSED } else { FAILED };
        OUTPUT.fetch_max(how, Ordering::Relaxed);
    }
}

/// Whether more results would have no reader: the pipe was closed, or nothing can be written.
pub fn is_closed() -> bool {
    OUTPUT.load(Ordering::Relaxed) != GOOD
}

/// Whether results were lost although somebody wanted them.
pub fn has_failed() -> bool {
    OUTPUT.load(Ordering::Relaxed) == FAILED
}

/// Tells a person something that is not a result.
pub fn tell(text: &str) {
    writeln!(stderr().lock(), "{}", harmless(text)).ok();
}

/// The text without control characters other than line breaks and tabs: whatever a server put into a header or
/// an address, it cannot steer the terminal.
fn harmless(text: &str) -> Cow<'_, str> {
    let harms = |char: char| char.is_control() && !matches!(char, '\n' | '\t');
    if text.contains(harms) { Cow::Owned(text.replace(harms, "")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_left_out() {
        assert_eq!(harmless("a\u{1b}[31mb\u{9b}2Jc\r\n\td\u{7}"), "a[31mb2Jc\n\td");
        assert!(matches!(harmless("nothing wrong"), Cow::Borrowed(_)));
    }
}
