//! The pictures that Media RSS attaches to an entry, as Mastodon, Pixelfed and news sites publish them: they are shown after its text.

use url::Url;

use super::attachments::{file_elements, is_illustration};
use super::constructs::Construct;
use super::fields::{ChosenElements, FeedField};
use super::names::Ns;
use super::tree::XmlElement;
use crate::feed::address;
use crate::feed::entry::Entry;
use crate::feed::text::{TITLE_MAX, push_escaped, resolved_line, strip_markup};

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
