//! What the files of another feed reader contain, in one form for all readers.

use super::elsewhere::KnownEntries;
use super::newsboat_config::NewsboatConfig;
use crate::feed::opml::subscription_list::Opml;
use crate::filters::Action;

/// What was found in the files of another reader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Library {
    /// Subscriptions and searches.
    pub list: Opml,
    /// What is known about entries, by the address of the feed.
    pub entries: KnownEntries,
    /// The configuration of newsboat.
    pub config: NewsboatConfig,
    /// Whether this program wrote the file. Addresses in such a file lack their secrets.
    pub is_outgoing: bool,
}

/// A filter of another reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedFilter {
    /// What the filter does.
    pub action: Action,
    /// Address of the feed to which the filter is limited.
    pub feed: Option<String>,
    /// Query that an entry must match.
    pub query: String,
}
