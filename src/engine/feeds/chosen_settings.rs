//! What the reader chose for one feed.

use serde::{Deserialize, Serialize};

use crate::engine::settings::HistoryMode;
use backissue_core::feed::IntervalRule;
use backissue_core::feed::sparse::is_default;
use backissue_core::history::Adaptor;
use backissue_core::schedule::Pace;

/// The reader's settings for one feed; `None` takes the global setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that the reader sets alone")]
pub struct FeedSettings {
    /// More or less often (SPEC A.8).
    pub pace: Option<Pace>,
    /// Shortest interval, in minutes.
    pub min_minutes: Option<u32>,
    /// Longest interval, in minutes.
    pub max_minutes: Option<u32>,
    /// A fixed interval, in minutes, instead of any recommendation.
    pub fixed_minutes: Option<u32>,
    /// It may lead from https to http (SPEC D.3).
    #[serde(skip_serializing_if = "is_default")]
    pub allow_insecure: bool,
    /// It is polled although the publisher said that it has ended (SPEC G.40).
    #[serde(skip_serializing_if = "is_default")]
    pub ignore_expired: bool,
    /// Whether archives are walked.
    pub history: Option<HistoryMode>,
    /// Its rhythm is learned.
    #[serde(skip_serializing_if = "is_default")]
    pub learn: Option<bool>,
    /// The reader's own interval rules (SPEC B.2 rank 0.5).
    #[serde(skip_serializing_if = "is_default")]
    pub rules: Vec<IntervalRule>,
    /// Where older entries are looked for that the publisher does not offer; `None`: nowhere.
    #[serde(skip_serializing_if = "is_default")]
    pub archives: Option<Adaptor>,
    /// Its entries are shown with the text of the pages they link to.
    #[serde(skip_serializing_if = "is_default")]
    pub full_text: bool,
    /// The server's cache lifetimes are not believed (SPEC B.4.2).
    pub ignore_cache_lifetime: bool,
    /// The publisher's skip windows are not kept (SPEC B.5).
    pub ignore_skips: bool,
}

/// What the reader chose for a subscription; the rest of its record is the publisher's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// The reader's own title.
    pub own_title: Option<String>,
    /// Tags in the reader's order.
    pub tags: Vec<String>,
    /// The reader's settings for it.
    pub feed_settings: FeedSettings,
}
