//! What the files of another feed reader contain, in one form for all readers.

use super::elsewhere::KnownEntries;
use crate::feed::opml::subscription_list::Opml;

/// What was found in the files of another reader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Library {
    /// Subscriptions and searches.
    pub list: Opml,
    /// What is known of entries, by the address of the feed.
    pub entries: KnownEntries,
}
