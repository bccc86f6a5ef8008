//! Settings that the user chose for one feed, and a row of the settings table: a setting, and conversions of its value for OPML,
//! the edit dialog, and `backissue set`.

use backissue_core::InputFlaw;
use backissue_core::feed::hints::{INTERVAL_MINUTES_MAX, is_default};
use backissue_core::feed::opml::subscription_list::{normal_tags, read_tags, write_tags};
use backissue_core::feed::{IntervalRule, Zone};
use backissue_core::history::Adaptor;
use backissue_core::schedule::Pace;
use backissue_core::words::interval_text;
use serde::{Deserialize, Serialize};

use crate::engine::entries::ahead_work::{Ahead, AheadPart};
use crate::engine::settings::{HistoryMode, Settings};
use crate::engine::wording::interval_minutes;

/// Text that removes the interval chosen for a feed, so that the configured interval applies.
pub(super) const AUTO: &str = "auto";

/// Allowed values of the command-line flag for a switch.
const ON_OFF: &[&str] = &["on", "off"];

/// A setting of a feed, as a row of the settings table.
#[derive(Debug, Clone, Copy)]
pub struct FeedSettingRow {
    /// Name of the setting in OPML and in the output of `backissue set`.
    pub name: &'static str,
    pub kind: SettingKind,
    /// Line of the setting in the edit dialog; `None` if the dialog does not show it.
    pub line: Option<FormLine>,
    /// Flag of the setting in the `backissue set` command; `None` if there is no flag.
    pub flag: Option<SettingFlag>,
    /// `true` if the flag may be repeated.
    pub is_repeated: bool,
    /// `true` if OPML contains the setting as an attribute of backissue. The title and the tags have their own OPML attributes.
    pub in_opml: bool,
}

/// Type of a setting's values, with access to the stored value.
#[derive(Debug, Clone, Copy)]
pub enum SettingKind {
    /// A text; an empty text removes the setting.
    Text {
        /// Word that `backissue set` prints if the text is empty.
        unset: &'static str,
        get: fn(&Chosen) -> String,
        /// Sets the text. The time zone applies to interval rules that name no zone. The error is a sentence.
        set: fn(&mut Chosen, &str, &Zone) -> Result<(), InputFlaw>,
    },
    /// Tags of the feed.
    Tags,
    /// An interval in minutes: a plain number in OPML, and text like `2h` for users.
    Interval(fn(&mut FeedSettings) -> &mut Option<u32>),
    /// A switch. Its value is the text `on`, or an empty text for off.
    Switch(fn(&mut FeedSettings) -> &mut bool),
    /// A choice from a fixed list of words.
    Words {
        /// Allowed words with their labels in the edit dialog. The first word is empty and means that the user chose nothing.
        words: &'static [(&'static str, &'static str)],
        get: fn(&FeedSettings) -> &'static str,
        /// Sets the word. An unknown word removes the setting.
        set: fn(&mut FeedSettings, &str),
    },
}

/// Line of a setting in the edit dialog.
#[derive(Debug, Clone, Copy)]
pub struct FormLine {
    /// Position of the line in the edit dialog.
    pub place: u8,
    pub label: &'static str,
    /// Returns the hint that an empty line shows. The arguments are the configuration and the publisher's title.
    pub hint: fn(&Settings, &str) -> String,
}

/// Flag of a setting in the `backissue set` command.
#[derive(Debug, Clone, Copy)]
pub struct SettingFlag {
    pub long: &'static str,
    pub value_name: &'static str,
    /// Allowed values of the flag. If the list is empty, any value is allowed.
    pub words: &'static [&'static str],
    pub help: &'static str,
}

/// Creates the row of a setting that has no line in the edit dialog and no flag in `backissue set`.
pub(super) const fn row(name: &'static str, kind: SettingKind) -> FeedSettingRow {
    FeedSettingRow { name, kind, line: None, flag: None, is_repeated: false, in_opml: true }
}

impl FeedSettingRow {
    /// Adds a line in the edit dialog to the row.
    pub(super) const fn line(
        mut self,
        place: u8,
        label: &'static str,
        hint: fn(&Settings, &str) -> String,
    ) -> Self {
        self.line = Some(FormLine { place, label, hint });
        self
    }

    /// Adds a flag of the `backissue set` command to the row.
    pub(super) const fn flag(
        mut self,
        long: &'static str,
        value_name: &'static str,
        help: &'static str,
    ) -> Self {
        let words = if matches!(self.kind, SettingKind::Switch(_)) { ON_OFF } else { &[] };
        self.flag = Some(SettingFlag { long, value_name, words, help });
        self
    }

    /// Restricts the values of the row's flag to these words.
    pub(super) const fn words(mut self, words: &'static [&'static str]) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.words = words;
        }
        self
    }

    /// Allows the row's flag to be given several times.
    pub(super) const fn repeated(mut self) -> Self {
        self.is_repeated = true;
        self
    }

    /// Excludes the setting from the attributes of backissue in OPML, because OPML has its own attribute for it.
    pub(super) const fn not_in_opml(mut self) -> Self {
        self.in_opml = false;
        self
    }

    /// Returns the value of the setting as OPML contains it, or an empty text if the user chose nothing.
    pub(super) fn opml_value(&self, chosen: &Chosen) -> String {
        match self.kind {
            SettingKind::Interval(field) => {
                field(&mut chosen.feed_settings.clone()).map(|minutes| minutes.to_string())
            }
            SettingKind::Text { .. }
            | SettingKind::Tags
            | SettingKind::Switch(_)
            | SettingKind::Words { .. } => Some(self.text(chosen)),
        }
        .unwrap_or_default()
    }

    /// Returns the value of the setting as users type it, or an empty text if the user chose nothing.
    pub fn text(&self, chosen: &Chosen) -> String {
        match self.kind {
            SettingKind::Text { get, .. } => get(chosen),
            SettingKind::Tags => write_tags(&chosen.tags),
            SettingKind::Interval(field) => {
                field(&mut chosen.feed_settings.clone()).map(interval_text).unwrap_or_default()
            }
            SettingKind::Switch(field) => {
                if *field(&mut chosen.feed_settings.clone()) { "on" } else { "" }.into()
            }
            SettingKind::Words { get, .. } => get(&chosen.feed_settings).into(),
        }
    }

    /// Returns the value of the setting as `backissue set` prints it.
    pub fn told(&self, chosen: &Chosen) -> String {
        let text = self.text(chosen);
        let unset = match self.kind {
            SettingKind::Text { unset, .. } => unset,
            SettingKind::Tags => "none",
            SettingKind::Interval(_) => AUTO,
            SettingKind::Switch(_) => "off",
            SettingKind::Words { words, .. } => words.first().map_or("", |(_, told)| *told),
        };
        if text.is_empty() { unset.into() } else { text }
    }

    /// Returns the words that the user can choose from in the edit dialog, with their labels. The list is empty if the line accepts
    /// any text.
    pub const fn choices(&self) -> &'static [(&'static str, &'static str)] {
        match self.kind {
            SettingKind::Switch(_) => &[("", "no"), ("on", "yes")],
            SettingKind::Words { words, .. } => words,
            SettingKind::Text { .. } | SettingKind::Tags | SettingKind::Interval(_) => &[],
        }
    }

    /// Sets the value from a text that a user typed. `zone` applies to interval rules that name no time zone. The error is a
    /// sentence.
    pub fn set(&self, chosen: &mut Chosen, text: &str, zone: &Zone) -> Result<(), InputFlaw> {
        match self.kind {
            SettingKind::Tags => chosen.tags = read_tags(text),
            SettingKind::Interval(field) if text.is_empty() => {
                *field(&mut chosen.feed_settings) = None;
            }
            SettingKind::Interval(field) => {
                *field(&mut chosen.feed_settings) = Some(interval_minutes(text)?);
            }
            SettingKind::Text { set, .. } => set(chosen, text, zone)?,
            SettingKind::Switch(field) => *field(&mut chosen.feed_settings) = text == "on",
            SettingKind::Words { set, .. } => set(&mut chosen.feed_settings, text),
        }
        Ok(())
    }

    /// Sets the value from the arguments of the flag. A repeated flag has several arguments. The error is a sentence.
    pub fn set_flag(
        &self,
        chosen: &mut Chosen,
        given: &[String],
        zone: &Zone,
    ) -> Result<(), InputFlaw> {
        let text = given.join(";");
        match self.kind {
            SettingKind::Tags => chosen.tags = normal_tags(given.iter().map(String::as_str)),
            SettingKind::Interval(field) => {
                let minutes = if text == AUTO { None } else { Some(interval_minutes(&text)?) };
                *field(&mut chosen.feed_settings) = minutes;
            }
            SettingKind::Text { .. } | SettingKind::Switch(_) | SettingKind::Words { .. } => {
                self.set(chosen, &text, zone)?;
            }
        }
        Ok(())
    }

    /// Sets the value from an OPML attribute. Ignores a value that cannot be parsed.
    pub(super) fn set_opml_value(&self, chosen: &mut Chosen, value: &str) {
        if let SettingKind::Interval(field) = self.kind {
            let minutes =
                value.parse().ok().filter(|minutes| (1..=INTERVAL_MINUTES_MAX).contains(minutes));
            *field(&mut chosen.feed_settings) = minutes;
        } else {
            drop(self.set(chosen, value, &Zone::Utc));
        }
    }
}

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
    /// Minutes after which unread entries end: they count as read. 0: never; `None`: as configured.
    #[serde(skip_serializing_if = "is_default")]
    pub unread_minutes: Option<u32>,
    /// Minutes after which the next old entry becomes unread; `None`: old entries stay read.
    #[serde(skip_serializing_if = "is_default")]
    pub drip_minutes: Option<u32>,
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
