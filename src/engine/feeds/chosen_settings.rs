//! Settings that the user chose for one feed.

use serde::{Deserialize, Serialize};

use crate::engine::entries::ahead_work::{Ahead, AheadPart};
use crate::engine::settings::HistoryMode;
use backissue_core::feed::IntervalRule;
use backissue_core::feed::hints::is_default;
use backissue_core::history::Adaptor;
use backissue_core::schedule::Pace;

/// The user's settings for one feed. If an optional setting is `None`, the global setting applies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that the reader sets alone")]
pub struct FeedSettings {
    /// Pace of the feed's polls (SPEC A.8).
    pub pace: Option<Pace>,
    /// Minimum interval between polls, in minutes.
    pub min_minutes: Option<u32>,
    /// Maximum interval between polls, in minutes.
    pub max_minutes: Option<u32>,
    /// Fixed interval between polls, in minutes, which overrides any recommendation.
    pub fixed_minutes: Option<u32>,
    /// `true` if the feed may redirect from https to http (SPEC D.3).
    #[serde(skip_serializing_if = "is_default")]
    pub allow_insecure: bool,
    /// `true` to poll the feed although the publisher ended it (SPEC G.40).
    #[serde(skip_serializing_if = "is_default")]
    pub ignore_expired: bool,
    /// When to fetch archives of older entries of the feed.
    pub history: Option<HistoryMode>,
    /// `true` to poll at times learned from the feed's publications.
    #[serde(skip_serializing_if = "is_default")]
    pub learn: Option<bool>,
    /// The user's own interval rules (SPEC B.2 rank 0.5).
    #[serde(skip_serializing_if = "is_default")]
    pub rules: Vec<IntervalRule>,
    /// External archive of older entries that the publisher does not offer; `None` means no external archive.
    #[serde(skip_serializing_if = "is_default")]
    pub archives: Option<Adaptor>,
    /// `true` to show entries with the text of the pages they link to.
    #[serde(skip_serializing_if = "is_default")]
    pub full_text: bool,
    /// `true` to fetch these texts before the user opens the entries. Without `full_text`, it has no effect.
    #[serde(skip_serializing_if = "is_default")]
    pub text_ahead: bool,
    /// What else to fetch before the user opens the entries; `None` means nothing else.
    #[serde(skip_serializing_if = "is_default")]
    pub ahead: Option<Ahead>,
    /// `true` to keep the entries of the feed out of the list of all unread entries.
    #[serde(skip_serializing_if = "is_default")]
    pub quiet: bool,
    /// `true` to ignore the server's cache lifetimes (SPEC B.4.2).
    pub ignore_cache_lifetime: bool,
    /// `true` to ignore the publisher's skip windows (SPEC B.5).
    pub ignore_skips: bool,
    /// Name of the account that the feed belongs to; `None` for a feed of this reader alone.
    #[serde(skip_serializing_if = "is_default")]
    pub account: Option<String>,
    /// `true` to poll a feed of an account here, too, not only on its server.
    #[serde(skip_serializing_if = "is_default")]
    pub polled_here: bool,
}

impl FeedSettings {
    /// Checks whether only the server of the feed's account polls the feed.
    pub const fn is_polled_by_server(&self) -> bool {
        self.account.is_some() && !self.polled_here
    }

    /// Checks whether the user wants this fetched ahead.
    pub const fn wants_ahead(&self, part: AheadPart) -> bool {
        match (part, self.ahead) {
            (_, Some(Ahead::All))
            | (AheadPart::Pictures, Some(Ahead::Pictures))
            | (AheadPart::Files, Some(Ahead::Files)) => true,
            (AheadPart::Texts, _) => self.text_ahead,
            (AheadPart::Pictures | AheadPart::Files, _) => false,
        }
    }
}

/// The parts of a subscription record that the user chooses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// The user's own title.
    pub own_title: Option<String>,
    /// Tags in the user's order.
    pub tags: Vec<String>,
    /// The user's settings for the feed.
    pub feed_settings: FeedSettings,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_choice_wants_its_own_parts() {
        let parts = |ahead, text_ahead| {
            let settings = FeedSettings { text_ahead, ahead, ..FeedSettings::default() };
            AheadPart::ALL.map(|part| settings.wants_ahead(part))
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
}
