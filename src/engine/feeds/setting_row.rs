//! One setting of a feed: how its value is read and written in OPML, in the edit dialog and by `backissue set`.

use super::chosen_settings::{Chosen, FeedSettings};
use crate::engine::durations::{interval_minutes, interval_text};
use crate::engine::settings::Settings;
use backissue_core::feed::Zone;
use backissue_core::feed::opml::subscription_list::normal_tags;

/// Longest interval that is taken from OPML, in minutes.
const MINUTES_MAX: u32 = 527_040;

/// Takes an interval away again, so that the configured one counts.
const AUTO: &str = "auto";

/// The only values of a switch's flag.
const ON_OFF: &[&str] = &["on", "off"];

/// A setting of a feed.
#[derive(Debug, Clone, Copy)]
pub struct FeedSettingRow {
    /// Its name in OPML and in what `set` says was changed.
    pub name: &'static str,
    pub kind: SettingKind,
    /// Its line in the edit dialog.
    pub line: Option<FormLine>,
    /// Its flag of `set`.
    pub flag: Option<SettingFlag>,
    /// The flag may be given several times.
    pub is_repeated: bool,
    /// It travels as a setting in OPML; the title and the tags have their own places there.
    pub in_opml: bool,
}

/// What values a setting has, and where they are kept.
#[derive(Debug, Clone, Copy)]
pub enum SettingKind {
    /// A text; an empty one takes it away.
    Text {
        /// What `set` calls an empty text.
        unset: &'static str,
        get: fn(&Chosen) -> String,
        /// The zone is that of rules that name none; the error is a sentence.
        set: fn(&mut Chosen, &str, &Zone) -> Result<(), String>,
    },
    /// The tags.
    Tags,
    /// Minutes: a plain number in OPML, written like `2h` by people.
    Interval(fn(&mut FeedSettings) -> &mut Option<u32>),
    /// `on`, or not named at all.
    Switch(fn(&mut FeedSettings) -> &mut bool),
    /// One of a few words.
    Words {
        /// Each with what the edit dialog says for it; the first one is empty and means that nothing is chosen.
        words: &'static [(&'static str, &'static str)],
        get: fn(&FeedSettings) -> &'static str,
        /// A word that is not among them takes the setting away.
        set: fn(&mut FeedSettings, &str),
    },
}

/// The line of a setting in the edit dialog.
#[derive(Debug, Clone, Copy)]
pub struct FormLine {
    /// Its place among the lines.
    pub place: u8,
    pub label: &'static str,
    /// What an unset line means, by the configuration and the publisher's title.
    pub hint: fn(&Settings, &str) -> String,
}

/// The flag of a setting.
#[derive(Debug, Clone, Copy)]
pub struct SettingFlag {
    pub long: &'static str,
    pub value_name: &'static str,
    /// The only values there are; none named: any.
    pub words: &'static [&'static str],
    pub help: &'static str,
}

/// A setting that is only kept and exported.
pub(super) const fn row(name: &'static str, kind: SettingKind) -> FeedSettingRow {
    FeedSettingRow { name, kind, line: None, flag: None, is_repeated: false, in_opml: true }
}

impl FeedSettingRow {
    /// With a line in the edit dialog.
    pub(super) const fn line(
        mut self,
        place: u8,
        label: &'static str,
        hint: fn(&Settings, &str) -> String,
    ) -> Self {
        self.line = Some(FormLine { place, label, hint });
        self
    }

    /// With a flag of `set`.
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

    /// With a flag that takes only these words.
    pub(super) const fn words(mut self, words: &'static [&'static str]) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.words = words;
        }
        self
    }

    /// With a flag that may be given several times.
    pub(super) const fn repeated(mut self) -> Self {
        self.is_repeated = true;
        self
    }

    /// OPML has another place for it.
    pub(super) const fn not_in_opml(mut self) -> Self {
        self.in_opml = false;
        self
    }

    /// The value as OPML holds it; empty: nothing is chosen.
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

    /// The value as people write it; empty: nothing is chosen.
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

    /// The value as `set` tells it.
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

    /// The words of its line in the edit dialog with their values; none: text is typed there.
    pub const fn choices(&self) -> &'static [(&'static str, &'static str)] {
        match self.kind {
            SettingKind::Switch(_) => &[("", "no"), ("on", "yes")],
            SettingKind::Words { words, .. } => words,
            SettingKind::Text { .. } | SettingKind::Tags | SettingKind::Interval(_) => &[],
        }
    }

    /// Sets the value as people write it. The error is a sentence; the zone is that of rules that name none.
    pub fn set(&self, chosen: &mut Chosen, text: &str, zone: &Zone) -> Result<(), String> {
        match self.kind {
            // What nobody changed stays, also a tag that holds a comma.
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

    /// Sets what is given with its flag: one value, or each of a flag that is repeated.
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

    /// Sets what an OPML document holds; a value that cannot be read is left out.
    pub(super) fn set_opml_value(&self, chosen: &mut Chosen, value: &str) {
        if let SettingKind::Interval(field) = self.kind {
            let minutes = value.parse().ok().filter(|minutes| (1..=MINUTES_MAX).contains(minutes));
            *field(&mut chosen.feed_settings) = minutes;
        } else {
            drop(self.set(chosen, value, &Zone::Utc));
        }
    }
}
