//! Lays out the text of an entry for the reader pane, with the attached files and the links below it, each with a number; and
//! formats it as plain text, for the command line and for external commands.

use std::fmt::Write;

use backissue_core::feed::Enclosure;
use backissue_core::feed::outgoing::{escaped_attribute, escaped_text};
use backissue_core::feed::text::one_line;
use backissue_core::history::KeptEntry;
use backissue_core::words;

use crate::engine::entries::entry_view::EntryView;
use crate::engine::start_external::with_media_time;
use crate::ui::effect::RenderWork;
use crate::ui::reader::lay_out::margin;
use crate::ui::reader::lines::{INSIDE_FIRST, LinkTarget, Rendered, Role, StyledLine, StyledSpan};
use crate::view::cells;
use crate::view::html::{self, Column, InBook};

/// Lays out an entry: its text, the list of its attached files, and the list of its links.
pub fn lay_out(wanted: &RenderWork) -> Rendered {
    let (width, prose) = (wanted.width, wanted.width.min(wanted.text_width));
    let left = margin(width, prose);
    let right = width.saturating_sub(left.saturating_add(prose));
    let column =
        Column { width: width.into(), margins: (left.into(), right.into()), slides: wanted.slides };
    let mut rendered = html::render(&wanted.html, wanted.base.as_deref(), column);
    link_times(&mut rendered, &wanted.enclosures);
    let text = rendered.lines.len();
    append_enclosures(&mut rendered, &wanted.enclosures, prose);
    append_links(&mut rendered, prose);
    for line in rendered.lines.iter_mut().skip(text) {
        html::prefix(line, &" ".repeat(left.into()), Role::Text);
    }
    rendered
}

/// Turns times in the notes of an episode into links that play its file from this time. Only times at the beginning of a line or
/// in brackets are used, and only if they are within the length of the file.
fn link_times(rendered: &mut Rendered, enclosures: &[Enclosure]) {
    let is_media = |file: &&Enclosure| {
        let kind = file.media_type.as_deref().unwrap_or_default();
        let is_web = file.url.starts_with("https://") || file.url.starts_with("http://");
        is_web && (kind.starts_with("audio/") || kind.starts_with("video/"))
    };
    let Some(file) = enclosures.iter().find(is_media) else { return };
    let length = file.duration_seconds.filter(|&seconds| seconds > 0).unwrap_or(u32::MAX);
    for line in rendered.lines.iter_mut().filter(|line| line.slide.is_none()) {
        let mut is_start = true;
        for mut span in std::mem::take(&mut line.spans) {
            let time = find_time(&span.text, is_start, length).filter(|_| span.link.is_none());
            let number = u16::try_from(rendered.inside.len()).ok();
            let number = number.and_then(|number| INSIDE_FIRST.checked_add(number));
            if let (Some((from, to, seconds)), Some(number)) = (time, number) {
                let after = StyledSpan { text: span.text.split_off(to), ..span.clone() };
                let text = span.text.split_off(from);
                // With the role of a footnote mark, a link has room for its hint.
                let link =
                    StyledSpan { text, link: Some(number), role: Role::LinkNumber, ..span.clone() };
                rendered.inside.push(LinkTarget { url: with_media_time(&file.url, seconds) });
                is_start = false;
                let parts = [span, link, after].into_iter();
                line.spans.extend(parts.filter(|part| !part.text.is_empty()));
                continue;
            }
            is_start &= !span.text.chars().any(char::is_alphanumeric);
            line.spans.push(span);
        }
    }
}

/// Finds a time below `length` seconds, such as `12:34` or `1:02:03`, in a text. Returns its byte range and its number of
/// seconds. `is_start` is `true` if the text begins a line.
fn find_time(text: &str, is_start: bool, length: u32) -> Option<(usize, usize, u32)> {
    let is_part = |char: char| char.is_ascii_digit() || char == ':';
    let mut from = 0;
    while let Some(place) = text.get(from..)?.find(is_part) {
        let begin = from.saturating_add(place);
        let rest = text.get(begin..)?;
        let end = begin.saturating_add(rest.find(|char| !is_part(char)).unwrap_or(rest.len()));
        let (before, after) = (text.get(..begin)?, text.get(end..)?);
        let is_first = is_start && !before.chars().any(char::is_alphanumeric);
        let is_bracketed = before.ends_with(['(', '[']) && after.starts_with([')', ']']);
        let ends = !after.starts_with(|char: char| char.is_alphanumeric());
        if (is_first && ends) || is_bracketed {
            let seconds = text.get(begin..end).and_then(clock_seconds);
            if let Some(seconds) = seconds.filter(|&seconds| seconds < length) {
                return Some((begin, end, seconds));
            }
        }
        from = end;
    }
    None
}

/// Parses a time such as `12:34` or `1:02:03` into seconds.
fn clock_seconds(text: &str) -> Option<u32> {
    let parts: Vec<&str> = text.split(':').collect();
    let (first, rest) = parts.split_first().filter(|(_, rest)| (1..=2).contains(&rest.len()))?;
    let mut seconds: u32 = first.parse().ok().filter(|_| first.len() <= 3)?;
    for part in rest {
        let part: u32 = part.parse().ok().filter(|&sixtieths| sixtieths < 60 && part.len() == 2)?;
        seconds = seconds.checked_mul(60)?.checked_add(part)?;
    }
    Some(seconds)
}

/// Maximum length of a media type or file name, in characters.
const NAME_CHARS_MAX: usize = 60;

/// Adds the list of attached files below the text. Each file is a numbered link.
pub(in crate::view) fn append_enclosures(
    rendered: &mut Rendered,
    enclosures: &[Enclosure],
    width: u16,
) {
    if enclosures.is_empty() {
        return;
    }
    if !rendered.lines.is_empty() {
        rendered.lines.push(StyledLine::default());
    }
    for enclosure in enclosures {
        let link = number(rendered, &enclosure.url);
        rendered.enclosures.extend(link);
        let sign = link.map(|number| format!("[{number}]")).unwrap_or_default();
        let room = usize::from(width).saturating_sub(cells::width(&sign).saturating_add(1));
        let text = cells::cut(&format!("▶ {}", described(enclosure)), room);
        let span = |text: String, role| StyledSpan { text, role, link, ..StyledSpan::default() };
        let mut spans = vec![span(text, Role::Embed)];
        if link.is_some() {
            spans.push(span(format!(" {sign}"), Role::LinkNumber));
        }
        rendered.lines.push(spans.into());
    }
}

/// Returns the link number of an attached file. If the text contains a link to the file, the file has the same number. Returns
/// `None` if the address is not safe to open.
fn number(rendered: &mut Rendered, address: &str) -> Option<u16> {
    let url =
        url::Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let url: String = url.into();
    let known = rendered.links.iter().position(|link| link.url == url);
    let place = known.unwrap_or_else(|| {
        rendered.links.push(LinkTarget { url });
        rendered.links.len().saturating_sub(1)
    });
    u16::try_from(place.saturating_add(1)).ok()
}

/// Describes the type, size, duration and name of an attached file, as far as they are known.
fn described(enclosure: &Enclosure) -> String {
    let kind = enclosure.media_type.as_deref();
    let kind = kind
        .map(|kind| purpose(kind).map_or_else(|| one_line(kind, NAME_CHARS_MAX), str::to_owned));
    let name = url::Url::parse(&enclosure.url).ok().and_then(|url| {
        let last = url.path_segments()?.rfind(|part| !part.is_empty())?.to_owned();
        Some(one_line(&last, NAME_CHARS_MAX))
    });
    let name = name.unwrap_or_else(|| one_line(&enclosure.url, NAME_CHARS_MAX));
    let parts = [
        kind.filter(|kind| !kind.is_empty()),
        enclosure.length.filter(|&bytes| bytes > 0).map(words::byte_words),
        enclosure.duration_seconds.filter(|&seconds| seconds > 0).map(words::clock_words),
        Some(name),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns a word for a file that accompanies an episode: its chapters or its transcript.
fn purpose(media_type: &str) -> Option<&'static str> {
    let kind = media_type.to_ascii_lowercase();
    if kind.contains("chapters") {
        return Some("chapters");
    }
    ["srt", "vtt"].iter().any(|end| kind.ends_with(end)).then_some("transcript")
}

/// Adds the list of links below the text.
pub(in crate::view) fn append_links(rendered: &mut Rendered, width: u16) {
    if rendered.links.is_empty() {
        return;
    }
    rendered.lines.push(StyledLine::default());
    for (number, link) in (1_usize..).zip(&rendered.links) {
        let number_text = format!("[{number}]");
        let room = usize::from(width).saturating_sub(cells::width(&number_text).saturating_add(1));
        let address = cells::cut(&one_line(&link.url, room.saturating_mul(2)), room);
        let link = u16::try_from(number).ok();
        let span = |text: String, role| StyledSpan { text, role, link, ..StyledSpan::default() };
        let spans =
            vec![span(number_text, Role::LinkNumber), span(format!(" {address}"), Role::Note)];
        rendered.lines.push(spans.into());
    }
}

/// Width of the formatted text, in columns.
const WIDTH: usize = 80;

/// Returns the title, feed, author, date and link of an entry, one per line.
pub fn head(view: &EntryView) -> String {
    let kept = &view.entry.kept;
    let dated = kept.listed().format("%Y-%m-%d %H:%M UTC").to_string();
    let lines = [
        kept.title.as_deref(),
        Some(view.feed.title.as_str()).filter(|title| !title.is_empty()),
        kept.author.as_deref(),
        Some(dated.as_str()),
        kept.link.as_deref(),
    ];
    lines.into_iter().flatten().fold(String::new(), |text, line| text + line + "\n")
}

/// Returns the text of an entry, followed by the list of the links in it.
pub fn body(view: &EntryView) -> String {
    let (_, markup, base) = view.text();
    let rendered = html::render(markup, base, Column::fixed(WIDTH));
    let mut text = String::new();
    for line in &rendered.lines {
        text.push_str(StyledLine::text(line).trim_end());
        text.push('\n');
    }
    for (number, link) in (1..).zip(&rendered.links) {
        if number == 1 {
            text.push('\n');
        }
        // Writing to a string cannot fail.
        writeln!(text, "[{number}] {}", link.url).ok();
    }
    text
}

/// Returns an entry as Markdown: its title, feed, author, date and link, its text, and links to its attached files.
pub fn markdown(view: &EntryView) -> String {
    let kept = &view.entry.kept;
    let (_, markup, base) = view.text();
    let plain = |text: &str| html::markdown(&escaped_text(text), None).trim().to_owned();
    let about: Vec<String> = about(view).iter().map(|part| plain(part)).collect();
    let link = kept.link.as_deref().map(|link| format!("<{link}>\n\n")).unwrap_or_default();
    let parts = [html::markdown(markup, base), html::markdown(&attached(kept), None)];
    let body = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    format!("# {}\n\n{}\n\n{link}{body}", plain(kept.shown_title()), about.join(" · "))
}

/// Returns an entry as the contents of an XHTML `body`: its title, feed, author, date and link, its text, and links to its
/// attached files.
pub fn xhtml(view: &EntryView, place: InBook<'_>) -> String {
    let kept = &view.entry.kept;
    let (_, markup, base) = view.text();
    let about: Vec<String> = about(view).iter().map(|part| escaped_text(part)).collect();
    let link = kept.link.as_deref().map(escaped_attribute);
    let link = link.map(|link| format!("<p><a href=\"{link}\">{link}</a></p>"));
    let title = escaped_text(kept.shown_title());
    let head = format!("<h1>{title}</h1>\n<p>{}</p>\n", about.join(" · "));
    let parts = [(&*link.unwrap_or_default(), None), (markup, base), (&attached(kept), None)];
    parts.iter().fold(head, |page, (markup, base)| page + &html::xhtml(markup, *base, place))
}

/// Returns the list of the files that are attached to an entry, as markup with links. Returns an empty text if no files are
/// attached.
fn attached(kept: &KeptEntry) -> String {
    let item = |file: &Enclosure| {
        let (address, text) = (escaped_attribute(&file.url), escaped_text(&described(file)));
        format!("<li><a href=\"{address}\">{text}</a></li>")
    };
    let items: String = kept.enclosures.iter().map(item).collect();
    if items.is_empty() { items } else { format!("<ul>{items}</ul>") }
}

/// Checks whether the title of an entry or the language of its feed is right-to-left.
pub fn is_leftward(title: &str, language: Option<&str>) -> bool {
    html::is_leftward(title.chars()) || language.is_some_and(html::is_leftward_language)
}

/// Returns the feed, author and date of an entry.
fn about(view: &EntryView) -> Vec<String> {
    let kept = &view.entry.kept;
    let dated = kept.listed().format("%Y-%m-%d %H:%M UTC").to_string();
    let parts = [Some(view.feed.title.clone()), kept.author.clone(), Some(dated)];
    parts.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use crate::view::panes::entry_lines::*;

    #[test]
    fn attachment_is_described_by_its_stated_facts() {
        for (media_type, length, duration_seconds, url, expected) in [
            (
                Some("audio/mpeg"),
                Some(24_612_345),
                Some(3723),
                "https://a.example/ep%201.mp3",
                "audio/mpeg · 24 MB · 1:02:03 · ep%201.mp3",
            ),
            (None, Some(0), Some(59), "https://a.example/", "0:59 · https://a.example/"),
            (Some("application/srt"), None, None, "https://a.example/1.srt", "transcript · 1.srt"),
            (Some("text/vtt"), None, None, "https://a.example/1.vtt", "transcript · 1.vtt"),
            (
                Some("application/json+chapters"),
                None,
                None,
                "https://a.example/1.json",
                "chapters · 1.json",
            ),
            (Some(""), Some(1234), None, "https://a.example/x/", "1.2 kB · x"),
            (None, Some(3_000_000_000), None, "magnet:?xt=1", "3.0 GB · magnet:?xt=1"),
        ] {
            let media_type = media_type.map(str::to_owned);
            let enclosure = Enclosure { url: url.into(), media_type, length, duration_seconds };
            assert_eq!(described(&enclosure), expected);
        }
    }

    #[test]
    fn attachment_shares_the_number_of_its_link() {
        let known = LinkTarget { url: "https://a.example/1.mp3".into() };
        let mut rendered = Rendered { links: vec![known], ..Rendered::default() };
        let file = |url: &str| Enclosure { url: url.into(), ..Enclosure::default() };
        let files =
            [file("https://a.example/1.mp3"), file("magnet:?x"), file("http://a.example/2")];
        append_enclosures(&mut rendered, &files, 20);
        assert_eq!((rendered.links.len(), &rendered.enclosures[..]), (2, &[1, 2][..]));
        let lines: Vec<String> = rendered.lines.iter().map(StyledLine::text).collect();
        assert_eq!(lines, ["▶ 1.mp3 [1]", "▶ magnet:?x", "▶ 2 [2]"]);
    }

    #[test]
    fn times_in_the_notes_play_the_file_from_there() {
        let file = Enclosure {
            url: "https://a.example/1.mp3".into(),
            media_type: Some("audio/mpeg".into()),
            duration_seconds: Some(3600),
            ..Enclosure::default()
        };
        for (text, expected) in [
            ("0:00 Welcome", Some(("0:00", 0))),
            ("• 12:34 – Bees", Some(("12:34", 754))),
            ("Bees (00:12:34)", Some(("00:12:34", 754))),
            ("We met at 10:30 in town", None),
            ("12:60 no time", None),
            ("1:00:00 beyond the end", None),
            ("12:34pm", None),
            ("2:1 is a score", None),
        ] {
            let span = StyledSpan { text: text.into(), ..StyledSpan::default() };
            let row = StyledLine::from(vec![span]);
            let mut rendered = Rendered { lines: vec![row], ..Rendered::default() };
            link_times(&mut rendered, std::slice::from_ref(&file));
            let spans = &rendered.lines[0].spans;
            let found = spans.iter().find_map(|span| Some((span.text.as_str(), span.link?)));
            let url = found.and_then(|(_, number)| Some(rendered.target(number)?.url.clone()));
            let wanted = expected.map(|(_, seconds)| with_media_time(&file.url, seconds));
            assert_eq!((found.map(|it| it.0), url), (expected.map(|it| it.0), wanted), "{text}");
            assert_eq!(rendered.lines[0].text(), text, "nothing else changes");
        }
    }
}
