//! The reading position in an entry's text: saved when the user leaves the entry, and restored at any width.
//!
//! A position is counted in characters of the text instead of lines, so it is the same at every width. Characters that the layout
//! adds (bars, borders, bullets, spaces) are not counted.
//!
//! Entries are marked as read while the user reads them, according to `[ui] mark_read`.

use backissue_core::history::{EntryKey, Flag};
use chrono::{DateTime, Utc};

use super::lines::{Rendered, Role};
use crate::engine::change::MarkChange;
use crate::engine::entries::entry_view::ReadingPosition;
use crate::engine::entries::rows::RowKey;
use crate::engine::request::{Effect, Request};
use crate::engine::store_work::Job;
use crate::ui::app::{App, Cx};
use crate::ui::effect::{ScreenEffect, ask_store};
use crate::ui::settings::MarkRead;
use crate::ui::state::layout::Pane;
use crate::ui::state::reader::ReadLater;

/// Returns the number of characters before each line of a text, followed by the number of characters in the whole text.
pub fn count_starts(text: &Rendered) -> Vec<u32> {
    let mut sum = 0_u32;
    let mut starts = Vec::with_capacity(text.lines.len().saturating_add(1));
    starts.push(sum);
    for line in &text.lines {
        let counted = line.spans.iter().filter(|span| is_text(span.role));
        let chars = counted.flat_map(|span| span.text.chars()).filter(|char| !char.is_whitespace());
        sum = sum.saturating_add(u32::try_from(chars.count()).unwrap_or(u32::MAX));
        starts.push(sum);
    }
    starts
}

const fn is_text(role: Role) -> bool {
    match role {
        Role::Text
        | Role::Caption
        | Role::Heading(_)
        | Role::Link
        | Role::Code
        | Role::Preformatted
        | Role::Syntax(_)
        | Role::Image
        | Role::Embed => true,
        Role::LinkNumber
        | Role::ListMarker
        | Role::QuoteBar
        | Role::Rule
        | Role::TableBorder
        | Role::WrapMark
        | Role::Note => false,
    }
}

/// Returns the line that should be the first visible one at a reading position. `starts` is the result of [`count_starts`] for the
/// current layout.
pub fn find_line(starts: &[u32], place: ReadingPosition) -> usize {
    let all = u64::from(starts.last().copied().unwrap_or_default());
    let share = u64::from(place.offset).saturating_mul(all).checked_div(u64::from(place.of));
    let offset = if all == u64::from(place.of) {
        u64::from(place.offset)
    } else {
        share.unwrap_or_default()
    };
    // The position is within the last line that starts at or before it.
    starts.partition_point(|&start| u64::from(start) <= offset).saturating_sub(1)
}

/// The open entry and its reading position before an input is handled, to detect whether the input closes the entry.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    key: EntryKey,
    /// Reading position that was saved when the entry was last closed.
    before: Option<ReadingPosition>,
    now: Option<ReadingPosition>,
}

/// Returns the open entry and its reading position. Returns `None` if no entry is open or its text has not been laid out yet.
pub fn find_open(app: &App) -> Option<Open> {
    let reader = app.ui.reader.as_ref()?;
    reader.rendered.as_ref()?;
    let now = reader.kept(app.ui.viewport.reader_rows);
    Some(Open { key: reader.entry.key, before: reader.entry.place, now })
}

/// Saves the reading position if an input closed the open entry or ends the program. `open` is the entry that was open before the
/// input.
pub fn save_left(
    app: &mut App,
    open: Option<Open>,
    effects: &[ScreenEffect],
) -> Option<ScreenEffect> {
    let open = open.filter(|open| open.before != open.now)?;
    let still = app.ui.reader.as_ref().is_some_and(|reader| reader.entry.key == open.key);
    let ends = |effect: &ScreenEffect| {
        matches!(
            effect,
            ScreenEffect::Quit
                | ScreenEffect::OpenDemo
                | ScreenEffect::MoveIn(_)
                | ScreenEffect::Engine(Effect::Stop)
        )
    };
    if still && !effects.iter().any(ends) {
        return None;
    }
    // The position is also kept in memory, because the user can open the entry again before the store has saved it.
    app.ui.left = Some((open.key, open.now));
    Some(ask_store(Job::SaveReadingPosition(open.key, open.now)))
}

/// Marks an unread entry that was opened as read, either at once or later, according to the settings.
pub fn mark_opened(cx: &mut Cx<'_>, key: EntryKey) {
    match cx.app.ui.settings.mark_read {
        MarkRead::Open | MarkRead::Scroll => mark(cx, vec![key]),
        MarkRead::Leave | MarkRead::After(_) => {
            leave(cx);
            cx.app.ui.read_later = Some(ReadLater { key, since: cx.now });
        }
        MarkRead::Never => {}
    }
}

/// Marks the open entry as read if the user has left it, or if it has been open for the configured time.
pub fn follow_reading(cx: &mut Cx<'_>) {
    let Some(ReadLater { key, .. }) = cx.app.ui.read_later else { return };
    let is_shown = cx.app.ui.shown_reader().is_some_and(|reader| reader.entry.key == key);
    let is_read = cx.app.ui.focus == Pane::Reader && (is_shown || cx.app.ui.opening == Some(key));
    let is_due = due(cx.app).is_some_and(|due| cx.now >= due);
    if is_read && !is_due {
        return;
    }
    if is_due {
        cx.app.ui.read_later = None;
        return mark(cx, vec![key]);
    }
    leave(cx);
}

/// Returns the time at which the open entry counts as read. Returns `None` if this does not depend on the time.
pub fn due(app: &App) -> Option<DateTime<Utc>> {
    let MarkRead::After(delay) = app.ui.settings.mark_read else { return None };
    app.ui.read_later?.since.checked_add_signed(delay)
}

/// Marks the previously open entry as read if the setting is to mark entries when they are left.
fn leave(cx: &mut Cx<'_>) {
    if let (Some(left), MarkRead::Leave) =
        (cx.app.ui.read_later.take(), cx.app.ui.settings.mark_read)
    {
        mark(cx, vec![left.key]);
    }
}

/// Marks the entries that the selection passed on its way down as read: from the row at index `from` to the row before `to`.
pub fn mark_passed(cx: &mut Cx<'_>, from: usize, to: usize) {
    if cx.app.ui.settings.mark_read != MarkRead::Scroll {
        return;
    }
    let rows = (from..to).filter_map(|place| cx.app.ui.list.row(place));
    let keys = rows.filter_map(|row| row.key.entry()).collect();
    mark(cx, keys);
}

/// Marks the given entries as read, except those that the open list shows as read.
fn mark(cx: &mut Cx<'_>, mut keys: Vec<EntryKey>) {
    // An entry without a row was unread when it was opened, and its list has been closed since.
    keys.retain(|key| {
        let row = cx.app.ui.list.rows.iter().find(|row| row.key == RowKey::Entry(*key));
        row.is_none_or(|row| row.flags.is_unread())
    });
    if keys.is_empty() {
        return;
    }
    cx.ask(Request::Mark(MarkChange { keys, flag: Flag::Read, value: true }));
}

#[cfg(test)]
mod tests {
    use crate::ui::reader::lines::{StyledLine, StyledSpan};
    use crate::ui::reader::reading_position::*;

    fn text(lines: &[&[(&str, Role)]]) -> Rendered {
        let span = |&(text, role): &(&str, Role)| StyledSpan {
            text: text.into(),
            role,
            ..StyledSpan::default()
        };
        let line =
            |spans: &&[(&str, Role)]| StyledLine::from(spans.iter().map(span).collect::<Vec<_>>());
        Rendered { lines: lines.iter().map(line).collect(), ..Rendered::default() }
    }

    #[test]
    fn a_place_is_the_same_word_at_another_width() {
        let wide = count_starts(&text(&[
            &[("│ ", Role::QuoteBar), ("one two three", Role::Text)],
            &[("four five", Role::Text)],
        ]));
        let narrow = count_starts(&text(&[
            &[("│ ", Role::QuoteBar), ("one two", Role::Text)],
            &[("│ ", Role::QuoteBar), ("three", Role::Text)],
            &[("four", Role::Text)],
            &[("five", Role::Text)],
        ]));
        assert_eq!(wide, [0, 11, 19]);
        for (offset, in_wide, in_narrow) in [(0, 0, 0), (6, 0, 1), (11, 1, 2), (16, 1, 3)] {
            let place = ReadingPosition { offset, of: 19 };
            assert_eq!((find_line(&wide, place), find_line(&narrow, place)), (in_wide, in_narrow));
        }
    }

    #[test]
    fn text_that_grew_opens_at_the_same_share() {
        let starts = [0, 10, 20, 30, 40];
        for (offset, of, line) in [(5, 20, 1), (10, 20, 2), (0, 0, 0), (7, 0, 0), (90, 20, 4)] {
            assert_eq!(
                find_line(&starts, ReadingPosition { offset, of }),
                line,
                "{offset} of {of}"
            );
        }
        assert_eq!(find_line(&[], ReadingPosition { offset: 1, of: 2 }), 0);
    }
}
