//! The final pass over the drawn screen, which replaces the role of each cell by the colours and text attributes of the theme.

use std::cell::RefCell;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

use crate::ui::theme::appearance::Appearance;
use crate::ui::theme::colours::Colours;
use crate::ui::theme::contrast::shown_paint;
use crate::ui::theme::theme_roles::{Accent, Ink, Theme, ThemeRole};

/// The background colour that marks the cells of the selected row until the theme is applied.
const SELECTED_GROUND: Color = Color::Indexed(ThemeRole::Selected as u8);

/// The styles of all roles, in the order of [`ThemeRole::ALL`].
type Styles = [Style; ThemeRole::ALL.len()];

thread_local! {
    /// The styles of the last frame, with the theme and the number of colours they were made for. Choosing colours with enough
    /// contrast among 240 for each role takes as long as drawing the whole frame.
    static LAST_STYLES: RefCell<Option<(Theme, Colours, Styles)>> = const { RefCell::new(None) };
}

/// Returns the styles of all roles on a terminal with the given number of colours.
fn styles(theme: &Theme, colours: Colours) -> Styles {
    LAST_STYLES.with_borrow_mut(|last| match last {
        Some((of, with, styles)) if of == theme && *with == colours => *styles,
        _ => {
            let styles = ThemeRole::ALL.map(|role| style(theme, role, colours));
            *last = Some((theme.clone(), colours, styles));
            styles
        }
    })
}

/// Applies the theme to all cells of the screen.
pub(super) fn dress(buffer: &mut Buffer, appearance: &Appearance) {
    let Some(theme) = appearance.theme() else { return };
    let styles = styles(theme, appearance.colours);
    let bare = appearance.colours == Colours::None;
    // The last style is reused, because adjacent cells usually have the same roles.
    let mut last = CellStyle::of(Color::Reset, Color::Reset, &styles, bare);
    for cell in &mut buffer.content {
        if (cell.fg, cell.bg) != (last.ink, last.ground) {
            last = CellStyle::of(cell.fg, cell.bg, &styles, bare);
        }
        (cell.fg, cell.bg) = (last.fg, last.bg);
        cell.modifier.insert(last.accents);
    }
}

/// The style for a combination of two roles: the role of the text and the role of the row.
struct CellStyle {
    ink: Color,
    ground: Color,
    fg: Color,
    bg: Color,
    accents: Modifier,
}

impl CellStyle {
    /// Determines the style of a cell. Its foreground colour encodes the role of the text, and its background colour encodes the
    /// role of the row. Other colours belong to pictures and are kept.
    fn of(ink: Color, ground: Color, styles: &[Style], bare: bool) -> Self {
        let role = |colour: Color| {
            let Color::Indexed(number) = colour else { return None };
            styles.get(usize::from(number)).copied()
        };
        if ground == SELECTED_GROUND {
            return Self::of_bar(ink, ground, styles);
        }
        let own = |colour: Color| !bare && !matches!(colour, Color::Reset | Color::Indexed(_));
        let mut style = styles.first().copied().unwrap_or_default();
        for role in [role(ink), role(ground)].into_iter().flatten() {
            style = style.patch(role);
        }
        Self {
            ink,
            ground,
            fg: if own(ink) { ink } else { style.fg.unwrap_or_default() },
            bg: if own(ground) { ground } else { style.bg.unwrap_or_default() },
            accents: style.add_modifier,
        }
    }
}

impl CellStyle {
    /// Determines the style of a cell in the selected row. The row is a bar of one colour, so the text keeps only attributes that
    /// do not change the background.
    fn of_bar(ink: Color, ground: Color, styles: &[Style]) -> Self {
        let role = |colour: Color| {
            let Color::Indexed(number) = colour else { return Style::new() };
            styles.get(usize::from(number)).copied().unwrap_or_default()
        };
        let base = styles.first().copied().unwrap_or_default();
        let bar = base.patch(role(ground));
        let uneven = Modifier::REVERSED | Modifier::DIM;
        let accents = role(ink).add_modifier.difference(uneven);
        Self {
            ink,
            ground,
            fg: bar.fg.unwrap_or_default(),
            bg: bar.bg.unwrap_or_default(),
            accents: bar.add_modifier.union(accents),
        }
    }
}

/// Returns the style of a role on a terminal with the given number of colours.
fn style(theme: &Theme, role: ThemeRole, colours: Colours) -> Style {
    let paint = theme.paint(role);
    let (ink, ground) = shown_paint(theme, role, colours);
    let accents = match colours {
        // With colours, the theme defines the text attributes. Without colours, the attributes alone must distinguish the roles.
        Colours::None => role.without_colour(),
        Colours::Sixteen | Colours::Many | Colours::True => paint.accents.as_slice(),
    };
    let modifiers = accents.iter().copied().map(modifier).fold(Modifier::empty(), Modifier::union);
    Style { fg: ink.map(colour), bg: ground.map(colour), ..Style::new() }.add_modifier(modifiers)
}

/// Converts a colour of a theme to a colour of ratatui.
pub(super) const fn colour(ink: Ink) -> Color {
    match ink {
        Ink::Default => Color::Reset,
        Ink::Ansi(number) | Ink::Indexed(number) => match number {
            0 => Color::Black,
            1 => Color::Red,
            2 => Color::Green,
            3 => Color::Yellow,
            4 => Color::Blue,
            5 => Color::Magenta,
            6 => Color::Cyan,
            7 => Color::Gray,
            8 => Color::DarkGray,
            9 => Color::LightRed,
            10 => Color::LightGreen,
            11 => Color::LightYellow,
            12 => Color::LightBlue,
            13 => Color::LightMagenta,
            14 => Color::LightCyan,
            15 => Color::White,
            number => Color::Indexed(number),
        },
        Ink::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
    }
}

const fn modifier(accent: Accent) -> Modifier {
    match accent {
        Accent::Bold => Modifier::BOLD,
        Accent::Dim => Modifier::DIM,
        Accent::Italic => Modifier::ITALIC,
        Accent::Underlined => Modifier::UNDERLINED,
        Accent::Reversed => Modifier::REVERSED,
        Accent::Struck => Modifier::CROSSED_OUT,
    }
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Cell;
    use ratatui::layout::Rect;

    use super::*;
    use crate::view::theme;

    /// Returns the cell that results from drawing text in these styles, one over another, and applying the theme.
    fn dressed(appearance: &Appearance, styles: &[Style]) -> Cell {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 1, 1));
        for style in styles {
            buffer.set_string(0, 0, "x", *style);
        }
        dress(&mut buffer, appearance);
        buffer.content[0].clone()
    }

    fn appearance(name: &str, colours: Colours) -> Appearance {
        let mut appearance = Appearance { colours, ..Appearance::default() };
        appearance.choose(name).unwrap();
        appearance
    }

    #[test]
    fn a_role_is_drawn_as_the_theme_says() {
        let ansi = appearance("ansi16", Colours::Sixteen);
        let cell = dressed(&ansi, &[theme::STAR]);
        assert_eq!(
            (cell.fg, cell.bg, cell.modifier),
            (Color::Yellow, Color::Reset, Modifier::empty())
        );
        let cell = dressed(&ansi, &[theme::STAR.patch(theme::SELECTED)]);
        assert_eq!((cell.fg, cell.modifier), (Color::Reset, Modifier::REVERSED));
        let dark = appearance("dark", Colours::True);
        let cell = dressed(&dark, &[theme::TEXT]);
        assert_eq!(
            (cell.fg, cell.bg),
            (Color::Rgb(0xd7, 0xda, 0xe0), Color::Rgb(0x16, 0x18, 0x1d))
        );
        let cell = dressed(&dark, &[theme::DIM.patch(theme::SELECTED)]);
        assert_eq!((cell.fg, cell.bg), (Color::Rgb(255, 255, 255), Color::Rgb(0x2f, 0x4f, 0x7a)));
        let cell = dressed(&appearance("dark", Colours::Sixteen), &[theme::TROUBLE]);
        assert_eq!((cell.bg, cell.modifier), (Color::Black, Modifier::BOLD));
    }

    #[test]
    fn without_colours_only_accents_remain() {
        for theme in Appearance::default().themes {
            let bare = appearance(&theme.name, Colours::None);
            for (style, accents) in [
                (theme::TEXT, Modifier::empty()),
                (theme::UNREAD, Modifier::BOLD),
                (theme::TROUBLE, Modifier::BOLD),
                (theme::DIM.patch(theme::SELECTED), Modifier::REVERSED),
                (theme::SELECTED_ELSEWHERE, Modifier::UNDERLINED),
                (Style::new().fg(Color::Rgb(1, 2, 3)).bg(Color::Red), Modifier::empty()),
            ] {
                let cell = dressed(&bare, &[style]);
                assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset), "{}", theme.name);
                assert_eq!(cell.modifier, accents, "{}", theme.name);
            }
        }
    }

    #[test]
    fn selected_row_is_an_even_bar_even_without_colours() {
        let texts = [
            theme::TEXT,
            theme::DIM,
            theme::UNREAD,
            theme::STAR,
            theme::GAP,
            theme::HIT,
            theme::KEY,
        ];
        for known in Appearance::default().themes {
            for colours in [Colours::None, Colours::Sixteen, Colours::Many, Colours::True] {
                let look = appearance(&known.name, colours);
                let bar: Vec<Cell> = texts
                    .iter()
                    .map(|text| dressed(&look, &[text.patch(theme::SELECTED)]))
                    .collect();
                let uneven = Modifier::REVERSED | Modifier::DIM;
                let even = |cell: &Cell| (cell.fg, cell.bg, cell.modifier.intersection(uneven));
                assert!(
                    bar.iter().all(|cell| even(cell) == even(&bar[0])),
                    "{} {colours:?}",
                    known.name
                );
                let row = dressed(&look, &[theme::TEXT]);
                let reversed = bar[0].modifier.contains(Modifier::REVERSED);
                assert_eq!(row.modifier.intersection(uneven), Modifier::empty());
                assert!(reversed || bar[0].bg != row.bg, "{} {colours:?}", known.name);
                let elsewhere = dressed(&look, &[theme::TEXT.patch(theme::SELECTED_ELSEWHERE)]);
                assert!(elsewhere.modifier.contains(Modifier::UNDERLINED), "{}", known.name);
            }
        }
    }

    #[test]
    fn a_pictures_own_colours_are_kept() {
        let style = Style::new().fg(Color::Rgb(1, 2, 3)).bg(Color::Rgb(4, 5, 6));
        let cell = dressed(&appearance("light", Colours::True), &[style]);
        assert_eq!((cell.fg, cell.bg), (Color::Rgb(1, 2, 3), Color::Rgb(4, 5, 6)));
    }
}
