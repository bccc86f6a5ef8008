//! The fixed-size row that stands for an entry in its feed's index (25 bytes in the store).

use serde::{Deserialize, Serialize};

/// What lists and counters need to know of an entry without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexRow {
    /// Hash of the entry's id; equal ids have equal hashes, the reverse is checked on the id itself.
    pub identity: u64,
    /// Hash of the winning copy's content (SPEC E.2), cut to 64 bits.
    pub content: u64,
    /// The date the entry is listed under, in Unix seconds.
    pub listed: i64,
    /// Its marks.
    pub flags: Flags,
}

/// The marks of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Flags(pub u8);

/// One mark a reader can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// The entry was read.
    Read,
    /// The entry is starred.
    Starred,
}

impl Flags {
    const READ: u8 = 1;
    const STARRED: u8 = 1 << 1;
    const WITHDRAWN: u8 = 1 << 2;
    const DELETED: u8 = 1 << 3;

    /// A new entry: unread, unmarked.
    pub const NEW: Self = Self(0);

    const fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    /// Read by the reader.
    pub const fn is_read(self) -> bool {
        self.has(Self::READ)
    }

    /// Starred by the reader.
    pub const fn is_starred(self) -> bool {
        self.has(Self::STARRED)
    }

    /// Part of the logical feed: neither withdrawn (SPEC C.6) nor deleted (RFC 6721).
    pub const fn is_live(self) -> bool {
        !self.has(Self::WITHDRAWN) && !self.has(Self::DELETED)
    }

    /// Counted as unread.
    pub const fn is_unread(self) -> bool {
        self.is_live() && !self.is_read()
    }

    /// Whether a list shows it: live ones, and starred ones for ever.
    pub const fn is_shown(self) -> bool {
        self.is_live() || self.is_starred()
    }

    /// The same marks with one of them set to `value`.
    #[must_use]
    pub const fn with(self, flag: Flag, value: bool) -> Self {
        let bit = match flag {
            Flag::Read => Self::READ,
            Flag::Starred => Self::STARRED,
        };
        Self(if value { self.0 | bit } else { self.0 & !bit })
    }

    /// Whether one mark is set.
    pub const fn get(self, flag: Flag) -> bool {
        match flag {
            Flag::Read => self.is_read(),
            Flag::Starred => self.is_starred(),
        }
    }
}

impl IndexRow {
    /// Bytes of one row in the store.
    pub const SIZE: usize = 25;

    /// The row as it stands in the store: three big-endian numbers and the marks.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let fields = self
            .identity
            .to_be_bytes()
            .into_iter()
            .chain(self.content.to_be_bytes())
            .chain(self.listed.to_be_bytes())
            .chain([self.flags.0]);
        for (place, byte) in bytes.iter_mut().zip(fields) {
            *place = byte;
        }
        bytes
    }

    /// Reads one row back; `None` if the length is not [`Self::SIZE`].
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (identity, rest) = bytes.split_first_chunk::<8>()?;
        let (content, rest) = rest.split_first_chunk::<8>()?;
        let (listed, rest) = rest.split_first_chunk::<8>()?;
        let &[flags] = rest else { return None };
        Some(Self {
            identity: u64::from_be_bytes(*identity),
            content: u64::from_be_bytes(*content),
            listed: i64::from_be_bytes(*listed),
            flags: Flags(flags),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_back_what_it_writes() {
        let row = IndexRow { identity: 1, content: u64::MAX, listed: -5, flags: Flags(3) };
        assert_eq!(IndexRow::from_bytes(&row.to_bytes()), Some(row));
        assert_eq!(IndexRow::from_bytes(&row.to_bytes()[1..]), None);
    }

    #[test]
    fn a_withdrawn_entry_is_shown_only_when_starred() {
        let withdrawn = Flags(Flags::WITHDRAWN);
        assert!(!withdrawn.is_shown());
        assert!(!withdrawn.is_unread());
        assert!(withdrawn.with(Flag::Starred, true).is_shown());
    }
}
