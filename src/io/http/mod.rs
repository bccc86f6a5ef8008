//! The HTTP client: one fetch as a value, made politely and within limits (SPEC D).
//!
//! It does not decide when to ask, and not what an answer means for a feed; that is the core's.

pub mod address_class;
mod address_guard;
pub mod article;
pub mod body;
mod client;
mod clients;
mod failures;
mod limits;
mod proxies;
mod redirects;
mod request_headers;
mod response_body;
mod trust;

pub use super::http::clients::ClientEnvironment;
pub use address_guard::{NameLookup, NameResolver, SystemResolver};
pub use client::Http;
pub use limits::Limits;
pub use response_body::read_body;
