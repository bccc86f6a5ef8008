//! Parses pictures, and creates the labels of pictures and players in the text.

use url::Url;

use super::links::NumberedLinks;
use backissue_core::feed::content::markup::Tag;
use backissue_core::feed::text::one_line;

/// Maximum length of the alternative text of a picture, in characters.
const ALT_CHARS_MAX: usize = 300;

/// A picture in the text of an entry.
#[derive(Debug)]
pub(super) struct Picture {
    /// URL of the picture. `None` if the URL is not safe to open.
    pub url: Option<Url>,
    pub alt: String,
    /// Title of the picture, which browsers show under the mouse; empty if it says no more than the alternative text. Comics often
    /// have their last joke there.
    pub title: String,
    /// `true` if the picture is a symbol within a sentence, such as a smiley. Its alternative text is then shown as part of the
    /// sentence.
    pub sign: bool,
    /// Width and height that the markup declares, in pixels.
    pub declared: Option<(u32, u32)>,
}

/// Parses an `img` element. Returns `None` if the picture is a tracking pixel.
pub(super) fn picture(tag: &Tag, links: &NumberedLinks) -> Option<Picture> {
    let tiny = |side: &str| tag.attribute(side).is_some_and(is_tiny);
    if tiny("width") || tiny("height") {
        return None;
    }
    let url = SOURCES
        .iter()
        .filter_map(|source| tag.attribute(source))
        .chain(tag.attribute("srcset").and_then(first_of_srcset))
        .find_map(|source| links.resolve(source, &["http", "https"]));
    let alt = tag.attribute("alt").or_else(|| tag.attribute("title")).unwrap_or_default();
    let alt = one_line(alt, ALT_CHARS_MAX);
    let title = one_line(tag.attribute("title").unwrap_or_default(), ALT_CHARS_MAX);
    let title = if alt.contains(&title) { String::new() } else { title };
    let class = tag.attribute("class").unwrap_or_default();
    let emoji = ["emoji", "smiley", "emoticon"].iter().any(|word| class.contains(word));
    let sign = !alt.is_empty() && (emoji || !alt.contains(|c: char| c.is_alphanumeric()));
    let side = |side: &str| {
        let said = tag.attribute(side)?.trim();
        said.strip_suffix("px").unwrap_or(said).parse::<u32>().ok()
    };
    let declared = side("width").zip(side("height"));
    (url.is_some() || !alt.is_empty()).then_some(Picture { url, alt, title, sign, declared })
}

impl Picture {
    /// Returns the label of the picture: its alternative text or, if there is none, its file name.
    pub(super) fn label(&self) -> String {
        match (&self.url, self.alt.as_str()) {
            (_, alt) if self.sign => alt.to_owned(),
            (Some(url), "") => format!("[image: {}]", file_name(url)),
            (_, alt) => format!("[image: {alt}]"),
        }
    }
}

/// Attributes that can contain the address of a picture. If a picture is loaded lazily, `src` often contains only a placeholder, so
/// it comes last.
const SOURCES: [&str; 5] = ["data-src", "data-lazy-src", "data-original", "data-orig-file", "src"];

fn first_of_srcset(set: &str) -> Option<&str> {
    set.split_whitespace().next().map(|url| url.trim_end_matches(','))
}

fn is_tiny(side: &str) -> bool {
    matches!(side.trim().trim_end_matches("px"), "0" | "1" | "2")
}

/// Returns the label of an embedded page or player: its title or, if there is none, the host and file name of its URL.
pub(super) fn embed_label(word: &str, title: Option<&str>, url: &Url) -> String {
    let title = one_line(title.unwrap_or_default(), ALT_CHARS_MAX);
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    let film =
        FILM_HOSTS.iter().any(|known| host == *known || host.ends_with(&format!(".{known}")));
    let word = if word == "embedded" && film { "video" } else { word };
    match (title.as_str(), word) {
        ("", "embedded") => format!("[{word}: {host}]"),
        ("", _) if film => format!("[{word}: {host}]"),
        ("", _) => format!("[{word}: {}]", file_name(url)),
        (title, _) => format!("[{word}: {title}]"),
    }
}

const FILM_HOSTS: [&str; 6] = [
    "youtube.com",
    "youtube-nocookie.com",
    "vimeo.com",
    "dailymotion.com",
    "ted.com",
    "videopress.com",
];

/// Returns the file name of an address for display.
pub(super) fn file_name_of(url: &str) -> String {
    Url::parse(url).map(|url| file_name(&url)).unwrap_or_default()
}

/// Returns the last segment of a URL's path or, if the path is empty, the host.
fn file_name(url: &Url) -> String {
    let last = url.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty()));
    let host = || url.host_str().unwrap_or_default();
    one_line(last.unwrap_or_else(host), 60)
}
