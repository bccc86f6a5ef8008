//! How the lines of the plan pane are written: headings, sentences, instants.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use ratatui::style::Style;
use ratatui::text::Line;

use crate::view::{cells, theme};

/// Lines of one sentence at most.
pub(in crate::view) const SENTENCE_LINES: usize = 12;

/// Where and how lines are written.
#[derive(Debug, Clone, Copy)]
pub(in crate::view) struct Ink {
    /// Columns there are.
    pub(in crate::view) width: usize,
    /// The zone times are shown in.
    pub(in crate::view) zone: Tz,
    /// Now.
    pub(in crate::view) now: DateTime<Utc>,
    /// Times are told to the second.
    pub(in crate::view) seconds: bool,
}

/// An instant, as short as it can be: the day of the week within six days; seconds where they are wanted and there are
/// some.
pub(in crate::view) fn instant(at: DateTime<Utc>, ink: Ink) -> String {
    let near = at.signed_duration_since(ink.now).num_days().abs() < 6;
    let day = if near { "%a" } else { "%-d %b %Y" };
    let whole = !ink.seconds || at.timestamp().rem_euclid(60) == 0;
    let time = if whole { "%H:%M" } else { "%H:%M:%S" };
    at.with_timezone(&ink.zone).format(&format!("{day} {time}")).to_string()
}

/// An empty line and a heading.
pub(in crate::view) fn heading(lines: &mut Vec<Line<'static>>, text: &'static str) {
    lines.push(Line::default());
    lines.push(Line::styled(text, theme::HEADING));
}

/// A text in as many lines as it needs.
pub(in crate::view) fn sentence(text: &str, width: usize, style: Style) -> Vec<Line<'static>> {
    let lines = cells::wrap(text, width, SENTENCE_LINES);
    lines.into_iter().map(|line| Line::styled(line, style)).collect()
}
