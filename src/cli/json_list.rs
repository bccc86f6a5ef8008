//! A list as one JSON document: its elements become text one by one, so that a long list is never in memory as a whole.

use serde_json::Value;

use super::desk::Desk;
use super::json;

/// Text that is held back, bytes: a short list is put all at once, and its command can be handed in again until then.
const HELD_BYTES: usize = 1024 * 1024;

/// A list that is being written.
pub(super) struct JsonList<'a> {
    desk: &'a Desk,
    held: String,
    is_empty: bool,
}

impl<'a> JsonList<'a> {
    /// One that has no elements yet.
    pub(super) fn new(desk: &'a Desk) -> Self {
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
        // A line break within a text is escaped: this one is between two fields.
        self.held.push_str(&json::text(element).replace('\n', "\n  "));
    }

    /// Ends the list.
    pub(super) fn end(mut self) {
        self.held.push_str(if self.is_empty { "]" } else { "\n]" });
        self.desk.put(&self.held);
    }
}
