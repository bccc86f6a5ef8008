//! Parses pictures, and creates the labels of pictures and players in the text.

use url::Url;

use super::links::NumberedLinks;
use backissue_core::feed::content::markup::Tag;
use backissue_core::feed::text::one_line;

/// Maximum length of the alternative text of a picture, in characters.
const ALT_CHARS_MAX: usize = 300;

/// A picture in the text of an entry.
#[derive(Debug, Default)]
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

/// Parses an `img` element. `beside` is the address that a `source` beside it states. Returns `None` if the picture is a tracking
/// pixel.
pub(super) fn picture(tag: &Tag, beside: Option<&str>, links: &NumberedLinks) -> Option<Picture> {
    let tiny = |side: &str| tag.attribute(side).is_some_and(is_tiny);
    if tiny("width") || tiny("height") {
        return None;
    }
    let url = lazy_addresses(tag)
        .chain(tag.attribute("src").filter(|source| !is_placeholder(source)))
        .chain(tag.attribute("srcset").and_then(best_of_srcset))
        .chain(beside)
        .find_map(|source| links.resolve(source, &["http", "https"]));
    let alt = tag.attribute("alt").or_else(|| tag.attribute("title")).unwrap_or_default();
    let alt = one_line(alt, ALT_CHARS_MAX);
    let title = one_line(tag.attribute("title").unwrap_or_default(), ALT_CHARS_MAX);
    let title = if alt.contains(&title) { String::new() } else { title };
    let class = tag.attribute("class").unwrap_or_default();
    let signs = ["emoji", "smiley", "emoticon", "latex", "mwe-math"];
    let emoji = signs.iter().any(|word| class.contains(word));
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

/// Returns the addresses in the `data-` attributes of an element. If a picture or player is loaded lazily, `src` often contains only
/// a placeholder.
pub(super) fn lazy_addresses(tag: &Tag) -> impl Iterator<Item = &str> {
    const NAMES: &str = "original orig-file lazy echo url image img full large-file";
    let named = |is_meant: fn(&str) -> bool| {
        tag.attributes().filter_map(move |(name, value)| {
            let name = name.strip_prefix("data-")?;
            is_meant(name).then_some(value)
        })
    };
    let is_address = |value: &&str| {
        let file = value.rsplit('/').next().unwrap_or_default();
        !value.trim().contains(char::is_whitespace)
            && !value.starts_with('{')
            && (value.contains('/') || file.contains('.'))
    };
    named(|name| name.ends_with("src"))
        .chain(named(|name| NAMES.split(' ').any(|known| known == name)))
        .filter(is_address)
        .chain(named(|name| name.ends_with("srcset")).filter_map(best_of_srcset))
}

/// Maximum width of a picture that is chosen from a `srcset`, in pixels.
const SRCSET_WIDTH_MAX: f32 = 1_600.0;

/// Returns the address of the largest picture in a `srcset` that is not too wide, or of the first one.
pub(super) fn best_of_srcset(set: &str) -> Option<&str> {
    let mut words = set.split_whitespace();
    let mut best: Option<(&str, f32)> = None;
    while let Some(word) = words.next() {
        let url = word.trim_end_matches(',');
        let descriptor = if url == word { words.next().unwrap_or_default() } else { "" };
        let number = descriptor.trim_end_matches(',').trim_end_matches(['w', 'x', 'h']);
        let size = number.parse::<f32>().unwrap_or(1.0);
        let is_better = |(_, known): (&str, f32)| known < size && size <= SRCSET_WIDTH_MAX;
        if !url.is_empty() && best.is_none_or(is_better) {
            best = Some((url, size));
        }
    }
    best.map(|(url, _)| url)
}

/// Checks whether an address names a placeholder, by its file name.
fn is_placeholder(source: &str) -> bool {
    const WORDS: &str = "placeholder blank spacer transparent pixel lazyload loading 1x1 clear";
    let path = source.split(['?', '#']).next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let Some((stem, "gif" | "svg" | "png" | "webp")) = file.rsplit_once('.') else { return false };
    stem.split(['-', '_', '.']).any(|word| WORDS.split(' ').any(|known| known == word))
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
