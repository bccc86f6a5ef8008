//! Hints about the keys for edited entries, for entries whose text is little more than a picture, and for attached sound and
//! video.

use super::lines::{Rendered, Role};
use super::picture_places::cannot_be_shown;
use crate::engine::downloads::record::DownloadState;
use crate::ui::app::App;
use crate::ui::state::reader::{Reader, TextSource};
use backissue_core::feed::Enclosure;

/// Maximum length, in characters, of a text beside pictures that are the point of the entry, as in a comic.
const CAPTION_CHARS_MAX: usize = 300;

/// Returns a hint about the key that shows what the publisher changed. Returns `None` if the entry was not edited.
pub fn of_edit(app: &App, reader: &Reader) -> Option<String> {
    let previous = reader.entry.body.as_ref()?.previous.as_ref()?;
    let at = previous.at.with_timezone(&app.engine.zone).format("%-d %B %Y %H:%M");
    let what = if reader.source == TextSource::Changes { "the text" } else { "what changed" };
    Some(format!("edited {at} · {} shows {what}", app.ui.settings.keys.key("changes")?))
}

/// Returns a hint about the key with which the user sees or hears what the entry is about. Returns `None` if its text is enough.
pub fn of_media(app: &App, reader: &Reader) -> Option<String> {
    let is_hidden = !app.ui.pictures.on && cannot_be_shown(app).is_none();
    if is_hidden && reader.rendered.as_ref().is_some_and(is_picture) {
        return Some(format!("{} shows the picture", app.ui.settings.keys.key("pictures")?));
    }
    let plays = |file: &Enclosure| {
        let kind = file.media_type.as_deref().unwrap_or_default();
        kind.starts_with("audio/") || kind.starts_with("video/")
    };
    let is_media = reader.entry.kept.enclosures.iter().any(plays);
    let key = app.ui.settings.keys.key("download").filter(|_| is_media)?;
    let mut downloads = app.engine.downloads.list.values();
    let is_here = downloads.any(|download| {
        download.entry == reader.entry.key && download.state == DownloadState::Done
    });
    let what = if is_here { "plays the downloaded file" } else { "downloads the attached file" };
    Some(format!("{key} {what}"))
}

/// Checks whether pictures are the point of a text: it has some, and only a few words beside them.
fn is_picture(text: &Rendered) -> bool {
    let is_written = |role: Role| !matches!(role, Role::Image | Role::LinkNumber | Role::Note);
    let spans = text.lines.iter().flat_map(|line| &line.spans);
    let written = spans.filter(|span| is_written(span.role)).flat_map(|span| span.text.chars());
    let chars = written.filter(|char| !char.is_whitespace()).take(CAPTION_CHARS_MAX);
    !text.images.is_empty() && chars.count() < CAPTION_CHARS_MAX
}
