//! Lines for a person or a program outside the screen: results to standard output, the rest to standard error.

use std::io::{Write, stderr, stdout};

/// Writes a result. A reader that closed the pipe early wants no more.
pub fn put(text: &str) {
    let mut out = stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).ok();
}

/// Tells a person something that is not a result.
pub fn tell(text: &str) {
    writeln!(stderr().lock(), "{text}").ok();
}
