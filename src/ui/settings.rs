//! What the screen can be configured to: `[ui]` and `[keys]` of the configuration file.

use serde::{Deserialize, Serialize};

use super::keys::key_bindings::Keymap;

/// `[ui]` and `[keys]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "switches, independent of each other")]
pub struct ScreenSettings {
    /// Name of the theme; `None`: the terminal's own colours.
    pub theme: Option<String>,
    /// The mouse is used.
    pub mouse: bool,
    /// Pictures are shown from the start.
    pub images: bool,
    /// How the terminal is to show them.
    pub image_protocol: ImageProtocol,
    /// The terminal's title says how much is unread.
    pub title: bool,
    /// Links are written as hyperlinks; `None`: where the terminal is known to show them.
    pub hyperlinks: Option<bool>,
    /// Words in the place of lines and signs, one pane at a time.
    pub plain: bool,
    /// Widest column of text in the reader, in cells.
    pub text_width: u16,
    /// How the panes are arranged.
    pub layout: LayoutChoice,
    /// Columns of the subscriptions; `None`: what their names want and the screen allows.
    pub feeds_width: Option<u16>,
    /// What the entry list shows of an entry, from left to right.
    pub columns: Vec<EntryColumn>,
    /// The keys that matter where the reader is stand at the bottom.
    pub hints: bool,
    /// The reader comes back where it was.
    pub restore: bool,
    /// The keys in force; they have a table of their own.
    #[serde(skip)]
    pub keys: Keymap,
}

/// How the reader wants the panes arranged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayoutChoice {
    /// As the width of the screen allows.
    #[default]
    Auto,
    /// Three panes side by side.
    Three,
    /// Subscriptions, and the entries above the text beside them.
    Two,
    /// One pane at a time.
    One,
}

/// Something that the entry list shows of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryColumn {
    /// The time of day, or the date where no heading says it.
    Date,
    /// The title, with labels and star.
    Title,
    /// The feed, where others stand beside it.
    Feed,
}

/// How the terminal is to show pictures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImageProtocol {
    /// As it is known to be able to.
    #[default]
    Auto,
    /// kitty's protocol.
    Kitty,
    /// iTerm2's.
    Iterm2,
    /// Sixels.
    Sixel,
    /// Two coloured halves a cell.
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
