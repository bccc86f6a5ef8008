//! Keys that wait until the screen shows what an earlier key opened.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use crate::ui::keys::key::Key;

/// What was typed and waits, oldest first, and the time since which it has waited for the same answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypedAhead {
    pub(in crate::ui) inputs: VecDeque<Typed>,
    pub(in crate::ui) since: Option<DateTime<Utc>>,
    /// `true` if a key changed the arrangement of the panes, whose sizes are known after the next drawing.
    pub(in crate::ui) is_unmeasured: bool,
}

impl TypedAhead {
    /// Checks whether anything waits.
    pub fn is_waiting(&self) -> bool {
        !self.inputs.is_empty()
    }
}

/// A key or a pasted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    Key(Key),
    Pasted(String),
}
