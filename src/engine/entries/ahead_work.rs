//! What can be fetched ahead, before the user opens the entries of a feed; the daily limits; and the work in progress.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use backissue_core::history::{EntryKey, FeedKey};

/// Maximum number of pages that are fetched ahead for a feed in a day.
const PAGES_A_DAY: u32 = 50;
/// Maximum number of pictures that are fetched ahead for a feed in a day.
const PICTURES_A_DAY: u32 = 100;
/// Number of bytes of pictures after which no more pictures are fetched ahead for a feed in a day.
pub const PICTURE_BYTES_A_DAY: u64 = 20 * MIB;
/// Maximum number of attached files that are downloaded ahead for a feed in a day.
const FILES_A_DAY: u32 = 10;
/// Number of bytes in a mebibyte.
const MIB: u64 = 1024 * 1024;

/// The user's choice of what is fetched ahead for a feed. The setting `text_ahead` of a feed, which fetches only full texts, is
/// separate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ahead {
    /// The pictures in the texts of unread entries.
    Pictures,
    /// The files attached to new entries.
    Files,
    /// The pages that unread entries link to, their pictures, and their files.
    All,
}

impl Ahead {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Pictures, Self::Files, Self::All];

    /// Returns the word for the choice.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pictures => "pictures",
            Self::Files => "files",
            Self::All => "all",
        }
    }
}

/// A kind of content that is fetched ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AheadPart {
    /// Pages that entries link to.
    Texts,
    /// Pictures in the texts of entries.
    Pictures,
    /// Files attached to entries.
    Files,
}

impl AheadPart {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Texts, Self::Pictures, Self::Files];
}

/// What was fetched ahead for a feed in a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AheadToday {
    /// The day, in UTC.
    pub day: NaiveDate,
    /// Number of pages that were requested on this day.
    pub pages: u32,
    /// Number of pictures that were requested on this day.
    pub pictures: u32,
    /// Number of bytes of the pictures that were fetched on this day.
    pub picture_bytes: u64,
    /// Number of attached files that were added to the downloads on this day.
    pub files: u32,
}

impl AheadToday {
    /// Returns the amounts for a day: these, or zero if they are of another day.
    #[must_use]
    pub fn on(self, day: NaiveDate) -> Self {
        if self.day == day { self } else { Self { day, ..Self::default() } }
    }

    /// Returns the number of further requests of a kind that are allowed on this day.
    pub const fn left(self, part: AheadPart) -> u32 {
        match part {
            AheadPart::Texts => PAGES_A_DAY.saturating_sub(self.pages),
            AheadPart::Pictures if self.picture_bytes >= PICTURE_BYTES_A_DAY => 0,
            AheadPart::Pictures => PICTURES_A_DAY.saturating_sub(self.pictures),
            AheadPart::Files => FILES_A_DAY.saturating_sub(self.files),
        }
    }

    /// Describes the amount of a kind and its limits.
    pub fn words(self, part: AheadPart) -> String {
        match part {
            AheadPart::Texts => format!("{} of at most {PAGES_A_DAY} pages today", self.pages),
            AheadPart::Pictures => {
                let (used, most) = (self.picture_bytes.div_ceil(MIB), PICTURE_BYTES_A_DAY / MIB);
                let pictures = self.pictures;
                format!(
                    "{pictures} of at most {PICTURES_A_DAY} pictures today, {used} of {most} MiB"
                )
            }
            AheadPart::Files => format!("{} of at most {FILES_A_DAY} files today", self.files),
        }
    }
}

/// The pictures that are being searched for or fetched ahead.
#[derive(Debug, Clone, Default)]
pub struct PicturesAhead {
    /// Feeds whose texts are being searched for pictures.
    pub(super) sought: BTreeSet<FeedKey>,
    /// Addresses of the pictures that wait, are being fetched, or are being put into the cache, with the feeds that show them.
    pub(super) requested: BTreeMap<String, FeedKey>,
}

impl PicturesAhead {
    /// Checks whether the texts of any of these feeds are being searched for pictures, or pictures of them are being fetched.
    pub fn are_under_way(&self, feeds: &BTreeSet<FeedKey>) -> bool {
        !self.sought.is_disjoint(feeds) || self.requested.values().any(|feed| feeds.contains(feed))
    }

    /// Removes a picture that is no longer fetched ahead.
    pub fn forget(&mut self, url: &str) {
        self.requested.remove(url);
    }
}

/// The texts of a feed that are read to find their pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextsWanted {
    /// Feed of the entries.
    pub feed: FeedKey,
    /// Number of the newest entries to look at; only the unread ones are read.
    pub among: u32,
    /// `true` to read the stored page of an entry instead of its text, if there is one.
    pub pages: bool,
}

/// A text that may have pictures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PicturedText {
    /// Entry of the text.
    pub key: EntryKey,
    /// The text, with markup.
    pub html: String,
    /// Address to which relative addresses in the text refer.
    pub base: Option<String>,
}

/// Work on the picture cache.
#[derive(Debug, Clone, PartialEq)]
pub enum PictureTask {
    /// Find the pictures in texts of a feed that are not in the cache.
    Find(FeedKey, Vec<PicturedText>),
    /// Put a fetched picture into the cache. `None` notes that it could not be fetched.
    Keep(String, Option<Arc<Vec<u8>>>),
}

/// Result of work on the picture cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PictureTaskDone {
    /// Pictures of a feed that are not in the cache, in the order of the texts.
    Found(FeedKey, Vec<(EntryKey, String)>),
    /// The picture with this address is in the cache, or noted there as one that could not be fetched.
    Kept(String),
}

impl PictureTask {
    /// Returns the result of a task that failed: no pictures were found, or nothing more is done with the picture.
    pub fn failed(&self) -> PictureTaskDone {
        match self {
            Self::Find(feed, _) => PictureTaskDone::Found(*feed, Vec::new()),
            Self::Keep(url, _) => PictureTaskDone::Kept(url.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_what_its_day_has_left() {
        let day = NaiveDate::default();
        let next = day.succ_opt().unwrap();
        let today = |pages, pictures, picture_bytes, files| AheadToday {
            day,
            pages,
            pictures,
            picture_bytes,
            files,
        };
        for (used, on, left) in [
            (today(0, 0, 0, 0), day, [50, 100, 10]),
            (today(49, 99, PICTURE_BYTES_A_DAY - 1, 9), day, [1, 1, 1]),
            (today(50, 100, 0, 10), day, [0, 0, 0]),
            (today(90, 190, 0, 90), day, [0, 0, 0]),
            (today(1, 1, PICTURE_BYTES_A_DAY, 1), day, [49, 0, 9]),
            (today(50, 100, PICTURE_BYTES_A_DAY, 10), next, [50, 100, 10]),
        ] {
            assert_eq!(AheadPart::ALL.map(|part| used.on(on).left(part)), left, "{used:?} {on}");
        }
    }
}
