//! Theme files, with lines of the form `role = "colour background accents"`, and the built-in themes in this format.

use std::collections::BTreeMap;

use toml::Spanned;

use super::theme_roles::{Paint, Theme, ThemeRole};
use backissue_core::InputFlaw;

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
    use crate::ui::theme::colours::{Colours, contrast};
    use crate::ui::theme::contrast::{LINE_CONTRAST, TEXT_CONTRAST, shown_paint};
    use crate::ui::theme::theme_files::*;
    use crate::ui::theme::theme_roles::{Accent, Ink};

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
        let (ink, ground) = shown_paint(theme, role, colours);
        let text = shown_paint(theme, ThemeRole::Text, colours);
        (ink.or(text.0), ground.or(text.1))
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
                    let (ink, ground) = seen(&theme, role, colours);
                    let contrast = contrast(ink.unwrap(), ground.unwrap());
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
                let ground = |role| seen(&theme, role, colours).1.unwrap();
                let told = contrast(ground(ThemeRole::Selected), ground(ThemeRole::Text));
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
                paint.ground.is_some()
                    || !paint.ink.is_some_and(|ink| may_be_a_background.contains(&ink)),
                "{}",
                role.name()
            );
            assert!(paint.ink.is_none() || paint.ink != paint.ground, "{}", role.name());
        }
    }

    #[test]
    fn text_on_a_selected_row_is_readable() {
        for theme in built_in().into_iter().skip(1) {
            let ground = theme.paint(ThemeRole::SelectedElsewhere).ground.unwrap();
            for role in [
                ThemeRole::Text,
                ThemeRole::Dim,
                ThemeRole::Unread,
                ThemeRole::Star,
                ThemeRole::Gap,
            ] {
                let ink = seen(&theme, role, Colours::True).0.unwrap();
                assert!(contrast(ink, ground) >= TEXT_CONTRAST, "{}: {}", theme.name, role.name());
            }
            assert!(theme.paint(ThemeRole::Selected).ink.is_some(), "one ink for the whole row");
        }
    }
}
