//! What entries can be known by beside their ids: by their links, and by their titles with their dates (SPEC C.8.1).

use std::fmt;
use std::hash::Hasher as _;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use siphasher::sip::SipHasher13;

use crate::feed::Entry;

/// Keys of the hashes kept here. They never change.
const KEYS: (u64, u64) = (0x7769_6e64_6f77_7320, 0x6d6f_7665_206f_6e21);
/// A part of the hash of a link, or of a title and a date; 0: there is none. A match counts only where half of a document
/// matches, so that chance cannot bring it about.
pub(super) type Sign = u32;

/// The signs of the entries of a document, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signs(Box<[[Sign; 2]]>);

impl Signs {
    pub(super) fn of(entries: impl Iterator<Item = [Sign; 2]>) -> Self {
        Self(entries.collect())
    }

    /// The signs of each entry.
    pub(super) fn entries(&self) -> impl Iterator<Item = [Sign; 2]> {
        self.0.iter().copied()
    }

    /// Reads what [`Serialize`] writes.
    fn from_bytes(bytes: &[u8]) -> Self {
        let (signs, _) = bytes.as_chunks::<4>();
        let signs: Vec<Sign> = signs.iter().map(|sign| Sign::from_le_bytes(*sign)).collect();
        Self(signs.as_chunks::<2>().0.into())
    }
}

/// The signs of an entry.
pub(super) fn signs_of(entry: &Entry) -> [Sign; 2] {
    let link = entry.link.as_deref().map(|link| hash(&["link", link]));
    let date = entry.published.or(entry.updated).map(|date| date.timestamp().to_string());
    let title = entry.title.as_deref().zip(date);
    let title = title.map(|(title, date)| hash(&["title", title, &date]));
    [link, title].map(|sign| sign.map_or(0, shortened))
}

/// What is kept of a hash; never 0.
pub(super) fn shortened(hash: u64) -> Sign {
    Sign::try_from(hash & u64::from(Sign::MAX)).unwrap_or(Sign::MAX).max(1)
}

fn hash(parts: &[&str]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(KEYS.0, KEYS.1);
    for part in parts {
        hasher.write(part.as_bytes());
        hasher.write_u8(0x1f);
    }
    hasher.finish()
}

impl Serialize for Signs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> =
            self.0.as_flattened().iter().flat_map(|sign| sign.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Signs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(BytesVisitor)
    }
}

struct BytesVisitor;

impl Visitor<'_> for BytesVisitor {
    type Value = Signs;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the signs of entries")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Signs, E> {
        Ok(Signs::from_bytes(bytes))
    }
}
