//! The HTTP client: performs fetches politely and within limits (SPEC D).
//!
//! The engine decides when to fetch, and what a response means for a feed.

pub mod address_class;
mod address_guard;
pub mod api_calls;
pub mod article;
pub mod body;
mod certificates;
mod client;
mod clients;
mod cookies;
mod failures;
mod limits;
mod main_text;
mod open_files;
mod origins;
mod page_tree;
mod parse_threads;
mod proxies;
mod redirects;
mod request_headers;
mod response_body;
mod stalls;
mod trust;

pub use super::http::clients::ClientEnvironment;
pub use address_guard::{NameLookup, NameResolver, SystemResolver};
pub use client::Http;
pub use limits::Limits;
pub(super) use open_files::OpenFile;
pub use response_body::read_body;
