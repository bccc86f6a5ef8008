//! Every colour once. The sixteen colours of the terminal, so that the reader's own scheme is kept.

use ratatui::style::{Color, Modifier, Style};

use ratatui::text::Span;

use crate::app::lines::{Role, StyledSpan};
use crate::search::Marks;

/// Running text.
pub(super) const TEXT: Style = Style::new();
/// What is less important.
pub(super) const DIM: Style = Style::new().fg(Color::DarkGray);
/// What has not been read.
pub(super) const UNREAD: Style = Style::new().add_modifier(Modifier::BOLD);
/// Day headings and tags.
pub(super) const HEADING: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// The selected row of the pane that has the keys.
pub(super) const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);
/// The selected row of another pane.
pub(super) const SELECTED_ELSEWHERE: Style = Style::new().add_modifier(Modifier::UNDERLINED);
/// A star.
pub(super) const STAR: Style = Style::new().fg(Color::Yellow);
/// Something is missing.
pub(super) const GAP: Style = Style::new().fg(Color::Magenta);
/// Something is wrong.
pub(super) const TROUBLE: Style = Style::new().fg(Color::Red);
/// The border of the pane that has the keys.
pub(super) const BORDER_FOCUSED: Style = Style::new().fg(Color::Cyan);
/// Keys in hints and help.
pub(super) const KEY: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);

/// A word that was looked for, over the style of its text.
pub(super) const HIT: Style =
    Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD.union(Modifier::UNDERLINED));

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

/// How a span of an entry's text is drawn.
pub(super) fn of_span(span: &StyledSpan) -> Style {
    let mut style = match span.role {
        Role::Text => TEXT,
        Role::Heading(_) => HEADING,
        Role::Link => Style::new().fg(Color::Blue).add_modifier(Modifier::UNDERLINED),
        Role::Code | Role::Preformatted => Style::new().fg(Color::Green),
        Role::Image | Role::Embed => Style::new().fg(Color::Magenta),
        Role::LinkNumber | Role::ListMarker => Style::new().fg(Color::Cyan),
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
