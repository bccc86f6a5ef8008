//! The search index, which stores which entries contain which words. It may lag behind the store and can be rebuilt from it at
//! any time.
//!
//! It contains nothing that the store does not have: for each entry its key, a stamp of its indexed content, and its words.
//! Searches check marks, tags and subscriptions in the store.

mod find_entries;
mod index;
mod index_error;
mod indexer;
mod segments;

pub use find_entries::Candidate;
pub use index::{IndexState, SearchIndex, SharedIndex};
pub use index_error::IndexError;
pub use indexer::{CatchUp, Indexer};
