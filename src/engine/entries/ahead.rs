//! What is fetched before the user opens the entries of a feed, and how much of it a day.
//!
//! After each poll of a feed, the pages and pictures that its user wants ahead wait behind all other requests to their sites, and
//! attached files of new entries are added to the downloads. Each kind has a limit a day. Pages and pictures that are left over follow
//! after the polls of the next day.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use super::{page_fetches, pictures_ahead};
use crate::engine::effect::Effect;
use crate::engine::feeds::chosen_settings::FeedSettings;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::feed::dates::calendar::day_of;
use backissue_core::history::FeedKey;

/// Maximum number of pages that are fetched ahead for a feed in a day.
const PAGES_A_DAY: u32 = 50;
/// Maximum number of pictures that are fetched ahead for a feed in a day.
const PICTURES_A_DAY: u32 = 100;
/// Number of bytes of pictures after which no more pictures are fetched ahead for a feed in a day.
const PICTURE_BYTES_A_DAY: u64 = 20 * MIB;
/// Maximum number of attached files that are downloaded ahead for a feed in a day.
const FILES_A_DAY: u32 = 10;
/// Number of bytes in a mebibyte.
const MIB: u64 = 1024 * 1024;

/// The user's choice of what is fetched ahead for a feed, besides its full texts alone
/// ([`FeedSettings::text_ahead`]).
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

/// A kind of thing that is fetched ahead.
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
    const ALL: [Self; 3] = [Self::Texts, Self::Pictures, Self::Files];

    /// Checks whether the user of a feed wants this ahead.
    const fn is_wanted(self, settings: &FeedSettings) -> bool {
        match (self, settings.ahead) {
            (_, Some(Ahead::All))
            | (Self::Pictures, Some(Ahead::Pictures))
            | (Self::Files, Some(Ahead::Files)) => true,
            (Self::Texts, _) => settings.text_ahead,
            (Self::Pictures | Self::Files, _) => false,
        }
    }
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
    fn on(self, day: NaiveDate) -> Self {
        if self.day == day { self } else { Self { day, ..Self::default() } }
    }

    /// Returns how many more may be requested on this day.
    const fn left(self, part: AheadPart) -> u32 {
        match part {
            AheadPart::Texts => PAGES_A_DAY.saturating_sub(self.pages),
            AheadPart::Pictures if self.picture_bytes >= PICTURE_BYTES_A_DAY => 0,
            AheadPart::Pictures => PICTURES_A_DAY.saturating_sub(self.pictures),
            AheadPart::Files => FILES_A_DAY.saturating_sub(self.files),
        }
    }

    fn words(self, part: AheadPart) -> String {
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

/// Returns how many more pages, pictures or files of a feed may be requested ahead today: none if its user does not want them ahead,
/// or if the program is offline.
pub fn left_today(engine: &Engine, now: DateTime<Utc>, feed: FeedKey, part: AheadPart) -> u32 {
    let Some(subscription) = engine.feeds.get(&feed).filter(|_| !engine.offline) else { return 0 };
    if !part.is_wanted(&subscription.record.feed_settings) {
        return 0;
    }
    subscription.state.ahead.on(day_of(now, chrono_tz::UTC)).left(part)
}

/// Drops the waiting requests for pages and pictures of a feed whose user does not want them ahead.
pub fn drop_unwanted(engine: &mut Engine, feed: FeedKey) {
    let Some(subscription) = engine.feeds.get(&feed) else { return };
    let [texts, pictures, _] =
        AheadPart::ALL.map(|part| part.is_wanted(&subscription.record.feed_settings));
    if !texts {
        page_fetches::drop_ahead(engine, feed);
    }
    if !pictures {
        pictures_ahead::drop_waiting(engine, feed);
    }
}

/// Checks whether the pictures of today have all the bytes that they may have.
pub fn are_picture_bytes_used_up(engine: &Engine, now: DateTime<Utc>, feed: FeedKey) -> bool {
    let today = engine.feeds.get(&feed).map(|feed| feed.state.ahead);
    today.is_some_and(|today| {
        today.on(day_of(now, chrono_tz::UTC)).picture_bytes >= PICTURE_BYTES_A_DAY
    })
}

/// Counts what was requested or fetched ahead for a feed. Returns the effect that writes the count, unless nothing changed.
pub fn count(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    count: impl FnOnce(&mut AheadToday),
) -> Option<Effect> {
    let subscription = engine.feeds.get_mut(&feed)?;
    let before = subscription.state.ahead.on(day_of(now, chrono_tz::UTC));
    let mut today = before;
    count(&mut today);
    if today == before {
        return None;
    }
    subscription.state.ahead = today;
    Some(Effect::store(Job::SaveState(feed, subscription.state.clone())))
}

/// Returns what of a feed is fetched ahead, each with the amount of today in words.
pub fn used_words(engine: &Engine, feed: FeedKey, now: DateTime<Utc>) -> Vec<(AheadPart, String)> {
    let Some(subscription) = engine.feeds.get(&feed) else { return Vec::new() };
    let today = subscription.state.ahead.on(day_of(now, chrono_tz::UTC));
    let settings = &subscription.record.feed_settings;
    let wanted = AheadPart::ALL.into_iter().filter(|part| part.is_wanted(settings));
    wanted.map(|part| (part, today.words(part))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_choice_wants_its_own_parts() {
        let parts = |ahead, text_ahead| {
            let settings = FeedSettings { text_ahead, ahead, ..FeedSettings::default() };
            AheadPart::ALL.map(|part| part.is_wanted(&settings))
        };
        for (ahead, text_ahead, wanted) in [
            (None, false, [false, false, false]),
            (None, true, [true, false, false]),
            (Some(Ahead::Pictures), false, [false, true, false]),
            (Some(Ahead::Pictures), true, [true, true, false]),
            (Some(Ahead::Files), false, [false, false, true]),
            (Some(Ahead::Files), true, [true, false, true]),
            (Some(Ahead::All), false, [true, true, true]),
            (Some(Ahead::All), true, [true, true, true]),
        ] {
            assert_eq!(parts(ahead, text_ahead), wanted, "{ahead:?} {text_ahead}");
        }
    }

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
