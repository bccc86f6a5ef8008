//! Settings of the screen: `[ui]` and `[keys]` in the configuration file.

use std::borrow::Cow;

use chrono::{DateTime, Datelike, NaiveTime, TimeDelta, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::keys::key_bindings::{KeyPreset, Keymap};
use super::theme::theme_roles::Paint;
use crate::engine::entries::rows::RowOrder;
use crate::engine::entries::todays_reading::PortionWanted;
use crate::engine::settings::Join;
use backissue_core::feed::dates::calendar::day_of;
use backissue_core::feed::outgoing::without_trackers;
use backissue_core::search::Condition;
use backissue_core::{InputFlaw, flaw};

/// The settings in `[ui]` and `[keys]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "switches, independent of each other")]
pub struct ScreenSettings {
    /// Name of the theme. `None` uses the terminal's own colours.
    pub theme: Option<String>,
    /// `true` if the program reacts to the mouse.
    pub mouse: bool,
    /// `true` if pictures are shown when the program starts.
    pub images: bool,
    /// Protocol that sends pictures to the terminal.
    pub image_protocol: ImageProtocol,
    /// `true` if the title of the terminal window shows the number of unread entries.
    pub title: bool,
    /// `true` if links are written as terminal hyperlinks. `None` enables them in terminals that are known to support them.
    pub hyperlinks: Option<bool>,
    /// `true` to use words instead of lines and symbols, and one pane at a time.
    pub plain: bool,
    /// Maximum width of an entry's text in the reader pane, in cells.
    pub text_width: u16,
    /// Arrangement of the panes.
    pub layout: LayoutChoice,
    /// Width of the subscriptions pane in columns. `None` makes it as wide as the feed names, as far as the screen allows.
    pub feeds_width: Option<u16>,
    /// Share of the entries pane beside or above the text, in percent. `None` chooses it by the size of the screen.
    pub list_share: Option<u16>,
    /// Order of the entries in lists for which the user chose no other.
    pub order: ListOrder,
    /// Number of entries in the list Today's reading. If it is 0, there is no such list.
    pub reading: u16,
    /// Time of day at which Today's reading is chosen again.
    pub reading_at: TimeOfDay,
    /// Columns of the entry list, from left to right.
    pub columns: Vec<EntryColumn>,
    /// `true` if links are shown, opened and copied without the parameters that only record where a visitor came from.
    pub clean_links: bool,
    /// When an entry is marked as read.
    pub mark_read: MarkRead,
    /// Feeds that the subscriptions pane shows.
    pub feeds: ShownFeeds,
    /// How the subscriptions pane shows the numbers of unread entries.
    pub counts: CountStyle,
    /// How entries of several feeds are recognised as one article. The engine has this setting too, because commands mark
    /// entries.
    pub join: Join,
    /// `true` if the bottom line shows the most important keys of the current context.
    pub hints: bool,
    /// `true` if what the user reads is counted by feed and day.
    pub interest: bool,
    /// `true` to restore the last list and entry when the program starts.
    pub restore: bool,
    /// Time in milliseconds for which the program waits for the rest of a key after ESC. `None` chooses a time that suits the
    /// connection.
    pub escape_time: Option<u16>,
    /// Keys that apply unless `[keys]` assigns other keys.
    #[serde(rename = "keys")]
    pub key_preset: KeyPreset,
    /// Colours of entries in lists, from the separate tables `[[colours]]`. An entry has the first colour whose query matches it.
    #[serde(skip)]
    pub colours: Vec<ColourRule>,
    /// Active key bindings, which are configured in the separate table `[keys]`.
    #[serde(skip)]
    pub keys: Keymap,
}

impl ScreenSettings {
    /// Returns a link in the form in which it is shown, opened and copied.
    pub fn link<'l>(&self, link: &'l str) -> Cow<'l, str> {
        if self.clean_links { without_trackers(link) } else { Cow::Borrowed(link) }
    }

    /// Returns which part of the unread entries is Today's reading at a given time.
    pub fn portion(&self, now: DateTime<Utc>, zone: Tz) -> PortionWanted {
        let began = now.checked_sub_signed(self.reading_at.0).unwrap_or(now);
        PortionWanted { day: day_of(began, zone).num_days_from_ce(), entries: self.reading }
    }
}

/// A time of day, written `05:00`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct TimeOfDay(TimeDelta);

impl TryFrom<String> for TimeOfDay {
    type Error = InputFlaw;

    fn try_from(text: String) -> Result<Self, InputFlaw> {
        let time = NaiveTime::parse_from_str(&text, "%H:%M");
        let time = time.map_err(|_| flaw!("'{text}' is not a time of day, such as \"05:00\""))?;
        Ok(Self(time.signed_duration_since(NaiveTime::MIN)))
    }
}

/// A colour for the entries that match a query.
#[derive(Debug, Clone, PartialEq)]
pub struct ColourRule {
    /// Condition that the row of the entry must meet.
    pub query: Condition,
    /// Style of the title of the entry.
    pub style: Paint,
}

/// The setting for the arrangement of the panes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayoutChoice {
    /// The arrangement depends on the width of the screen.
    #[default]
    Auto,
    /// Three panes side by side.
    Three,
    /// The subscriptions on the left; the entries above the reader on the right.
    Two,
    /// One pane at a time.
    One,
}

/// The setting for the feeds that the subscriptions pane shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShownFeeds {
    /// All feeds.
    #[default]
    All,
    /// Feeds with unread entries.
    Unread,
}

/// The setting for how the subscriptions pane shows numbers of unread entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CountStyle {
    /// As numbers.
    #[default]
    Number,
    /// As a dot if there are any.
    Dot,
    /// Not at all.
    None,
}

/// The setting for when an entry is marked as read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum MarkRead {
    /// When it is opened.
    #[default]
    Open,
    /// When it is closed, or another entry is opened.
    Leave,
    /// When it is opened, or the selection moves down over it in the list.
    Scroll,
    /// When it has been open for this time.
    After(TimeDelta),
    /// Only by a key.
    Never,
}

/// Maximum time after which an open entry is marked as read, in seconds.
const MARK_READ_SECONDS_MAX: i64 = 3600;

impl TryFrom<String> for MarkRead {
    type Error = InputFlaw;

    fn try_from(text: String) -> Result<Self, InputFlaw> {
        match text.as_str() {
            "open" => return Ok(Self::Open),
            "leave" => return Ok(Self::Leave),
            "scroll" => return Ok(Self::Scroll),
            "never" => return Ok(Self::Never),
            _ => {}
        }
        let seconds = text.strip_suffix('s').and_then(|number| number.parse::<i64>().ok());
        let seconds = seconds.filter(|seconds| (1..=MARK_READ_SECONDS_MAX).contains(seconds));
        let delay = seconds.and_then(TimeDelta::try_seconds);
        delay.map(Self::After).ok_or_else(|| {
            flaw!(
                "'{text}' is not a time to mark entries as read: \"open\", \"leave\", \"scroll\", \"never\", or seconds such as \"2s\""
            )
        })
    }
}

/// The setting for the order of the entries in a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ListOrder {
    /// The newest entry first.
    #[default]
    Newest,
    /// The oldest entry first.
    Oldest,
    /// By title.
    Title,
    /// By the title of the feed.
    Feed,
    /// By the time of arrival, latest first.
    Arrival,
    /// By how rarely the feeds publish, the rarest first.
    Rare,
}

impl ListOrder {
    /// Returns the order of the rows.
    pub const fn rows(self) -> RowOrder {
        match self {
            Self::Newest => RowOrder::NewestFirst,
            Self::Oldest => RowOrder::OldestFirst,
            Self::Title => RowOrder::ByTitle,
            Self::Feed => RowOrder::ByFeed,
            Self::Arrival => RowOrder::ByReceived,
            Self::Rare => RowOrder::RareFirst,
        }
    }
}

/// A column of the entry list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryColumn {
    /// The publication time of day, or the date in lists without day headings.
    Date,
    /// The title, with the entry's labels and star.
    Title,
    /// The name of the feed, in lists of several feeds.
    Feed,
}

/// The setting for the protocol that sends pictures to the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImageProtocol {
    /// Use the best protocol that the terminal is known to support.
    #[default]
    Auto,
    /// The kitty protocol.
    Kitty,
    /// The iTerm2 protocol.
    Iterm2,
    /// Sixel graphics.
    Sixel,
    /// Half-block characters: each cell shows two coloured pixels, one above the other.
    HalfBlocks,
}

impl Default for ScreenSettings {
    fn default() -> Self {
        Self {
            theme: None,
            mouse: true,
            images: false,
            image_protocol: ImageProtocol::Auto,
            title: true,
            hyperlinks: None,
            plain: false,
            text_width: 80,
            layout: LayoutChoice::default(),
            feeds_width: None,
            list_share: None,
            clean_links: true,
            order: ListOrder::Newest,
            reading: 0,
            reading_at: TimeOfDay::default(),
            escape_time: None,
            columns: vec![EntryColumn::Date, EntryColumn::Title, EntryColumn::Feed],
            mark_read: MarkRead::default(),
            feeds: ShownFeeds::default(),
            counts: CountStyle::default(),
            join: Join::default(),
            hints: true,
            interest: true,
            restore: true,
            key_preset: KeyPreset::Default,
            colours: Vec::new(),
            keys: Keymap::default(),
        }
    }
}
