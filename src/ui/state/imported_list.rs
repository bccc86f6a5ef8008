//! A list of subscriptions read from a file.

use crate::engine::feeds::addition::Subscribe;

/// A list of subscriptions as read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportedList {
    /// Feeds to subscribe to.
    pub wanted: Vec<Subscribe>,
    /// Rejected lines, each with the reason.
    pub refused: Vec<String>,
}
