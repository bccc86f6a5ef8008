//! Reads and writes OPML lists of subscriptions.

#[cfg(test)]
mod opml_tests;
mod outline;
mod read_opml;
pub mod subscription_list;
mod write_opml;

pub use read_opml::read_opml;
pub use write_opml::write_opml;
