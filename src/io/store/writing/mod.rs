//! Writing: transactions, and what is gathered for one.

mod ended;
mod marks;
pub(in crate::io::store) mod syncs;
pub(in crate::io::store) mod transaction;
