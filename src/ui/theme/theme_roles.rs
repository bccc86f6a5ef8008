//! Themes as data: the colours and text attributes of each kind of screen element. The module also parses theme files, with lines
//! of the form `role = "colour background accents"`. The built-in themes have this form too.

use std::collections::BTreeMap;
use std::fmt;

use backissue_core::{InputFlaw, flaw};
use toml::Spanned;

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// The default foreground or background colour of the terminal.
    Default,
    /// One of the 16 basic colours, as defined by the terminal's colour scheme.
    Ansi(u8),
    /// One of the 256 colours of xterm.
    Indexed(u8),
    /// A 24-bit colour: red, green and blue.
    Rgb(u8, u8, u8),
}

/// A text attribute other than colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Accent {
    /// Bold.
    Bold,
    /// Faint (less intense than normal text).
    Dim,
    /// Italic.
    Italic,
    /// Underlined.
    Underlined,
    /// Foreground and background swapped.
    Reversed,
    /// Struck through.
    Struck,
}

/// The style of one role. If a colour is `None`, the colour underneath stays visible.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Paint {
    /// Foreground colour.
    pub ink: Option<Ink>,
    /// Background colour.
    pub background: Option<Ink>,
    /// Text attributes other than colour.
    pub accents: Vec<Accent>,
}

/// The kind of a screen element. A theme defines a style for each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThemeRole {
    /// Running text, and the background of the whole screen.
    Text,
    /// Less important text.
    Dim,
    /// The title of an unread entry.
    Unread,
    /// Day headings, tags, and headings within texts.
    Heading,
    /// The selected row of the focused pane.
    Selected,
    /// The selected row of an unfocused pane.
    SelectedElsewhere,
    /// The symbol of a starred entry.
    Star,
    /// A gap in the history of a feed.
    Gap,
    /// A problem, such as a failed poll.
    Trouble,
    /// The border of a pane.
    Border,
    /// The border of the focused pane.
    BorderFocused,
    /// The names of keys in hints and in the help.
    Key,
    /// Text that matches a search.
    Hit,
    /// The text of a link.
    Link,
    /// Code in an unknown programming language.
    Code,
    /// A comment in code.
    CodeComment,
    /// A string or character literal in code.
    CodeText,
    /// A keyword in code.
    CodeKeyword,
    /// A number or another constant in code.
    CodeNumber,
    /// The name of a function or type in code.
    CodeName,
    /// The placeholder of a picture, a video or an audio file.
    Image,
    /// Link numbers, and the bullets and numbers of lists.
    Number,
    /// An hour of the week with few expected publications.
    Heat1,
    /// An hour of the week with more expected publications than for `Heat1`.
    Heat2,
    /// An hour of the week with many expected publications.
    Heat3,
    /// An hour of the week with the highest numbers of expected publications.
    Heat4,
}

impl ThemeRole {
    /// All roles, in the order in which they are declared.
    pub const ALL: [Self; 26] = [
        Self::Text,
        Self::Dim,
        Self::Unread,
        Self::Heading,
        Self::Selected,
        Self::SelectedElsewhere,
        Self::Star,
        Self::Gap,
        Self::Trouble,
        Self::Border,
        Self::BorderFocused,
        Self::Key,
        Self::Hit,
        Self::Link,
        Self::Code,
        Self::CodeComment,
        Self::CodeText,
        Self::CodeKeyword,
        Self::CodeNumber,
        Self::CodeName,
        Self::Image,
        Self::Number,
        Self::Heat1,
        Self::Heat2,
        Self::Heat3,
        Self::Heat4,
    ];

    /// Returns the role's name in a theme file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Dim => "dim",
            Self::Unread => "unread",
            Self::Heading => "heading",
            Self::Selected => "selected",
            Self::SelectedElsewhere => "selected-elsewhere",
            Self::Star => "star",
            Self::Gap => "gap",
            Self::Trouble => "trouble",
            Self::Border => "border",
            Self::BorderFocused => "border-focused",
            Self::Key => "key",
            Self::Hit => "hit",
            Self::Link => "link",
            Self::Code => "code",
            Self::CodeComment => "code-comment",
            Self::CodeText => "code-string",
            Self::CodeKeyword => "code-keyword",
            Self::CodeNumber => "code-number",
            Self::CodeName => "code-name",
            Self::Image => "image",
            Self::Number => "number",
            Self::Heat1 => "heat-1",
            Self::Heat2 => "heat-2",
            Self::Heat3 => "heat-3",
            Self::Heat4 => "heat-4",
        }
    }

    /// Returns the text attributes that distinguish the role on a terminal without colours. Elements that a symbol or a word
    /// identifies have none: unread entries, stars, gap lines, link numbers, and the shades of a week.
    pub const fn without_colour(self) -> &'static [Accent] {
        match self {
            Self::Heading
            | Self::Trouble
            | Self::Unread
            | Self::BorderFocused
            | Self::Key
            | Self::Code
            | Self::CodeKeyword => &[Accent::Bold],
            Self::Selected => &[Accent::Reversed],
            Self::SelectedElsewhere | Self::Link => &[Accent::Underlined],
            Self::Hit => &[Accent::Bold, Accent::Underlined],
            Self::Image | Self::CodeComment => &[Accent::Italic],
            Self::Text
            | Self::Dim
            | Self::Star
            | Self::Gap
            | Self::Border
            | Self::CodeText
            | Self::CodeNumber
            | Self::CodeName
            | Self::Number
            | Self::Heat1
            | Self::Heat2
            | Self::Heat3
            | Self::Heat4 => &[],
        }
    }
}

/// A theme: a name and a style for each role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// Name of the theme, by which the user selects it.
    pub name: String,
    /// Style of each role, in the order of [`ThemeRole::ALL`].
    paints: [Paint; ThemeRole::ALL.len()],
}

impl Theme {
    /// Creates a theme that defines no styles.
    pub fn bare(name: &str) -> Self {
        Self { name: name.to_owned(), paints: Default::default() }
    }

    /// Returns the style of a role.
    pub fn paint(&self, role: ThemeRole) -> &Paint {
        static NONE: Paint = Paint { ink: None, background: None, accents: Vec::new() };
        self.paints.get(role as usize).unwrap_or(&NONE)
    }

    /// Sets the style of a role.
    pub fn set(&mut self, role: ThemeRole, paint: Paint) {
        if let Some(place) = self.paints.get_mut(role as usize) {
            *place = paint;
        }
    }
}

const NAMES: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const ACCENTS: [(&str, Accent); 6] = [
    ("bold", Accent::Bold),
    ("dim", Accent::Dim),
    ("italic", Accent::Italic),
    ("underlined", Accent::Underlined),
    ("reversed", Accent::Reversed),
    ("struck", Accent::Struck),
];

impl Paint {
    /// Parses a style such as `"cyan bold"`, `"#d7dae0 #16181d"` or `"- black underlined"`. The error is a sentence.
    pub fn parse(text: &str) -> Result<Self, InputFlaw> {
        let mut paint = Self::default();
        let mut colours = 0;
        for word in text.split_whitespace() {
            if let Some((_, accent)) = ACCENTS.iter().find(|(name, _)| *name == word) {
                if !paint.accents.contains(accent) {
                    paint.accents.push(*accent);
                }
                continue;
            }
            let ink = if word == "-" { None } else { Some(Ink::parse(word)?) };
            match colours {
                0 => paint.ink = ink,
                1 => paint.background = ink,
                _ => {
                    return Err(flaw!(
                        "'{word}' is a third colour; only text and background have one"
                    ));
                }
            }
            colours += 1;
        }
        Ok(paint)
    }
}

impl Ink {
    fn parse(word: &str) -> Result<Self, InputFlaw> {
        let named = |name: &str| {
            let place = NAMES.iter().position(|other| *other == name)?;
            u8::try_from(place).ok()
        };
        if word == "default" {
            return Ok(Self::Default);
        }
        if let Some(number) = named(word) {
            return Ok(Self::Ansi(number));
        }
        if let Some(number) = word.strip_prefix("bright-").and_then(named) {
            return Ok(Self::Ansi(number.saturating_add(8)));
        }
        if let Some(digits) = word.strip_prefix('#') {
            let pair =
                |at: usize| u8::from_str_radix(digits.get(at..at.saturating_add(2))?, 16).ok();
            let whole = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            return match (whole, pair(0), pair(2), pair(4)) {
                (true, Some(red), Some(green), Some(blue)) => Ok(Self::Rgb(red, green, blue)),
                _ => Err(flaw!("'{word}' is not a colour: write six hex digits, as in #d7dae0")),
            };
        }
        word.parse().map(Self::Indexed).map_err(|_| {
            flaw!("'{word}' is neither a colour (red, bright-red, 0 to 255, #rrggbb, default, -) nor bold, dim, italic, underlined, reversed, struck")
        })
    }
}

impl fmt::Display for Theme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Name of the default theme.
pub const FIRST: &str = "ansi16";
/// Name of the theme for terminals with a light background.
pub const LIGHT: &str = "light";

const BUILT_IN: [(&str, &str); 4] = [
    (FIRST, include_str!("../../../assets/themes/ansi16.toml")),
    ("dark", include_str!("../../../assets/themes/dark.toml")),
    ("light", include_str!("../../../assets/themes/light.toml")),
    ("high-contrast", include_str!("../../../assets/themes/high-contrast.toml")),
];

/// Returns the built-in themes, with the default theme first.
pub fn built_in() -> Vec<Theme> {
    let read =
        |(name, text): &(&str, &str)| read(name, text, &[]).unwrap_or_else(|_| Theme::bare(name));
    BUILT_IN.iter().map(read).collect()
}

/// Parses a theme file. Roles that the file does not define are taken from the theme that its `base` names (one of `known`) or,
/// without a `base`, from the default theme. The error is a sentence with the line number.
pub fn read(name: &str, text: &str, known: &[Theme]) -> Result<Theme, InputFlaw> {
    let line = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        before.matches('\n').count().saturating_add(1)
    };
    let mut roles: BTreeMap<String, Spanned<String>> = toml::from_str(text).map_err(|error| {
        let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
        match error.span() {
            Some(span) => format!("line {}: {message}", line(span.start)),
            None => message,
        }
    })?;
    let mut theme = known.first().cloned().unwrap_or_else(|| Theme::bare(name));
    if let Some(base) = roles.remove("base") {
        let found = known.iter().find(|theme| theme.name == *base.get_ref());
        let names = || known.iter().map(|theme| theme.name.as_str());
        theme = found.cloned().ok_or_else(|| {
            format!(
                "line {}: {}",
                line(base.span().start),
                unknown("base", base.get_ref(), names())
            )
        })?;
    }
    name.clone_into(&mut theme.name);
    for (key, value) in roles {
        let role = ThemeRole::ALL.into_iter().find(|role| role.name() == key);
        let located = |why: &str| format!("line {}: {why}", line(value.span().start));
        let names = ThemeRole::ALL.into_iter().map(ThemeRole::name);
        let role = role.ok_or_else(|| located(&unknown("role", &key, names)))?;
        theme.set(role, Paint::parse(value.get_ref()).map_err(|why| located(&why))?);
    }
    Ok(theme)
}

/// Formats an error about an unknown name, and suggests a similar known name: `unknown role 'dimm'; did you mean 'dim'?`
pub fn unknown<'n>(what: &str, name: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    let near = known
        .clone()
        .map(|other| (strsim::damerau_levenshtein(name, other), other))
        .min()
        .filter(|(distance, _)| *distance <= 3);
    if let Some((_, near)) = near {
        return format!("unknown {what} '{name}'; did you mean '{near}'?");
    }
    let all = known.collect::<Vec<_>>().join(", ");
    format!("unknown {what} '{name}'; known: {all}")
}

#[cfg(test)]
mod tests {
    use crate::ui::theme::theme_roles::*;

    #[test]
    fn a_paint_is_two_colours_and_accents_in_any_order() {
        let paint = |ink, background, accents: &[Accent]| {
            Ok(Paint { ink, background, accents: accents.to_vec() })
        };
        for (text, expected) in [
            ("", paint(None, None, &[])),
            ("cyan bold", paint(Some(Ink::Ansi(6)), None, &[Accent::Bold])),
            ("bold cyan bold", paint(Some(Ink::Ansi(6)), None, &[Accent::Bold])),
            ("- bright-black", paint(None, Some(Ink::Ansi(8)), &[])),
            ("#d7DAe0 17", paint(Some(Ink::Rgb(0xd7, 0xda, 0xe0)), Some(Ink::Indexed(17)), &[])),
            (
                "default default struck",
                paint(Some(Ink::Default), Some(Ink::Default), &[Accent::Struck]),
            ),
        ] {
            assert_eq!(Paint::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn invalid_paint_is_named_in_the_error() {
        for (text, expected) in [
            ("cyn", "'cyn' is neither"),
            ("#12345", "'#12345' is not a colour"),
            ("#é1234", "'#é1234' is not a colour"),
            ("256", "'256' is neither"),
            ("red blue green", "'green' is a third colour"),
        ] {
            let why = Paint::parse(text).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }

    #[test]
    fn roles_are_at_their_table_positions() {
        for (place, role) in ThemeRole::ALL.into_iter().enumerate() {
            assert_eq!(role as usize, place);
        }
    }
}

#[cfg(test)]
mod theme_files_tests {
    use crate::ui::theme::colours::{Colours, LINE_CONTRAST, TEXT_CONTRAST, contrast, shown_paint};
    use crate::ui::theme::theme_roles::{Accent, Ink, *};

    #[test]
    fn the_themes_of_the_program_paint_every_role() {
        for (name, text) in BUILT_IN {
            let theme = read(name, text, &[]).unwrap();
            assert_eq!(theme.name, name);
            for role in ThemeRole::ALL {
                assert!(text.contains(&format!("\n{} = ", role.name())), "{name}: {}", role.name());
            }
        }
    }

    #[test]
    fn a_file_names_what_it_changes_and_its_base() {
        let known = built_in();
        let mine = read("mine", "base = \"dark\"\nstar = \"red bold\"\n", &known).unwrap();
        assert_eq!(mine.name, "mine");
        assert_eq!(mine.paint(ThemeRole::Star).ink, Some(Ink::Ansi(1)));
        assert_eq!(mine.paint(ThemeRole::Dim), known[1].paint(ThemeRole::Dim));
        let mine = read("mine", "", &known).unwrap();
        assert_eq!(mine.paint(ThemeRole::Dim).accents, [Accent::Dim]);
    }

    #[test]
    fn theme_file_errors_name_their_line() {
        for (text, expected) in [
            (
                "star = \"red\"\nstarr = \"red\"",
                "line 2: unknown role 'starr'; did you mean 'star'?",
            ),
            ("\n\nstar = \"rad\"", "line 3: 'rad' is neither"),
            ("base = \"drak\"", "line 1: unknown base 'drak'; did you mean 'dark'?"),
            ("zzzzzzzzzz = \"red\"", "known: text, dim, unread"),
            ("star = 7", "line 1: "),
            ("star = ", "line 1: "),
            ("[star]\nx = 1", "line 1: "),
        ] {
            let why = read("mine", text, &built_in()).unwrap_err();
            assert!(why.contains(expected), "{why}");
            assert!(!why.contains('\n'), "{why}");
        }
    }

    /// Returns the foreground and background of a role as they appear on the screen.
    fn seen(theme: &Theme, role: ThemeRole, colours: Colours) -> (Option<Ink>, Option<Ink>) {
        let (ink, background) = shown_paint(theme, role, colours);
        let text = shown_paint(theme, ThemeRole::Text, colours);
        (ink.or(text.0), background.or(text.1))
    }

    #[test]
    fn every_role_of_every_theme_can_be_read_at_every_depth() {
        for (name, text, line) in [
            ("dark", TEXT_CONTRAST, LINE_CONTRAST),
            ("light", TEXT_CONTRAST, LINE_CONTRAST),
            ("high-contrast", 7.0, 7.0),
        ] {
            let theme = built_in().into_iter().find(|theme| theme.name == name).unwrap();
            for colours in [Colours::True, Colours::Many, Colours::Sixteen] {
                for role in ThemeRole::ALL {
                    let (ink, background) = seen(&theme, role, colours);
                    let contrast = contrast(ink.unwrap(), background.unwrap());
                    let least = match (role, colours) {
                        (ThemeRole::Border, _) => line,
                        (_, Colours::True) => text,
                        (_, Colours::Many | Colours::Sixteen | Colours::None) => TEXT_CONTRAST,
                    };
                    assert!(
                        contrast >= least,
                        "{name} {colours:?}: {} has {contrast:.1}",
                        role.name()
                    );
                }
                let background = |role| seen(&theme, role, colours).1.unwrap();
                let told = contrast(background(ThemeRole::Selected), background(ThemeRole::Text));
                assert!(told >= 1.5, "{name} {colours:?}: the selected row has {told:.1}");
            }
        }
    }

    #[test]
    fn terminal_colours_are_never_used_as_background() {
        let theme = built_in().remove(0);
        for role in ThemeRole::ALL {
            let paint = theme.paint(role);
            let may_be_a_background = [0, 7, 8, 15].map(Ink::Ansi);
            assert!(
                paint.background.is_some()
                    || !paint.ink.is_some_and(|ink| may_be_a_background.contains(&ink)),
                "{}",
                role.name()
            );
            assert!(paint.ink.is_none() || paint.ink != paint.background, "{}", role.name());
        }
    }

    #[test]
    fn text_on_a_selected_row_is_readable() {
        for theme in built_in().into_iter().skip(1) {
            let background = theme.paint(ThemeRole::SelectedElsewhere).background.unwrap();
            for role in [
                ThemeRole::Text,
                ThemeRole::Dim,
                ThemeRole::Unread,
                ThemeRole::Star,
                ThemeRole::Gap,
            ] {
                let ink = seen(&theme, role, Colours::True).0.unwrap();
                assert!(
                    contrast(ink, background) >= TEXT_CONTRAST,
                    "{}: {}",
                    theme.name,
                    role.name()
                );
            }
            assert!(theme.paint(ThemeRole::Selected).ink.is_some(), "one ink for the whole row");
        }
    }
}
