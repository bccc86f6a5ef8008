//! Finds the feeds of a web page.

pub mod candidates;
mod known_sites;
pub mod page_feeds;

pub use known_sites::feed_address_of;
