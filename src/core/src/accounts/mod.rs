//! Accounts on servers that other readers use, too: the Google Reader API as values, and the decision what to pull and what to send.
//!
//! A caller sends an [`greader::ApiCall`], reads the answer with a function of [`answers`], and keeps for each entry the marks on which
//! both sides agreed last. [`marks`] compares these with both sides. Nothing here uses the network or a clock.

pub mod answers;
pub mod dialect;
pub mod greader;
pub mod item_id;
pub mod labels;
pub mod marks;
#[cfg(test)]
mod merge_tests;
pub mod subscriptions;

pub use item_id::ItemId;
pub use marks::Marks;
