//! Finds the feeds that a web page links to, and guesses addresses where it links to none.

use url::Url;

use crate::feed::address::{web_url, without_feed_scheme};
use crate::feed::content::markup::{Piece, Tag, walk_markup};
use crate::feed::encoding::charset::{html_charset, to_text};
use crate::feed::encoding::decode::charset_parameter;
use crate::feed::text::one_line;

/// How many bytes of a page are read. Feeds are linked near the start.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How many candidates of one page are kept.
const CANDIDATES_MAX: usize = 50;

/// Longest title, in characters.
const TITLE_CHARS_MAX: usize = 200;

/// A feed that a page links to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Absolute, `http` or `https`, without a fragment.
    pub url: String,
    /// What the page calls it.
    pub title: Option<String>,
    /// The media type as stated, in lower case and without parameters; empty if none is.
    pub media_type: String,
}

/// Returns the feeds in the `link` elements of a page, in the order of the page, feeds of comments last,
/// each address once.
///
/// `page_url` is the address the page was finally read from.
pub fn discover(html: &[u8], page_url: &str) -> Vec<Candidate> {
    let page = read_page(html);
    let Some(base) = base_url(&page, page_url) else { return Vec::new() };
    let mut found: Vec<Candidate> = Vec::new();
    for stated in page.stated {
        let Some(url) = absolute_address(&stated.href, &base) else { continue };
        let known = found.iter().any(|candidate| candidate.url == url);
        if !known && found.len() < CANDIDATES_MAX {
            found.push(Candidate { url, title: stated.title, media_type: stated.media_type });
        }
    }
    // The sort keeps the order of equals.
    found.sort_by_key(is_of_comments);
    found
}

/// Decodes a page. Its own declaration of a charset outranks the header of the response, and neither counts where the
/// bytes contradict it.
pub fn page_text(html: &[u8], content_type: Option<&str>) -> String {
    let of_header = || charset_parameter(content_type?);
    to_text(html, html_charset(html).or_else(of_header).as_deref())
}

/// Returns the title of a page on one line.
pub fn page_title(html: &[u8]) -> Option<String> {
    let page = read_page(html);
    let own = one_line(&page.title, TITLE_CHARS_MAX);
    let title = if own.is_empty() { one_line(&page.shared_title, TITLE_CHARS_MAX) } else { own };
    (!title.is_empty()).then_some(title)
}

/// Returns addresses to try when a page links to no feed: at most six, those in the directory of `site`
/// first. Empty if `site` is no web address.
pub fn well_known(site: &str) -> Vec<String> {
    const AT_ROOT: [&str; 6] = ["feed", "feed.xml", "atom.xml", "rss.xml", "index.xml", "rss"];
    const WITHIN: [&str; 3] = ["feed", "feed.xml", "index.xml"];
    let Some(mut url) = web_url(site) else { return Vec::new() };
    url.set_query(None);
    url.set_fragment(None);
    let Ok(root) = url.join("/") else { return Vec::new() };
    let directory = directory(&url).filter(|directory| *directory != root);
    let within = WITHIN.iter().filter_map(|name| directory.as_ref()?.join(name).ok());
    let at_root = AT_ROOT.iter().filter_map(|name| root.join(name).ok());
    within.chain(at_root).take(AT_ROOT.len()).map(String::from).collect()
}

/// Returns the directory of a page. A last part without a dot is a directory itself.
fn directory(url: &Url) -> Option<Url> {
    let last = url.path_segments()?.next_back().unwrap_or_default();
    if last.is_empty() || last.contains('.') {
        return url.join(".").ok();
    }
    url.join(&format!("{last}/")).ok()
}

/// The parts of a page that matter for finding feeds.
#[derive(Debug, Default)]
struct PageHead {
    base: Option<String>,
    stated: Vec<StatedFeed>,
    title: String,
    /// `og:title`.
    shared_title: String,
}

/// A `link` to a feed, as written.
#[derive(Debug)]
struct StatedFeed {
    href: String,
    title: Option<String>,
    media_type: String,
}

fn read_page(html: &[u8]) -> PageHead {
    let html = html.get(..PAGE_BYTES_MAX).unwrap_or(html);
    let text = to_text(html, html_charset(html).as_deref());
    let mut page = PageHead::default();
    // Where the first title stands: before it, within it, after it.
    let mut title_open = None;
    walk_markup(&text, |piece| match piece {
        Piece::Open(tag) => {
            if tag.name() == "title" && title_open.is_none() {
                title_open = Some(true);
            }
            page.read_tag(tag);
        }
        Piece::Close("title") => title_open = title_open.map(|_| false),
        Piece::Close(_) => {}
        Piece::Text(text) => {
            if title_open == Some(true) && page.title.len() < TITLE_CHARS_MAX * 8 {
                page.title.push_str(text);
            }
        }
    });
    page
}

impl PageHead {
    fn read_tag(&mut self, tag: &Tag) {
        match tag.name() {
            "base" if self.base.is_none() => self.base = tag.attribute("href").map(str::to_owned),
            "link" => self.stated.extend(read_feed_link(tag)),
            "meta" if self.shared_title.is_empty() => {
                let name = tag.attribute("property").or_else(|| tag.attribute("name"));
                if name == Some("og:title") {
                    tag.attribute("content").unwrap_or_default().clone_into(&mut self.shared_title);
                }
            }
            _ => {}
        }
    }
}

/// Reads a `link`, and returns the feed it leads to.
///
/// It leads to a feed if all of these hold:
///
/// 1 - `rel` contains `alternate` (and not `stylesheet`) or `feed`
/// 2 - the type is one of feeds, or one of several uses and the address or title mentions a feed;
///     with `rel=feed` the type may be missing
/// 3 - there is an address
fn read_feed_link(tag: &Tag) -> Option<StatedFeed> {
    let rel = tag.attribute("rel")?;
    let has = |token: &str| rel.split_ascii_whitespace().any(|t| t.eq_ignore_ascii_case(token));
    let states_alternate = has("alternate") && !has("stylesheet");
    let href = tag.attribute("href")?.trim();
    let title = one_line(tag.attribute("title").unwrap_or_default(), TITLE_CHARS_MAX);
    let media_type = tag.attribute("type").unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_feed = match use_of_type(&media_type) {
        TypeUse::Feed => states_alternate || has("feed"),
        TypeUse::Several => (states_alternate || has("feed")) && speaks_of_feed(href, &title),
        TypeUse::Unstated => has("feed"),
        TypeUse::Other => false,
    };
    let title = (!title.is_empty()).then_some(title);
    (is_feed && !href.is_empty()).then(|| StatedFeed { href: href.to_owned(), title, media_type })
}

/// What a media type is used for.
enum TypeUse {
    Feed,
    /// Feeds and other things.
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
        // With prefixes that were tried (`x-`, `x.`, `text/`), and without `+xml`.
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

/// Whether an address or a title names a feed. Addresses of interfaces do not count.
fn speaks_of_feed(href: &str, title: &str) -> bool {
    const WORDS: [&str; 4] = ["feed", "rss", "atom", "rdf"];
    const OTHERS: [&str; 5] = ["wp-json", "oembed", "opensearch", "sitemap", "/api/"];
    let href = href.to_ascii_lowercase();
    let title = title.to_ascii_lowercase();
    !OTHERS.iter().any(|word| href.contains(word))
        && WORDS.iter().any(|word| has_word(&href, word) || has_word(&title, word))
}

/// Whether a text contains a word that is not the middle of another (`rss` in `crossing`).
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(char::is_alphanumeric)
            || !text
                .get(at + word.len()..)
                .is_some_and(|after| after.starts_with(char::is_alphanumeric))
    })
}

/// Returns the base for relative addresses (in HTML the first `base` with an address).
fn base_url(page: &PageHead, page_url: &str) -> Option<Url> {
    let own = web_url(page_url);
    let stated = page.base.as_deref().and_then(|stated| match &own {
        Some(own) => own.join(stated.trim()).ok(),
        None => Url::parse(stated.trim()).ok(),
    });
    stated.filter(|url| matches!(url.scheme(), "http" | "https")).or(own)
}

fn absolute_address(href: &str, base: &Url) -> Option<String> {
    let mut url = base.join(&without_feed_scheme(href)).ok()?;
    url.set_fragment(None);
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then(|| url.into())
}

/// Whether a candidate is a feed of comments.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::feed::discover::feed_address_of;
    use crate::feed::discover::page_feeds::*;

    fn found(html: &str) -> Vec<String> {
        let page = "https://a.example/dir/page.html";
        discover(html.as_bytes(), page).into_iter().map(|candidate| candidate.url).collect()
    }

    #[test]
    fn links_of_feed_types_are_found_however_they_are_written() {
        let cases = [
            "<link rel=alternate type=application/rss+xml href=/feed>",
            "<LINK REL='Alternate' TYPE='Application/RSS+XML; charset=utf-8' HREF=' /feed '/>",
            "<link\nhref='//a.example/feed'\trel='home  ALTERNATE' type='application/atom+xml'>",
            "<link rel='&#65;lternate' type='application/rdf+xml' href='../feed#top'>",
            "<link rel=feed href=/feed>",
            "<link rel=alternate type='application/feed+json' href='feed://a.example/feed'>"
                .replace("feed://a.example", "feed:https://a.example")
                .leak(),
            "<link rel=alternate type=text/xml title=RSS href=/feed>",
            "<link rel=alternate type=application/json href=/feed>",
            "<link rel=alternate type=application/x.atom+xml href=/feed>",
            "</head><body><p><link rel=alternate type=application/rss+xml href=/feed>",
            "<base href='https://a.example/'><link rel=alternate type=text/rss href=feed>",
            "<link rel=alternate type=text/rss href=feed><base target=x><base href='/'>",
        ];
        for html in cases {
            assert_eq!(found(html), ["https://a.example/feed"], "{html}");
        }
    }

    #[test]
    fn other_links_are_not_feeds() {
        let others = [
            "<link rel=stylesheet type=application/rss+xml href=/x>",
            "<link rel='alternate stylesheet' type=text/css href=/x>",
            "<link rel=alternate hreflang=de href=/x>",
            "<link rel=alternate type=text/html href=/feed>",
            "<link rel=alternate type=application/json href=/wp-json/wp/v2/posts/1?feed>",
            "<link rel=alternate type='application/json+oembed' href=/feed>",
            "<link rel=alternate type=text/xml href=/crossing.xml>",
            "<link rel=search type=application/atom+xml href=/x>",
            "<link rel=alternate type=application/rss+xml>",
            "<link rel=alternate type=application/rss+xml href=''>",
            "<link rel=alternate type=application/rss+xml href='javascript:x'>",
            "<!-- <link rel=alternate type=application/rss+xml href=/x> -->",
            "<script>'<link rel=alternate type=application/rss+xml href=/x>'</script>",
            "<a rel=alternate type=application/rss+xml href=/x>",
        ];
        for html in others {
            assert_eq!(found(html), [""; 0], "{html}");
        }
    }

    #[test]
    fn the_order_is_the_pages_with_comments_last_and_each_address_once() {
        let link = |href: &str, title: &str| {
            format!("<link rel=alternate type=application/rss+xml href={href} title='{title}'>")
        };
        let html = [
            link("/c", "Site &raquo; Comments Feed"),
            link("/a", "A"),
            link("/comments/feed", ""),
            link("/b", " B\u{202e} &amp; b "),
            link("https://a.example/a#x", "again"),
        ]
        .concat();
        let feeds = discover(html.as_bytes(), "https://a.example/");
        let urls: Vec<&str> = feeds.iter().map(|feed| feed.url.as_str()).collect();
        let expected =
            ["/a", "/b", "/c", "/comments/feed"].map(|p| format!("https://a.example{p}"));
        assert_eq!(urls, expected);
        assert_eq!(feeds[1].title.as_deref(), Some("B & b"));
        assert_eq!(feeds[3].title, None);
        assert_eq!(feeds[0].media_type, "application/rss+xml");
    }

    #[test]
    fn the_charset_of_the_header_is_read_however_it_is_written() {
        for content_type in [
            "text/html; charset=koi8-r",
            "text/html;Charset = \"KOI8-R\"; x=y",
            "text/html; CHARSET='koi8-r'",
        ] {
            assert_eq!(page_text(b"<p>\xc4\xc1", Some(content_type)), "<p>да", "{content_type}");
        }
    }

    #[test]
    fn a_page_has_a_title() {
        let title = |html: &[u8]| page_title(html);
        assert_eq!(title(b"<title> A &amp;\n B</title><title>C</title>").as_deref(), Some("A & B"));
        assert_eq!(title(b"<meta property=og:title content=X>").as_deref(), Some("X"));
        assert_eq!(
            title(b"<meta charset=iso-8859-1><title>\xE9</title>").as_deref(),
            Some("\u{e9}")
        );
        assert_eq!(title(b"<p>x</p>"), None);
        assert_eq!(title(&[0xFF, 0, 0x3C]), None);
    }

    #[test]
    fn well_known_addresses_are_few_and_near_first() {
        let at = |site: &str| well_known(site);
        assert_eq!(at("https://a.example/?q#f").len(), 6);
        assert_eq!(at("https://a.example")[0], "https://a.example/feed");
        let deep = at("https://a.example/blog/post.html");
        assert_eq!(deep.len(), 6);
        assert_eq!(deep[0], "https://a.example/blog/feed");
        assert_eq!(deep[3], "https://a.example/feed");
        assert_eq!(at("https://a.example/blog")[0], "https://a.example/blog/feed");
        assert_eq!(at("ftp://a.example/"), [""; 0]);
    }

    proptest! {
        #[test]
        fn no_page_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), page in ".{0,30}") {
            let link = b"<base href=x><link rel=feed href=y title='";
            let html = [link.as_slice(), bytes.as_slice()].concat();
            prop_assert!(discover(&html, &page).is_empty());
            prop_assert!(discover(&html, "https://a.example/").len() <= CANDIDATES_MAX);
            prop_assert!(well_known(&page).is_empty() && feed_address_of(&page).is_none());
            drop(page_title(&html));
        }
    }
}
