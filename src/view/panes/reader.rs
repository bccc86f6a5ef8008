//! The reader pane: an entry with its title, origin, text and links. The pictures and the terminal hyperlinks (OSC 8) of the text
//! are added to the finished screen. Pictures keep their own colours, which do not depend on the theme.
//!
//! Consecutive cells that belong to one link and have the same style become a single cell. This cell contains the opening escape
//! sequence, the text of all these cells, and the closing escape sequence, and it has the width of all these cells. The other cells
//! become empty. Anything that is drawn there later differs from the empty cells and is therefore written to the terminal again, so
//! that no cell keeps a link that has disappeared.

use std::num::NonZeroU16;

use backissue_core::feed::text::{one_line, short_authors};
use backissue_core::history::address::host;
use backissue_core::history::{FeedKey, Gap};
use backissue_core::words;
use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::buffer::{Buffer, Cell, CellDiffOption};
use ratatui::layout::{Constraint, Layout, Margin, Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

use super::{entry_lines, entry_row};
use crate::engine::backfill::history_requests;
use crate::engine::entries::entry_filters;
use crate::engine::entries::rows::RowKey;
use crate::ui::app::App;
use crate::ui::reader::lines::{self, Role, StyledLine};
use crate::ui::reader::{find_in_text, gap_explained, lay_out, open_pages};
use crate::ui::state::layout::{Area, Pane, Viewport};
use crate::ui::state::overlay::Overlay;
use crate::ui::state::reader::{PicturePlace, PictureState, Reader, TextSource};
use crate::ui::theme::graphics::{Drawing, DrawnCell};
use crate::view::theme::{self, colour};
use crate::view::{cells, pane, plain};

/// Maximum number of title lines. A longer title is cut.
const TITLE_LINES: usize = 4;
/// Maximum number of lines for the feed, author and date of an entry.
const ORIGIN_LINES: usize = 2;

/// Number of cells that may be lost when the lines with feed, author and date are wrapped.
const ORIGIN_SLACK: usize = 16;

/// Minimum number of rows of a pane in which the header stays visible. In lower panes, it scrolls away with the text.
const STAYS_ROWS: u16 = 20;

/// Draws the reader pane. Returns the area of its text, and the number of lines of a header that scrolls away.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    now: DateTime<Utc>,
) -> (Rect, u16) {
    let place = app.ui.shown_reader().and_then(|reader| position(app, reader)).unwrap_or_default();
    let inside = pane::counted(frame, area, "Reader", &place, app.ui.focus == Pane::Reader);
    let (inside, prose) = columns(app, inside);
    if let Some((feed, gap)) = selected_gap(app, now) {
        let feed = app.engine.feeds.get(&feed);
        let account = feed.and_then(|feed| feed.record.feed_settings.account.as_deref());
        let said =
            gap_explained::explain_gap(&gap, app.engine.zone, account, &app.ui.settings.keys)
                .join("\n\n");
        let text = Paragraph::new(said).wrap(Wrap { trim: true });
        frame.render_widget(text, prose);
        return (inside, 0);
    }
    let Some(reader) = app.ui.shown_reader() else {
        let hint = vec![
            Span::styled(app.ui.words("{open}"), theme::KEY),
            Span::styled(" opens an entry", theme::DIM),
        ];
        frame.render_widget(Paragraph::new(Line::from(hint)), prose);
        return (inside, 0);
    };
    let lines = head_lines(app, reader, usize::from(prose.width));
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(inside.height / 2);
    let moving = if inside.height < STAYS_ROWS { rows } else { 0 };
    // The laid-out text contains lines for the header. Until the text is laid out, there are no such lines.
    let is_above = reader.rendered.is_some() && reader.head_rows() > 0;
    let [_, below] =
        Layout::vertical([Constraint::Length(rows), Constraint::Fill(1)]).areas(inside);
    let (text, gone) = if is_above { (inside, reader.scroll) } else { (below, 0) };
    draw_text(frame, text, app, reader);
    let lines = lines.get(gone..usize::from(rows)).unwrap_or_default();
    pane::put(frame, lines, Rect { height: rows, ..prose });
    (text, moving)
}

/// Formats which part of the text has been shown, in percent. Returns `None` if the whole text is visible.
fn position(app: &App, reader: &Reader) -> Option<String> {
    let lines = reader.rendered.as_ref()?.lines.len();
    let rows = usize::from(app.ui.viewport.reader_rows);
    let shown = reader.scroll.saturating_add(rows).min(lines);
    (lines > rows)
        .then(|| format!("{} %", shown.saturating_mul(100).checked_div(lines).unwrap_or(0)))
}

/// Draws the mark on the right border that shows which part of a long text is visible.
pub(in crate::view) fn draw_mark(frame: &mut Frame<'_>, area: Rect, app: &App) {
    let Some(reader) = app.ui.shown_reader() else { return };
    let lines = reader.rendered.as_ref().map_or(0, |text| text.lines.len());
    let rows = usize::from(app.ui.viewport.reader_rows);
    if lines > rows {
        // The mark is at the bottom as soon as the last line is visible.
        let places = lines.saturating_sub(rows).saturating_add(1).max(usize::from(area.height));
        let end = lines.saturating_sub(rows).max(1);
        let place = reader.scroll.saturating_mul(places.saturating_sub(1)) / end;
        pane::position_mark(frame, area, place, places);
    }
}

/// Returns the area for wide contents, with a blank column on both sides, and the area for running text in the middle of it.
fn columns(app: &App, inside: Rect) -> (Rect, Rect) {
    let wide =
        Rect { x: inside.x.saturating_add(1), width: inside.width.saturating_sub(2), ..inside };
    let text_width = app.ui.settings.text_width;
    let x = wide.x.saturating_add(lay_out::margin(wide.width, text_width));
    (wide, Rect { x, width: wide.width.min(text_width), ..wide })
}

/// Returns the selected gap, which the pane explains instead of showing an entry. Returns `None` if no gap is selected.
fn selected_gap(app: &App, now: DateTime<Utc>) -> Option<(FeedKey, Gap)> {
    match app.ui.list.selected_row()?.key {
        RowKey::Gap(feed, gap) => {
            Some((feed, history_requests::shown(&app.engine, feed, gap, now)?))
        }
        RowKey::Entry(_) => None,
    }
}

/// Returns the lines above the text: title, feed with author and date, effects of filters, link, and a blank line.
fn head_lines(app: &App, reader: &Reader, width: usize) -> Vec<Line<'static>> {
    let kept = &reader.entry.kept;
    let feed =
        app.engine.feeds.get(&reader.entry.key.feed).map_or("", |feed| feed.record.shown_title());
    let star = if reader.entry.flags.is_starred() { "★ " } else { "" };
    let title = kept.title.as_deref().filter(|title| !title.is_empty()).unwrap_or("(no title)");
    let dated = words::minute(kept.listed(), app.engine.zone);
    let text = text_shown(reader);
    let author = kept.author.as_deref().map(short_authors);
    let minutes = Some(format!("{} min", reader.minutes)).filter(|_| reader.minutes > 1);
    let parts = [author.as_deref(), Some(&dated), minutes.as_deref(), kept.foreign_origin(), text];
    let rest = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    // If there is too little room, the name of the feed is cut, so that the date stays visible.
    let lines = width.saturating_mul(ORIGIN_LINES);
    let room = lines.saturating_sub(cells::width(&rest)).saturating_sub(ORIGIN_SLACK);
    let origin = format!("{} · {rest}", cells::cut(feed, room.max(ORIGIN_SLACK)));
    let address = one_line(
        &app.ui.settings.link(kept.link.as_deref().unwrap_or_default()),
        width.saturating_mul(4),
    );
    let feed = app.engine.feeds.get(&reader.entry.key.feed);
    let language = feed.and_then(|feed| feed.state.stated.language.as_deref());
    let is_leftward = entry_lines::is_leftward(title, language);
    let title = cells::wrap(&format!("{star}{title}"), width, TITLE_LINES);
    // A right-to-left title starts at the right edge, like the text below it.
    let placed = |line: String| if is_leftward { cells::ends("", &line, width) } else { line };
    let origin = cells::wrap(&origin, width, ORIGIN_LINES);
    let mut lines: Vec<Line<'static>> = Vec::new();
    lines.extend(title.into_iter().map(|line| Line::styled(placed(line), theme::TITLE)));
    lines.extend(origin.into_iter().map(|line| Line::styled(line, theme::DIM)));
    for reason in entry_filters::reasons(&app.engine, &reader.entry) {
        lines.push(Line::styled(cells::cut(&reason, width), theme::DIM));
    }
    let row = app.ui.list.rows.iter().find(|row| row.key.entry() == Some(reader.entry.key));
    let also = row.and_then(|row| entry_row::same_articles(app, row));
    lines.extend(also.map(|also| Line::styled(cells::cut(&also, width), theme::DIM)));
    lines.push(Line::styled(cells::cut(&address, width), theme::DIM));
    if let Some(comments) = &kept.comments {
        let address = one_line(comments, width.saturating_mul(4));
        let told = format!("comments: {address}");
        lines.push(Line::styled(cells::cut(&told, width), theme::DIM));
    }
    let hints = [gap_explained::of_edit(app, reader), gap_explained::of_media(app, reader)];
    let hints = hints.into_iter().flatten();
    lines.extend(hints.map(|hint| Line::styled(cells::cut(&hint, width), theme::DIM)));
    lines.push(Line::default());
    lines
}

/// Describes whether the feed's text or the full text is shown. Returns `None` if the entry has no full text.
fn text_shown(reader: &Reader) -> Option<&'static str> {
    match (reader.source, &reader.entry.full) {
        (TextSource::Page, _) => Some("full text"),
        (TextSource::Waiting, _) => Some("fetching full text"),
        (TextSource::Changes, _) => Some("what changed"),
        (TextSource::Feed, Some(full)) if full.failed.is_none() => Some("the feed's text"),
        (TextSource::Feed, Some(_) | None) => None,
    }
}

fn draw_text(frame: &mut Frame<'_>, area: Rect, app: &App, reader: &Reader) {
    let Some(text) = &reader.rendered else { return };
    if text.lines.is_empty() {
        let (_, area) = columns(app, area.outer(Margin::new(1, 0)));
        let why = app.ui.words(if reader.entry.text_gone {
            "The text of this entry is no longer stored: {open-in-browser} opens its page, {full-text} fetches it."
        } else {
            "This entry has no text: {open-in-browser} opens its page."
        });
        frame.render_widget(Paragraph::new(why).style(theme::DIM).wrap(Wrap { trim: true }), area);
        return;
    }
    let hints = match &app.ui.overlay {
        Some(Overlay::Hints(_)) => open_pages::labels(app),
        Some(_) | None => Vec::new(),
    };
    let lines = text.lines.iter().skip(reader.scroll).take(usize::from(area.height));
    let lines: Vec<Line<'_>> = lines
        .map(|line| {
            let line = line.window(reader.sideways, usize::from(area.width));
            Line::from(line_spans(app, &line, &hints))
        })
        .collect();
    pane::put(frame, &lines, area);
}

/// Returns the spans of a line, with highlighted hits, or with hints instead of link numbers.
fn line_spans(app: &App, line: &StyledLine, hints: &[(u16, String)]) -> Vec<Span<'static>> {
    let in_words = app.ui.appearance.plain;
    let found = app.ui.find.as_ref().map(|find| find_in_text::hits_in(&line.text(), &find.wanted));
    let mut at = 0_usize;
    let mut spans = Vec::new();
    for span in &line.spans {
        let style = theme::of_span(span);
        let (from, to) = (at, at.saturating_add(span.text.len()));
        at = to;
        let hint = span.link.and_then(|link| hints.iter().find(|(number, _)| *number == link));
        if let (Role::LinkNumber, Some((_, hint))) = (span.role, hint) {
            let shown = format!("[{hint}]");
            let room = cells::width(&span.text).max(cells::width(&shown));
            // A time stays readable while the user chooses among links.
            let is_time = span.text.contains(':');
            let room = if is_time { cells::width(&shown) } else { room };
            spans.push(Span::styled(cells::fit(&shown, room), theme::HIT));
            if is_time {
                spans.push(Span::styled(span.text.clone(), style));
            }
            continue;
        }
        let text = if in_words { plain::told(span) } else { span.text.clone() };
        match &found {
            // A hit can extend over several spans.
            Some(found) => {
                let inside = found.iter().filter(|hit| hit.start < to && hit.end > from);
                let inside = inside.map(|hit| {
                    hit.start.saturating_sub(from)..hit.end.min(to).saturating_sub(from)
                });
                spans.extend(theme::with_ranges(&text, style, &inside.collect::<Vec<_>>()));
            }
            None => spans.extend(theme::with_hits(&text, style, &app.ui.marks)),
        }
    }
    spans
}

/// Maximum length of an address in bytes. Terminals reject longer addresses.
const ADDRESS_MAX: usize = 2000;

/// Turns the links of the open text into terminal hyperlinks.
pub(in crate::view) fn link(buffer: &mut Buffer, app: &App, viewport: &Viewport) {
    // An overlay covers the text, so there are no links to write.
    if app.ui.covers_panes() {
        return;
    }
    let Some(reader) = app.ui.shown_reader() else { return };
    let Some(text) = &reader.rendered else { return };
    let area = viewport.reader;
    let lines = text.lines.iter().skip(reader.scroll).zip(0..area.rows);
    for (line, row) in lines {
        let row = area.row.saturating_add(row);
        let line = line.window(reader.sideways, usize::from(area.columns));
        for run in runs(&line, area.columns) {
            let address = text.target(run.number).map(|link| &link.url);
            if let Some(address) = address.filter(|address| is_harmless(address)) {
                let from = area.column.saturating_add(run.from);
                link_run(buffer, row, (from, area.column.saturating_add(run.to)), &run, address);
            }
        }
    }
}

/// Consecutive cells of a line that belong to one link.
struct Run {
    number: u16,
    from: u16,
    to: u16,
}

/// Finds the consecutive cells that belong to a link, for each link in a line. The text column has the given width.
fn runs(line: &StyledLine, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut at = 0_u16;
    for span in &line.spans {
        let cells = u16::try_from(lines::cells(&span.text)).unwrap_or(u16::MAX);
        let (from, to) = (at.min(columns), at.saturating_add(cells).min(columns));
        at = at.saturating_add(cells);
        let Some(number) = span.link.filter(|_| to > from) else { continue };
        match runs.last_mut() {
            Some(last) if last.number == number && last.to == from => last.to = to,
            Some(_) | None => runs.push(Run { number, from, to }),
        }
    }
    runs
}

/// Checks whether an address is safe to write into an escape sequence: it has an allowed scheme, consists of printable ASCII
/// characters, and is not too long.
fn is_harmless(address: &str) -> bool {
    let scheme = ["http://", "https://", "mailto:"];
    address.len() <= ADDRESS_MAX
        && scheme.iter().any(|scheme| address.starts_with(scheme))
        && address.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Turns the cells of a row from column `from` to column `to` (exclusive) into hyperlinks, one for each sequence of cells with the
/// same style.
fn link_run(buffer: &mut Buffer, row: u16, (from, to): (u16, u16), run: &Run, address: &str) {
    let style =
        |buffer: &Buffer, column: u16| buffer.cell(Position::new(column, row)).map(Cell::style);
    let mut start = from;
    while start < to {
        let first = style(buffer, start);
        let mut end = start.saturating_add(1);
        while end < to && style(buffer, end) == first {
            end = end.saturating_add(1);
        }
        link_stretch(buffer, row, (start, end), run.number, address);
        start = end;
    }
}

fn link_stretch(buffer: &mut Buffer, row: u16, (from, to): (u16, u16), number: u16, address: &str) {
    let mut text = String::new();
    let mut hidden = 0;
    for column in from..to {
        let Some(cell) = buffer.cell_mut(Position::new(column, row)) else { return };
        if hidden == 0 {
            text.push_str(cell.symbol());
            hidden = cell.symbol().width().max(1);
        }
        hidden = hidden.saturating_sub(1);
        cell.set_symbol("");
    }
    // The width must be specified, because some letters join, so that the text as a whole may be narrower than its cells.
    let cells = NonZeroU16::new(to.saturating_sub(from));
    let (Some(cells), Some(cell)) = (cells, buffer.cell_mut(Position::new(from, row))) else {
        return;
    };
    // The `id` shows the terminal that the pieces of a link on several lines belong together.
    let symbol = format!("\u{1b}]8;id={number};{address}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\");
    cell.set_symbol(&symbol).set_diff_option(CellDiffOption::ForcedWidth(cells));
}

/// A picture that is visible at least in part.
struct Shown<'m> {
    url: &'m str,
    place: PicturePlace,
    /// Index of the first visible line within the picture.
    first: u16,
    row: u16,
    /// Number of visible lines of the picture.
    rows: u16,
}

/// Returns the pictures that are visible at least in part. There are none while an overlay covers the panes.
fn shown(app: &App, area: Area) -> Vec<Shown<'_>> {
    let in_sight = !app.ui.covers_panes();
    let Some(reader) = app.ui.shown_reader().filter(|_| in_sight) else { return Vec::new() };
    let Some(text) = &reader.rendered else { return Vec::new() };
    let in_sight = |place: &PicturePlace| {
        let number = usize::from(place.image).checked_sub(1)?;
        let url = text.images.get(number)?.url.as_str();
        let first = u16::try_from(reader.scroll.saturating_sub(place.line)).ok()?;
        let down = u16::try_from(place.line.saturating_sub(reader.scroll)).ok()?;
        let rows = place.rows.checked_sub(first)?.min(area.rows.checked_sub(down)?);
        let row = area.row.saturating_add(down);
        let indent = place.indent.min(area.columns.saturating_sub(place.columns));
        let place = PicturePlace { indent, ..*place };
        (rows > 0).then_some(Shown { url, place, first, row, rows })
    };
    reader.pictures.iter().filter_map(in_sight).collect()
}

/// Returns the drawing of a picture, if it is finished. Returns `None` if the picture can only be shown as a whole and is partly
/// hidden.
fn ready<'m>(app: &'m App, shown: &Shown<'_>) -> Option<&'m Drawing> {
    let cells = (shown.place.columns, shown.place.rows);
    let drawing = app.ui.pictures.drawing(shown.url, cells)?;
    (!drawing.whole || shown.rows == shown.place.rows).then_some(drawing)
}

/// Writes an explanation in the place of each picture that cannot be shown yet.
pub(in crate::view) fn tell(buffer: &mut Buffer, app: &App, viewport: &Viewport) {
    let area = viewport.reader;
    for shown in shown(app, area) {
        if ready(app, &shown).is_some() {
            continue;
        }
        let text = match app.ui.pictures.standing(shown.url) {
            Some(PictureState::Failed(why)) => format!("no picture: {why}"),
            Some(PictureState::Asked) => {
                format!("fetching the picture from {} …", host(shown.url).unwrap_or_default())
            }
            Some(PictureState::Kept(..)) if shown.rows < shown.place.rows => {
                "picture: scroll until all of it is visible".to_owned()
            }
            Some(PictureState::Kept(..) | PictureState::Sought) | None => "picture …".to_owned(),
        };
        let columns = usize::from(area.columns.saturating_sub(shown.place.indent));
        let text = cells::cut(&text, columns);
        let column = area.column.saturating_add(shown.place.indent);
        buffer.set_stringn(column, shown.row, text, columns, theme::DIM);
    }
}

/// Draws the finished pictures in their places.
pub(in crate::view) fn draw_pictures(buffer: &mut Buffer, app: &App, viewport: &Viewport) {
    let area = viewport.reader;
    for shown in shown(app, area) {
        let Some(drawing) = ready(app, &shown) else { continue };
        let rows = drawing.rows.iter().skip(usize::from(shown.first));
        for (cells, down) in rows.zip(0..shown.rows) {
            let row = shown.row.saturating_add(down);
            for (cell, across) in cells.iter().zip(shown.place.indent..area.columns) {
                put(buffer, Position::new(area.column.saturating_add(across), row), cell);
            }
        }
    }
}

/// Draws one cell of a picture. Cells that the picture covers become empty. Anything drawn there later differs from them and is
/// therefore written to the terminal again.
fn put(buffer: &mut Buffer, at: Position, drawn: &DrawnCell) {
    let Some(cell) = buffer.cell_mut(at) else { return };
    cell.set_style(Style::reset().fg(colour(drawn.ink)).bg(colour(drawn.background)));
    cell.set_symbol(&drawn.symbol);
    if drawn.symbol.is_empty() {
        cell.set_diff_option(CellDiffOption::Skip);
    } else if drawn.paints {
        // After an escape sequence that paints a picture, the position of the cursor is unknown. It is therefore moved to the next
        // cell.
        if drawn.symbol.starts_with('\u{1b}') {
            let (row, column) = (at.y.saturating_add(1), at.x.saturating_add(2));
            cell.set_symbol(&format!("{}\u{1b}[{row};{column}H", drawn.symbol));
        }
        cell.set_diff_option(CellDiffOption::ForcedWidth(NonZeroU16::MIN));
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::{Modifier, Style};

    use crate::ui::reader::lines::StyledSpan;
    use crate::view::panes::reader::*;

    fn line(parts: &[(&str, Option<u16>)]) -> StyledLine {
        let span = |(text, link): &(&str, Option<u16>)| StyledSpan {
            text: (*text).to_owned(),
            link: *link,
            ..StyledSpan::default()
        };
        parts.iter().map(span).collect::<Vec<_>>().into()
    }

    #[test]
    fn neighbours_of_one_link_are_one_run() {
        let line = line(&[("see ", None), ("漢字", Some(1)), ("[1]", Some(1)), ("x", Some(2))]);
        let found: Vec<(u16, u16, u16)> =
            runs(&line, 80).iter().map(|run| (run.number, run.from, run.to)).collect();
        assert_eq!(found, [(1, 4, 11), (2, 11, 12)]);
        let found: Vec<u16> = runs(&line, 6).iter().map(|run| run.to).collect();
        assert_eq!(found, [6], "what does not fit is not linked");
    }

    #[test]
    fn only_harmless_addresses_are_written() {
        for (address, expected) in [
            ("https://a.example/?x=1;y", true),
            ("mailto:a@b.example", true),
            ("javascript:alert(1)", false),
            ("file:///etc/passwd", false),
            ("https://a.example/\u{1b}]8;;", false),
            ("https://a.example/a b", false),
            ("https://é.example/", false),
        ] {
            assert_eq!(is_harmless(address), expected, "{address}");
        }
        assert!(!is_harmless(&format!("https://{}", "a".repeat(2000))));
    }

    #[test]
    fn a_run_is_one_cell_of_its_width_and_what_follows_stays() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, "a漢字b c", Style::new());
        let run = Run { number: 7, from: 1, to: 6 };
        link_run(&mut buffer, 0, (1, 6), &run, "https://a.example/");
        let cell = &buffer.content[1];
        assert_eq!(
            cell.symbol(),
            "\u{1b}]8;id=7;https://a.example/\u{1b}\\漢字b\u{1b}]8;;\u{1b}\\"
        );
        assert_eq!(cell.diff_option, CellDiffOption::ForcedWidth(NonZeroU16::new(5).unwrap()));
        assert_eq!((buffer.content[0].symbol(), buffer.content[7].symbol()), ("a", "c"));
        assert!(buffer.content[2..6].iter().all(|cell| cell.symbol().is_empty()));
    }

    #[test]
    fn a_run_of_letters_that_join_has_the_width_of_its_cells() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        buffer.set_string(0, 0, "لاx", Style::new());
        let to = u16::try_from(lines::cells("لا")).unwrap();
        link_run(&mut buffer, 0, (0, to), &Run { number: 1, from: 0, to }, "https://a.example/");
        let whole = CellDiffOption::ForcedWidth(NonZeroU16::new(to).unwrap());
        assert_eq!((to, buffer.content[0].diff_option), (2, whole));
    }

    #[test]
    fn a_stretch_has_one_style() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        buffer.set_string(0, 0, "ab", Style::new());
        buffer.set_string(2, 0, "cd", Style::new().add_modifier(Modifier::BOLD));
        link_run(&mut buffer, 0, (0, 4), &Run { number: 1, from: 0, to: 4 }, "https://a.example/");
        assert!(buffer.content[0].symbol().contains("\\ab\u{1b}"));
        assert!(buffer.content[2].symbol().contains("\\cd\u{1b}"));
    }

    /// Returns the text that is written to a terminal whose screen shows `before`, to change it to `after`.
    fn written(before: &Buffer, after: &Buffer) -> Vec<(u16, String)> {
        before
            .diff(after)
            .into_iter()
            .map(|(column, _, cell)| (column, cell.symbol().to_owned()))
            .collect()
    }

    #[test]
    fn removed_link_leaves_no_cell_behind() {
        let mut plain = Buffer::empty(Rect::new(0, 0, 6, 1));
        plain.set_string(0, 0, "ladder", Style::new());
        let mut linked = plain.clone();
        link_run(&mut linked, 0, (1, 5), &Run { number: 1, from: 1, to: 5 }, "https://a.example/");
        let columns = |cells: Vec<(u16, String)>| cells.into_iter().map(|(column, _)| column);
        assert_eq!(columns(written(&plain, &linked)).collect::<Vec<_>>(), [1]);
        assert_eq!(columns(written(&linked, &linked)).collect::<Vec<_>>(), [0; 0]);
        assert_eq!(columns(written(&linked, &plain)).collect::<Vec<_>>(), [1, 2, 3, 4]);
    }
}
