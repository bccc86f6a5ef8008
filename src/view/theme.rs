//! The roles of screen elements, encoded as styles, and the final pass over the drawn screen, which replaces the role of each cell
//! by the colours and text attributes of the theme.
//!
//! Drawing code only uses roles. The role of a text is written as its foreground and the role of a row as its background, each
//! encoded as an indexed colour. Therefore, drawing functions do not depend on the theme.

use std::cell::RefCell;
use std::ops::Range;

use backissue_core::search::Marks;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::ui::reader::lines::{Role, StyledSpan, Syntax};
use crate::ui::theme::colours::{Appearance, Colours, shown_paint};
use crate::ui::theme::theme_roles::{Accent, Ink, Theme, ThemeRole};

const fn text(role: ThemeRole) -> Style {
    Style::new().fg(Color::Indexed(role as u8))
}

const fn row(role: ThemeRole) -> Style {
    Style::new().bg(Color::Indexed(role as u8))
}

/// Running text.
pub(super) const TEXT: Style = Style::new();
/// Less important text.
pub(super) const DIM: Style = text(ThemeRole::Dim);
/// The title of an unread entry.
pub(super) const UNREAD: Style = text(ThemeRole::Unread);
/// Day headings and tags.
pub(super) const HEADING: Style = text(ThemeRole::Heading);
/// The selected row of the focused pane.
pub(super) const SELECTED: Style = row(ThemeRole::Selected);
/// The selected row of an unfocused pane.
pub(super) const SELECTED_ELSEWHERE: Style = row(ThemeRole::SelectedElsewhere);
/// The symbol of a starred entry.
pub(super) const STAR: Style = text(ThemeRole::Star);
/// A gap in the history of a feed.
pub(super) const GAP: Style = text(ThemeRole::Gap);
/// A problem, such as a failed poll.
pub(super) const TROUBLE: Style = text(ThemeRole::Trouble);
/// The border of a pane.
pub(super) const BORDER: Style = text(ThemeRole::Border);
/// The border of the focused pane.
pub(super) const BORDER_FOCUSED: Style = text(ThemeRole::BorderFocused);
/// The title of the focused pane, which is the most prominent element of the screen.
pub(super) const TITLE_FOCUSED: Style =
    text(ThemeRole::BorderFocused).add_modifier(Modifier::BOLD.union(Modifier::REVERSED));
/// The title of the open entry.
pub(super) const TITLE: Style = text(ThemeRole::Unread).add_modifier(Modifier::BOLD);
/// The names of keys in hints and in the help.
pub(super) const KEY: Style = text(ThemeRole::Key);
/// The shades of the hours in the chart of a week, lightest first.
pub(super) const HEAT: [Style; 4] = [
    text(ThemeRole::Heat1),
    text(ThemeRole::Heat2),
    text(ThemeRole::Heat3),
    text(ThemeRole::Heat4),
];
/// Text that matches a search. This style is applied over the style of the text.
pub(super) const HIT: Style = text(ThemeRole::Hit);

/// Returns the style of the title of an entry. `place` is the index of its colour in the list of colours that the user
/// configured. The title of an unread entry stays bold, so that it can be distinguished from the others.
pub(super) fn own(place: usize, is_unread: bool) -> Style {
    let number = u8::try_from(ThemeRole::ALL.len().saturating_add(place)).unwrap_or_default();
    let weight = if is_unread { Modifier::BOLD } else { Modifier::empty() };
    Style::new().fg(Color::Indexed(number)).add_modifier(weight)
}

/// Draws the selected row of an unfocused pane with a bar in its margin, so that the row is visible in every theme.
pub(super) fn selected_elsewhere(mut line: Line<'static>) -> Line<'static> {
    if let Some(first) = line.spans.first_mut()
        && let Some(rest) = first.content.strip_prefix(' ')
    {
        let rest = Span::styled(rest.to_owned(), first.style);
        *first = Span::styled("▌", BORDER_FOCUSED);
        line.spans.insert(1, rest);
    }
    line.patch_style(SELECTED_ELSEWHERE)
}

/// Splits a text into spans, so that words that match a search are highlighted.
pub(super) fn with_hits(text: &str, style: Style, marks: &Marks) -> Vec<Span<'static>> {
    with_ranges(text, style, &marks.hits(text))
}

/// Splits a text into spans, so that the given byte ranges, in order and without overlaps, are highlighted.
pub(super) fn with_ranges(text: &str, style: Style, hits: &[Range<usize>]) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut at = 0;
    for hit in hits {
        let before = text.get(at..hit.start).unwrap_or_default();
        if !before.is_empty() {
            spans.push(Span::styled(before.to_owned(), style));
        }
        let found = text.get(hit.clone()).unwrap_or_default();
        spans.push(Span::styled(found.to_owned(), style.patch(HIT)));
        at = hit.end;
    }
    let rest = text.get(at..).unwrap_or_default();
    if !rest.is_empty() {
        spans.push(Span::styled(rest.to_owned(), style));
    }
    spans
}

/// Returns the style of a piece of code, depending on its syntax.
const fn of_code(syntax: Syntax) -> Style {
    match syntax {
        Syntax::Other => TEXT,
        Syntax::Comment => text(ThemeRole::CodeComment),
        Syntax::Text => text(ThemeRole::CodeText),
        Syntax::Keyword => text(ThemeRole::CodeKeyword),
        Syntax::Number => text(ThemeRole::CodeNumber),
        Syntax::Name => text(ThemeRole::CodeName),
    }
}

/// Returns the style of a span in an entry's text.
pub(super) fn of_span(span: &StyledSpan) -> Style {
    let mut style = match span.role {
        Role::Text => TEXT,
        Role::Heading(_) => HEADING,
        Role::Link => text(ThemeRole::Link),
        Role::Code | Role::Preformatted => text(ThemeRole::Code),
        Role::Syntax(syntax) => of_code(syntax),
        Role::Image | Role::Embed => text(ThemeRole::Image),
        Role::LinkNumber | Role::ListMarker => text(ThemeRole::Number),
        Role::Caption
        | Role::Note
        | Role::QuoteBar
        | Role::Rule
        | Role::TableBorder
        | Role::WrapMark => DIM,
    };
    for (set, modifier) in [
        (span.style.bold, Modifier::BOLD),
        (span.style.italic, Modifier::ITALIC),
        (span.style.underlined, Modifier::UNDERLINED),
        (span.style.struck, Modifier::CROSSED_OUT),
    ] {
        if set {
            style = style.add_modifier(modifier);
        }
    }
    style
}

/// The background colour that marks the cells of the selected row until the theme is applied.
const SELECTED_GROUND: Color = Color::Indexed(ThemeRole::Selected as u8);

thread_local! {
    /// The styles of the roles in the last frame, with the theme and the number of colours for which they were computed. Choosing
    /// colours with enough contrast from 240 colours for each role takes as long as drawing the whole frame.
    static LAST_STYLES: RefCell<Option<(Theme, Colours, Vec<Style>)>> = const { RefCell::new(None) };
}

/// Returns the styles of all roles, in the order of [`ThemeRole::ALL`], followed by the styles that the user chose for entries.
fn styles(theme: &Theme, appearance: &Appearance) -> Vec<Style> {
    let colours = appearance.colours;
    let mut styles = LAST_STYLES.with_borrow_mut(|last| match last {
        Some((of, with, styles)) if of == theme && *with == colours => styles.clone(),
        _ => {
            let styles = ThemeRole::ALL.map(|role| style(theme, role, colours)).to_vec();
            *last = Some((theme.clone(), colours, styles.clone()));
            styles
        }
    });
    let shown = |ink: Option<Ink>| ink.and_then(|ink| colours.shown(ink));
    let own = appearance.own.iter();
    styles.extend(own.map(|own| painted(shown(own.ink), shown(own.background), &own.accents)));
    styles
}

/// Applies the theme to all cells of the screen.
pub(super) fn dress(buffer: &mut Buffer, appearance: &Appearance) {
    let Some(theme) = appearance.theme() else { return };
    let styles = styles(theme, appearance);
    let bare = appearance.colours == Colours::None;
    // The last style is reused, because adjacent cells usually have the same roles.
    let mut last = CellStyle::of(Color::Reset, Color::Reset, &styles, bare);
    for cell in &mut buffer.content {
        if (cell.fg, cell.bg) != (last.ink, last.background) {
            last = CellStyle::of(cell.fg, cell.bg, &styles, bare);
        }
        (cell.fg, cell.bg) = (last.fg, last.bg);
        cell.modifier.insert(last.accents);
    }
}

/// The style for a combination of two roles: the role of the text and the role of the row.
struct CellStyle {
    ink: Color,
    background: Color,
    fg: Color,
    bg: Color,
    accents: Modifier,
}

impl CellStyle {
    /// Determines the style of a cell. Its foreground colour encodes the role of the text, and its background colour encodes the
    /// role of the row. Other colours belong to pictures and are kept.
    fn of(ink: Color, background: Color, styles: &[Style], bare: bool) -> Self {
        let role = |colour: Color| {
            let Color::Indexed(number) = colour else { return None };
            styles.get(usize::from(number)).copied()
        };
        if background == SELECTED_GROUND {
            return Self::of_bar(ink, background, styles);
        }
        let own = |colour: Color| !bare && !matches!(colour, Color::Reset | Color::Indexed(_));
        let mut style = styles.first().copied().unwrap_or_default();
        for role in [role(ink), role(background)].into_iter().flatten() {
            style = style.patch(role);
        }
        Self {
            ink,
            background,
            fg: if own(ink) { ink } else { style.fg.unwrap_or_default() },
            bg: if own(background) { background } else { style.bg.unwrap_or_default() },
            accents: style.add_modifier,
        }
    }
}

impl CellStyle {
    /// Determines the style of a cell in the selected row. The row is a bar of one colour, so the text keeps only attributes that
    /// do not change the background.
    fn of_bar(ink: Color, background: Color, styles: &[Style]) -> Self {
        let role = |colour: Color| {
            let Color::Indexed(number) = colour else { return Style::new() };
            styles.get(usize::from(number)).copied().unwrap_or_default()
        };
        let base = styles.first().copied().unwrap_or_default();
        let bar = base.patch(role(background));
        let uneven = Modifier::REVERSED | Modifier::DIM;
        let accents = role(ink).add_modifier.difference(uneven);
        Self {
            ink,
            background,
            fg: bar.fg.unwrap_or_default(),
            bg: bar.bg.unwrap_or_default(),
            accents: bar.add_modifier.union(accents),
        }
    }
}

/// Returns the style of a role on a terminal with the given number of colours.
fn style(theme: &Theme, role: ThemeRole, colours: Colours) -> Style {
    let paint = theme.paint(role);
    let (ink, background) = shown_paint(theme, role, colours);
    let accents = match colours {
        // With colours, the theme defines the text attributes. Without colours, the attributes alone must distinguish the roles.
        Colours::None => role.without_colour(),
        Colours::Sixteen | Colours::Many | Colours::True => paint.accents.as_slice(),
    };
    painted(ink, background, accents)
}

/// Returns the style with these colours and text attributes.
fn painted(ink: Option<Ink>, background: Option<Ink>, accents: &[Accent]) -> Style {
    let modifiers = accents.iter().copied().map(modifier).fold(Modifier::empty(), Modifier::union);
    Style { fg: ink.map(colour), bg: background.map(colour), ..Style::new() }
        .add_modifier(modifiers)
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
        let cell = dressed(&ansi, &[STAR]);
        assert_eq!(
            (cell.fg, cell.bg, cell.modifier),
            (Color::Yellow, Color::Reset, Modifier::empty())
        );
        let cell = dressed(&ansi, &[STAR.patch(SELECTED)]);
        assert_eq!((cell.fg, cell.modifier), (Color::Reset, Modifier::REVERSED));
        let dark = appearance("dark", Colours::True);
        let cell = dressed(&dark, &[TEXT]);
        assert_eq!(
            (cell.fg, cell.bg),
            (Color::Rgb(0xd7, 0xda, 0xe0), Color::Rgb(0x16, 0x18, 0x1d))
        );
        let cell = dressed(&dark, &[DIM.patch(SELECTED)]);
        assert_eq!((cell.fg, cell.bg), (Color::Rgb(255, 255, 255), Color::Rgb(0x2f, 0x4f, 0x7a)));
        let cell = dressed(&appearance("dark", Colours::Sixteen), &[TROUBLE]);
        assert_eq!((cell.bg, cell.modifier), (Color::Black, Modifier::BOLD));
    }

    #[test]
    fn without_colours_only_accents_remain() {
        for theme in Appearance::default().themes {
            let bare = appearance(&theme.name, Colours::None);
            for (style, accents) in [
                (TEXT, Modifier::empty()),
                (UNREAD, Modifier::BOLD),
                (TROUBLE, Modifier::BOLD),
                (DIM.patch(SELECTED), Modifier::REVERSED),
                (SELECTED_ELSEWHERE, Modifier::UNDERLINED),
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
        let texts = [TEXT, DIM, UNREAD, STAR, GAP, HIT, KEY];
        for known in Appearance::default().themes {
            for colours in [Colours::None, Colours::Sixteen, Colours::Many, Colours::True] {
                let look = appearance(&known.name, colours);
                let bar: Vec<Cell> =
                    texts.iter().map(|text| dressed(&look, &[text.patch(SELECTED)])).collect();
                let uneven = Modifier::REVERSED | Modifier::DIM;
                let even = |cell: &Cell| (cell.fg, cell.bg, cell.modifier.intersection(uneven));
                assert!(
                    bar.iter().all(|cell| even(cell) == even(&bar[0])),
                    "{} {colours:?}",
                    known.name
                );
                let row = dressed(&look, &[TEXT]);
                let reversed = bar[0].modifier.contains(Modifier::REVERSED);
                assert_eq!(row.modifier.intersection(uneven), Modifier::empty());
                assert!(reversed || bar[0].bg != row.bg, "{} {colours:?}", known.name);
                let elsewhere = dressed(&look, &[TEXT.patch(SELECTED_ELSEWHERE)]);
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
