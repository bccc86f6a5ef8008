//! Identifiers of feeds and entries. They are short numbers rather than addresses, because addresses may change.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::flaw;
use crate::words::InputFlaw;

/// Identifies a subscription. A key is never reused for another feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FeedKey(pub u32);

/// Identifies an entry by its feed and its sequence number in the feed. Sequence numbers count from 0 in the order in which
/// entries were first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntryKey {
    /// Feed that the entry belongs to.
    pub feed: FeedKey,
    /// Sequence number within the feed.
    pub seq: u32,
}

impl fmt::Display for FeedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for EntryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.feed, self.seq)
    }
}

impl FromStr for EntryKey {
    type Err = InputFlaw;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.trim().split_once('.');
        let numbers = parts.and_then(|(feed, seq)| Some((feed.parse().ok()?, seq.parse().ok()?)));
        match numbers {
            Some((feed, seq)) => Ok(Self { feed: FeedKey(feed), seq }),
            None => Err(flaw!(
                "'{text}' is not an entry number: use a number like 12.305, as listed by 'backissue entries'"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_key_reads_back_what_it_writes() {
        let key = EntryKey { feed: FeedKey(12), seq: 305 };
        assert_eq!(key.to_string(), "12.305");
        assert_eq!("12.305".parse::<EntryKey>(), Ok(key));
    }

    #[test]
    fn invalid_entry_key_is_refused_with_a_sentence() {
        for text in ["", "12", "12.", ".3", "a.b", "1.2.3", "-1.2"] {
            assert!(text.parse::<EntryKey>().unwrap_err().contains("backissue entries"), "{text}");
        }
    }
}
