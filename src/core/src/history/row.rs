//! The index row of each entry, the counts of rows, and the identifiers of feeds and entries, which are short numbers rather than
//! addresses, because addresses may change.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::kept::KeptEntry;
use crate::feed::fingerprint::PageHash;
use crate::feed::identity::identity_hash;
use crate::flaw;
use crate::words::InputFlaw;
use crate::words::frequency::Frequency;

/// Value of the content hash if the entry's text was lost. The next winning copy restores the text.
pub const TEXT_LOST: u64 = 0;

/// The part of an entry that lists and counters need. It can be used without reading the entry itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexRow {
    /// Hash of the entry's id. Equal ids have equal hashes. If two hashes are equal, the ids themselves are compared.
    pub identity: u64,
    /// Hash of the winning copy's content (SPEC E.2), truncated to 64 bits.
    pub content: u64,
    /// Date under which the entry is listed, in Unix seconds.
    pub listed: i64,
    /// Flags of the entry.
    pub flags: Flags,
    /// Hash of the page that the entry links to.
    pub page: PageHash,
}

/// The flags of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Flags(pub u8);

/// A single flag of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Flag {
    /// The entry counts as read.
    Read,
    /// The user read the entry. An entry from history counts as read even without this flag.
    Opened,
    /// The entry is starred.
    Starred,
    /// A filter hides the entry.
    Hidden,
    /// The entry counts as read because it came from history.
    FromHistory,
    /// The entry counts as read because it stayed unread for longer than the user wants.
    Ended,
}

impl Flags {
    const READ: u8 = 1;
    const STARRED: u8 = 1 << 1;
    const WITHDRAWN: u8 = 1 << 2;
    const DELETED: u8 = 1 << 3;
    const FROM_HISTORY: u8 = 1 << 4;
    const HIDDEN: u8 = 1 << 5;
    const EDITED: u8 = 1 << 6;
    const ENDED: u8 = 1 << 7;
    /// Any of these makes an entry count as read.
    const COUNTS_AS_READ: u8 = Self::READ | Self::FROM_HISTORY | Self::ENDED;

    /// Flags of a new entry: unread and not starred.
    pub const NEW: Self = Self(0);
    /// Flags of an old entry that came from an archive or a page. Such an entry counts as read, so that loading old entries
    /// does not flood the unread list (UX 1).
    pub const OLD: Self = Self(Self::FROM_HISTORY);

    const fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    /// Checks whether the entry counts as read: the user read it, it came from history as an old entry, or it was unread for too
    /// long.
    pub const fn is_read(self) -> bool {
        self.has(Self::COUNTS_AS_READ)
    }

    /// Checks whether the user read the entry. In contrast to [`Self::is_read`], entries from history do not count, so that
    /// the user's progress through a history can be counted.
    pub const fn was_opened(self) -> bool {
        self.has(Self::READ)
    }

    /// Returns the flags with the entry marked as read by the user, even if it already counted as read.
    #[must_use]
    pub const fn opened(self) -> Self {
        Self(self.0 | Self::READ)
    }

    /// Checks whether the entry came from history and has not been marked unread since then.
    pub const fn is_from_history(self) -> bool {
        self.has(Self::FROM_HISTORY)
    }

    /// Checks whether the entry was unread for too long and has not been marked unread since then.
    pub const fn has_ended(self) -> bool {
        self.has(Self::ENDED)
    }

    /// Checks whether a complete feed withdrew the entry (SPEC C.6).
    pub const fn is_withdrawn(self) -> bool {
        self.has(Self::WITHDRAWN)
    }

    /// Checks whether the publisher deleted the entry (RFC 6721).
    pub const fn is_deleted(self) -> bool {
        self.has(Self::DELETED)
    }

    /// Checks whether the publisher edited the entry and its previous text is kept.
    pub const fn is_edited(self) -> bool {
        self.has(Self::EDITED)
    }

    /// Returns the flags with the edited flag set to `value`.
    #[must_use]
    pub const fn edited(self, value: bool) -> Self {
        self.set(Self::EDITED, value)
    }

    /// Returns the flags with the withdrawn flag set to `value`.
    #[must_use]
    pub const fn withdrawn(self, value: bool) -> Self {
        self.set(Self::WITHDRAWN, value)
    }

    /// Returns the flags with the deleted flag set to `value`.
    #[must_use]
    pub const fn deleted(self, value: bool) -> Self {
        self.set(Self::DELETED, value)
    }

    const fn set(self, bit: u8, value: bool) -> Self {
        Self(if value { self.0 | bit } else { self.0 & !bit })
    }

    /// Checks whether the user starred the entry.
    pub const fn is_starred(self) -> bool {
        self.has(Self::STARRED)
    }

    /// Checks whether the entry is part of the logical feed: neither withdrawn (SPEC C.6) nor deleted (RFC 6721).
    pub const fn is_live(self) -> bool {
        !self.has(Self::WITHDRAWN) && !self.has(Self::DELETED)
    }

    /// Checks whether a filter hides the entry. A starred entry is never hidden.
    pub const fn is_hidden(self) -> bool {
        self.has(Self::HIDDEN) && !self.is_starred()
    }

    /// Checks whether the entry counts as unread.
    pub const fn is_unread(self) -> bool {
        self.is_live() && !self.is_read() && !self.is_hidden()
    }

    /// Checks whether search can find the entry: it is live or starred.
    pub const fn is_findable(self) -> bool {
        self.is_live() || self.is_starred()
    }

    /// Checks whether lists show the entry: search can find it, and no filter hides it.
    pub const fn is_shown(self) -> bool {
        self.is_findable() && !self.is_hidden()
    }

    /// Returns the flags with one flag set to `value`. If the flag already has that value, nothing changes. Marking a list
    /// as read and undoing this therefore does not make old entries unread.
    #[must_use]
    pub const fn with(self, flag: Flag, value: bool) -> Self {
        if self.get(flag) == value {
            return self;
        }
        match (flag, value) {
            (Flag::Read, true) => self.set(Self::READ, true),
            (Flag::Read, false) => self.set(Self::COUNTS_AS_READ, false),
            (Flag::Opened, _) => self.set(Self::READ, value),
            (Flag::Starred, _) => self.set(Self::STARRED, value),
            (Flag::Hidden, _) => self.set(Self::HIDDEN, value),
            (Flag::FromHistory, _) => self.set(Self::FROM_HISTORY, value),
            (Flag::Ended, _) => self.set(Self::ENDED, value),
        }
    }

    /// Checks whether a flag is set.
    pub const fn get(self, flag: Flag) -> bool {
        match flag {
            Flag::Read => self.is_read(),
            Flag::Opened => self.was_opened(),
            Flag::Starred => self.is_starred(),
            Flag::Hidden => self.has(Self::HIDDEN),
            Flag::FromHistory => self.is_from_history(),
            Flag::Ended => self.has_ended(),
        }
    }
}

impl IndexRow {
    /// Size of a row in the store, in bytes.
    pub const SIZE: usize = 29;
    /// Size of a row in stores of the third schema, which have no hashes of pages.
    pub const SIZE_WITHOUT_PAGE: usize = 25;

    /// Creates the row of an entry whose content has this hash.
    pub fn new(kept: &KeptEntry, content: u64, flags: Flags) -> Self {
        Self {
            identity: identity_hash(&kept.id),
            content,
            listed: kept.listed().timestamp(),
            flags,
            page: PageHash::of(kept.link.as_deref()),
        }
    }

    /// Encodes the row in its stored form: three big-endian numbers, the flags, and the hash of the page.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let fields = self
            .identity
            .to_be_bytes()
            .into_iter()
            .chain(self.content.to_be_bytes())
            .chain(self.listed.to_be_bytes())
            .chain([self.flags.0])
            .chain(self.page.0.to_be_bytes());
        for (place, byte) in bytes.iter_mut().zip(fields) {
            *place = byte;
        }
        bytes
    }

    /// Decodes a row from its stored form; `None` if the length is neither [`Self::SIZE`] nor [`Self::SIZE_WITHOUT_PAGE`].
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (identity, rest) = bytes.split_first_chunk::<8>()?;
        let (content, rest) = rest.split_first_chunk::<8>()?;
        let (listed, rest) = rest.split_first_chunk::<8>()?;
        let (&flags, rest) = rest.split_first()?;
        let page = match rest.first_chunk() {
            Some(page) if rest.len() == page.len() => PageHash(u32::from_be_bytes(*page)),
            None if rest.is_empty() => PageHash::UNKNOWN,
            _ => return None,
        };
        Some(Self {
            identity: u64::from_be_bytes(*identity),
            content: u64::from_be_bytes(*content),
            listed: i64::from_be_bytes(*listed),
            flags: Flags(flags),
            page,
        })
    }
}

/// Counters over the entries of one feed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Number of unread entries that are shown.
    pub unread: u32,
    /// Number of live entries: entries that are neither withdrawn nor deleted.
    pub total: u32,
    /// Number of starred entries, including withdrawn and deleted ones.
    pub starred: u32,
    /// Sequence number that the next new entry will get.
    pub next_seq: u32,
    /// How often the feed publishes, as it was counted when an entry was last added.
    #[serde(skip_serializing_if = "is_unknown")]
    pub counted: Frequency,
}

fn is_unknown(frequency: &Frequency) -> bool {
    *frequency == Frequency::default()
}

impl Counters {
    /// Updates the counters when the flags of one entry change. `before` is `None` for a new entry; `after` is `None` for a
    /// removed entry.
    pub fn shift(&mut self, before: Option<Flags>, after: Option<Flags>) {
        for (flags, add) in [(before, false), (after, true)] {
            let Some(flags) = flags else { continue };
            let step = |sum: &mut u32, counts: bool| {
                if counts {
                    *sum = if add { sum.saturating_add(1) } else { sum.saturating_sub(1) };
                }
            };
            step(&mut self.total, flags.is_live());
            step(&mut self.unread, flags.is_unread());
            step(&mut self.starred, flags.is_starred());
        }
    }
}

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
    fn a_row_reads_back_what_it_writes() {
        let page = PageHash(0x0102_0304);
        let row = IndexRow { identity: 1, content: u64::MAX, listed: -5, flags: Flags(3), page };
        assert_eq!(IndexRow::from_bytes(&row.to_bytes()), Some(row));
        let unknown = IndexRow { page: PageHash::UNKNOWN, ..row };
        let without_page = &row.to_bytes()[..IndexRow::SIZE_WITHOUT_PAGE];
        assert_eq!(IndexRow::from_bytes(without_page), Some(unknown));
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
    fn an_ended_entry_counts_as_read_until_it_is_marked_unread() {
        let ended = Flags::NEW.with(Flag::Ended, true);
        assert!(ended.is_read() && !ended.was_opened() && !ended.is_unread());
        assert_eq!(ended.with(Flag::Read, true), ended);
        assert_eq!(ended.opened().with(Flag::Read, false), Flags::NEW);
    }

    #[test]
    fn hidden_entry_is_unlisted_until_it_is_starred() {
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
