//! The search index: which entries have which words. It lags behind the store and can be rebuilt from it at any time.
//!
//! It holds nothing that the store does not have: the key of an entry, a stamp of its indexed content, and its words.
//! Marks, tags and subscriptions are checked in the store when a search is answered.

mod find_entries;
mod index;
mod index_error;
mod indexer;
mod segments;

pub use find_entries::Candidate;
pub use index::{IndexState, SearchIndex, SharedIndex};
pub use index_error::IndexError;
pub use indexer::{CatchUp, Indexer};
