//! Keys that wait until the screen shows what an earlier key opened.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use crate::ui::input::ScreenInput;

/// Inputs that wait, oldest first, and the time since which inputs have waited for the same answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TypedAhead {
    pub(in crate::ui) inputs: VecDeque<ScreenInput>,
    pub(in crate::ui) since: Option<DateTime<Utc>>,
}
