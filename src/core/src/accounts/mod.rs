//! Accounts on servers that other readers also use: the Google Reader API and the API of Miniflux as values, and the decision
//! about what to pull and what to send.
//!
//! The caller sends an [`api_call::ApiCall`], reads the answer with a function of [`answers`] or [`miniflux`], and stores for
//! each entry the marks on which both sides last agreed. [`marks`] compares these with the marks of both sides. This module uses
//! neither the network nor a clock.

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
