//! A list of subscriptions that was read from a file.

use crate::engine::feeds::addition::Subscribe;

/// A list of subscriptions as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportedList {
    /// What is to be subscribed to.
    pub wanted: Vec<Subscribe>,
    /// What was left out, each with its line and why.
    pub refused: Vec<String>,
}
