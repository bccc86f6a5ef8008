//! Finds feeds in `Link` headers (RFC 8288), and redirects in `Refresh` headers and `meta` elements.

use url::Url;

use super::candidates::{Candidate, collect_candidates, feed_link};
use crate::feed::address::web_url;

/// Maximum delay of a `Refresh` that counts as a redirect, in seconds. With a longer delay the page probably just reloads itself.
const REFRESH_SECONDS_MAX: u32 = 60;

/// Returns the feeds that the `Link` headers of a response point to.
pub fn feeds_in_link_header(lines: &str, page_url: &str) -> Vec<Candidate> {
    let Some(base) = web_url(page_url) else { return Vec::new() };
    let mut rest = lines;
    let every = std::iter::from_fn(|| {
        let (link, behind) = read_link(rest)?;
        rest = behind;
        Some(link)
    });
    let stated = every.filter(|link| link.parameter("anchor").is_empty()).filter_map(|link| {
        feed_link(link.parameter("rel"), link.href, link.parameter("title"), link.parameter("type"))
    });
    collect_candidates(stated, &base)
}

/// One link of a `Link` header.
struct HeaderLink<'a> {
    href: &'a str,
    parameters: Vec<(String, String)>,
}

impl HeaderLink<'_> {
    /// Returns the value of a link parameter, or an empty string if it is missing. If the parameter is repeated, the first value
    /// counts (RFC 8288 §3.3).
    fn parameter(&self, name: &str) -> &str {
        let found = self.parameters.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.as_str())
    }
}

/// Reads the first link of a `Link` header. Returns the link and the text after it.
fn read_link(text: &str) -> Option<(HeaderLink<'_>, &str)> {
    let (_, text) = text.split_once('<')?;
    let (href, mut rest) = text.split_once('>')?;
    let mut parameters = Vec::new();
    while let Some(parameter) = rest.trim_start().strip_prefix(';') {
        let end = parameter.find(['=', ';', ',']).unwrap_or(parameter.len());
        let (name, behind) = parameter.split_at(end);
        let (value, behind) = behind
            .strip_prefix('=')
            .map_or((String::new(), behind), |value| read_value(value.trim_start()));
        parameters.push((name.trim().to_ascii_lowercase(), value));
        rest = behind;
    }
    Some((HeaderLink { href, parameters }, rest))
}

/// Reads the quoted or unquoted value of a link parameter. Returns the value and the text after it.
fn read_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, behind) = text.split_at(text.find([';', ',']).unwrap_or(text.len()));
        return (value.trim().to_owned(), behind);
    };
    let mut value = String::new();
    let mut chars = quoted.chars();
    while let Some(char) = chars.next().filter(|char| *char != '"') {
        value.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    (value, chars.as_str())
}

/// Returns the URL in a `Refresh` value such as `0; url=/en/`. Returns `None` if the delay is too long or the URL is the page's
/// own.
pub fn refresh_address(stated: &str, base: &Url, page_url: &str) -> Option<String> {
    let stated = stated.trim_start();
    let rest = stated.trim_start_matches(|char: char| char.is_ascii_digit());
    let seconds = stated.get(..stated.len().saturating_sub(rest.len()))?.parse::<u32>().ok()?;
    let rest = rest.trim_start_matches(|char: char| char.is_ascii_digit() || char == '.');
    let rest = rest.trim_start().trim_start_matches([';', ',']).trim_start();
    let named = rest.split_at_checked(3).filter(|(key, _)| key.eq_ignore_ascii_case("url"));
    let target = named.and_then(|(_, target)| target.trim_start().strip_prefix('='));
    let target = target.unwrap_or(rest).trim();
    let target = match target.chars().next().filter(|char| matches!(char, '"' | '\'')) {
        Some(quote) => target.trim_start_matches(quote).split(quote).next().unwrap_or_default(),
        None => target,
    };
    let mut to = base.join(target).ok()?;
    to.set_fragment(None);
    let is_other = web_url(page_url).is_some_and(|mut page| {
        page.set_fragment(None);
        page != to
    });
    let leads = !target.is_empty() && seconds <= REFRESH_SECONDS_MAX && is_other;
    (leads && matches!(to.scheme(), "http" | "https")).then(|| to.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "https://a.example/dir/page?x#y";

    #[test]
    fn link_header_feeds_are_found_in_all_spellings() {
        for (lines, expected) in [
            (
                r#"</style.css>; rel=preload; as=style, </f/hdr>; rel="alternate"; type="application/atom+xml"; title="Posts, all; <x>""#,
                vec![("https://a.example/f/hdr", Some("Posts, all; <x>"))],
            ),
            (
                r#"<feed.xml>;REL="home Alternate";Type=application/rss+xml ,<//b.example/f>; rel = feed"#,
                vec![("https://a.example/dir/feed.xml", None), ("https://b.example/f", None)],
            ),
            (
                r#"<https://a.example/f?a=1,2>; title="a \"b\""; type="application/feed+json; charset=utf-8"; rel=alternate"#,
                vec![("https://a.example/f?a=1,2", Some("a \"b\""))],
            ),
            (
                r#"</c>; rel=alternate; type=text/rss; title="Comments", </a>; rel=alternate; type=text/rss, </a>; rel=feed"#,
                vec![("https://a.example/a", None), ("https://a.example/c", Some("Comments"))],
            ),
            (r#"</x>; rel=alternate; type=text/html, </y>; rel=feed; anchor="/other""#, vec![]),
            (
                r#"</x>; rel="feed", <ftp://a.example/>; rel=feed"#,
                vec![("https://a.example/x", None)],
            ),
            ("</x>", vec![]),
            ("<", vec![]),
            (r#"</x>; rel="alternate"#, vec![]),
            ("</x>;=;;; rel", vec![]),
        ] {
            let found = feeds_in_link_header(lines, PAGE);
            let found: Vec<_> =
                found.iter().map(|feed| (feed.url.as_str(), feed.title.as_deref())).collect();
            assert_eq!(found, expected, "{lines}");
        }
    }

    #[test]
    fn a_refresh_leads_to_another_page_soon_or_nowhere() {
        for (stated, expected) in [
            ("0; url=/en/", Some("https://a.example/en/")),
            (" 5 ;URL = 'en/#top' ", Some("https://a.example/dir/en/")),
            ("0.5,url=\"//b.example/x y\" junk", Some("https://b.example/x%20y")),
            ("0;/en/", Some("https://a.example/en/")),
            ("1; Url=https://b.example/?url=x", Some("https://b.example/?url=x")),
            ("0", None),
            ("0; url=", None),
            ("0; url=?x", None),
            ("600; url=/en/", None),
            ("url=/en/", None),
            ("0; url=javascript:x", None),
            ("99999999999; url=/x", None),
            ("", None),
        ] {
            let base = web_url(PAGE).unwrap();
            assert_eq!(refresh_address(stated, &base, PAGE).as_deref(), expected, "{stated}");
        }
    }
}
