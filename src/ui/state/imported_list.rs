//! A list of subscriptions that was read from a file.

use crate::engine::feeds::addition::Subscribe;

/// A list of subscriptions that was read from a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportedList {
    /// Feeds to subscribe to.
    pub wanted: Vec<Subscribe>,
    /// Names and queries of searches to save.
    pub searches: Vec<(String, String)>,
    /// Lines of the file that were rejected, each with the reason.
    pub refused: Vec<String>,
}
