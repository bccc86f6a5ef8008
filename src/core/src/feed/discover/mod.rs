//! Finds the feeds of a web page.

mod anchors;
pub mod candidates;
pub mod header_links;
mod known_sites;
pub mod page_feeds;

pub use known_sites::feed_address_of;
