//! Reads and writes lists of subscriptions: OPML, and reads lists of addresses.

#[cfg(test)]
mod opml_tests;
mod outline;
mod read_opml;
mod read_urls;
pub mod subscription_list;
mod write_opml;

pub use read_opml::read_opml;
pub use read_urls::{is_url_list, read_urls};
pub use write_opml::write_opml;
