//! Words for errors in TOML files.

use super::key_bindings::line_of;
use super::unknown_names::unknown_name;
use backissue_core::feed::text::one_line;

/// Maximum length of a message in characters.
const MESSAGE_CHARS: usize = 300;

/// Formats a TOML error as one line, with its line and column.
pub(in crate::io) fn located(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    let message = unknown_name(&message).unwrap_or(message);
    // Shorten and reword the message, because it repeats the whole value and uses Rust names for types.
    let message = one_line(&in_plain_words(&message), MESSAGE_CHARS);
    let Some(span) = error.span() else { return message };
    let before = text.get(..span.start).unwrap_or_default();
    let line = line_of(text, span.start);
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count().saturating_add(1);
    format!("line {line}, column {column}: {message}")
}

/// Replaces the Rust name of the expected type in an error message with plain words.
fn in_plain_words(message: &str) -> String {
    let whole = ["usize", "u8", "u16", "u32", "u64", "i64"];
    let plain = message.replace("wanted string or table", "expected text in quotes");
    let Some((before, expected)) = plain.rsplit_once("expected ") else { return plain };
    if whole.contains(&expected) { format!("{before}expected a whole number") } else { plain }
}
