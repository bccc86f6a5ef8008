//! Resolves relative URLs in documents, compares URLs (SPEC C.4), and removes logins from them.

use std::borrow::Cow;

use url::Url;

use super::characters::{is_bidi_control, is_invisible};

/// Maximum length of a URL in a document, in bytes. Longer URLs are dropped.
const ADDRESS_BYTES_MAX: usize = 8_192;

/// Returns the registrable domain of a host name according to the public suffix list: what one owner has. Not inlined, so that the
/// list, which is code, is in the program once.
#[inline(never)]
pub fn owned_domain(host: &str) -> Option<&str> {
    psl::domain_str(host)
}

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

/// Schemes whose URLs contain `@` but no password.
const NAMING: [&str; 6] = ["acct", "feed", "mailto", "sip", "sips", "xmpp"];
/// Longest login that is detected, in characters. The limit bounds the run time on long texts.
const LOGIN_CHARS_MAX: usize = 256;

/// Removes logins (`user:password@`) at the start of words and of URL hosts.
pub fn without_logins(text: &str) -> String {
    if !text.contains('@') {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        if begins_word(&clean) {
            let is_host = clean.ends_with("//");
            let length = match login_length(rest, is_host) {
                0 if is_host => odd_login_length(rest),
                length => length,
            };
            if let Some(behind) = rest.get(length..).filter(|_| length > 0) {
                rest = behind;
                continue;
            }
        }
        clean.push(char);
        rest = rest.get(char.len_utf8()..).unwrap_or_default();
    }
    clean
}

/// Checks whether text directly after `before` begins a word or a URL host.
fn begins_word(before: &str) -> bool {
    const SEPARATORS: [char; 10] = ['"', '\'', '<', '>', '(', ',', ';', '=', '|', '`'];
    let is_separator = |c: char| c.is_whitespace() || SEPARATORS.contains(&c);
    before.is_empty()
        || before.ends_with(is_separator)
        || ["//", ":/", "%20", "%09"].iter().any(|end| before.ends_with(end))
}

/// Returns the length of the login at the start of a text, including its `@`, or 0 if there is none.
fn login_length(text: &str, is_host: bool) -> usize {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>');
    let chars = text.char_indices().take(LOGIN_CHARS_MAX).take_while(|(_, char)| !is_end(*char));
    let end = chars.last().map_or(0, |(at, char)| at.saturating_add(char.len_utf8()));
    let word = text.get(..end).unwrap_or_default();
    let behind = |at: usize| at.saturating_add(1);
    let host = word.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some(at) = host.rfind('@').filter(|_| is_host) {
        return behind(at);
    }
    let Some((user, password)) = word.split_once(':') else { return 0 };
    let port = password.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_port = port.len() < password.len() && port.starts_with(['/', '?', '#']);
    if user.contains(['/', '?', '#', '@']) || (user.is_empty() && !is_host) || is_port {
        return 0;
    }
    if NAMING.iter().any(|naming| user.eq_ignore_ascii_case(naming)) || password.starts_with('/') {
        return 0;
    }
    // A password may contain a slash. If there is no @ before the first slash, the login ends at the first @ after it.
    host.rfind('@').or_else(|| word.find('@')).map_or(0, behind)
}

/// Returns the length of a login whose password contains blanks or quotes, or 0 if the text does not begin with one. `text` is the
/// start of a URL host. A URL with such a login is invalid, but error messages quote it.
fn odd_login_length(text: &str) -> usize {
    let within = text.char_indices().take(LOGIN_CHARS_MAX).take_while(|(_, char)| *char != '\n');
    let end = within.last().map_or(0, |(at, char)| at.saturating_add(char.len_utf8()));
    let line = text.get(..end).unwrap_or_default();
    let Some((user, password)) = line.split_once(':') else { return 0 };
    let is_word = !user.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '@'));
    let behind_port = password.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_port = behind_port.len() < password.len() && !behind_port.starts_with('@');
    let login = password.split_once('@').map(|(password, _)| password);
    let login = login.filter(|password| is_word && !is_port && !password.contains('/'));
    login.map_or(0, |password| user.len().saturating_add(password.len()).saturating_add(2))
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

    #[test]
    fn login_is_removed_at_any_position() {
        for (text, clean) in [
            ("https://me:secret@a.example/x", "https://a.example/x"),
            ("https://token@a.example/", "https://a.example/"),
            ("ftp://me:secret@a.example:99999/x", "ftp://a.example:99999/x"),
            ("https://me:se@cret@a b/", "https://a b/"),
            ("https://me:se/cret@a.example/", "https://a.example/"),
            ("me:secret@word", "word"),
            ("--x=https://me:secret@a.example/", "--x=https://a.example/"),
            ("https://a.example/x me:secret@b", "https://a.example/x b"),
            ("https://a.example/x%20me:secret@b", "https://a.example/x%20b"),
            ("https://a.example/https://me:secret@b/", "https://a.example/https://b/"),
            ("https://a.example/?u=me:secret@b", "https://a.example/?u=b"),
            ("'http://me:secret@a' (http://me:secret@b)", "'http://a' (http://b)"),
            ("//:secret@a", "//a"),
            ("http://me:se cret@a.example/", "http://a.example/"),
            ("http://me:se\"cr\tet@a.example/x", "http://a.example/x"),
            ("http:/me:secret@a.example/", "http:/a.example/"),
            ("http:\\\\me:secret@a.example/", "a.example/"),
        ] {
            assert_eq!(without_logins(text), clean, "{text}");
        }
    }

    #[test]
    fn login_removal_runs_in_linear_time() {
        let long = "a,".repeat(20_000) + "@";
        assert_eq!(without_logins(&long), long);
    }

    #[test]
    fn text_without_a_login_is_unchanged() {
        for text in [
            "",
            "two words",
            "me@home",
            "https://a.example/@me",
            "https://a.example:8080/x@y",
            "https://a.example/acct:me@b.example",
            "https://a.example/?resource=acct:me@b.example",
            "mailto:me@a.example",
            "feed:https://a.example/@me",
            "at 12:30 @ home",
            "http://a.example:8080 is where me@home is",
            "see http://a.example/ or: me@home",
            "ä:ö",
        ] {
            assert_eq!(without_logins(text), text);
        }
    }
}
