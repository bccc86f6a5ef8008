//! Writing: marks, results of syncs, entries that end, and transactions.

mod ended;
mod marks;
pub(in crate::io::store) mod syncs;
pub(in crate::io::store) mod transaction;
