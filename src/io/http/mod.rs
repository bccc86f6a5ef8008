//! The HTTP client: performs fetches politely and within limits (SPEC D).
//!
//! The engine decides when to fetch, and what a response means for a feed.

pub mod address_guard;
pub mod api_calls;
pub mod article;
pub mod body;
mod client;
mod clients;
mod failures;
mod parse_threads;
mod proxies;
mod redirects;
mod request_headers;

pub use super::http::clients::ClientEnvironment;
pub use address_guard::{NameLookup, NameResolver, SystemResolver};
pub use body::read_body;
pub use client::Http;
pub(super) use client::OpenFile;
pub use failures::Limits;
