//! The HTTP client: one fetch as a value, made politely and within limits (SPEC D).
//!
//! It does not decide when to ask, and not what an answer means for a feed; that is the core's.

pub mod address_class;
mod answering;
pub mod article;
pub mod body;
mod client;
mod clients;
mod exchange;
mod failures;
mod limits;
mod names;
mod proxies;
mod reach;
mod redirects;

pub use super::http::clients::Surroundings;
pub use answering::read_body;
pub use client::Http;
pub use limits::Limits;
pub use names::{LookingUp, Names, SystemNames};
