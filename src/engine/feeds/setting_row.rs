//! A setting of a feed, with the conversions of its value for OPML, the edit dialog, and `backissue set`.

use super::chosen_settings::{Chosen, FeedSettings};
use crate::engine::durations::{interval_minutes, interval_text};
use crate::engine::settings::Settings;
use backissue_core::feed::Zone;
use backissue_core::feed::opml::subscription_list::normal_tags;

/// Maximum interval accepted from OPML, in minutes.
const MINUTES_MAX: u32 = 527_040;

/// Value that removes an interval, so that the configured one applies.
const AUTO: &str = "auto";

/// Allowed values of a switch's flag.
const ON_OFF: &[&str] = &["on", "off"];

/// A setting of a feed.
#[derive(Debug, Clone, Copy)]
pub struct FeedSettingRow {
    /// Name in OPML and in the output of `set`.
    pub name: &'static str,
    pub kind: SettingKind,
    /// Line in the edit dialog.
    pub line: Option<FormLine>,
    /// Flag of `set`.
    pub flag: Option<SettingFlag>,
    /// `true` if the flag may be repeated.
    pub is_repeated: bool,
    /// `true` if OPML holds it as a setting; the title and the tags have their own attributes.
    pub in_opml: bool,
}

/// Type of a setting's values, with access to the stored value.
#[derive(Debug, Clone, Copy)]
pub enum SettingKind {
    /// A text; an empty text removes the setting.
    Text {
        /// Name that `set` prints for an empty text.
        unset: &'static str,
        get: fn(&Chosen) -> String,
        /// Setter; the zone applies to rules that name none, and the error is a sentence.
        set: fn(&mut Chosen, &str, &Zone) -> Result<(), String>,
    },
    /// Tags of the feed.
    Tags,
    /// An interval in minutes: a plain number in OPML, and text like `2h` for users.
    Interval(fn(&mut FeedSettings) -> &mut Option<u32>),
    /// A switch: `on`, or empty.
    Switch(fn(&mut FeedSettings) -> &mut bool),
    /// One of a few words.
    Words {
        /// Words with their labels in the edit dialog. The first word is empty and means that nothing is chosen.
        words: &'static [(&'static str, &'static str)],
        get: fn(&FeedSettings) -> &'static str,
        /// Setter; an unknown word removes the setting.
        set: fn(&mut FeedSettings, &str),
    },
}

/// Line of a setting in the edit dialog.
#[derive(Debug, Clone, Copy)]
pub struct FormLine {
    /// Position among the lines.
    pub place: u8,
    pub label: &'static str,
    /// Returns the hint for an empty line, based on the configuration and the publisher's title.
    pub hint: fn(&Settings, &str) -> String,
}

/// Flag of a setting.
#[derive(Debug, Clone, Copy)]
pub struct SettingFlag {
    pub long: &'static str,
    pub value_name: &'static str,
    /// Allowed values; an empty list allows any value.
    pub words: &'static [&'static str],
    pub help: &'static str,
}

/// Creates a setting without a line in the dialog or a flag.
pub(super) const fn row(name: &'static str, kind: SettingKind) -> FeedSettingRow {
    FeedSettingRow { name, kind, line: None, flag: None, is_repeated: false, in_opml: true }
}

impl FeedSettingRow {
    /// Adds a line in the edit dialog.
    pub(super) const fn line(
        mut self,
        place: u8,
        label: &'static str,
        hint: fn(&Settings, &str) -> String,
    ) -> Self {
        self.line = Some(FormLine { place, label, hint });
        self
    }

    /// Adds a flag of `set`.
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

    /// Restricts the flag to these words.
    pub(super) const fn words(mut self, words: &'static [&'static str]) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.words = words;
        }
        self
    }

    /// Lets the flag be repeated.
    pub(super) const fn repeated(mut self) -> Self {
        self.is_repeated = true;
        self
    }

    /// Excludes the setting from the OPML settings, because OPML has another attribute for it.
    pub(super) const fn not_in_opml(mut self) -> Self {
        self.in_opml = false;
        self
    }

    /// Returns the value in the form for OPML, or an empty text if nothing is chosen.
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

    /// Returns the value in the form for users, or an empty text if nothing is chosen.
    pub fn text(&self, chosen: &Chosen) -> String {
        match self.kind {
            SettingKind::Text { get, .. } => get(chosen),
            SettingKind::Tags => chosen.tags.join(", "),
            SettingKind::Interval(field) => {
                field(&mut chosen.feed_settings.clone()).map(interval_text).unwrap_or_default()
            }
            SettingKind::Switch(field) => {
                if *field(&mut chosen.feed_settings.clone()) { "on" } else { "" }.into()
            }
            SettingKind::Words { get, .. } => get(&chosen.feed_settings).into(),
        }
    }

    /// Returns the value as `set` prints it.
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

    /// Returns the words of the line in the edit dialog with their labels. The list is empty for a line with free text.
    pub const fn choices(&self) -> &'static [(&'static str, &'static str)] {
        match self.kind {
            SettingKind::Switch(_) => &[("", "no"), ("on", "yes")],
            SettingKind::Words { words, .. } => words,
            SettingKind::Text { .. } | SettingKind::Tags | SettingKind::Interval(_) => &[],
        }
    }

    /// Sets the value from the form for users. The error is a sentence; the zone applies to rules that name none.
    pub fn set(&self, chosen: &mut Chosen, text: &str, zone: &Zone) -> Result<(), String> {
        match self.kind {
            // Keep unchanged tags as they are, including a tag that contains a comma.
            SettingKind::Tags if text == self.text(chosen).trim() => {}
            SettingKind::Tags => chosen.tags = normal_tags(text.split(',')),
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

    /// Sets the value from the flag's arguments: one, or several for a repeated flag.
    pub fn set_flag(
        &self,
        chosen: &mut Chosen,
        given: &[String],
        zone: &Zone,
    ) -> Result<(), String> {
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

    /// Sets the value from an OPML document; ignores a value that cannot be parsed.
    pub(super) fn set_opml_value(&self, chosen: &mut Chosen, value: &str) {
        if let SettingKind::Interval(field) = self.kind {
            let minutes = value.parse().ok().filter(|minutes| (1..=MINUTES_MAX).contains(minutes));
            *field(&mut chosen.feed_settings) = minutes;
        } else {
            drop(self.set(chosen, value, &Zone::Utc));
        }
    }
}
