//! The reader pane: an entry with its title, origin, text and links.

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::entry_row;
use crate::engine::backfill::gap_rows;
use crate::engine::entries::entry_filters;
use crate::engine::entries::rows::RowKey;
use crate::ui::app::App;
use crate::ui::reader::lines::{Role, StyledLine};
use crate::ui::reader::{find_in_text, gap_explained, link_hints, media_hints};
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;
use crate::ui::state::reader::{Reader, TextSource};
use crate::view::{cells, html, pane, plain, theme};
use backissue_core::feed::text::{one_line, short_authors};
use backissue_core::history::{FeedKey, Gap};
use backissue_core::words;

/// Maximum number of title lines. A longer title is cut.
const TITLE_LINES: usize = 4;
/// Maximum number of lines for the feed, author and date of an entry.
const ORIGIN_LINES: usize = 2;

/// Number of cells that may be lost where the lines with feed, author and date are wrapped.
const ORIGIN_SLACK: usize = 16;

/// Draws the reader pane. Returns the area of its text.
pub(in crate::view) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    app: &App,
    now: DateTime<Utc>,
) -> Rect {
    let place = app.ui.shown_reader().and_then(|reader| position(app, reader)).unwrap_or_default();
    let inside = pane::counted(frame, area, "Reader", &place, app.ui.focus == Pane::Reader);
    let inside = column(app, inside);
    if let Some((feed, gap)) = selected_gap(app, now) {
        let feed = app.engine.feeds.get(&feed);
        let account = feed.and_then(|feed| feed.record.feed_settings.account.as_deref());
        let said =
            gap_explained::explain_gap(&gap, app.engine.zone, account, &app.ui.settings.keys)
                .join("\n\n");
        let text = Paragraph::new(said).wrap(Wrap { trim: true });
        frame.render_widget(text, inside);
        return inside;
    }
    let Some(reader) = app.ui.shown_reader() else {
        let hint = vec![
            Span::styled(app.ui.words("{open}"), theme::KEY),
            Span::styled(" opens an entry", theme::DIM),
        ];
        frame.render_widget(Paragraph::new(Line::from(hint)), inside);
        return inside;
    };
    let lines = head_lines(app, reader, usize::from(inside.width));
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(inside.height / 2);
    let [head, text] =
        Layout::vertical([Constraint::Length(rows), Constraint::Fill(1)]).areas(inside);
    pane::put(frame, &lines, head);
    draw_text(frame, text, app, reader);
    text
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

/// Returns the area for the text: a column in the middle of the pane, with margins on both sides.
fn column(app: &App, inside: Rect) -> Rect {
    let margins = Constraint::Max(inside.width.saturating_sub(2).min(app.ui.settings.text_width));
    let [column] = Layout::horizontal([margins]).flex(Flex::Center).areas(inside);
    column
}

/// Returns the selected gap, which the pane explains instead of showing an entry. Returns `None` if no gap is selected.
fn selected_gap(app: &App, now: DateTime<Utc>) -> Option<(FeedKey, Gap)> {
    match app.ui.list.selected_row()?.key {
        RowKey::Gap(feed, gap) => Some((feed, gap_rows::shown(&app.engine, feed, gap, now)?)),
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
    let parts = [author.as_deref(), Some(&dated), kept.foreign_origin(), text];
    let rest = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    // The name of the feed is cut before the date is lost.
    let lines = width.saturating_mul(ORIGIN_LINES);
    let room = lines.saturating_sub(cells::width(&rest)).saturating_sub(ORIGIN_SLACK);
    let origin = format!("{} · {rest}", cells::cut(feed, room.max(ORIGIN_SLACK)));
    let address = one_line(
        &app.ui.settings.link(kept.link.as_deref().unwrap_or_default()),
        width.saturating_mul(4),
    );
    let feed = app.engine.feeds.get(&reader.entry.key.feed);
    let language = feed.and_then(|feed| feed.state.stated.language.as_deref());
    let is_leftward =
        html::is_leftward(title.chars()) || language.is_some_and(html::is_leftward_language);
    let title = cells::wrap(&format!("{star}{title}"), width, TITLE_LINES);
    // Like the text below it, a right-to-left title starts at the right edge.
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
    let hints = [media_hints::of_edit(app, reader), media_hints::of_media(app, reader)];
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
        let why = app.ui.words(if reader.entry.text_gone {
            "The text of this entry is no longer stored: {open-in-browser} opens its page, {full-text} fetches it."
        } else {
            "This entry has no text: {open-in-browser} opens its page."
        });
        frame.render_widget(Paragraph::new(why).style(theme::DIM).wrap(Wrap { trim: true }), area);
        return;
    }
    let hints = match &app.ui.overlay {
        Some(Overlay::Hints(_)) => link_hints::labels(app),
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

/// Returns the spans of a line: with highlighted hits, or with hints in place of the numbers of links.
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
            let room = cells::width(&span.text);
            let whole = format!("[{hint}]");
            let shown = if cells::width(&whole) <= room { &whole } else { hint };
            spans.push(Span::styled(cells::fit(shown, room), theme::HIT));
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
