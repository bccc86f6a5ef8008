//! Requests the layout of the open entry's text at the width of the pane, and shows the laid-out lines when they arrive.

use super::{picture_places, reading_position};
use crate::ui::app::App;
use crate::ui::effect::{RenderWork, RenderedEntry, ScreenEffect};

/// Requests the layout of the open entry's text, unless it has already been laid out for the width of the pane.
pub fn ask_lines(app: &mut App) -> Vec<ScreenEffect> {
    let columns = app.ui.viewport.reader_columns;
    let width = columns.min(app.ui.settings.text_width);
    let Some(reader) = &mut app.ui.reader else { return Vec::new() };
    if reader.width == width || width == 0 {
        return Vec::new();
    }
    reader.width = width;
    let (html, base) = reader.markup();
    let site =
        app.engine.feeds.get(&reader.entry.key.feed).and_then(|feed| feed.record.site.clone());
    let (html, base) = (html.to_owned(), base.map(str::to_owned).or(site));
    let (key, source) = (reader.entry.key, reader.source);
    let enclosures = reader.entry.kept.enclosures.clone();
    // On the plain screen, which is made for screen readers, nothing scrolls sideways.
    let slides = !app.ui.appearance.plain;
    vec![ScreenEffect::Render(RenderWork { key, source, html, base, enclosures, width, slides })]
}

/// Shows laid-out lines that arrived. After a change of width, the same part of the text stays visible. A reopened entry starts at
/// its last reading position.
pub fn show_lines(app: &mut App, mut made: RenderedEntry) {
    let rows = usize::from(app.ui.viewport.reader_rows);
    for link in &mut made.rendered.links {
        link.url = app.ui.settings.link(&link.url).into_owned();
    }
    let Some(reader) = &mut app.ui.reader else { return };
    let other = reader.entry.key != made.key || !reader.source.is_same_text(made.source);
    if other || reader.width != made.width {
        return;
    }
    let place = if reader.rendered.is_some() { reader.place() } else { reader.entry.place };
    let at_top = reader.rendered.as_ref().and_then(|_| picture_places::at_top(reader));
    reader.starts = reading_position::count_starts(&made.rendered);
    let line = place.map_or(0, |place| reading_position::find_line(&reader.starts, place));
    reader.scroll = line.min(made.rendered.lines.len().saturating_sub(rows));
    reader.pictures = picture_places::find_places(&made.rendered);
    reader.rendered = Some(made.rendered);
    let shown = picture_places::are_shown(app);
    picture_places::arrange_pictures(app, shown);
    if let (Some(reader), Some(picture)) = (&mut app.ui.reader, at_top) {
        picture_places::put_at_top(reader, picture);
    }
}
