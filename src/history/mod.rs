//! What we know of each logical feed: which entries are kept, and which copy of an entry wins. Pure;
//! stands on `feed`.
//!
//! This folder does not read or write the store: it is handed what is known and answers with what to write.

pub mod counters;
pub mod kept;
pub mod keys;
pub mod merge;
pub mod rank;
pub mod row;

pub use counters::Counters;
pub use kept::{Body, KeptEntry};
pub use keys::{EntryKey, FeedKey};
pub use merge::{Known, KnownEntry, Merged, MergedEntry, Place, merge};
pub use rank::Rank;
pub use row::{Flag, Flags, IndexRow};
