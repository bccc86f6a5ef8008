//! The search index, which stores which entries contain which words. It may lag behind the store and can be rebuilt from it at
//! any time.
//!
//! It contains nothing that the store does not have: for each entry its key, a stamp of its indexed content, and its words.
//! Searches check marks, tags and subscriptions in the store.

use std::io::{self, ErrorKind};

use crate::io::system::{is_out_of_files, is_out_of_room, system_words};

mod find_entries;
mod index;
mod indexer;
mod segments;

pub use find_entries::Candidate;
pub use index::{IndexState, SearchIndex, SharedIndex};
pub use indexer::{CatchUp, Indexer};

/// Why the search index cannot be used. Each prints as a sentence.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The system currently refuses disk space, memory, a file or access. The index itself may be intact.
    #[error(
        "the search index cannot be written ({0}): new entries are found once that is resolved"
    )]
    Passing(String),
    /// The index is damaged or of another version.
    #[error("the search index cannot be used ({0}); 'backissue doctor --repair' rebuilds it")]
    Unusable(String),
}

impl IndexError {
    /// Returns the error for a data folder that was moved, deleted or replaced.
    fn gone() -> Self {
        Self::Passing("the data folder is gone".into())
    }
}

impl From<io::Error> for IndexError {
    fn from(error: io::Error) -> Self {
        let why = system_words(&error);
        let is_refused = is_out_of_room(&error)
            || is_out_of_files(&error)
            || matches!(error.kind(), ErrorKind::OutOfMemory | ErrorKind::PermissionDenied);
        if is_refused { Self::Passing(why) } else { Self::Unusable(why) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_system_error_is_not_index_damage() {
        for (code, passes) in
            [(28, true), (24, true), (23, true), (12, true), (13, true), (5, false)]
        {
            let told = IndexError::from(io::Error::from_raw_os_error(code));
            assert_eq!(matches!(told, IndexError::Passing(_)), passes, "{code}: {told}");
            assert!(!told.to_string().contains("os error"), "{told}");
        }
    }
}
