//! A list as one JSON document. Elements are formatted one by one, so that a long list is never in memory as a whole.

use serde_json::Value;

use super::context::CommandContext;
use super::json;

/// Size of the output buffer, bytes. A list that fits into the buffer is printed all at once. As long as nothing was printed, the
/// command can be submitted to another process again.
const HELD_BYTES: usize = 1024 * 1024;

/// A JSON list that is being written to standard output.
pub(super) struct JsonList<'a> {
    desk: &'a CommandContext,
    held: String,
    is_empty: bool,
}

impl<'a> JsonList<'a> {
    /// Creates a list without elements.
    pub(super) fn new(desk: &'a CommandContext) -> Self {
        Self { desk, held: "[".to_owned(), is_empty: true }
    }

    /// Adds an element.
    pub(super) fn push(&mut self, element: &Value) {
        if !std::mem::take(&mut self.is_empty) {
            self.held.push(',');
        }
        if self.held.len() >= HELD_BYTES {
            self.desk.put(&self.held);
            self.held.clear();
        } else {
            self.held.push('\n');
        }
        self.held.push_str("  ");
        // Line breaks within JSON strings are escaped, so the line breaks that are left only separate fields and can be indented.
        self.held.push_str(&json::text(element).replace('\n', "\n  "));
    }

    /// Ends the list.
    pub(super) fn end(mut self) {
        self.held.push_str(if self.is_empty { "]" } else { "\n]" });
        self.desk.put(&self.held);
    }
}
