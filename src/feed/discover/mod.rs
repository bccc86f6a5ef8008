//! Which feeds belong to a web page.

pub(super) mod known_sites;
pub mod page_feeds;
