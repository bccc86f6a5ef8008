//! The fixed-size row that stands for an entry in its feed's index (25 bytes in the store).

use serde::{Deserialize, Serialize};

/// Stands in place of a content hash where the text was lost: the next copy that wins brings it back.
pub const TEXT_LOST: u64 = 0;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Flag {
    /// The entry was read.
    Read,
    /// The entry was read, and not only because it came from history.
    Opened,
    /// The entry is starred.
    Starred,
    /// A filter hides the entry.
    Hidden,
    /// The entry counts as read because it came from history.
    FromHistory,
}

impl Flags {
    const READ: u8 = 1;
    const STARRED: u8 = 1 << 1;
    const WITHDRAWN: u8 = 1 << 2;
    const DELETED: u8 = 1 << 3;
    const FROM_HISTORY: u8 = 1 << 4;
    const HIDDEN: u8 = 1 << 5;

    /// A new entry: unread, unmarked.
    pub const NEW: Self = Self(0);
    /// An old entry that an archive or a page brought: it counts as read, so that a back-fill never floods the
    /// unread ones (UX 1).
    pub const OLD: Self = Self(Self::FROM_HISTORY);

    const fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    /// Read by the reader, or brought by history as an old entry.
    pub const fn is_read(self) -> bool {
        self.has(Self::READ) || self.has(Self::FROM_HISTORY)
    }

    /// Read by the reader. Apart from [`Self::is_read`], so that a history can be read from the beginning with a
    /// count of its own.
    pub const fn was_opened(self) -> bool {
        self.has(Self::READ)
    }

    /// The same marks, read by the reader even if it counted as read already.
    #[must_use]
    pub const fn opened(self) -> Self {
        Self(self.0 | Self::READ)
    }

    /// Brought by history, and not marked unread since.
    pub const fn is_from_history(self) -> bool {
        self.has(Self::FROM_HISTORY)
    }

    /// Withdrawn by a complete feed (SPEC C.6).
    pub const fn is_withdrawn(self) -> bool {
        self.has(Self::WITHDRAWN)
    }

    /// Deleted by its publisher (RFC 6721).
    pub const fn is_deleted(self) -> bool {
        self.has(Self::DELETED)
    }

    /// The same marks, withdrawn or not.
    #[must_use]
    pub const fn withdrawn(self, value: bool) -> Self {
        self.set(Self::WITHDRAWN, value)
    }

    /// The same marks, deleted or not.
    #[must_use]
    pub const fn deleted(self, value: bool) -> Self {
        self.set(Self::DELETED, value)
    }

    const fn set(self, bit: u8, value: bool) -> Self {
        Self(if value { self.0 | bit } else { self.0 & !bit })
    }

    /// Starred by the reader.
    pub const fn is_starred(self) -> bool {
        self.has(Self::STARRED)
    }

    /// Part of the logical feed: neither withdrawn (SPEC C.6) nor deleted (RFC 6721).
    pub const fn is_live(self) -> bool {
        !self.has(Self::WITHDRAWN) && !self.has(Self::DELETED)
    }

    /// Hidden by a filter; a star shows it all the same.
    pub const fn is_hidden(self) -> bool {
        self.has(Self::HIDDEN) && !self.is_starred()
    }

    /// Counted as unread.
    pub const fn is_unread(self) -> bool {
        self.is_live() && !self.is_read() && !self.is_hidden()
    }

    /// Whether it can be found: live ones, and starred ones for ever.
    pub const fn is_findable(self) -> bool {
        self.is_live() || self.is_starred()
    }

    /// Whether a list shows it: what can be found and is not hidden.
    pub const fn is_shown(self) -> bool {
        self.is_findable() && !self.is_hidden()
    }

    /// The same marks with one of them set to `value`; one that is so already changes nothing, so that marking a
    /// list read and undoing it does not make old entries unread.
    #[must_use]
    pub const fn with(self, flag: Flag, value: bool) -> Self {
        if self.get(flag) == value {
            return self;
        }
        match (flag, value) {
            (Flag::Read, true) => self.set(Self::READ, true),
            (Flag::Read, false) => self.set(Self::READ | Self::FROM_HISTORY, false),
            (Flag::Opened, _) => self.set(Self::READ, value),
            (Flag::Starred, _) => self.set(Self::STARRED, value),
            (Flag::Hidden, _) => self.set(Self::HIDDEN, value),
            (Flag::FromHistory, _) => self.set(Self::FROM_HISTORY, value),
        }
    }

    /// Whether one mark is set.
    pub const fn get(self, flag: Flag) -> bool {
        match flag {
            Flag::Read => self.is_read(),
            Flag::Opened => self.was_opened(),
            Flag::Starred => self.is_starred(),
            Flag::Hidden => self.has(Self::HIDDEN),
            Flag::FromHistory => self.is_from_history(),
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
    fn an_old_entry_counts_as_read_until_it_is_marked_unread() {
        let old = Flags::OLD;
        assert!(old.is_read() && !old.is_unread() && !old.was_opened());
        assert_eq!(old.with(Flag::Read, true), old);
        assert!(old.opened().was_opened() && old.opened().is_from_history());
        assert!(old.opened().with(Flag::Read, false).is_unread());
        let unread = old.with(Flag::FromHistory, false);
        assert!(unread.is_unread());
        assert_eq!(unread.with(Flag::FromHistory, true), old, "exactly as it was");
    }

    #[test]
    fn a_hidden_entry_is_in_no_list_and_not_unread_until_it_is_starred() {
        let hidden = Flags::NEW.with(Flag::Hidden, true);
        assert!(hidden.is_hidden() && !hidden.is_unread() && !hidden.is_shown());
        assert!(hidden.is_findable() && hidden.is_live());
        let starred = hidden.with(Flag::Starred, true);
        assert!(!starred.is_hidden() && starred.is_unread() && starred.is_shown());
        assert_eq!(starred.with(Flag::Starred, false), hidden);
        assert_eq!(hidden.with(Flag::Hidden, false), Flags::NEW);
    }

    #[test]
    fn a_withdrawn_entry_is_shown_only_when_starred() {
        let withdrawn = Flags(Flags::WITHDRAWN);
        assert!(!withdrawn.is_shown());
        assert!(!withdrawn.is_unread());
        assert!(withdrawn.with(Flag::Starred, true).is_shown());
    }
}
