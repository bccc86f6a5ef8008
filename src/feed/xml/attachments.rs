//! Reads the files attached to an entry: `enclosure`, `link rel="enclosure"`, Media RSS, and Apple's playing time.

use url::Url;

use super::fields::{ChosenElements, FeedField};
use super::names::Ns;
use super::tree::XmlElement;
use crate::feed::address;

/// How many files of one entry are kept.
const ATTACHMENTS_MAX: usize = 100;

/// An attached file. Its numbers consist of digits only.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::feed) struct Attachment {
    /// Resolved.
    pub(in crate::feed) url: String,
    pub(in crate::feed) media_type: String,
    /// Bytes; empty where not stated.
    pub(in crate::feed) length: String,
    /// Seconds; empty where not stated.
    pub(in crate::feed) duration: String,
}

/// Reads the files of an entry, each once, in document order. Pictures that only illustrate are left out.
pub(in crate::feed) fn read_attachments(
    chosen: &ChosenElements<'_, '_>,
    links: &[XmlElement<'_, '_>],
    document: Option<&Url>,
) -> Vec<Attachment> {
    let mut attachments: Vec<Attachment> = Vec::new();
    let stated =
        chosen.all(FeedField::Attachment).flat_map(file_elements).chain(links.iter().copied());
    for attachment in stated.filter_map(|element| read_attachment(element, document)) {
        if attachments.len() >= ATTACHMENTS_MAX {
            break;
        }
        if !attachments.iter().any(|known| known.url == attachment.url) {
            attachments.push(attachment);
        }
    }
    // Apple's playing time stands beside the one file of an episode.
    let playing_time =
        chosen.get(FeedField::Duration).and_then(|element| read_playing_time(&element.text()));
    if let (Some(time), Some(first)) = (playing_time, attachments.first_mut())
        && first.duration.is_empty()
    {
        first.duration = time;
    }
    attachments
}

/// Returns the elements that name a file, which in a group are its children.
fn file_elements<'t, 'a>(element: XmlElement<'t, 'a>) -> Vec<XmlElement<'t, 'a>> {
    if element.local() == "group" {
        element
            .children()
            .filter(|child| child.is(Ns::Media, "content"))
            .take(ATTACHMENTS_MAX)
            .collect()
    } else {
        vec![element]
    }
}

fn read_attachment(element: XmlElement<'_, '_>, document: Option<&Url>) -> Option<Attachment> {
    let attribute = |name| element.attribute(name).unwrap_or_default();
    if attribute("medium").eq_ignore_ascii_case("image") {
        return None;
    }
    let address = element.attribute("url").or_else(|| element.attribute("href"))?;
    let length = element.attribute("length").unwrap_or_else(|| attribute("filesize"));
    Some(Attachment {
        url: address::resolve_address(&address, element.base(document).as_ref())?,
        media_type: attribute("type").into_owned(),
        length: read_size(&length),
        duration: read_playing_time(&attribute("duration")).unwrap_or_default(),
    })
}

/// Reads a playing time, `H:M:S`, `M:S` or seconds, as whole seconds.
fn read_playing_time(text: &str) -> Option<String> {
    let text = text.trim().split(['.', ',']).next().unwrap_or_default();
    let parts: Vec<u32> =
        text.splitn(4, ':').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    if parts.len() > 3 {
        return None;
    }
    let total =
        parts.iter().try_fold(0_u32, |sum, part| sum.checked_mul(60)?.checked_add(*part))?;
    Some(total.to_string())
}

/// Returns the digits of a size, which is also written as `1,234,567`.
fn read_size(text: &str) -> String {
    let text = text.trim();
    let plain =
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.' | b' '));
    if plain && text.len() < 20 {
        text.chars().filter(char::is_ascii_digit).collect()
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use crate::feed::{Origin, parse};

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
        ] {
            let inside = format!("<itunes:duration>{text}</itunes:duration>{file}");
            check(&inside, &[("http://a.example/a", None, expected)]);
        }
    }
}
