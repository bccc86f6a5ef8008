//! Accounts on servers that other readers use, too: the Google Reader API and the API of Miniflux as values, and the decision what to
//! pull and what to send.
//!
//! A caller sends an [`api_call::ApiCall`], reads the answer with a function of [`answers`] or [`miniflux`], and keeps for each
//! entry the marks on which both sides agreed last. [`marks`] compares these with both sides. Nothing here uses the network or a clock.

pub mod answers;
pub mod api_call;
pub mod greader;
pub mod marks;
#[cfg(test)]
mod merge_tests;
pub mod miniflux;
pub mod secrets;
pub mod served;
mod shapes;
pub mod subscriptions;

pub use api_call::ItemId;
pub use marks::Marks;
pub use shapes::HistoryThere;
