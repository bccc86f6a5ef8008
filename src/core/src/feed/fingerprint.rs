//! Hashes the content of an entry, to distinguish an edited entry from an unchanged repetition (SPEC E), and the page that it links
//! to, to find the same article in other feeds.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher13};
use url::Url;

use super::document::Entry;
use super::identity::identity_hash;
use super::outgoing::is_tracker;

/// Keys of [`content_hash`]. They must never change, because stored hashes depend on them.
const KEYS: (u64, u64) = (0x636f_6e74_656e_7420, 0x6f66_2061_6e20_656e);
/// Field separator: the ASCII unit separator, which cannot occur in a field.
const US: u8 = 0x1f;

/// Hashes the visible parts of an entry (SPEC E.2): title, link, author, summary, content, enclosure URLs and categories. Ignores
/// times, the order of enclosures and categories, white space, comments in the markup and `utm_*` parameters in the link.
pub(crate) fn content_hash(entry: &Entry) -> u128 {
    let mut hasher = SipHasher13::new_with_keys(KEYS.0, KEYS.1);
    // One write for each field, because the hasher is slow for short pieces.
    let mut words = Vec::new();
    let mut field = |text: &str| {
        words.clear();
        push_words(&mut words, text);
        words.push(US);
        hasher.write(&words);
    };
    field(entry.title.as_deref().unwrap_or_default());
    field(&without_tracking(entry.link.as_deref().unwrap_or_default()));
    field(entry.author.as_deref().unwrap_or_default());
    for text in entry.kept_texts() {
        field(&without_comments(text.unwrap_or_default()));
    }
    let enclosures: BTreeSet<&str> =
        entry.enclosures.iter().map(|enclosure| enclosure.url.as_str()).collect();
    let categories: BTreeSet<&str> = entry.categories.iter().map(String::as_str).collect();
    for set in [enclosures, categories] {
        set.into_iter().for_each(&mut field);
        field("");
    }
    hasher.finish128().as_u128()
}

/// Adds the words of a text, separated by single blanks. Most lines have no other white space between words and are copied whole.
fn push_words(words: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr::memchr3(b'\n', b'\r', b'\t', rest.as_bytes()).unwrap_or(rest.len());
        let (line, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
        rest = tail.get(1..).unwrap_or_default();
        let line = line.trim_ascii();
        let is_plain = memchr::memmem::find(line.as_bytes(), b"  ").is_none()
            && memchr::memchr(b'\x0c', line.as_bytes()).is_none();
        if is_plain {
            push_word(words, line);
        } else {
            line.split_ascii_whitespace().for_each(|word| push_word(words, word));
        }
    }
}

fn push_word(words: &mut Vec<u8>, word: &str) {
    if !words.is_empty() && !word.is_empty() {
        words.push(b' ');
    }
    words.extend_from_slice(word.as_bytes());
}

/// Removes comments from markup. Some publishing programs write the current time into a comment, so the comment differs in each
/// document.
fn without_comments(markup: &str) -> Cow<'_, str> {
    if memchr::memmem::find(markup.as_bytes(), b"<!--").is_none() {
        return Cow::Borrowed(markup);
    }
    let mut rest = markup;
    let mut out = String::new();
    while let Some((before, tail)) = rest.split_once("<!--") {
        out.push_str(before);
        let Some((_, after)) = tail.split_once("-->") else { return Cow::Owned(out) };
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Removes `utm_*` parameters from the query of a link.
fn without_tracking(link: &str) -> Cow<'_, str> {
    if !link.contains("utm_") {
        return Cow::Borrowed(link);
    }
    let (rest, fragment) =
        link.split_once('#').map_or((link, None), |(rest, fragment)| (rest, Some(fragment)));
    let Some((path, query)) = rest.split_once('?') else { return Cow::Borrowed(link) };
    let kept: Vec<&str> = query.split('&').filter(|part| !part.starts_with("utm_")).collect();
    let mut out = path.to_owned();
    if !kept.is_empty() {
        out.push('?');
        out.push_str(&kept.join("&"));
    }
    if let Some(fragment) = fragment {
        out.push('#');
        out.push_str(fragment);
    }
    Cow::Owned(out)
}

/// Returns an address in a form that is equal for the same page: without scheme, `www.`, slash at the end, and parameters that only
/// tell where a reader came from. The fragment stays, because the comments of a page differ by it. Returns `None` for an address that
/// names no page, such as the front page of a site.
pub fn article_address(link: &str) -> Option<String> {
    let url = Url::parse(link).ok().filter(|url| url.scheme().starts_with("http"))?;
    let host = url.host_str()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let path = url.path().trim_end_matches('/');
    let mut kept: Vec<String> = url
        .query_pairs()
        .filter(|(name, _)| !is_tracker(name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    kept.sort();
    let names_a_page = !path.is_empty() || !kept.is_empty();
    let fragment = url.fragment().unwrap_or_default();
    names_a_page.then(|| format!("{host}{port}{path}?{}#{fragment}", kept.join("&")))
}

/// Hash of the address of the page that an entry links to. The hash of a page is part of the stored form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageHash(pub u32);

impl PageHash {
    /// The entry must be read to know the page. Stores of older versions have no hashes.
    pub const UNKNOWN: Self = Self(0);
    /// The entry links to no page.
    const NONE: Self = Self(1);

    /// Hashes the page of a link.
    pub fn of(link: Option<&str>) -> Self {
        link.and_then(article_address).map_or(Self::NONE, |address| Self::of_address(&address))
    }

    /// Hashes an [`article_address`].
    pub fn of_address(address: &str) -> Self {
        let low = u32::try_from(identity_hash(address) & u64::from(u32::MAX)).unwrap_or_default();
        Self(low.max(Self::NONE.0.saturating_add(1)))
    }

    /// Returns the hash; `None` if the entry links to no page, or if that is not known.
    pub fn page(self) -> Option<Self> {
        (self > Self::NONE).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::document::Enclosure;

    fn entry() -> Entry {
        Entry {
            id: "1".to_owned(),
            title: Some("Ladders".to_owned()),
            link: Some("https://orchard.example/n3?a=1".to_owned()),
            content: Some("<p>Three.</p>".to_owned()),
            categories: vec!["tools".to_owned(), "wood".to_owned()],
            ..Entry::default()
        }
    }

    fn check(change: impl Fn(&mut Entry), is_edit: bool) {
        let mut changed = entry();
        change(&mut changed);
        assert_eq!(content_hash(&changed) != content_hash(&entry()), is_edit, "{changed:?}");
    }

    #[test]
    fn words_are_separated_by_single_blanks() {
        let mut dice = 7_u32;
        for _ in 0..2_000 {
            let pick = |dice: &mut u32| {
                *dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                [" ", "a", "bc", "\n", "\t", "\r\n", "\x0c", "é"][*dice as usize >> 29]
            };
            let text: String = (0..12).map(|_| pick(&mut dice)).collect();
            let mut words = Vec::new();
            push_words(&mut words, &text);
            let expected = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(String::from_utf8(words).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn visible_changes_are_edits() {
        check(|e| e.title = Some("Ladder".to_owned()), true);
        check(|e| e.content = Some("<p>3.</p>".to_owned()), true);
        check(|e| e.summary = Some("<p>Three.</p>".to_owned()), true);
        check(|e| e.link = Some("https://orchard.example/n3?a=2".to_owned()), true);
        check(|e| e.author = Some("Pomona".to_owned()), true);
        check(|e| e.categories.push("new".to_owned()), true);
        check(
            |e| e.enclosures.push(Enclosure { url: "u".to_owned(), ..Enclosure::default() }),
            true,
        );
    }

    #[test]
    fn times_spacing_comments_and_tracking_are_no_edit() {
        check(|e| e.updated = Some(chrono::DateTime::UNIX_EPOCH), false);
        check(|e| e.content = Some("<p>Three.</p>\n <!-- 0.3 s -->".to_owned()), false);
        check(|e| e.categories.reverse(), false);
        check(
            |e| e.link = Some("https://orchard.example/n3?a=1&utm_source=feed".to_owned()),
            false,
        );
    }

    #[test]
    fn addresses_of_one_page_are_equal() {
        for (link, same) in [
            ("https://www.site.example/a/", "http://site.example/a#"),
            ("https://site.example/a?utm_source=x&id=2", "https://site.example/a?id=2&fbclid=9"),
            ("https://site.example/?p=7", "http://SITE.example?p=7"),
        ] {
            assert_eq!(article_address(link), article_address(same), "{link} {same}");
            assert!(article_address(link).is_some(), "{link}");
        }
        let other = [
            ("https://site.example/a", "https://site.example/b"),
            ("https://site.example/?p=7", "https://site.example/?p=8"),
            ("https://site.example/a", "https://site.example:8080/a"),
            ("https://site.example/a", "https://site.example/a#comment-7"),
        ];
        for (link, other) in other {
            assert_ne!(article_address(link), article_address(other), "{link} {other}");
        }
        for link in ["https://site.example/", "mailto:a@b.example", "not a link", ""] {
            assert_eq!(article_address(link), None, "{link}");
            assert_eq!(PageHash::of(Some(link)).page(), None, "{link}");
        }
    }

    #[test]
    fn hashes_of_contents_and_pages_are_part_of_the_stored_form() {
        assert_eq!(content_hash(&entry()), 166_278_650_906_485_633_720_078_254_656_850_314_995);
        let page = PageHash::of(Some(
            "https://www.orchard.example/n3/?b=2&a=1&utm_source=feed&fbclid=9#c",
        ));
        assert_eq!(page, PageHash(919_367_883));
    }
}
