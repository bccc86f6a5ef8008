//! Resolves relative URLs in documents and compares URLs (SPEC C.4).

use std::borrow::Cow;

use url::Url;

use super::characters::{is_bidi_control, is_invisible};

/// Maximum length of a URL in a document, in bytes. Longer URLs are dropped.
const ADDRESS_BYTES_MAX: usize = 8_192;

/// Cleans the URL `written` and resolves it against `base`. Cleaning removes surrounding white space and quotes, line breaks with
/// their indentation, control characters and invisible characters. An absolute URL is not normalised, but for a host in another
/// script ([`with_ascii_host`]). An empty URL gives `None`.
pub(super) fn resolve_address(written: &str, base: Option<&Url>) -> Option<String> {
    if written.len() > ADDRESS_BYTES_MAX {
        return None;
    }
    let clean = clean_address(written);
    if clean.is_empty() {
        return None;
    }
    if has_scheme(&clean) {
        return Some(with_ascii_host(clean.into_owned()));
    }
    let joined = base.and_then(|base| base.join(&clean).ok());
    Some(joined.map_or_else(|| clean.into_owned(), String::from))
}

/// Returns a web URL with its host in ASCII (Punycode), because letters of other scripts can look like those of a familiar name.
/// Returns other URLs unchanged.
pub(super) fn with_ascii_host(address: String) -> String {
    let after = address.split_once("://").map_or("", |(_, after)| after);
    let host = after.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    if host.is_ascii() || !is_web(&address) {
        return address;
    }
    Url::parse(&address).map_or(address, String::from)
}

fn clean_address(written: &str) -> Cow<'_, str> {
    let is_clean =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'<' | b'>');
    if written.bytes().all(is_clean) {
        return Cow::Borrowed(written);
    }
    let is_mark = |c: char| {
        c.is_control()
            || is_invisible(c)
            || is_bidi_control(c)
            || matches!(c, '\u{200e}' | '\u{200f}')
    };
    let trimmed = written.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>') || is_mark(c)
    });
    if !trimmed.contains(is_mark) {
        return Cow::Borrowed(trimmed);
    }
    let lines = trimmed.lines().map(str::trim);
    Cow::Owned(lines.collect::<String>().chars().filter(|c| !is_mark(*c)).collect())
}

/// Checks whether a URL begins with a scheme.
pub(super) fn has_scheme(address: &str) -> bool {
    address.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    })
}

/// Checks whether a URL has the scheme `http` or `https`, so that it can be opened as a page.
pub(super) fn is_web(address: &str) -> bool {
    let starts = |scheme: &str| {
        address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    starts("http://") || starts("https://")
}

/// Parses a URL. Returns `None` unless it has a host and the scheme `http` or `https`.
pub(super) fn web_url(address: &str) -> Option<Url> {
    let url = Url::parse(address.trim()).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// Schemes that mean a feed on the web.
const FEED_SCHEMES: [&str; 6] = ["feed", "feeds", "itpc", "pcast", "podcast", "rss"];

/// Returns the part after the scheme of an address such as `feed://host/` or `feed:https://host/`, or `None` for other addresses.
pub fn after_feed_scheme(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_once(':')?;
    FEED_SCHEMES.iter().any(|feed| scheme.eq_ignore_ascii_case(feed)).then_some(rest)
}

/// Converts `feed://host/` and `feed:https://host/` to web URLs. Returns other URLs unchanged.
pub(super) fn without_feed_scheme(address: &str) -> Cow<'_, str> {
    match after_feed_scheme(address) {
        Some(rest) if rest.starts_with("//") => Cow::Owned(format!("https:{rest}")),
        Some(rest) => Cow::Borrowed(rest),
        None => Cow::Borrowed(address),
    }
}

/// Returns a URL without its fragment.
pub(super) fn without_fragment(address: &str) -> &str {
    address.split('#').next().unwrap_or(address)
}

/// Checks whether two URLs identify the same document, by comparing their canonical forms without fragments.
pub(super) fn same_document(address: &str, other: &Url) -> bool {
    Url::parse(without_fragment(address)).is_ok_and(|mut address| {
        let mut other = other.clone();
        other.set_fragment(None);
        address.set_fragment(None);
        address == other
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expected: Option<&str>) {
        let base = Url::parse("https://a.example/dir/feed.xml").expect("an address");
        assert_eq!(resolve_address(written, Some(&base)).as_deref(), expected, "{written:?}");
    }

    #[test]
    fn relative_addresses_are_resolved_and_absolute_ones_kept() {
        check(" x ", Some("https://a.example/dir/x"));
        check("/x?y=1", Some("https://a.example/x?y=1"));
        check("//b.example", Some("https://b.example/"));
        check("HTTP://B.example", Some("HTTP://B.example"));
        check("https://b.example/ж?ж", Some("https://b.example/ж?ж"));
        check("https://b.exаmple/", Some("https://b.xn--exmple-4nf/"));
        check("http://b.exa\n\tmple/", Some("http://b.example/"));
        check(
            "\n  http://b.example/long/\r\n  path?x=1 2\n",
            Some("http://b.example/long/path?x=1 2"),
        );
        check("\u{200b}\u{feff}http://b.example/\u{2060}x\u{200e}", Some("http://b.example/x"));
        check("\"http://b.example/q\"", Some("http://b.example/q"));
        check("tag:b.example,2026:1", Some("tag:b.example,2026:1"));
        check("  ", None);
        assert_eq!(resolve_address("x", None).as_deref(), Some("x"));
    }

    #[test]
    fn fragment_does_not_change_the_document_address() {
        let own = Url::parse("https://a.example/feed").expect("an address");
        assert!(same_document("HTTPS://a.example:443/feed#top", &own));
        assert!(!same_document("https://a.example/feed?page=2", &own));
    }
}
