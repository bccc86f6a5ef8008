//! Writing: transactions, and what is gathered for one.

mod marks;
pub(in crate::io::store) mod syncs;
pub(in crate::io::store) mod transaction;
