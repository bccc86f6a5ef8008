//! Numbers the links in the text of an entry. Each address that is safe to open gets one number.
//!
//! Pictures and players have labels in the text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use backissue_core::feed::content::markup::{Piece, Tag, walk_markup};
use backissue_core::feed::text::one_line;
use url::Url;

use super::model::{INSIDE_FIRST, LinkTarget};

/// Maximum number of numbered links in the text of an entry.
const LINKS_MAX: u16 = 9_999;

/// Maximum length of a link address, in bytes.
const URL_BYTES_MAX: usize = 8_192;

/// The links in the text of an entry, in the order of their first appearance.
#[derive(Debug)]
pub(super) struct NumberedLinks {
    base: Option<Url>,
    targets: Vec<LinkTarget>,
    numbers: BTreeMap<String, u16>,
    /// Targets of the links within the text, and the numbers of these links by the IDs of their targets.
    inside: Vec<LinkTarget>,
    places: BTreeMap<String, u16>,
}

impl NumberedLinks {
    /// Creates an empty list of links. Relative references are resolved against `base`. Without a base, they are not numbered.
    pub(super) fn new(base: Option<&str>) -> Self {
        let base = base.and_then(|base| Url::parse(base).ok());
        let (targets, numbers) = (Vec::new(), BTreeMap::new());
        Self { base, targets, numbers, inside: Vec::new(), places: BTreeMap::new() }
    }

    /// Finds the links in the markup whose targets are in the same markup, such as links to footnotes.
    pub(super) fn find_places(&mut self, html: &str) {
        // In most texts, each `#` is part of a character reference. Such texts contain no links of this kind.
        let mut signs = html.match_indices('#').map(|(at, _)| at.checked_sub(1));
        if !signs.any(|before| before.and_then(|at| html.as_bytes().get(at)) != Some(&b'&')) {
            return;
        }
        let (mut ids, mut links) = (BTreeSet::new(), Vec::new());
        walk_markup(html, |piece| {
            if let Piece::Open(tag) = piece {
                ids.extend(place_name(tag).map(str::to_owned));
                let link = tag.attribute("href").filter(|_| tag.name() == "a");
                links.extend(link.filter(|link| link.contains('#')).map(str::to_owned));
            }
        });
        for link in links {
            let Some((url, name)) = self.place(&link) else { continue };
            let number = u16::try_from(self.inside.len()).ok();
            let number = number.and_then(|number| INSIDE_FIRST.checked_add(number));
            let (Some(number), true) = (number, ids.contains(&name)) else { continue };
            if !self.places.contains_key(&name) {
                self.inside.push(LinkTarget { url });
                self.places.insert(name, number);
            }
        }
    }

    /// Returns the address of a link to the page itself, and the ID of its target. Returns `None` for other links.
    fn place(&self, reference: &str) -> Option<(String, String)> {
        let url = match &self.base {
            None if reference.starts_with('#') => {
                Url::parse("about:blank").ok()?.join(reference).ok()?
            }
            _ => self.resolve(reference, &["http", "https"])?,
        };
        let name = url.fragment().filter(|name| !name.is_empty())?;
        let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned();
        let page = |url: &Url| {
            let mut page = url.clone();
            page.set_fragment(None);
            page
        };
        let is_here = self.base.as_ref().is_none_or(|base| page(base) == page(&url));
        is_here.then(|| (url.into(), name))
    }

    /// Returns the number of a link within the text.
    pub(super) fn inside(&self, reference: &str) -> Option<u16> {
        if self.places.is_empty() {
            return None;
        }
        self.places.get(&self.place(reference)?.1).copied()
    }

    /// Returns the number of the links whose target is an element.
    pub(super) fn leading_to(&self, tag: &Tag) -> Option<u16> {
        if self.places.is_empty() { None } else { self.places.get(place_name(tag)?).copied() }
    }

    /// Returns the number of a link. Equal addresses have the same number. Returns `None` if the address is not safe to open.
    pub(super) fn number(&mut self, reference: &str) -> Option<u16> {
        let url: String = self.resolve(reference, &["http", "https", "mailto"])?.into();
        if let Some(number) = self.numbers.get(&url) {
            return Some(*number);
        }
        let number = u16::try_from(self.targets.len() + 1).ok().filter(|&n| n <= LINKS_MAX)?;
        self.targets.push(LinkTarget { url: url.clone() });
        self.numbers.insert(url, number);
        Some(number)
    }

    pub(super) const fn count(&self) -> usize {
        self.targets.len()
    }

    /// Removes all links after the first `count` links.
    pub(super) fn forget_after(&mut self, count: usize) {
        for target in self.targets.drain(count.min(self.targets.len())..) {
            self.numbers.remove(&target.url);
        }
    }

    /// Resolves a reference to a URL. Returns `None` if it is invalid or its scheme is not one of `schemes`.
    pub(super) fn resolve(&self, reference: &str, schemes: &[&str]) -> Option<Url> {
        if reference.len() > URL_BYTES_MAX {
            return None;
        }
        let reference = reference.trim();
        let url = match &self.base {
            Some(base) if !reference.is_empty() => base.join(reference).ok()?,
            Some(_) => return None,
            None if reference.starts_with("//") => {
                Url::parse(&format!("https:{reference}")).ok()?
            }
            None => Url::parse(reference).ok()?,
        };
        (schemes.contains(&url.scheme()) && url.as_str().len() <= URL_BYTES_MAX).then_some(url)
    }

    /// Returns the targets of the links, and the targets of the links within the text.
    pub(super) fn into_targets(self) -> (Vec<LinkTarget>, Vec<LinkTarget>) {
        (self.targets, self.inside)
    }
}

/// Returns the ID or name that links use to refer to an element.
fn place_name(tag: &Tag) -> Option<&str> {
    let name = tag.attribute("name").filter(|_| tag.name() == "a");
    tag.attribute("id").or(name).filter(|name| !name.is_empty())
}

/// Finds the addresses in running text that begin with `http://` or `https://`, without the punctuation around them.
pub(super) fn bare_urls(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices("://") {
        let before = text.get(..at).unwrap_or_default();
        let Some(scheme) = ["https", "http"].into_iter().find(|scheme| ends_with(before, scheme))
        else {
            continue;
        };
        let start = at - scheme.len();
        if found.last().is_some_and(|last| last.end > start) {
            continue;
        }
        let rest = text.get(at + 3..).unwrap_or_default();
        if !rest.starts_with(|c: char| c.is_alphanumeric() || c == '[') {
            continue;
        }
        let length = rest.find(ends_url).unwrap_or(rest.len());
        let rest = trim_sentence(rest.get(..length).unwrap_or_default());
        found.push(start..at + 3 + rest.len());
    }
    found
}

/// Checks whether `text` ends with the scheme, and no letter or digit precedes the scheme.
fn ends_with(text: &str, scheme: &str) -> bool {
    let Some(start) = text.len().checked_sub(scheme.len()) else { return false };
    let word = text.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(scheme));
    let before = text.get(..start).and_then(|before| before.chars().next_back());
    word && !before.is_some_and(|c| c.is_ascii_alphanumeric())
}

fn ends_url(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '<' | '>' | '"' | '`' | '“' | '”' | '«' | '»' | '\u{3000}'..='\u{303F}')
        || matches!(c, '\u{FF00}'..='\u{FF0F}' | '\u{200B}' | '\u{2060}')
}

/// Removes punctuation from the end of an address. A closing bracket is kept if the address also contains the opening bracket.
fn trim_sentence(url: &str) -> &str {
    let count = |sign: char| url.matches(sign).count();
    let mut surplus = [(')', '('), (']', '['), ('}', '{')]
        .map(|(close, open)| (close, count(close).saturating_sub(count(open))));
    let mut length = url.len();
    for last in url.chars().rev() {
        if let Some((_, left)) = surplus.iter_mut().find(|(close, _)| *close == last) {
            if *left == 0 {
                break;
            }
            *left -= 1;
        } else if !".,;:!?'*…’".contains(last) {
            break;
        }
        length -= last.len_utf8();
    }
    url.get(..length).unwrap_or_default()
}

/// Maximum length of the alternative text of a picture, in characters.
const ALT_CHARS_MAX: usize = 300;

/// A picture in the text of an entry.
#[derive(Debug, Default)]
pub(super) struct Picture {
    /// URL of the picture. `None` if the URL is not safe to open.
    pub url: Option<Url>,
    pub alt: String,
    /// Title of the picture, which browsers show while the mouse is over the picture. Empty if it only repeats the alternative
    /// text. In comics, the title often contains the last joke.
    pub title: String,
    /// `true` if the picture is a symbol within a sentence, such as a smiley. Its alternative text is then shown as part of the
    /// sentence.
    pub sign: bool,
    /// Width and height that the markup declares, in pixels.
    pub declared: Option<(u32, u32)>,
}

/// Parses an `img` element. `beside` is the address that a `source` element next to it specifies. Returns `None` if the picture
/// is a tracking pixel.
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

/// Checks whether an address belongs to a placeholder, by its file name.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        bare_urls(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn bare_addresses_end_before_the_punctuation_of_the_sentence() {
        let cases: [(&str, &[&str]); 9] = [
            ("see https://a.example/x.", &["https://a.example/x"]),
            ("(http://a.example/b)", &["http://a.example/b"]),
            ("http://a.example/b_(c) d", &["http://a.example/b_(c)"]),
            ("“https://a.example/?q=1&r=2”, and", &["https://a.example/?q=1&r=2"]),
            ("HTTPS://A.example http://b.example", &["HTTPS://A.example", "http://b.example"]),
            ("xhttp://a.example ftp://b.example https://", &[]),
            ("https://web.example/http://a.example/", &["https://web.example/http://a.example/"]),
            ("http://a.example/、次", &["http://a.example/"]),
            ("https://...", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn the_same_address_has_the_same_number() {
        let mut links = NumberedLinks::new(Some("https://a.example/b/c"));
        assert_eq!(links.number("d"), Some(1));
        assert_eq!(links.number("//x.example"), Some(2));
        assert_eq!(links.number("https://a.example/b/d"), Some(1));
        assert_eq!(links.number(" mailto:a@b.exam\u{1b}ple "), Some(3));
        assert_eq!(links.targets[2].url, "mailto:a@b.exam%1Bple");
    }

    #[test]
    fn only_safe_schemes_are_links() {
        let mut links = NumberedLinks::new(None);
        let refused =
            ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "d", "", "#a"];
        for reference in refused {
            assert_eq!(links.number(reference), None, "{reference}");
        }
        assert_eq!(links.number(&format!("http://a.example/{}", "x".repeat(9000))), None);
        assert_eq!(links.number("java\nscript:alert(1)"), None);
        assert_eq!(links.number("//a.example"), Some(1));
    }
}
