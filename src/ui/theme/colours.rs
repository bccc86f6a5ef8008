//! Detects which colours and hyperlinks a terminal supports, and finds the nearest colour that a terminal can show, with enough
//! contrast. The appearance of the screen is the selected theme, the available ones, and the capabilities of the terminal.

use backissue_core::InputFlaw;

use super::theme_roles::{Ink, Paint, Theme, ThemeRole, built_in, unknown};

/// The number of colours that a terminal supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Colours {
    /// No colours: `NO_COLOR` is set, or the terminal has none.
    None,
    /// The 16 basic colours, as defined by the terminal's colour scheme.
    #[default]
    Sixteen,
    /// The 256 colours of xterm.
    Many,
    /// 24-bit colours.
    True,
}

/// Values of `TERM` for terminals that support 24-bit colours but do not always set `COLORTERM`.
const TRUE_TERMS: [&str; 7] =
    ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour", "rio"];

/// Checks whether the variable `COLORFGBG` says that the background of the terminal is light. Its last number is the number of
/// the background colour among the 16 basic colours.
pub fn has_light_ground(variable: impl Fn(&str) -> Option<String>) -> bool {
    let said = variable("COLORFGBG").unwrap_or_default();
    let background = said.rsplit(';').next().and_then(|number| number.parse::<u8>().ok());
    background.is_some_and(|background| matches!(background, 7 | 9..=15))
}

/// Checks whether a colour is light, so that dark text is readable on it.
pub fn is_light(red: u8, green: u8, blue: u8) -> bool {
    let ink = Ink::Rgb(red, green, blue);
    contrast(ink, Ink::Rgb(0, 0, 0)) > contrast(ink, Ink::Rgb(255, 255, 255))
}

/// Checks whether the locale has only ASCII characters, or uses an encoding other than UTF-8. Environments without a locale are
/// common on systems that use UTF-8 everywhere, so the result is `false` for them.
pub fn has_ascii_locale(variable: impl Fn(&str) -> Option<String>) -> bool {
    let mut names = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable);
    let locale = names.find(|value| !value.is_empty()).unwrap_or_default().to_ascii_lowercase();
    !locale.is_empty() && !locale.contains("utf-8") && !locale.contains("utf8")
}

/// Checks whether the program runs inside GNU screen. GNU screen inherits the variables of the outer terminal, but shows at most
/// 256 colours and only forwards escape sequences that are wrapped. A terminal with the name `screen` may also be tmux.
pub fn is_in_gnu_screen(variable: impl Fn(&str) -> Option<String>) -> bool {
    let said = |name: &str| variable(name).unwrap_or_default();
    let is_named = said("TERM").starts_with("screen") || !said("STY").is_empty();
    is_named && said("TMUX").is_empty()
}

impl Colours {
    /// Detects the number of supported colours from environment variables. A non-empty `NO_COLOR` disables colours. A `COLORTERM`
    /// with `truecolor` or `24bit`, a `TERM` ending in `-direct`, or one of a few known terminal names means 24-bit colours, except
    /// in GNU screen. A `TERM` with `256color` means 256 colours, and `dumb` means none. Any other environment means 16 colours.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let said = |name: &str| variable(name).unwrap_or_default();
        let (term, promised) = (said("TERM"), said("COLORTERM"));
        let known = TRUE_TERMS.iter().any(|name| {
            term.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        });
        if !said("NO_COLOR").is_empty() || term == "dumb" {
            Self::None
        } else if (promised == "truecolor"
            || promised == "24bit"
            || known
            || term.ends_with("-direct"))
            && !is_in_gnu_screen(variable)
        {
            Self::True
        } else if term.contains("256color") {
            Self::Many
        } else {
            Self::Sixteen
        }
    }

    /// Returns the colour to use on this terminal for text on the given backgrounds. This is the colour nearest to `ink`, unless
    /// its contrast is less than `least`. In this case, it is the nearest colour with enough contrast, if there is one.
    pub fn shown_on(self, ink: Ink, grounds: &[Ink], least: f64) -> Option<Ink> {
        let nearest = self.shown(ink)?;
        let is_read =
            |ink: Ink| grounds.iter().all(|background| contrast(ink, *background) >= least);
        let candidates = match self {
            Self::None | Self::True => return Some(nearest),
            Self::Sixteen => (0..16).map(Ink::Ansi).collect::<Vec<_>>(),
            Self::Many => (16..=255).map(Ink::Indexed).collect(),
        };
        if is_read(nearest) {
            return Some(nearest);
        }
        let read = candidates.into_iter().filter(|ink| is_read(*ink));
        read.min_by_key(|candidate| distance(rgb(*candidate), rgb(ink))).or(Some(nearest))
    }

    /// Returns the nearest colour that this terminal can show. Returns `None` if the terminal has no colours.
    pub fn shown(self, ink: Ink) -> Option<Ink> {
        match (self, ink) {
            (Self::None, _) => None,
            (Self::Many, Ink::Rgb(red, green, blue)) => {
                Some(Ink::Indexed(nearest_of_256((red, green, blue))))
            }
            (Self::Sixteen, Ink::Rgb(..) | Ink::Indexed(16..)) => {
                Some(Ink::Ansi(nearest_of_16(rgb(ink))))
            }
            (Self::Sixteen, Ink::Indexed(own)) => Some(Ink::Ansi(own)),
            (Self::Sixteen | Self::Many | Self::True, ink) => Some(ink),
        }
    }
}

type Rgb = (u8, u8, u8);

/// Red, green and blue of the 16 basic colours, as defined by xterm. The colour scheme of a terminal may differ.
const SIXTEEN: [Rgb; 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

/// Levels of red, green and blue in the 216-colour cube of xterm.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Returns the red, green and blue values of a colour, as defined by xterm. The terminal's default colour counts as light grey.
pub fn rgb(ink: Ink) -> Rgb {
    let step = |number: u8| STEPS.get(usize::from(number % 6)).copied().unwrap_or(0);
    match ink {
        Ink::Rgb(red, green, blue) => (red, green, blue),
        Ink::Default => (229, 229, 229),
        Ink::Ansi(own) | Ink::Indexed(own @ 0..16) => {
            SIXTEEN.get(usize::from(own)).copied().unwrap_or((229, 229, 229))
        }
        Ink::Indexed(cube @ 16..232) => {
            let number = cube.saturating_sub(16);
            (step(number / 36), step(number / 6), step(number))
        }
        Ink::Indexed(grey) => {
            let level = grey.saturating_sub(232).saturating_mul(10).saturating_add(8);
            (level, level, level)
        }
    }
}

/// Returns the number of the nearest colour among the colour cube and the greys of xterm. The first 16 colours are never used,
/// because they depend on the colour scheme of the terminal.
fn nearest_of_256(wanted: Rgb) -> u8 {
    (16..=255).min_by_key(|&number| distance(rgb(Ink::Indexed(number)), wanted)).unwrap_or(16)
}

/// Returns the number of the nearest of the 16 basic colours. Hue counts more than brightness, so that dark blue becomes blue
/// instead of black.
fn nearest_of_16(wanted: Rgb) -> u8 {
    (0..16).min_by_key(|&number| distance(rgb(Ink::Ansi(number)), wanted)).unwrap_or(7)
}

/// Returns an approximate visual distance between two colours. Differences in green have the greatest weight.
fn distance(one: Rgb, other: Rgb) -> u32 {
    let apart = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    2 * apart(one.0, other.0) + 4 * apart(one.1, other.1) + 3 * apart(one.2, other.2)
}

/// Returns the contrast ratio of two colours as defined by WCAG 2.2, from 1 (equal) to 21 (black and white).
pub fn contrast(one: Ink, other: Ink) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn luminance(ink: Ink) -> f64 {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    let (red, green, blue) = rgb(ink);
    0.7152_f64.mul_add(linear(green), 0.2126_f64.mul_add(linear(red), 0.0722 * linear(blue)))
}

/// Checks whether the terminal is known to calculate a wrong width for symbols of several characters, such as flags and families.
/// This is the case for tmux before 3.4, screen, and the Linux console.
pub fn mismeasures_clusters(variable: impl Fn(&str) -> Option<String>) -> bool {
    let said = |name: &str| variable(name).unwrap_or_default();
    let term = said("TERM");
    if said("TERM_PROGRAM") == "tmux" {
        return tmux_version(&said("TERM_PROGRAM_VERSION")) < (3, 4);
    }
    term == "linux" || ["screen", "tmux"].iter().any(|name| term.starts_with(name))
}

fn tmux_version(said: &str) -> (u32, u32) {
    let mut parts = said.trim_start_matches("next-").split(|char: char| !char.is_ascii_digit());
    let mut part = || parts.next().and_then(|part| part.parse::<u32>().ok()).unwrap_or(0);
    (part(), part())
}

/// Checks whether the terminal is known to support OSC 8 hyperlinks, or at least to ignore them.
///
/// The known terminals are: kitty, foot, alacritty, ghostty, wezterm, contour and rio by `TERM`; iTerm2, `WezTerm`, VS Code,
/// ghostty and rio by `TERM_PROGRAM`; VTE from 0.50 by `VTE_VERSION`; konsole by `KONSOLE_VERSION`; Windows Terminal by
/// `WT_SESSION`; tmux from 3.4 by `TERM_PROGRAM_VERSION`. A `TERM` of `linux`, `screen` or `dumb` excludes hyperlinks.
pub fn knows_hyperlinks(variable: impl Fn(&str) -> Option<String>) -> bool {
    const PROGRAMS: [&str; 5] = ["iTerm.app", "WezTerm", "vscode", "ghostty", "rio"];
    let said = |name: &str| variable(name).unwrap_or_default();
    let number = |name: &str| said(name).parse::<u32>().unwrap_or(0);
    let (term, program) = (said("TERM"), said("TERM_PROGRAM"));
    if program == "tmux" {
        return tmux_version(&said("TERM_PROGRAM_VERSION")) >= (3, 4);
    }
    if ["linux", "dumb", ""].contains(&term.as_str()) || term.starts_with("screen") {
        return false;
    }
    TRUE_TERMS.iter().any(|name| term.starts_with(name))
        || PROGRAMS.contains(&program.as_str())
        || number("VTE_VERSION") >= 5000
        || number("KONSOLE_VERSION") >= 201_200
        || !said("WT_SESSION").is_empty()
}

/// Minimum contrast ratio between text and background (WCAG 2.2, 1.4.3).
pub const TEXT_CONTRAST: f64 = 4.5;
/// Minimum contrast ratio between a separator line and its background (WCAG 2.2, 1.4.11).
pub const LINE_CONTRAST: f64 = 3.0;

/// Returns the minimum contrast ratio between an element with this role and its background.
pub const fn least_contrast(role: ThemeRole) -> f64 {
    if matches!(role, ThemeRole::Border) { LINE_CONTRAST } else { TEXT_CONTRAST }
}

/// Returns the foreground and background of a role as the terminal shows them. `None` means that the colour underneath, or else the
/// terminal's default colour, stays visible. If the terminal does not support a foreground colour of the theme, its replacement is
/// chosen for enough contrast with its background and with the selected row of an unfocused pane.
pub fn shown_paint(theme: &Theme, role: ThemeRole, colours: Colours) -> (Option<Ink>, Option<Ink>) {
    let shown = |ink: Option<Ink>| ink.and_then(|ink| colours.shown(ink));
    let ground_of = |role| shown(theme.paint(role).background);
    let paint = theme.paint(role);
    let background = ground_of(role);
    let Some(Ink::Rgb(..)) = paint.ink else { return (shown(paint.ink), background) };
    let beneath =
        [background.or(ground_of(ThemeRole::Text)), ground_of(ThemeRole::SelectedElsewhere)];
    let count = if background.is_some() { 1 } else { beneath.len() };
    let grounds: Vec<Ink> = beneath.into_iter().take(count).flatten().collect();
    let ink = paint.ink.and_then(|ink| colours.shown_on(ink, &grounds, least_contrast(role)));
    (ink, background)
}

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
    /// Styles of entries that the user chose, whatever the theme.
    pub own: Vec<Paint>,
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
        let own = Vec::new();
        let (themes, chosen) = (built_in(), 0);
        Self { themes, chosen, own, colours, hyperlinks, simple_clusters, plain, ascii }
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

#[cfg(test)]
mod tests {
    use crate::ui::theme::colours::*;

    fn environment<'e>(set: &'e [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'e {
        |name| set.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn a_light_background_and_an_ascii_locale_are_recognised() {
        for (value, light) in [("0;15", true), ("15;0", false), ("0;default;7", true), ("", false)]
        {
            assert_eq!(has_light_ground(environment(&[("COLORFGBG", value)])), light, "{value}");
        }
        for (set, ascii) in [
            (&[][..], false),
            (&[("LANG", "C")], true),
            (&[("LANG", "de_DE.UTF-8")], false),
            (&[("LANG", "C.utf8")], false),
            (&[("LC_ALL", "POSIX"), ("LANG", "C.UTF-8")], true),
            (&[("LC_ALL", ""), ("LC_CTYPE", "en_US.ISO-8859-1")], true),
        ] {
            assert_eq!(has_ascii_locale(environment(set)), ascii, "{set:?}");
        }
    }

    #[test]
    fn colour_depth_is_read_from_the_environment() {
        for (set, expected) in [
            (&[][..], Colours::Sixteen),
            (&[("TERM", "xterm")], Colours::Sixteen),
            (&[("TERM", "xterm-256color")], Colours::Many),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], Colours::True),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "24bit")], Colours::True),
            (&[("TERM", "screen-256color"), ("COLORTERM", "truecolor")], Colours::Many),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "24bit"), ("STY", "1.a")], Colours::Many),
            (&[("TERM", "screen"), ("COLORTERM", "24bit"), ("TMUX", "/a,1,0")], Colours::True),
            (&[("TERM", "foot-extra")], Colours::True),
            (&[("TERM", "footloose")], Colours::Sixteen),
            (&[("TERM", "xterm-direct")], Colours::True),
            (&[("TERM", "dumb")], Colours::None),
            (&[("TERM", "xterm-kitty"), ("NO_COLOR", "1")], Colours::None),
            (&[("TERM", "xterm-kitty"), ("NO_COLOR", "")], Colours::True),
        ] {
            assert_eq!(Colours::of(environment(set)), expected, "{set:?}");
        }
    }

    #[test]
    fn fewer_colours_use_the_nearest_one() {
        for (colours, ink, expected) in [
            (Colours::True, Ink::Rgb(1, 2, 3), Some(Ink::Rgb(1, 2, 3))),
            (Colours::Many, Ink::Rgb(255, 0, 0), Some(Ink::Indexed(196))),
            (Colours::Many, Ink::Rgb(0x16, 0x18, 0x1d), Some(Ink::Indexed(234))),
            (Colours::Many, Ink::Ansi(3), Some(Ink::Ansi(3))),
            (Colours::Sixteen, Ink::Rgb(250, 10, 10), Some(Ink::Ansi(9))),
            (Colours::Sixteen, Ink::Indexed(4), Some(Ink::Ansi(4))),
            (Colours::Sixteen, Ink::Indexed(231), Some(Ink::Ansi(15))),
            (Colours::Sixteen, Ink::Default, Some(Ink::Default)),
            (Colours::None, Ink::Ansi(1), None),
        ] {
            assert_eq!(colours.shown(ink), expected, "{colours:?} {ink:?}");
        }
    }

    #[test]
    fn old_multiplexers_do_not_measure_flags() {
        let tmux = |version: &str| {
            let set = [("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", version)];
            let found = |name: &str| set.iter().find(|(other, _)| *other == name);
            mismeasures_clusters(|name| found(name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!((tmux("3.3a"), tmux("3.4"), tmux("next-3.5")), (true, false, false));
        for (term, expected) in [("screen.xterm", true), ("linux", true), ("xterm-kitty", false)] {
            assert_eq!(mismeasures_clusters(environment(&[("TERM", term)])), expected, "{term}");
        }
    }

    #[test]
    fn hyperlinks_need_a_terminal_that_supports_them() {
        for (set, expected) in [
            (&[][..], false),
            (&[("TERM", "xterm-256color")], false),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "7006")], true),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "4803")], false),
            (&[("TERM", "xterm-kitty")], true),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], true),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")], false),
            (
                &[
                    ("TERM", "tmux-256color"),
                    ("TERM_PROGRAM", "tmux"),
                    ("TERM_PROGRAM_VERSION", "3.3a"),
                ],
                false,
            ),
            (
                &[
                    ("TERM", "tmux-256color"),
                    ("TERM_PROGRAM", "tmux"),
                    ("TERM_PROGRAM_VERSION", "3.5a"),
                ],
                true,
            ),
            (&[("TERM", "screen.xterm-256color"), ("VTE_VERSION", "7006")], false),
            (&[("TERM", "linux"), ("WT_SESSION", "x")], false),
        ] {
            assert_eq!(knows_hyperlinks(environment(set)), expected, "{set:?}");
        }
    }
}
