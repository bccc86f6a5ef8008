//! Reads the files and pictures attached to an entry: `enclosure`, Media RSS, podcast transcripts and chapters.

use url::Url;

use super::constructs::Construct;
use super::fields::{ChosenElements, FeedField};
use super::names::Ns;
use super::tree::XmlElement;
use crate::feed::address;
use crate::feed::document::{Enclosure, Entry};
use crate::feed::text::{TITLE_MAX, push_escaped, resolved_line, strip_markup};

/// Maximum number of attached files kept per entry.
const ATTACHMENTS_MAX: usize = 100;

/// Reads the attached files of an entry, without duplicates. Playable files come first, then other files, then pictures, then texts
/// such as transcripts. Within each group, files are in document order. Pictures in `media:content` are skipped: they
/// illustrate the entry, and are added to its text.
pub(in crate::feed) fn read_attachments(
    chosen: &ChosenElements<'_, '_>,
    links: &[XmlElement<'_, '_>],
    document: Option<&Url>,
) -> Vec<Enclosure> {
    // Each with its media type as written, because `audio` alone is not a valid type but tells that the file is playable.
    let mut attachments: Vec<(String, Enclosure)> = Vec::new();
    let content = chosen.get(FeedField::Content).filter(|content| is_file(*content));
    let alone = links.iter().copied().chain(content).map(|element| (element, element));
    let stated = chosen.all(FeedField::Attachment).flat_map(file_elements).chain(alone);
    for attachment in stated.filter_map(|(file, about)| read_attachment(file, about, document)) {
        if attachments.len() >= ATTACHMENTS_MAX {
            break;
        }
        if !attachments.iter().any(|(_, known)| known.url == attachment.1.url) {
            attachments.push(attachment);
        }
    }
    attachments.sort_by_key(|(kind, file)| place(kind, &file.url));
    let mut attachments: Vec<Enclosure> = attachments.into_iter().map(|(_, file)| file).collect();
    // The duration in Apple's podcast elements applies to the first attached file, which is the playable file of an episode.
    let playing_time =
        chosen.get(FeedField::Duration).and_then(|element| read_playing_time(&element.text()));
    if let (Some(time), Some(first)) = (playing_time, attachments.first_mut())
        && first.duration_seconds.is_none()
    {
        first.duration_seconds = Some(time);
    }
    attachments
}

/// Returns the sort position of an attached file: 0 for playable files, 1 for other files, 2 for pictures and 3 for texts, such as
/// transcripts.
pub(in crate::feed) fn place(media_type: &str, url: &str) -> u8 {
    const PLAYED: [&str; 14] = [
        "mp3", "m4a", "m4b", "aac", "ogg", "oga", "opus", "flac", "wav", "mp4", "m4v", "mov",
        "webm", "mkv",
    ];
    let kind = media_type.to_ascii_lowercase();
    let extension = extension(url);
    // These types are used for transcripts and chapter lists, which accompany another file.
    let is_about_another =
        || ["srt", "json", "chapters", "vtt"].iter().any(|word| kind.contains(word));
    match kind.split('/').next().unwrap_or_default() {
        "audio" | "video" => 0,
        "image" => 2,
        "text" => 3,
        "application" if is_about_another() => 3,
        _ if PLAYED.contains(&extension.as_str()) => 0,
        _ if is_picture(&extension) => 2,
        _ => 1,
    }
}

/// Returns the lower-case extension of the file name in a URL.
fn extension(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default();
    file.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default()
}

fn is_picture(extension: &str) -> bool {
    ["jpg", "jpeg", "png", "gif", "webp", "avif", "svg"].contains(&extension)
}

/// Checks whether the content of an entry is an external file (RFC 4287 §4.1.3.2) rather than a web page.
fn is_file(content: XmlElement<'_, '_>) -> bool {
    if !content.is(Ns::Atom, "content") || content.attribute("src").is_none() {
        return false;
    }
    let kind = content.attribute("type").unwrap_or_default().to_ascii_lowercase();
    !kind.is_empty() && !kind.contains("html") && !kind.contains("xml")
}

/// Returns each element that contains the URL of a file, together with the element that describes the file. In a `media:group` or
/// `podcast:alternateEnclosure`, the files are child elements.
fn file_elements<'t, 'a>(
    element: XmlElement<'t, 'a>,
) -> Vec<(XmlElement<'t, 'a>, XmlElement<'t, 'a>)> {
    let (ns, local, is_described) = match element.local() {
        "group" => (Ns::Media, "content", false),
        "alternateenclosure" => (Ns::Podcast, "source", true),
        _ => return vec![(element, element)],
    };
    element
        .children()
        .filter(|child| child.is(ns, local))
        .take(ATTACHMENTS_MAX)
        .map(|child| (child, if is_described { element } else { child }))
        .collect()
}

fn read_attachment(
    element: XmlElement<'_, '_>,
    about: XmlElement<'_, '_>,
    document: Option<&Url>,
) -> Option<(String, Enclosure)> {
    let attribute = |name| about.attribute(name).unwrap_or_default();
    let stated = ["url", "href", "src", "uri"].iter().find_map(|name| element.attribute(name));
    let as_text = || element.is(Ns::Rss, "enclosure").then(|| element.text());
    let address = stated.or_else(as_text)?;
    if element.is(Ns::Media, "content")
        && is_illustration(&attribute("medium"), &attribute("type"), &address)
    {
        return None;
    }
    let length = about.attribute("length").unwrap_or_else(|| attribute("filesize"));
    let resolved = address::resolve_address(&address, element.base(document).as_ref())?;
    let kind = attribute("type").into_owned();
    let file = Enclosure {
        // Without a base, a relative address leads nowhere.
        url: Url::parse(&resolved).ok()?.into(),
        media_type: read_media_type(&kind),
        length: read_size(&length),
        duration_seconds: read_playing_time(&attribute("duration")),
    };
    Some((kind, file))
}

/// Checks whether a Media RSS file is a picture, which only illustrates the entry.
fn is_illustration(medium: &str, kind: &str, address: &str) -> bool {
    medium.eq_ignore_ascii_case("image")
        || kind.to_ascii_lowercase().starts_with("image/")
        || (medium.is_empty() && kind.is_empty() && is_picture(&extension(address)))
}

/// Reads a playing time written as `H:M:S`, `M:S`, seconds, `45 min` or ISO 8601 `PT1H2M3S`. Returns whole seconds, or `None` if
/// the text is not a playing time or is zero.
fn read_playing_time(text: &str) -> Option<u32> {
    read_units(text.trim()).or_else(|| read_clock(text)).filter(|seconds| *seconds > 0)
}

/// Reads a playing time written as numbers with units: `PT1H2M3S`, `1h 2m`, `45 min`.
fn read_units(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let mut rest = lower.strip_prefix("pt").unwrap_or(&lower).trim();
    let mut total = 0_u32;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at_checked(end)?;
        let number: u32 = number.split('.').next()?.parse().ok()?;
        let tail = tail.trim_start();
        let length = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, after) = tail.split_at_checked(length)?;
        let seconds = match unit {
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600,
            "m" | "min" | "mins" | "minute" | "minutes" => 60,
            "s" | "sec" | "secs" | "second" | "seconds" => 1,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(seconds)?)?;
        rest = after.trim_start_matches(['.', ',', ' ']);
    }
    (total > 0).then_some(total)
}

fn read_clock(text: &str) -> Option<u32> {
    let text = text.trim().split(['.', ',']).next().unwrap_or_default();
    let parts: Vec<u32> =
        text.splitn(4, ':').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    if parts.len() > 3 {
        return None;
    }
    parts.iter().try_fold(0_u32, |sum, part| sum.checked_mul(60)?.checked_add(*part))
}

/// Parses a media type and returns `None` if it is invalid.
fn read_media_type(text: &str) -> Option<String> {
    mediatype::MediaType::parse(text.trim()).ok().map(|kind| kind.to_string())
}

/// Reads a file size in bytes. Thousands separators are allowed (`1,234,567`).
fn read_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let plain =
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.' | b' '));
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|_| plain && text.len() < 20)
}

/// Maximum number of pictures that are added to a text.
const PICTURES_MAX: usize = 40;

/// A picture that is attached to an entry.
pub(super) struct MediaPicture {
    url: Url,
    /// What the picture shows, in plain text.
    description: String,
    width: u32,
}

impl MediaPicture {
    fn markup(&self) -> String {
        let mut markup = "<img src=\"".to_owned();
        push_escaped(&mut markup, self.url.as_str(), false);
        markup.push_str("\" alt=\"");
        push_escaped(&mut markup, &self.description, false);
        markup.push_str("\">");
        markup
    }
}

/// Shows the pictures in `media:content` that the text does not contain.
pub(super) fn add_pictures(entry: &mut Entry, pictures: &[MediaPicture]) {
    if pictures.is_empty() {
        return;
    }
    let body = entry.shown.as_deref().or(entry.body()).unwrap_or_default();
    let has_picture = body.contains("<img");
    let is_missing = |picture: &&MediaPicture| {
        let is_extra = has_picture && picture.description.is_empty();
        !(is_extra || names_file(body, stem(&picture.url)))
    };
    let missing = pictures.iter().filter(is_missing).take(PICTURES_MAX);
    let added: Vec<String> = missing.map(MediaPicture::markup).collect();
    for picture in &added {
        entry.add_shown(picture);
    }
}

/// Returns a title for an entry that consists of pictures: what the first one shows.
pub(super) fn title_of_pictures(entry: &Entry) -> Option<String> {
    let shown = entry.shown.as_deref()?.split(" alt=\"").skip(1);
    let has_text = |text: &String| !strip_markup(text).trim().is_empty();
    if [&entry.summary, &entry.content].into_iter().flatten().any(has_text) {
        return None;
    }
    let mut titles =
        shown.filter_map(|rest| Some(resolved_line(rest.split('"').next()?, TITLE_MAX)));
    titles.find(|title| !title.is_empty())
}

/// Reads the pictures of an entry. Several sizes of one picture count as one.
pub(super) fn read_pictures(
    chosen: &ChosenElements<'_, '_>,
    document: Option<&Url>,
) -> Vec<MediaPicture> {
    let mut pictures: Vec<MediaPicture> = Vec::new();
    for attached in chosen.all(FeedField::Attachment).filter(|element| element.ns() == Ns::Media) {
        for (file, _) in file_elements(attached) {
            let Some(picture) = read_picture(file, attached, document) else { continue };
            match pictures.iter_mut().find(|known| known.url.path() == picture.url.path()) {
                Some(known) if known.width < picture.width => *known = picture,
                Some(_) => {}
                None => pictures.push(picture),
            }
        }
    }
    pictures
}

/// Reads a picture. Its description may be in the group around it.
fn read_picture(
    file: XmlElement<'_, '_>,
    group: XmlElement<'_, '_>,
    document: Option<&Url>,
) -> Option<MediaPicture> {
    let attribute = |name| file.attribute(name).unwrap_or_default();
    let stated = file.attribute("url").filter(|url| !url.trim().is_empty())?;
    if !is_illustration(&attribute("medium"), &attribute("type"), &stated) {
        return None;
    }
    let url = address::resolve_address(&stated, file.base(document).as_ref())?;
    let url = address::web_url(&url)?;
    // WordPress.com attaches the portrait of the author to every entry.
    if url.host_str().is_some_and(|host| host.ends_with("gravatar.com")) {
        return None;
    }
    let text = |parent: XmlElement<'_, '_>, name: &str| {
        let stated = parent.children().find(|child| child.is(Ns::Media, name))?;
        Some(Construct::read(stated, None).into_line(TITLE_MAX)).filter(|text| !text.is_empty())
    };
    let named = ["description", "title"].into_iter().find_map(|name| text(file, name));
    let description = named.or_else(|| text(group, "description")).unwrap_or_default();
    let width = attribute("width").trim().parse().unwrap_or_default();
    Some(MediaPicture { url, description, width })
}

/// Checks whether a text contains an address of a file whose name begins with `stem`. A short stem such as `a` is also part of words.
fn names_file(body: &str, stem: &str) -> bool {
    body.match_indices(stem).any(|(at, _)| {
        let (before, after) = body.split_at(at);
        let after = after.get(stem.len()..).unwrap_or_default();
        before.ends_with('/') && after.starts_with(['.', '-', '_', '?', '"', '\''])
    })
}

/// Returns the file name of a picture without its extension and its size, as `photo` in `photo-1024x683.jpg`.
fn stem(url: &Url) -> &str {
    let file = url.path().rsplit('/').find(|part| !part.is_empty()).unwrap_or_default();
    let name = file.rsplit_once('.').map_or(file, |(name, _)| name);
    let is_size = |size: &str| size.bytes().all(|byte| byte.is_ascii_digit() || byte == b'x');
    match name.rsplit_once('-') {
        Some((name, size)) if size.contains('x') && is_size(size) => name,
        Some(_) | None => name,
    }
}

#[cfg(test)]
mod tests {
    use crate::feed::{Entry, Origin, parse};

    fn check(inside: &str, expected: &[(&str, Option<u64>, Option<u32>)]) {
        let document = format!(
            "<rss xmlns:media='http://search.yahoo.com/mrss/' xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd' \
             xmlns:atom='http://www.w3.org/2005/Atom'><channel><item>{inside}</item></channel></rss>"
        );
        let document = parse(
            document.as_bytes(),
            &Origin { url: Some("http://a.example/"), content_type: None },
        );
        let read: Vec<_> = document.entries[0]
            .enclosures
            .iter()
            .map(|file| (file.url.as_str(), file.length, file.duration_seconds))
            .collect();
        assert_eq!(read, expected, "{inside}");
    }

    #[test]
    fn files_of_all_vocabularies_are_listed_once() {
        check(
            "<enclosure url='a.mp3' length='1,024' type='audio/mpeg'/>",
            &[("http://a.example/a.mp3", Some(1_024), None)],
        );
        check(
            "<enclosure url='/a' length='x'/><media:group><media:content url='/a'/><media:content url='/b' fileSize='7' duration='90'/></media:group>",
            &[("http://a.example/a", None, None), ("http://a.example/b", Some(7), Some(90))],
        );
        check(
            "<atom:link rel='enclosure' href='/c' length='5'/>",
            &[("http://a.example/c", Some(5), None)],
        );
        check("<media:content url='/i.png' medium='image'/><enclosure length='5'/>", &[]);
        check("<media:content url='/i.png'/><media:content url='/j' type='image/jpeg'/>", &[]);
        check("<enclosure>/t.mp3</enclosure>", &[("http://a.example/t.mp3", None, None)]);
    }

    #[test]
    fn playable_attachment_is_first_with_its_duration() {
        check(
            "<enclosure url='/c.jpg' type='image/jpeg'/><enclosure url='/e.mp3'/><itunes:duration>1:02:03</itunes:duration>",
            &[
                ("http://a.example/e.mp3", None, Some(3_723)),
                ("http://a.example/c.jpg", None, None),
            ],
        );
        check(
            "<enclosure url='/c.jpg' type='image/jpeg'/><enclosure url='/play?id=1' type='audio'/>",
            &[("http://a.example/play?id=1", None, None), ("http://a.example/c.jpg", None, None)],
        );
        check(
            "<podcast:transcript url='/e.srt' type='application/srt'/><podcast:chapters url='/e.json' type='application/json+chapters'/>\
             <enclosure url='/e.mp3' type='audio/mpeg'/><podcast:alternateEnclosure type='audio/opus' length='9'><podcast:source uri='/e.opus'/></podcast:alternateEnclosure>",
            &[
                ("http://a.example/e.mp3", None, None),
                ("http://a.example/e.opus", Some(9), None),
                ("http://a.example/e.srt", None, None),
                ("http://a.example/e.json", None, None),
            ],
        );
    }

    #[test]
    fn playing_times_are_read_in_all_forms_and_absurd_ones_dropped() {
        let file = "<enclosure url='/a'/>";
        for (text, expected) in [
            ("1:02:03", Some(3_723)),
            ("62:03", Some(3_723)),
            (" 3723.5 ", Some(3_723)),
            ("99999999999999999999999999", None),
            ("1:2:3:4", None),
            ("an hour", None),
            ("PT1H2M3S", Some(3_723)),
            ("pt45m", Some(2_700)),
            ("45 min", Some(2_700)),
            ("1h 2m 3.5s", Some(3_723)),
            ("PT", None),
            ("5 apples", None),
        ] {
            let inside = format!("<itunes:duration>{text}</itunes:duration>{file}");
            check(&inside, &[("http://a.example/a", None, expected)]);
        }
    }

    fn read(inside: &str) -> Entry {
        let document = format!(
            "<rss xmlns:media='http://search.yahoo.com/mrss/'><channel><item><guid>1</guid>{inside}</item></channel></rss>"
        );
        let origin = Origin { url: Some("https://a.example/"), content_type: None };
        parse(document.as_bytes(), &origin).entries.remove(0)
    }

    fn shown(entry: &Entry) -> String {
        let [summary, content] = entry.kept_texts();
        content.or(summary).unwrap_or_default().to_owned()
    }

    #[test]
    fn pictures_of_a_post_are_added_with_their_descriptions() {
        let one = "<media:content url='/a.jpg' medium='image'><media:description>A &lt;heron</media:description></media:content>";
        let entry = read(&format!("<description>Look!</description>{one}"));
        assert_eq!(entry.body(), Some("Look!"), "it stays as the publisher wrote it");
        assert_eq!(
            shown(&entry),
            "Look!\n\n<img src=\"https://a.example/a.jpg\" alt=\"A &lt;heron\">"
        );
        assert_eq!(entry.title, None);
        let words =
            read(&format!("<description>Look at a heron: b.example/about</description>{one}"));
        assert!(shown(&words).contains("<img"), "its name is a word, too");
        let alone = read(&format!("<description></description>{one}"));
        assert_eq!(alone.title.as_deref(), Some("A <heron"));
        let group = "<media:group><media:content url='/s.jpg?w=1' medium='image' width='140'/><media:content url='/s.jpg?w=2' medium='image' width='460'/>\
                     <media:description>Both</media:description></media:group>";
        let entry = read(&format!("<title>T</title>{group}"));
        let picture = "<img src=\"https://a.example/s.jpg?w=2\" alt=\"Both\">";
        assert_eq!(shown(&entry), format!("Both\n\n{picture}"));
    }

    #[test]
    fn shown_or_idle_pictures_are_not_added() {
        for inside in [
            "<description>&lt;img src='https://a.example/photo-300x200.jpg'&gt;</description><media:content url='/photo.jpg' medium='image'/>",
            "<description>&lt;img src='https://a.example/x.jpg'&gt;</description><media:content url='https://cdn.example/y.jpg' medium='image'/>",
            "<description>x</description><media:content url='https://2.gravatar.com/avatar/1' medium='image'><media:title>ada</media:title></media:content>",
            "<description>x</description><media:content url='/a.mp4' medium='video'/><media:thumbnail url='/a.jpg'/>",
        ] {
            let body = shown(&read(inside));
            assert!(!body.contains("<img src=\""), "{body}");
        }
    }
}
