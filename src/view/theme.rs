//! The roles of what is drawn, as styles that stand for them.
//!
//! Drawing names roles only: a role of a text is written as its foreground, a role of a row as its background, both
//! as an indexed colour that is none. When all is drawn, [`super::dressing`] puts the theme's colours and accents in
//! their places. So no function that draws knows a theme, and a theme can be changed without drawing otherwise.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

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
/// What is less important.
pub(super) const DIM: Style = text(ThemeRole::Dim);
/// What has not been read.
pub(super) const UNREAD: Style = text(ThemeRole::Unread);
/// Day headings and tags.
pub(super) const HEADING: Style = text(ThemeRole::Heading);
/// The selected row of the pane that has the keys.
pub(super) const SELECTED: Style = row(ThemeRole::Selected);
/// The selected row of another pane.
pub(super) const SELECTED_ELSEWHERE: Style = row(ThemeRole::SelectedElsewhere);
/// A star.
pub(super) const STAR: Style = text(ThemeRole::Star);
/// Something is missing.
pub(super) const GAP: Style = text(ThemeRole::Gap);
/// Something is wrong.
pub(super) const TROUBLE: Style = text(ThemeRole::Trouble);
/// The border of a pane.
pub(super) const BORDER: Style = text(ThemeRole::Border);
/// The border of the pane that has the keys.
pub(super) const BORDER_FOCUSED: Style = text(ThemeRole::BorderFocused);
/// The title of the pane that has the keys: the strongest thing on the screen.
pub(super) const TITLE_FOCUSED: Style =
    text(ThemeRole::BorderFocused).add_modifier(Modifier::BOLD.union(Modifier::REVERSED));
/// The title of an entry that is read.
pub(super) const TITLE: Style = text(ThemeRole::Unread).add_modifier(Modifier::BOLD);
/// Keys in hints and help.
pub(super) const KEY: Style = text(ThemeRole::Key);
/// The shades of a picture of the week, the least first.
pub(super) const HEAT: [Style; 4] = [
    text(ThemeRole::Heat1),
    text(ThemeRole::Heat2),
    text(ThemeRole::Heat3),
    text(ThemeRole::Heat4),
];
/// A word that was looked for, over the style of its text.
pub(super) const HIT: Style = text(ThemeRole::Hit);

/// A text with the words that were looked for marked in it.
pub(super) fn with_hits(text: &str, style: Style, marks: &Marks) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut at = 0;
    for hit in marks.hits(text) {
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

/// How a piece of code is drawn.
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

/// How a span of an entry's text is drawn.
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
