//! Lists the files attached to an entry below its text, with type, size, duration, and a link number that opens the file.

use crate::ui::reader::lines::{LinkTarget, Rendered, Role, StyledLine, StyledSpan};
use crate::view::{bytes, cells};
use backissue_core::feed::Enclosure;
use backissue_core::feed::text::one_line;
use backissue_core::words;

/// Maximum length of a media type or file name, in characters.
const NAME_CHARS_MAX: usize = 60;

/// Adds the list of attached files below the text. Each file is a numbered link.
pub(in crate::view) fn append(rendered: &mut Rendered, enclosures: &[Enclosure], width: u16) {
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
        enclosure.length.filter(|&bytes| bytes > 0).map(bytes::words),
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

#[cfg(test)]
mod tests {
    use crate::view::panes::enclosure_list::*;

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
        append(&mut rendered, &files, 20);
        assert_eq!((rendered.links.len(), &rendered.enclosures[..]), (2, &[1, 2][..]));
        let lines: Vec<String> = rendered.lines.iter().map(StyledLine::text).collect();
        assert_eq!(lines, ["▶ 1.mp3 [1]", "▶ magnet:?x", "▶ 2 [2]"]);
    }
}
