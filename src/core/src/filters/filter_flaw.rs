//! Why a filter is invalid.

use crate::search::QueryFlaw;

/// Why a filter is invalid. Each variant prints as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterFlaw {
    /// The query is not understood.
    #[error(transparent)]
    Query(QueryFlaw),
    /// The filter has no query and is not limited to certain feeds, so it would match every entry of every feed.
    #[error("this would match every entry: add a feed, or words to look for")]
    HitsAll,
    /// The query contains no word, so it would match every entry.
    #[error("'{0}' contains no word and would match every entry: enter a word to look for")]
    NoWord(String),
    /// No label was entered for an action that adds a label.
    #[error("enter the label to add to the entries")]
    NoLabel,
    /// The label is too long.
    #[error("this label is too long: use one or two words")]
    LongLabel,
}
