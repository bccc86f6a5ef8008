//! The roles of screen elements, encoded as styles.
//!
//! Drawing code only uses roles. The role of a text is written as its foreground and the role of a row as its background, each
//! encoded as an indexed colour. After drawing, [`super::dressing`] replaces the roles by the colours and text attributes of the
//! theme. Therefore, drawing functions do not depend on the theme.

use std::ops::Range;

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::ui::reader::lines::{Role, StyledSpan, Syntax};
use crate::ui::theme::theme_roles::ThemeRole;
use backissue_core::search::Marks;

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

/// Draws the selected row of an unfocused pane: with a bar in its margin, so that it is seen whatever the theme does.
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
