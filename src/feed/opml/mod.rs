//! Lists of subscriptions as OPML documents, read and written.

pub(super) mod outline;
pub(super) mod read_opml;
pub mod subscription_list;
pub(super) mod write_opml;
