//! Explains a selected gap in the reader pane. The module also names the keys that act on a gap, on edited entries, on entries
//! that consist of little more than a picture, and on attached audio and video files.

use backissue_core::feed::Enclosure;
use backissue_core::history::{FoundBy, Gap, GapKind, Reason};
use chrono::{DateTime, Utc};

use super::lay_out::cannot_be_shown;
use super::lines::{Rendered, Role};
use crate::engine::downloads::record::DownloadState;
use crate::ui::app::App;
use crate::ui::keys::key_bindings::Keymap;
use crate::ui::state::reader::{Reader, TextSource};

/// Returns paragraphs that explain what is missing at a gap, why it is missing, and what happens next. `account` is the account
/// on whose server the feed is subscribed too.
pub fn explain_gap(
    gap: &Gap,
    zone: chrono_tz::Tz,
    account: Option<&str>,
    keys: &Keymap,
) -> Vec<String> {
    let when = |at: DateTime<Utc>| at.with_timezone(&zone).format("%-d %B %Y at %H:%M").to_string();
    let mut said = vec![format!("{}.", gap.text())];
    said.extend(plain_words(&gap.reason).map(str::to_owned));
    said.extend(gap.advice().map(|advice| format!("{advice}.")));
    if !gap.edge.url.is_empty() {
        said.push(format!("It should be at {}", gap.edge.url));
    }
    if gap.edge.via != FoundBy::Link {
        said.push(
            "The publisher does not link to it; your settings for this feed (e) add it as a source.".to_owned(),
        );
    }
    if let Some(at) = gap.last_try {
        let times =
            if gap.tries > 1 { format!(", {} times in total", gap.tries) } else { String::new() };
        said.push(format!("Last requested on {}{times}.", when(at)));
    }
    said.push(format!("First noticed on {}.", when(gap.first_seen)));
    said.push(match (gap.kind(), gap.retry_at) {
        (GapKind::Unavailable | GapKind::Unreadable, Some(at)) => {
            let now = keys.words("{open} or {history} retries now.");
            format!("backissue retries automatically after {}, when it next polls the feed. {now}", when(at))
        }
        (GapKind::Unavailable | GapKind::Unreadable, None) => {
            keys.words("backissue does not retry automatically. {open} or {history} retries now.")
        }
        (GapKind::Limit, _) => keys.words("No more entries are fetched automatically. {open} or {history} continues."),
        (GapKind::Loop, _) => {
            keys.words("The publisher's archives link in a circle, so it is unknown whether there are older entries. {open} or {history} reads the link again.")
        }
        (GapKind::Overrun, _) => {
            "These entries cannot be fetched: the feed no longer offers them.".to_owned()
        }
        (GapKind::Paged, _) if gap.edge.url.is_empty() => {
            keys.words("No older page is known. {open} or {history} searches again from the first page.")
        }
        (GapKind::Paged, _) => keys.words("{open} or {history} loads one older page."),
        (GapKind::Interrupted, _) => {
            keys.words("Fetching continues automatically after the feed's next poll. {open} or {history} continues now.")
        }
    });
    said.extend(account.map(|name| {
        format!("The server of the account '{name}' has the feed, too. What it kept from this time is in the list; nobody knows whether that is all.")
    }));
    if !gap.edge.url.is_empty() {
        said.push(
            keys.words("{open-in-browser} opens its address in the browser; {open-copies} looks it up in the Internet Archive."),
        );
    }
    said.push(keys.words("{unsubscribe} hides this gap; {undo} undoes that."));
    said
}

/// Explains the reason for a gap to users who do not know HTTP status codes. Returns `None` if the reason needs no explanation.
const fn plain_words(reason: &Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::Status(401 | 403 | 407 | 451) => {
            "The server refuses to send it to backissue; it may open in a browser."
        }
        Reason::Status(404) => "There is nothing at its address now. The publisher may fix that.",
        Reason::Status(410) => "The publisher has removed it permanently.",
        Reason::Status(429) => "The server asks for fewer requests.",
        Reason::Status(500..=599) => "The server has a problem, which is usually temporary.",
        Reason::Unanswered(_) => "The server did not answer, which is usually temporary.",
        Reason::Blocked(_) => {
            "The address is in your own network; feeds from the internet are not allowed to link there."
        }
        Reason::TooLarge(_) => "It is too large to fetch.",
        Reason::Unreadable(_) => "The server sent something that could not be read as a feed.",
        Reason::Status(_)
        | Reason::Limit { .. }
        | Reason::Loop
        | Reason::Overrun { .. }
        | Reason::Paged
        | Reason::Interrupted => return None,
    })
}

/// Maximum length, in characters, of a text beside pictures that are the main content of the entry, as in a comic.
const CAPTION_CHARS_MAX: usize = 300;

/// Returns a hint about the key that shows what the publisher changed. Returns `None` if the entry was not edited.
pub fn of_edit(app: &App, reader: &Reader) -> Option<String> {
    let previous = reader.entry.body.as_ref()?.previous.as_ref()?;
    let at = previous.at.with_timezone(&app.engine.zone).format("%-d %B %Y %H:%M");
    let what = if reader.source == TextSource::Changes { "the text" } else { "what changed" };
    Some(format!("edited {at} · {} shows {what}", app.ui.settings.keys.key("changes")?))
}

/// Returns a hint about the key that shows or plays the main content of the entry. Returns `None` if the text is the main
/// content.
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

/// Checks whether pictures are the main content of a text: there is at least one picture, and only a few words beside them.
fn is_picture(text: &Rendered) -> bool {
    let is_written = |role: Role| !matches!(role, Role::Image | Role::LinkNumber | Role::Note);
    let spans = text.lines.iter().flat_map(|line| &line.spans);
    let written = spans.filter(|span| is_written(span.role)).flat_map(|span| span.text.chars());
    let chars = written.filter(|char| !char.is_whitespace()).take(CAPTION_CHARS_MAX);
    !text.images.is_empty() && chars.count() < CAPTION_CHARS_MAX
}

#[cfg(test)]
mod tests {
    use crate::ui::reader::gap_explained::*;
    use backissue_core::history::Limit;
    use backissue_core::history::gap::Edge;

    fn explained(reason: Reason, retry_at: Option<DateTime<Utc>>) -> String {
        let edge = Edge { url: "https://a.example/2".into(), ..Edge::default() };
        let gap = Gap { retry_at, ..Gap::new(edge, reason, DateTime::UNIX_EPOCH) };
        explain_gap(&gap, chrono_tz::Tz::UTC, None, &Keymap::default()).join(" ")
    }

    #[test]
    fn gap_text_names_address_retry_time_and_key() {
        let text = explained(Reason::Status(503), Some(DateTime::UNIX_EPOCH));
        assert!(text.contains("It should be at https://a.example/2"), "{text}");
        assert!(text.contains("retries automatically after 1 January 1970 at 00:00"), "{text}");
        assert!(text.contains("The server has a problem, which"), "{text}");
        assert!(
            text.contains("Enter or H retries now. o opens its address in the browser; W looks")
        );
        assert!(text.ends_with("D hides this gap; u undoes that."), "{text}");
        let text = explained(Reason::Limit { limit: Limit::Stopped, fetched: 3 }, None);
        assert!(text.contains("Enter or H continues."), "{text}");
    }
}
