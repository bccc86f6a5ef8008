//! The search index: which entries have which words. It stands beside the store, lags behind it, and can be made
//! anew from it at any time.
//!
//! Nothing is kept here that the store does not know: an entry's place, a stamp of what was indexed of it, and its
//! words. Marks, tags and subscriptions are judged by the store when a search is answered.

mod catch_up;
mod find_entries;
mod index;
mod indexer;
mod shared_index;

pub use catch_up::CatchUp;
pub use index::{IndexError, IndexState, SearchIndex};
pub use indexer::Indexer;
pub use shared_index::SharedIndex;

use super::panics::catch_panic;

/// Does something with the index. Its files are mapped: damaged ones can make tantivy panic.
fn unpanicked<T>(work: impl FnOnce() -> Result<T, IndexError>) -> Result<T, IndexError> {
    catch_panic(work).unwrap_or_else(|| Err(IndexError("its files are damaged".into())))
}
