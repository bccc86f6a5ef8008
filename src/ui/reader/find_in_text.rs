//! Finds words within the open text, and scrolls blocks of it that are wider than the pane sideways.
//!
//! All wide blocks scroll together, but none scrolls beyond its right end. Running text does not scroll sideways. A mark at the
//! edge of a line shows that the line continues beyond it.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::lines::{self, Role, StyledLine, StyledSpan};
use crate::ui::app::{App, Cx};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::state::overlay::Overlay;
use crate::ui::state::reader::Find;

/// Opens the input line for the text to find.
pub fn open_line(cx: &mut Cx<'_>) {
    let Some(reader) = cx.app.ui.shown_reader() else {
        return cx.say("open an entry first: {find} finds words in its text");
    };
    let from = reader.scroll;
    cx.app.ui.find = Some(Find { wanted: String::new(), hit: None, from });
    cx.app.ui.open_prompt(Prompt::new(PromptPurpose::Find));
}

/// Reads the text typed so far, and shows its first hit at or below the line where the search began.
pub fn follow_line(app: &mut App) {
    let Some(Overlay::Prompt(prompt)) = &app.ui.overlay else { return };
    if prompt.purpose != PromptPurpose::Find {
        return;
    }
    let wanted = prompt.text.clone();
    let Some(find) = &mut app.ui.find else { return };
    find.wanted = wanted;
    let from = find.from;
    let hits = all_hits(app);
    let first = hits.iter().find(|(line, _)| *line >= from).or(hits.first()).copied();
    select(app, first, from);
}

/// Ends the search. If it is cancelled, scrolls back to the line where the search began.
pub fn end(app: &mut App, cancelled: bool) {
    let Some(find) = app.ui.find.take() else { return };
    if cancelled && let Some(reader) = app.ui.shown_reader_mut() {
        reader.scroll = find.from;
    }
}

/// Shows the number of hits in the status line after the user has finished typing.
pub fn finish(cx: &mut Cx<'_>) {
    if cx.app.ui.find.as_ref().is_some_and(|find| find.wanted.trim().is_empty()) {
        end(cx.app, true);
        return;
    }
    say_place(cx);
}

/// Shows the next (`true`) or previous hit. After the last hit, continues with the first one. Returns `None` if no search in the
/// text is open.
pub fn move_on(cx: &mut Cx<'_>, down: bool) -> Option<()> {
    let hit = cx.app.ui.find.as_ref()?.hit;
    let hits = all_hits(cx.app);
    let place = hit.and_then(|hit| hits.iter().position(|other| *other == hit));
    let next = match (place, down) {
        (Some(place), true) => hits.get(place.saturating_add(1)).or(hits.first()),
        (Some(place), false) => match place.checked_sub(1) {
            Some(before) => hits.get(before),
            None => hits.last(),
        },
        (None, _) => hits.first(),
    };
    let next = next.copied();
    select(cx.app, next, 0);
    say_place(cx);
    Some(())
}

/// Selects a hit and scrolls so that it is visible. If there is none, shows the line where the search began.
fn select(app: &mut App, hit: Option<(usize, usize)>, from: usize) {
    if let Some(find) = &mut app.ui.find {
        find.hit = hit;
    }
    let rows = usize::from(app.ui.viewport.reader_rows).max(1);
    let Some(reader) = app.ui.shown_reader_mut() else { return };
    let lines = reader.rendered.as_ref().map_or(0, |text| text.lines.len());
    let last = lines.saturating_sub(rows);
    match hit {
        Some((line, _)) if (reader.scroll..reader.scroll.saturating_add(rows)).contains(&line) => {}
        Some((line, _)) => reader.scroll = line.saturating_sub(rows / 3).min(last),
        None => reader.scroll = from.min(last),
    }
}

/// Shows the number of the selected hit, and the number of all hits, in the status line.
fn say_place(cx: &mut Cx<'_>) {
    let Some(find) = &cx.app.ui.find else { return };
    let hits = all_hits(cx.app);
    let place = find.hit.and_then(|hit| hits.iter().position(|other| *other == hit));
    let text = match place {
        Some(place) => format!(
            "'{}': {} of {} · {}",
            find.wanted.trim(),
            place.saturating_add(1),
            hits.len(),
            cx.app.ui.words("{next-unread} next · {toggle-read} previous · {close} ends")
        ),
        None => format!("'{}' is not in this text", find.wanted.trim()),
    };
    cx.say(text);
}

/// Returns the line and first byte of all hits in the open text.
fn all_hits(app: &App) -> Vec<(usize, usize)> {
    let Some(find) = &app.ui.find else { return Vec::new() };
    let text = app.ui.shown_reader().and_then(|reader| reader.rendered.as_ref());
    let lines = text.map(|text| text.lines.as_slice()).unwrap_or_default();
    let hits = (0..).zip(lines).flat_map(|(at, line)| {
        hits_in(&line.text(), &find.wanted).into_iter().map(move |hit| (at, hit.start))
    });
    hits.collect()
}

/// Returns the byte ranges at which a text occurs in a line. Upper and lower case count as equal.
pub fn hits_in(line: &str, wanted: &str) -> Vec<Range<usize>> {
    let fold = |char: char| char.to_lowercase().next().unwrap_or(char);
    let wanted: Vec<char> = wanted.trim().chars().map(fold).collect();
    let chars: Vec<(usize, char)> =
        line.char_indices().map(|(at, char)| (at, fold(char))).collect();
    let mut hits: Vec<Range<usize>> = Vec::new();
    if wanted.is_empty() {
        return hits;
    }
    for window in (0..).zip(chars.windows(wanted.len())) {
        let (place, window): (usize, &[(usize, char)]) = window;
        let is_hit = window.iter().map(|(_, char)| char).eq(wanted.iter());
        let Some(&(start, _)) = window.first().filter(|_| is_hit) else { continue };
        let end = chars.get(place.saturating_add(wanted.len())).map_or(line.len(), |(at, _)| *at);
        if hits.last().is_none_or(|last| last.end <= start) {
            hits.push(start..end);
        }
    }
    hits
}

/// Marks at the left and the right edge of lines that continue beyond this edge.
const MARKS: (&str, &str) = ("‹", "›");

/// Scrolls wide blocks sideways by half the width of the pane.
pub fn move_blocks(cx: &mut Cx<'_>, right: bool) {
    let step = usize::from(cx.app.ui.viewport.reader_columns / 2).max(1);
    if !move_by_cells(cx.app, right, step) {
        cx.say("nothing visible is wider than the pane");
    }
}

/// Scrolls wide blocks sideways by a number of cells. Returns `false` if no visible line is wider than the pane.
pub fn move_by_cells(app: &mut App, right: bool, cells: usize) -> bool {
    let most = slack_in_sight(app);
    let Some(reader) = app.ui.shown_reader_mut().filter(|_| most > 0) else { return false };
    // A wider block, scrolled further, may no longer be visible. Scrolling starts at the right end of the visible blocks at most.
    let from = reader.sideways.min(most);
    let to = if right { from.saturating_add(cells).min(most) } else { from.saturating_sub(cells) };
    reader.sideways = to;
    true
}

/// Returns the maximum number of cells by which any visible line can scroll sideways. Returns 0 if no line is wider than the pane.
pub fn slack_in_sight(app: &App) -> usize {
    let viewport = app.ui.viewport;
    let Some(reader) = app.ui.shown_reader() else { return 0 };
    let lines = reader.rendered.iter().flat_map(|text| &text.lines);
    let in_sight = lines.skip(reader.scroll).take(usize::from(viewport.reader_rows));
    let columns = usize::from(viewport.reader_columns);
    in_sight.map(|line| line.slack(columns)).max().unwrap_or_default()
}

impl StyledLine {
    /// Returns the maximum number of cells by which the line can scroll in a pane of `columns` columns.
    fn slack(&self, columns: usize) -> usize {
        self.slide.map_or(0, |slide| slide.cells.saturating_sub(self.room(slide.stays, columns)))
    }

    /// Returns the number of cells for the scrolling part of the line. `stays` is the number of spans that do not scroll.
    fn room(&self, stays: usize, columns: usize) -> usize {
        let fixed = self.spans.iter().take(stays).map(|span| lines::cells(&span.text));
        columns.saturating_sub(fixed.sum())
    }

    /// Returns the part of the line that is visible in a pane of `columns` columns if it is scrolled sideways by `moved` cells.
    pub fn window(&self, moved: usize, columns: usize) -> Cow<'_, Self> {
        let Some(slide) = self.slide.filter(|_| self.slack(columns) > 0) else {
            return Cow::Borrowed(self);
        };
        let from = moved.min(self.slack(columns));
        let to = from.saturating_add(self.room(slide.stays, columns));
        let moving = self.spans.get(slide.stays..).unwrap_or_default();
        let (before, behind) = hidden(moving, from, to);
        let mut spans: Vec<StyledSpan> = self.spans.iter().take(slide.stays).cloned().collect();
        let within =
            (from.saturating_add(usize::from(before)), to.saturating_sub(usize::from(behind)));
        spans.extend(before.then(|| mark(MARKS.0)));
        spans.extend(cut(moving, within));
        spans.extend(behind.then(|| mark(MARKS.1)));
        Cow::Owned(spans.into())
    }
}

fn mark(sign: &str) -> StyledSpan {
    StyledSpan { text: sign.to_owned(), role: Role::WrapMark, ..StyledSpan::default() }
}

/// Returns the graphemes of spans. Each has the index of its span, its first cell, and the first cell after it.
fn placed(spans: &[StyledSpan]) -> impl Iterator<Item = (usize, &str, usize, usize)> {
    let all = spans
        .iter()
        .enumerate()
        .flat_map(|(place, span)| span.text.graphemes(true).map(move |grapheme| (place, grapheme)));
    all.scan(0_usize, |at, (place, grapheme)| {
        let start = *at;
        *at = start.saturating_add(grapheme.width());
        Some((place, grapheme, start, *at))
    })
}

/// Checks whether any text is hidden to the left of the cell `from`, and whether any text is hidden from the cell `to` on.
fn hidden(spans: &[StyledSpan], from: usize, to: usize) -> (bool, bool) {
    let signs = placed(spans).filter(|(_, grapheme, ..)| *grapheme != " ");
    signs.fold((false, false), |(before, behind), (_, _, start, end)| {
        (before || start < from, behind || end > to)
    })
}

/// Returns the text between two cells. A character that is only partly between them is replaced by spaces.
fn cut(spans: &[StyledSpan], (from, to): (usize, usize)) -> Vec<StyledSpan> {
    let mut seen: Vec<StyledSpan> = Vec::new();
    let mut last = None;
    for (place, grapheme, start, end) in placed(spans) {
        let cells = end.min(to).saturating_sub(start.max(from));
        let whole = start >= from && end <= to;
        if !whole && cells == 0 {
            continue;
        }
        if last != Some(place) {
            let bare = spans.get(place).map(StyledSpan::bare).unwrap_or_default();
            seen.push(bare);
            last = Some(place);
        }
        let Some(span) = seen.last_mut() else { continue };
        if whole {
            span.text.push_str(grapheme);
        } else {
            span.text.push_str(&" ".repeat(cells));
        }
    }
    seen
}

impl StyledSpan {
    /// Returns a copy of the span with an empty text.
    fn bare(&self) -> Self {
        Self { text: String::new(), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_ignore_case_and_do_not_overlap() {
        for (line, wanted, hits) in [
            ("Frost and frost", "FROST", &[(0, 5), (10, 15)][..]),
            ("aaaa", "aa", &[(0, 2), (2, 4)]),
            ("Äpfel, äpfel", "äp", &[(0, 3), (8, 11)]),
            ("none", "x", &[]),
            ("none", "  ", &[]),
            ("end", "end", &[(0, 3)]),
        ] {
            let found: Vec<(usize, usize)> =
                hits_in(line, wanted).into_iter().map(|hit| (hit.start, hit.end)).collect();
            assert_eq!(found, hits, "{line} {wanted}");
        }
    }
}

#[cfg(test)]
mod sideways_tests {
    use proptest::prelude::*;

    use crate::ui::reader::find_in_text::*;
    use crate::ui::reader::lines::Slide;

    fn line(stays: &str, moves: &[&str]) -> StyledLine {
        let span = |text: &str| StyledSpan { text: text.to_owned(), ..StyledSpan::default() };
        let cells = moves.concat().width();
        let spans =
            [stays].into_iter().filter(|text| !text.is_empty()).chain(moves.iter().copied());
        let slide = Some(Slide { stays: usize::from(!stays.is_empty()), cells });
        StyledLine { spans: spans.map(span).collect(), slide }
    }

    #[test]
    fn only_blocks_wider_than_the_pane_are_moved() {
        for (stays, moves, moved, columns, expected) in [
            ("", &["0123456789"][..], 0, 10, "0123456789"),
            ("", &["0123456789"], 5, 10, "0123456789"),
            ("", &["0123456789"], 0, 6, "01234›"),
            ("", &["0123456789"], 2, 6, "‹3456›"),
            ("", &["0123456789"], 4, 6, "‹56789"),
            ("", &["0123456789"], 99, 6, "‹56789"),
            ("│ ", &["01234", "56789"], 2, 8, "│ ‹3456›"),
            ("│ ", &["01234", "56789"], 0, 12, "│ 0123456789"),
            ("", &["漢字漢字"], 0, 6, "漢字 ›"),
            ("", &["漢字漢字"], 1, 6, "‹字漢›"),
            ("", &["漢字漢字"], 2, 6, "‹ 漢字"),
            ("", &["e\u{301}e\u{301}e\u{301}e\u{301}"], 1, 3, "‹e\u{301}e\u{301}"),
            ("", &["    0123"], 2, 6, "  0123"),
            ("", &["0123    "], 0, 6, "0123  "),
        ] {
            let line = line(stays, moves);
            assert_eq!(line.window(moved, columns).text(), expected, "{moves:?} {moved} {columns}");
        }
    }

    #[test]
    fn a_line_that_is_shorter_than_its_block_moves_with_it() {
        let mut short = line("", &["ab"]);
        short.slide = Some(Slide { stays: 0, cells: 20 });
        for (moved, expected) in [(0, "ab"), (1, "‹"), (2, "‹"), (9, "‹")] {
            assert_eq!(short.window(moved, 10).text(), expected, "{moved}");
        }
        let text = line("", &["running text"]);
        let text = StyledLine { slide: None, ..text };
        assert_eq!(text.window(5, 4).text(), "running text");
    }

    proptest! {
        #[test]
        fn visible_window_fits_and_every_character_is_reachable(
            text in "[a漢é👩‍🚀 \u{301}א]{0,40}",
            columns in 6_usize..30,
        ) {
            let line = line("> ", &[&text]);
            let seen: Vec<String> =
                (0..60).map(|moved| line.window(moved, columns).text()).collect();
            for window in &seen {
                prop_assert!(window.width() <= columns);
            }
            // A grapheme that is wider than the space between the two marks can never be visible completely.
            let room = columns - "> ‹›".width();
            let fitting = placed(&line.spans).map(|(_, grapheme, ..)| grapheme);
            for grapheme in fitting.filter(|grapheme| grapheme.width() <= room) {
                prop_assert!(seen.iter().any(|window| window.contains(grapheme)), "{grapheme:?}");
            }
        }
    }
}
