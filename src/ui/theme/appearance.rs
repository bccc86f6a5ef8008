//! The appearance of the screen: the available themes, the selected theme, and the capabilities of the terminal.

use super::colours::Colours;
use super::theme_files::{built_in, unknown};
use super::theme_roles::Theme;
use backissue_core::InputFlaw;

/// The appearance of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "properties of a terminal, independent of each other"
)]
pub struct Appearance {
    /// All available themes: first the built-in ones, then those from files.
    pub themes: Vec<Theme>,
    /// Index of the selected theme.
    pub chosen: usize,
    /// Number of colours that the terminal supports.
    pub colours: Colours,
    /// `true` if links are written as terminal hyperlinks.
    pub hyperlinks: bool,
    /// `true` if the terminal calculates a wrong width for symbols of several characters. Such symbols are then replaced by simpler
    /// ones.
    pub simple_clusters: bool,
    /// `true` to use words instead of lines and symbols, and one pane at a time.
    pub plain: bool,
    /// `true` to draw lines and symbols with ASCII characters, because the locale has no others.
    pub ascii: bool,
}

impl Default for Appearance {
    fn default() -> Self {
        let colours = Colours::default();
        let (hyperlinks, simple_clusters, plain, ascii) = (false, false, false, false);
        Self { themes: built_in(), chosen: 0, colours, hyperlinks, simple_clusters, plain, ascii }
    }
}

impl Appearance {
    /// Returns the selected theme.
    pub fn theme(&self) -> Option<&Theme> {
        self.themes.get(self.chosen)
    }

    /// Replaces the appearance after the configuration has changed. The selected theme stays selected, unless the configuration
    /// names a different theme than before (`themed`).
    pub fn take(&mut self, next: Self, themed: bool) {
        let before = std::mem::replace(self, next);
        // A plain screen that was requested at the start stays plain until the program ends.
        self.plain |= before.plain;
        if let Some(theme) = before.theme().filter(|_| !themed) {
            self.choose(&theme.name).ok();
        }
    }

    /// Selects a theme by name. The error is a sentence.
    pub fn choose(&mut self, name: &str) -> Result<(), InputFlaw> {
        let place = self.themes.iter().position(|theme| theme.name == name);
        let names = || self.themes.iter().map(|theme| theme.name.as_str());
        self.chosen = place.ok_or_else(|| unknown("theme", name, names()))?;
        Ok(())
    }
}
