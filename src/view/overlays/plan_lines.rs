//! Formatting of lines in the plan pane: headings, sentences, times.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use ratatui::style::Style;
use ratatui::text::Line;

use crate::ui::keys::key_bindings::Keymap;
use crate::view::{cells, theme};

/// Maximum number of screen lines that a sentence can take.
pub(in crate::view) const SENTENCE_LINES: usize = 12;

/// The context that determines how lines of the plan pane are formatted.
#[derive(Debug, Clone, Copy)]
pub(in crate::view) struct LineInk<'a> {
    /// Available width in columns.
    pub(in crate::view) width: usize,
    /// Time zone of the displayed times.
    pub(in crate::view) zone: Tz,
    /// Current time.
    pub(in crate::view) now: DateTime<Utc>,
    /// `true` if times include seconds.
    pub(in crate::view) seconds: bool,
    /// The keys of commands.
    pub(in crate::view) keys: &'a Keymap,
}

/// Formats a time as briefly as possible. For times within six days, the day of the week replaces the date. Seconds are included
/// only if `ink` requests them and they are not zero.
pub(in crate::view) fn instant(at: DateTime<Utc>, ink: LineInk<'_>) -> String {
    let near = at.signed_duration_since(ink.now).num_days().abs() < 6;
    let day = if near { "%a" } else { "%-d %b %Y" };
    let whole = !ink.seconds || at.timestamp().rem_euclid(60) == 0;
    let time = if whole { "%H:%M" } else { "%H:%M:%S" };
    at.with_timezone(&ink.zone).format(&format!("{day} {time}")).to_string()
}

/// Adds an empty line and a heading to `lines`.
pub(in crate::view) fn heading(lines: &mut Vec<Line<'static>>, text: &'static str) {
    lines.push(Line::default());
    lines.push(Line::styled(text, theme::HEADING));
}

/// Wraps a text into lines.
pub(in crate::view) fn sentence(text: &str, width: usize, style: Style) -> Vec<Line<'static>> {
    let lines = cells::wrap(text, width, SENTENCE_LINES);
    lines.into_iter().map(|line| Line::styled(line, style)).collect()
}
