//! The last polls in the plan pane: first a row with one mark per poll, then one line per poll.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::plan_lines::{LineInk, heading, instant, sentence};
use crate::engine::poll::poll_log::{PollCause, PollLogEntry};
use crate::view::{bytes, cells, theme};

/// Maximum number of polls that are shown.
const POLLS_SHOWN: usize = 20;
/// Width of the column with the times of the polls, in cells.
const TIME_CELLS: usize = 18;

/// Returns the lines that show the last polls, newest first. `polls` is `None` while they are being read from the store.
pub(in crate::view) fn poll_lines(
    polls: Option<&[PollLogEntry]>,
    ink: LineInk<'_>,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    heading(&mut lines, "Recent polls");
    let Some(polls) = polls else {
        lines.push(Line::styled("…", theme::DIM));
        return lines;
    };
    if polls.is_empty() {
        lines.push(Line::styled("none so far", theme::DIM));
        return lines;
    }
    let shown = polls.get(..polls.len().min(POLLS_SHOWN)).unwrap_or_default();
    // In the row of marks, the newest poll is on the right, as on a time axis.
    let mut marks: Vec<Span<'_>> = shown.iter().rev().map(mark_span).collect();
    if ink.width >= 60 {
        let legend = "   ● new  · nothing new  ! failed, newest last";
        marks.push(Span::styled(legend, theme::DIM));
    }
    lines.push(Line::from(marks));
    for poll in shown {
        lines.extend(line(poll, ink));
    }
    lines
}

fn mark(poll: &PollLogEntry) -> (&'static str, Style) {
    if poll.trouble.is_some() {
        ("!", theme::TROUBLE)
    } else if poll.new > 0 || poll.edited > 0 {
        ("●", theme::TEXT)
    } else {
        ("·", theme::DIM)
    }
}

fn mark_span(poll: &PollLogEntry) -> Span<'static> {
    let (sign, style) = mark(poll);
    Span::styled(sign, style)
}

fn line(poll: &PollLogEntry, ink: LineInk<'_>) -> Vec<Line<'static>> {
    let (sign, style) = mark(poll);
    let status = poll.status.map_or_else(|| "–".to_owned(), |status| status.to_string());
    let what = match (&poll.trouble, poll.new, poll.edited) {
        (Some(trouble), _, _) => trouble.clone(),
        (None, 0, 0) => "nothing new".to_owned(),
        (None, new, 0) => format!("{new} new"),
        (None, new, edited) => format!("{new} new, {edited} edited"),
    };
    let bytes = bytes::words(poll.wire_bytes);
    let cause = match poll.cause {
        PollCause::Due => "",
        PollCause::Asked => ", manual",
        PollCause::Forced => ", forced",
        PollCause::Subscribed => ", first poll",
    };
    let time = cells::fit(&instant(poll.at, ink), TIME_CELLS.min(ink.width / 2));
    let head = format!("{sign} {time} {status:>3} {bytes:>7}  ");
    let room = ink.width.saturating_sub(cells::width(&head));
    if room >= 20 {
        let text = cells::cut(&format!("{what}{cause}"), room);
        return vec![Line::styled(format!("{head}{text}"), style)];
    }
    let mut lines = vec![Line::styled(cells::cut(head.trim_end(), ink.width), style)];
    lines.extend(
        sentence(&format!("{what}{cause}"), ink.width.saturating_sub(2), style).into_iter().map(
            |mut line| {
                line.spans.insert(0, Span::raw("  "));
                line
            },
        ),
    );
    lines
}
