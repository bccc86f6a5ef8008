//! The search index: which entries have which words. It lags behind the store and can be rebuilt from it at any time.
//!
//! It holds nothing that the store does not have: the key of an entry, a stamp of its indexed content, and its words.
//! Marks, tags and subscriptions are checked in the store when a search is answered.

mod catch_up;
mod find_entries;
mod index;
mod indexer;
mod segments;
mod shared_index;

pub use catch_up::CatchUp;
pub use index::{IndexError, IndexState, SearchIndex};
pub use indexer::Indexer;
pub use shared_index::SharedIndex;
