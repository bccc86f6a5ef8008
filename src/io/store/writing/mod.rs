//! Writing: transactions, and what is gathered for one.

mod earlier_texts;
mod elsewhere;
mod fetched_again;
pub(in crate::io::store) mod group;
mod marks;
pub(in crate::io::store) mod syncs;
pub(in crate::io::store) mod transaction;
