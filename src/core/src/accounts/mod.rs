//! Accounts on servers that other readers use, too: the Google Reader API and the API of Miniflux as values, and the decision what to
//! pull and what to send.
//!
//! A caller sends an [`api_call::ApiCall`], reads the answer with a function of [`answers`] or [`miniflux_answers`], and keeps for each
//! entry the marks on which both sides agreed last. [`marks`] compares these with both sides. Nothing here uses the network or a clock.

pub mod answers;
pub mod api_call;
pub mod changes;
pub mod dialect;
pub mod greader;
pub mod item_id;
pub mod labels;
pub mod marks;
#[cfg(test)]
mod merge_tests;
pub mod miniflux;
pub mod miniflux_answers;
pub mod secrets;
pub mod subscriptions;

pub use item_id::ItemId;
pub use marks::Marks;
