//! Storage format of the signs of the entries in the last document: five consecutive numbers for each entry.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::same_publication::{SIGNS, Sign, Signs};

/// The signs of a document's entries, in document order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowSigns(Box<[[Sign; SIGNS]]>);

impl WindowSigns {
    pub(super) fn of(entries: impl Iterator<Item = Signs>) -> Self {
        Self(entries.map(Signs::to_array).collect())
    }

    /// Iterates over the signs of the entries.
    pub(super) fn entries(&self) -> impl Iterator<Item = Signs> {
        self.0.iter().copied().map(Signs::from_array)
    }

    /// Decodes bytes written by the implementation of [`Serialize`].
    fn from_bytes(bytes: &[u8]) -> Self {
        let (signs, _) = bytes.as_chunks::<4>();
        let signs: Vec<Sign> = signs.iter().map(|sign| Sign::from_le_bytes(*sign)).collect();
        Self(signs.as_chunks::<SIGNS>().0.into())
    }
}

impl Serialize for WindowSigns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> =
            self.0.as_flattened().iter().flat_map(|sign| sign.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for WindowSigns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(BytesVisitor)
    }
}

struct BytesVisitor;

impl Visitor<'_> for BytesVisitor {
    type Value = WindowSigns;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the signs of entries")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<WindowSigns, E> {
        Ok(WindowSigns::from_bytes(bytes))
    }
}
