//! Writing: transactions, and what is gathered for one.

pub(in crate::io::store) mod group;
pub(in crate::io::store) mod transaction;
