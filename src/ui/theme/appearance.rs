//! How the screen looks: the themes there are, the one that is shown, and what the terminal can show.

use super::colours::Colours;
use super::theme_files::{built_in, unknown};
use super::theme_roles::{Accent, Theme, ThemeRole};

/// How the screen looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appearance {
    /// All themes: those of the program, then those of files.
    pub themes: Vec<Theme>,
    /// Place of the one that is shown.
    pub chosen: usize,
    /// What the terminal can show.
    pub colours: Colours,
    /// Links are written as hyperlinks of the terminal.
    pub hyperlinks: bool,
    /// The terminal measures signs of several characters otherwise than we do: they are written simply.
    pub simple_clusters: bool,
    /// Words in the place of lines and signs, one pane at a time.
    pub plain: bool,
}

impl Default for Appearance {
    fn default() -> Self {
        let colours = Colours::default();
        let (hyperlinks, simple_clusters, plain) = (false, false, false);
        Self { themes: built_in(), chosen: 0, colours, hyperlinks, simple_clusters, plain }
    }
}

impl Appearance {
    /// The theme that is shown.
    pub fn theme(&self) -> Option<&Theme> {
        self.themes.get(self.chosen)
    }

    /// Whether the theme sets unread entries apart by their weight. Else a mark does.
    pub fn is_unread_bold(&self) -> bool {
        let paint = self.theme().map(|theme| theme.paint(ThemeRole::Unread));
        let bold = paint.is_some_and(|paint| paint.accents.contains(&Accent::Bold));
        bold && self.colours != Colours::None
    }

    /// Takes another look over; a theme that was chosen by a key stays, unless another one is configured (`themed`).
    pub fn take(&mut self, next: Self, themed: bool) {
        let before = std::mem::replace(self, next);
        // Who asked for a plain screen at the start asked for all of the run.
        self.plain |= before.plain;
        if let Some(theme) = before.theme().filter(|_| !themed) {
            self.choose(&theme.name).ok();
        }
    }

    /// Shows a theme by its name; an error is a sentence.
    pub fn choose(&mut self, name: &str) -> Result<(), String> {
        let place = self.themes.iter().position(|theme| theme.name == name);
        let names = || self.themes.iter().map(|theme| theme.name.as_str());
        self.chosen = place.ok_or_else(|| unknown("theme", name, names()))?;
        Ok(())
    }
}
