//! Links of a page that may point to feeds: its `Link` headers (RFC 8288) and, as the last resort for pages that declare no feed,
//! its ordinary links.

use url::Url;

use crate::feed::address::{after_feed_scheme, web_url, without_feed_scheme};
use crate::feed::content::markup::Tag;
use crate::feed::text::one_line;

/// Maximum number of feed candidates kept per page.
const CANDIDATES_MAX: usize = 50;

/// Maximum length of a candidate's title, in characters.
const TITLE_CHARS_MAX: usize = 200;

/// Strings that identify the URLs of APIs and similar resources, which are never feeds.
const INTERFACES: [&str; 5] = ["wp-json", "oembed", "opensearch", "sitemap", "/api/"];

/// A feed that a page links to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Absolute `http` or `https` URL without a fragment.
    pub url: String,
    /// Title of the link, if the page states one.
    pub title: Option<String>,
    /// Media type as stated, in lower case and without parameters. Empty if not stated.
    pub media_type: String,
}

impl Candidate {
    /// Checks whether only a type that other documents have too indicates a feed.
    pub fn is_general(&self) -> bool {
        matches!(use_of_type(&self.media_type), TypeUse::Several)
            && !speaks_of_feed(&self.url, self.title.as_deref().unwrap_or_default())
    }
}

/// A `link` element that points to a feed, as written.
#[derive(Debug)]
pub(super) struct StatedFeed {
    href: String,
    title: Option<String>,
    media_type: String,
}

/// Resolves the URLs of `link` elements against `base`. Puts comment feeds last, and general types after them, and removes
/// duplicate URLs.
pub(super) fn collect_candidates(
    stated: impl Iterator<Item = StatedFeed>,
    base: &Url,
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for stated in stated {
        let Some(url) = absolute_address(&stated.href, base) else { continue };
        let known = found.iter().any(|candidate| candidate.url == url);
        if !known && found.len() < CANDIDATES_MAX {
            found.push(Candidate { url, title: stated.title, media_type: stated.media_type });
        }
    }
    // The sort is stable, so each kind stays in page order.
    found.sort_by_key(|candidate| (candidate.is_general(), is_of_comments(candidate)));
    found
}

/// Returns the feed that a `link` element or `Link` header points to, or `None` if it does not point to a feed.
///
/// A link points to a feed if all of these hold:
///
/// 1 - `rel` contains `alternate` (and not `stylesheet`) or `feed`
/// 2 - the type is a feed type, or a general one and the URL does not belong to an API ([`Candidate::is_general`]);
///     with `rel=feed` the type may be missing
/// 3 - the link has a URL
pub(super) fn feed_link(
    rel: &str,
    href: &str,
    title: &str,
    media_type: &str,
) -> Option<StatedFeed> {
    let has = |token: &str| rel.split_ascii_whitespace().any(|t| t.eq_ignore_ascii_case(token));
    let states_alternate = has("alternate") && !has("stylesheet");
    let href = href.trim();
    let title = one_line(title, TITLE_CHARS_MAX);
    let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_feed = match use_of_type(&media_type) {
        TypeUse::Feed => states_alternate || has("feed"),
        TypeUse::Several => (states_alternate || has("feed")) && !is_interface(href),
        TypeUse::Unstated => has("feed"),
        TypeUse::Other => false,
    };
    let title = (!title.is_empty()).then_some(title);
    (is_feed && !href.is_empty()).then(|| StatedFeed { href: href.to_owned(), title, media_type })
}

/// What a media type is used for.
pub(super) enum TypeUse {
    Feed,
    /// Used for feeds and for other documents.
    Several,
    Unstated,
    Other,
}

fn use_of_type(media_type: &str) -> TypeUse {
    match media_type {
        "" => TypeUse::Unstated,
        "application/json" | "application/xml" | "text/xml" | "application/x-xml" => {
            TypeUse::Several
        }
        // Accept unofficial forms of these types: with the prefix `x-`, `x.` or `text/`, or without `+xml`.
        other => {
            let subtype = other.rsplit(['/', '.']).next().unwrap_or_default();
            let subtype = subtype.strip_prefix("x-").unwrap_or(subtype);
            match subtype {
                "rss+xml" | "atom+xml" | "rdf+xml" | "feed+json" | "rss" | "atom" | "rdf" => {
                    TypeUse::Feed
                }
                _ => TypeUse::Other,
            }
        }
    }
}

/// Checks whether the URL or title of a link mentions a feed. The URLs of APIs never count as a mention.
fn speaks_of_feed(href: &str, title: &str) -> bool {
    const WORDS: [&str; 5] = ["feed", "rss", "atom", "rdf", "index.xml"];
    let href = href.to_ascii_lowercase();
    let title = title.to_ascii_lowercase();
    !is_interface(&href) && WORDS.iter().any(|word| has_word(&href, word) || has_word(&title, word))
}

/// Checks whether a URL belongs to an API or a similar resource.
fn is_interface(href: &str) -> bool {
    let href = href.to_ascii_lowercase();
    INTERFACES.iter().any(|word| href.contains(word))
}

/// Checks whether a text contains a word that is not part of another word (`rss` in `crossing` does not count).
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(char::is_alphanumeric)
            || !text
                .get(at + word.len()..)
                .is_some_and(|after| after.starts_with(char::is_alphanumeric))
    })
}

fn absolute_address(href: &str, base: &Url) -> Option<String> {
    let mut url = base.join(&without_feed_scheme(href)).ok()?;
    url.set_fragment(None);
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then(|| url.into())
}

/// Checks whether the URL or title of a candidate indicates a feed of comments.
fn is_of_comments(candidate: &Candidate) -> bool {
    const WORDS: [&str; 6] =
        ["comment", "kommentar", "comentario", "comentário", "reacties", "コメント"];
    let title = candidate.title.as_deref().unwrap_or_default().to_lowercase();
    let url = candidate.url.to_ascii_lowercase();
    WORDS.iter().any(|word| title.contains(word))
        || url.contains("/comments/")
        || url.ends_with("/comments")
        || url.contains("feed=comments")
}

/// Maximum number of links of a page to examine closely.
const ANCHORS_MAX: usize = 200;
/// Maximum number of candidates returned for one page.
const LINKED_MAX: usize = 50;
/// Maximum length of a link's label, in characters.
const LABEL_CHARS_MAX: usize = 200;
/// Words that indicate a feed in a URL or a label.
const FEED_WORDS: [&str; 6] = ["feed", "feeds", "rss", "rss2", "atom", "rdf"];
/// File extensions of links that cannot be feeds.
const OTHER_FILES: [&str; 14] = [
    "html", "htm", "xhtml", "pdf", "png", "jpg", "jpeg", "gif", "svg", "webp", "zip", "js", "css",
    "txt",
];

/// Links of a page that may point to feeds, as written.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    open: Option<Anchor>,
    found: Vec<Anchor>,
}

#[derive(Debug)]
struct Anchor {
    href: String,
    media_type: String,
    /// Label of the link: its text, title and similar attributes.
    label: String,
}

/// What indicates that a link points to a feed, the strongest indication first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    Type,
    Address,
    Label,
}

impl Anchors {
    /// Handles the start tag of a page element. A link ends when the next one begins, because links cannot be nested. A `link`
    /// element without a relation counts as a link in the text.
    pub(super) fn open_tag(&mut self, tag: &Tag) {
        let attribute = |name: &str| tag.attribute(name).unwrap_or_default();
        if tag.name() == "img" {
            self.add_text(attribute("alt"));
        }
        let is_void = tag.name() == "area" || tag.name() == "link" && attribute("rel").is_empty();
        if tag.name() != "a" && !is_void {
            return;
        }
        self.close();
        self.open = Some(Anchor {
            href: attribute("href").trim().to_owned(),
            media_type: attribute("type").trim().to_ascii_lowercase(),
            label: ["title", "aria-label", "alt"].map(attribute).join(" "),
        });
        if is_void {
            self.close();
        }
    }

    /// Adds text of the page to the label of the open link, if there is one.
    pub(super) fn add_text(&mut self, text: &str) {
        if let Some(open) = self.open.as_mut().filter(|open| open.label.len() < 4 * LABEL_CHARS_MAX)
        {
            open.label.push(' ');
            open.label.extend(text.chars().take(LABEL_CHARS_MAX));
        }
    }

    /// Closes the open link, if there is one, and keeps it if it may point to a feed.
    pub(super) fn close(&mut self) {
        if let Some(anchor) = self.open.take().filter(|anchor| {
            let text = format!("{} {} {}", anchor.href, anchor.media_type, anchor.label);
            let text = text.to_ascii_lowercase();
            ["feed", "rss", "atom", "rdf", "index.xml"].iter().any(|word| text.contains(word))
        }) && self.found.len() < ANCHORS_MAX
        {
            self.found.push(anchor);
        }
    }

    /// Returns the links that probably point to feeds, the most likely first and comment feeds last, without duplicate URLs.
    pub(super) fn into_candidates(mut self, base: &Url, page_url: &str) -> Vec<Candidate> {
        self.close();
        let mut found: Vec<(bool, Sign, Candidate)> = Vec::new();
        for Anchor { href, media_type, label } in self.found {
            let Some(url) = absolute_address(&href, base).filter(|url| url != page_url) else {
                continue;
            };
            let Some(sign) = sign_of_feed(&href, &url, &media_type, &label) else { continue };
            let title = Some(one_line(&label, LABEL_CHARS_MAX)).filter(|title| !title.is_empty());
            let candidate = Candidate { url, title, media_type };
            found.push((is_of_comments(&candidate), sign, candidate));
        }
        // The sort is stable, so links that are equally likely stay in page order.
        found.sort_by_key(|(of_comments, sign, _)| (*of_comments, *sign));
        let mut candidates: Vec<Candidate> = Vec::new();
        for (_, _, candidate) in found {
            let is_known = candidates.iter().any(|known| known.url == candidate.url);
            if !is_known && candidates.len() < LINKED_MAX {
                candidates.push(candidate);
            }
        }
        candidates
    }
}

/// Returns what indicates that a link points to a feed, or `None` if nothing does.
fn sign_of_feed(href: &str, url: &str, media_type: &str, label: &str) -> Option<Sign> {
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    match use_of_type(media_type) {
        TypeUse::Feed => return Some(Sign::Type),
        TypeUse::Other => return None,
        TypeUse::Several | TypeUse::Unstated => {}
    }
    let url = Url::parse(&url.to_ascii_lowercase()).ok()?;
    if INTERFACES.iter().any(|word| url.as_str().contains(word)) {
        return None;
    }
    if after_feed_scheme(href).is_some() || names_feed(&url) {
        return Some(Sign::Address);
    }
    let is_other_file = OTHER_FILES.contains(&last_part(&url).1);
    let mut words = label.split(|char: char| !char.is_ascii_alphanumeric());
    let says_feed = words.any(|word| is_feed_word(&word.to_ascii_lowercase()));
    (says_feed && !is_other_file).then_some(Sign::Label)
}

/// Checks whether the path or query of a lower-case URL contains a word that indicates a feed.
fn names_feed(url: &Url) -> bool {
    let is_named = |text: &str| text.split('/').any(is_feed_word);
    if url.query_pairs().any(|(key, value)| is_named(&key) || is_named(&value)) {
        return true;
    }
    let (stem, ending) = last_part(url);
    let mut words = stem.split(|char: char| !char.is_ascii_alphanumeric());
    let in_folder = || url.path_segments().is_some_and(|mut parts| parts.any(is_feed_word));
    match ending {
        "rss" | "atom" | "rdf" => true,
        "xml" | "json" => {
            stem == "index" && ending == "xml" || words.any(is_feed_word) || in_folder()
        }
        other if OTHER_FILES.contains(&other) => false,
        _ => words.next_back().is_some_and(is_feed_word) || in_folder(),
    }
}

/// Returns the name (without extension) and the extension of the last non-empty path segment.
fn last_part(url: &Url) -> (&str, &str) {
    let last = url.path().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    last.rsplit_once('.').unwrap_or((last, ""))
}

fn is_feed_word(word: &str) -> bool {
    FEED_WORDS.contains(&word)
}

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
    use crate::feed::page_feeds::read_page_feeds;

    fn linked(html: &str) -> Vec<String> {
        let page = read_page_feeds(html.as_bytes(), "https://a.example/dir/page");
        page.leads.linked.into_iter().map(|feed| feed.url).collect()
    }

    #[test]
    fn a_link_that_says_feed_is_one_however_it_says_so() {
        for html in [
            "<a href=/f type='application/rss+xml; charset=utf-8'>Subscribe</a>",
            "<a href=/f>RSS feed</a>",
            "<a href=/f><b>News</b> (Atom)</a>",
            "<a href=/f title='Our RSS'>x</a>",
            "<a href=/f aria-label='rss'><svg></svg></a>",
            "<a href=/f><img src=/i.png alt='RSS-Symbol'></a>",
            "<map><area href=/f alt='Podcast feed'></map>",
            "<link href=/f type=application/rss&#43;xml>",
            "<link href=/f title=RSS>",
            "<a href=/f>Subscribe via RSS<a href=/about>About</a>",
            "<base href='https://a.example/'><a href='f#x'>RSSフィード</a>",
        ] {
            assert_eq!(linked(html), ["https://a.example/f"], "{html}");
        }
        for path in [
            "/feed",
            "/feed/",
            "/blog/feed",
            "/feed.xml",
            "/x.rss",
            "/x.rdf",
            "/x.atom",
            "/index.xml",
            "/?feed=rss2",
            "/blog/index.php?/feeds/index.rss1",
            "/x.php?format=rss",
            "/blog-feed",
            "/feeds/all.xml",
            "/rss.php",
            "/feed.json",
            "/feeds/posts/default",
            "/RSS",
            "/atom.xml",
        ] {
            let found = linked(&format!("<a href='{path}'>x</a>"));
            assert_eq!(found, [format!("https://a.example{path}")], "{path}");
        }
    }

    #[test]
    fn a_link_that_merely_holds_the_letters_is_none() {
        for html in [
            "<a href=/feedback>Feedback</a>",
            "<a href=/rssi>RSSI</a>",
            "<a href=/newsfeed-policy>Our newsfeed policy</a>",
            "<a href=/crossing>Crossing</a>",
            "<a href=/atomic.html>Atomic</a>",
            "<a href=/what-is-rss.html>What is RSS?</a>",
            "<a href=/feed type=text/html>Feed</a>",
            "<a href=/wp-json/feed>Feed</a>",
            "<a href='mailto:rss@a.example'>RSS</a>",
            "<a href='javascript:feed()'>RSS</a>",
            "<a href='/dir/page#rss'>RSS</a>",
            "<a>RSS</a>",
            "<!-- <a href=/feed>RSS</a> -->",
        ] {
            assert_eq!(linked(html), [""; 0], "{html}");
        }
    }

    #[test]
    fn types_go_first_then_addresses_then_texts_and_comments_last() {
        let html = "<a href=/comments/feed/>Comments</a><a href=/t>RSS</a><a href=/feed>x</a>\
            <a href=/t>RSS again</a><a href=/y type=application/atom+xml>y</a><a href=feed:/z>z</a>";
        let expected = ["/y", "/feed", "/z", "/t", "/comments/feed/"];
        let found = linked(html);
        let paths: Vec<&str> =
            found.iter().map(|url| url.trim_start_matches("https://a.example")).collect();
        assert_eq!(paths, expected);
        let many = "<a href=/feed/x>RSS</a><a href=/feed/y>RSS</a>".repeat(300);
        assert_eq!(linked(&many).len(), 2);
    }

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
