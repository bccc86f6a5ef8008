//! Settings of the screen: `[ui]` and `[keys]` in the configuration file.

use serde::{Deserialize, Serialize};

use super::keys::key_bindings::Keymap;

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
    /// Columns of the entry list, from left to right.
    pub columns: Vec<EntryColumn>,
    /// `true` if the bottom line shows the most important keys of the current context.
    pub hints: bool,
    /// `true` to restore the last list and entry when the program starts.
    pub restore: bool,
    /// Active key bindings, which are configured in the separate table `[keys]`.
    #[serde(skip)]
    pub keys: Keymap,
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
            columns: vec![EntryColumn::Date, EntryColumn::Title, EntryColumn::Feed],
            hints: true,
            restore: true,
            keys: Keymap::default(),
        }
    }
}
