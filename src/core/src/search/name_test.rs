//! Tests of the names of an entry's feed, its tags, and its labels; and where in a query they are.

use super::entry_regex::EntryRegex;
use crate::history::FeedKey;

/// A test of the name of a feed, tag or label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameTest {
    /// Whose name is tested.
    pub kind: NameKind,
    /// What the name must be.
    pub pattern: NamePattern,
    /// Where the test is in the query.
    pub at: Position,
}

/// A part of a query by its characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    /// Number of characters before the part.
    pub from: usize,
    /// Number of characters before the end of the part.
    pub to: usize,
}

/// Whose name is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    Feed,
    /// A tag of the feed, or a label of the entry.
    Tag,
    /// A label of the entry.
    Label,
}

/// What a name must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePattern {
    /// A name in lower case: a part of the title or address of a feed, or its number; or a whole tag or label.
    Is(String),
    /// A regular expression that matches a part of the name.
    Regex(EntryRegex),
}

/// The names of a feed.
#[derive(Debug, Clone, Copy)]
pub struct FeedNames<'f> {
    /// Number of the feed.
    pub key: FeedKey,
    /// Title as lists show it.
    pub title: &'f str,
    pub address: &'f str,
    /// Tags of the feed.
    pub tags: &'f [String],
}

impl NameTest {
    /// Checks the names of a feed and of the labels of an entry.
    pub fn holds(&self, feed: &FeedNames<'_>, labels: &[String]) -> bool {
        match self.kind {
            NameKind::Feed => self.is_called(feed),
            NameKind::Tag => self.is_tagged(feed) || labels.iter().any(|one| self.is_label(one)),
            NameKind::Label => labels.iter().any(|label| self.is_label(label)),
        }
    }

    /// Checks whether the pattern is a part of a feed's title or address, or the number of the feed.
    pub fn is_called(&self, feed: &FeedNames<'_>) -> bool {
        match &self.pattern {
            NamePattern::Is(name) => {
                let has = |text: &str| text.to_lowercase().contains(name.as_str());
                has(feed.title) || has(feed.address) || name.parse() == Ok(feed.key.0)
            }
            NamePattern::Regex(regex) => regex.is_in(feed.title) || regex.is_in(feed.address),
        }
    }

    /// Checks whether a feed has the tag or a tag nested in it.
    pub fn is_tagged(&self, feed: &FeedNames<'_>) -> bool {
        feed.tags.iter().any(|tag| match &self.pattern {
            NamePattern::Is(name) => {
                let tag = tag.to_lowercase();
                let below = tag.strip_prefix(name.as_str());
                below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            NamePattern::Regex(regex) => regex.is_in(tag),
        })
    }

    /// Checks whether a label has the name.
    pub fn is_label(&self, label: &str) -> bool {
        match &self.pattern {
            NamePattern::Is(name) => label.to_lowercase() == *name,
            NamePattern::Regex(regex) => regex.is_in(label),
        }
    }
}
