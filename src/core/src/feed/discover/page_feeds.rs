//! Finds the feeds that a web page links to, and guesses feed URLs if the page links to none.

use url::Url;

use super::anchors::Anchors;
use super::candidates::{Candidate, StatedFeed, collect_candidates, feed_link};
use super::header_links::refresh_address;
use crate::feed::address::web_url;
use crate::feed::content::markup::{Piece, Tag, walk_markup};
use crate::feed::encoding::charset::{html_charset, to_text};
use crate::feed::encoding::decode::charset_parameter;
use crate::feed::text::one_line;

/// Maximum number of bytes read from a page. Links to feeds are usually near the start.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Maximum length of a page title, in characters.
const TITLE_CHARS_MAX: usize = 200;

/// Feeds that a page declares, and related information found in the page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageFeeds {
    /// Title of the page as one line of plain text.
    pub title: Option<String>,
    /// Feeds declared in `link` elements, in page order but with comment feeds last, without duplicate URLs.
    pub named: Vec<Candidate>,
    /// Other ways to find a feed, used if the page declares none.
    pub leads: PageLeads,
}

/// Other ways to find the feed of a page that declares none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageLeads {
    /// URL to which the page redirects with a `meta` element.
    pub refresh: Option<String>,
    /// Links in the text of the page that may point to feeds, the most likely first.
    pub linked: Vec<Candidate>,
}

/// Finds the feeds of a page. `page_url` is the URL of the page after HTTP redirects.
pub fn read_page_feeds(html: &[u8], page_url: &str) -> PageFeeds {
    let page = read_page(html);
    let own = one_line(&page.title, TITLE_CHARS_MAX);
    let title = if own.is_empty() { one_line(&page.shared_title, TITLE_CHARS_MAX) } else { own };
    let title = (!title.is_empty()).then_some(title);
    let Some(base) = base_url(&page, page_url) else {
        return PageFeeds { title, ..PageFeeds::default() };
    };
    let refresh = page.refresh.and_then(|stated| refresh_address(&stated, &base, page_url));
    let linked = page.anchors.into_candidates(&base, page_url);
    let named = collect_candidates(page.stated.into_iter(), &base);
    PageFeeds { title, named, leads: PageLeads { refresh, linked } }
}

/// Decodes the HTML of a page. The charset declared in the page takes precedence over the charset in `content_type`. A charset that
/// contradicts the bytes is ignored.
pub fn page_text(html: &[u8], content_type: Option<&str>) -> String {
    let of_header = || charset_parameter(content_type?);
    to_text(html, html_charset(html).or_else(of_header).as_deref())
}

/// Returns common feed URLs to try if a page links to no feed: at most six, starting with those in the directory of `site`, the URL
/// of the page. Returns nothing if `site` is not a web URL.
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

/// Returns the URL of the directory that contains a page. If the last path segment has no dot, it is itself treated as a directory.
fn directory(url: &Url) -> Option<Url> {
    let last = url.path_segments()?.next_back().unwrap_or_default();
    if last.is_empty() || last.contains('.') {
        return url.join(".").ok();
    }
    url.join(&format!("{last}/")).ok()
}

/// Parts of a page that are relevant to finding feeds.
#[derive(Debug, Default)]
struct PageHead {
    base: Option<String>,
    stated: Vec<StatedFeed>,
    title: String,
    /// Content of the `og:title` property.
    shared_title: String,
    /// Content of the first `meta` element with `http-equiv=refresh`, as written.
    refresh: Option<String>,
    anchors: Anchors,
    /// Whether the current position is inside `noscript`, whose content is only for browsers without scripts.
    in_noscript: bool,
}

fn read_page(html: &[u8]) -> PageHead {
    let html = html.get(..PAGE_BYTES_MAX).unwrap_or(html);
    let text = to_text(html, html_charset(html).as_deref());
    let mut page = PageHead::default();
    // State of the first `title` element: `None` before it, `Some(true)` inside it, `Some(false)` after it.
    let mut title_open = None;
    walk_markup(&text, |piece| match piece {
        Piece::Open(tag) => {
            if tag.name() == "title" && title_open.is_none() {
                title_open = Some(true);
            }
            page.read_tag(tag);
        }
        Piece::Close("title") => title_open = title_open.map(|_| false),
        Piece::Close("a") => page.anchors.close(),
        Piece::Close("noscript") => page.in_noscript = false,
        Piece::Close(_) => {}
        Piece::Text(text) => {
            page.anchors.add_text(text);
            if title_open == Some(true) && page.title.len() < TITLE_CHARS_MAX * 8 {
                page.title.push_str(text);
            }
        }
    });
    page
}

impl PageHead {
    fn read_tag(&mut self, tag: &Tag) {
        self.anchors.open_tag(tag);
        let refreshes =
            || tag.attribute("http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("refresh"));
        match tag.name() {
            "noscript" => self.in_noscript = true,
            "meta" if !self.in_noscript && self.refresh.is_none() && refreshes() => {
                self.refresh = tag.attribute("content").map(str::to_owned);
            }
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

fn read_feed_link(tag: &Tag) -> Option<StatedFeed> {
    let attribute = |name: &str| tag.attribute(name).unwrap_or_default();
    feed_link(attribute("rel"), attribute("href"), attribute("title"), attribute("type"))
}

/// Returns the base for the relative URLs of a page: the first `base` element with a URL, or else the URL of the page.
fn base_url(page: &PageHead, page_url: &str) -> Option<Url> {
    let own = web_url(page_url);
    let stated = page.base.as_deref().and_then(|stated| match &own {
        Some(own) => own.join(stated.trim()).ok(),
        None => Url::parse(stated.trim()).ok(),
    });
    stated.filter(|url| matches!(url.scheme(), "http" | "https")).or(own)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::feed::discover::feed_address_of;
    use crate::feed::discover::page_feeds::*;

    fn named(html: &str, page_url: &str) -> Vec<Candidate> {
        read_page_feeds(html.as_bytes(), page_url).named
    }

    fn found(html: &str) -> Vec<String> {
        let page = "https://a.example/dir/page.html";
        named(html, page).into_iter().map(|candidate| candidate.url).collect()
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
    fn feeds_keep_page_order_without_duplicates() {
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
        let feeds = named(&html, "https://a.example/");
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
    fn meta_refresh_target_is_found_outside_noscript() {
        for (html, expected) in [
            ("<meta http-equiv=Refresh content='0; url=/en/'>", Some("https://a.example/en/")),
            (
                "<base href=/x/><META HTTP-EQUIV='REFRESH' CONTENT='0;URL=en'>",
                Some("https://a.example/x/en"),
            ),
            ("<meta http-equiv=refresh content=300><meta http-equiv=refresh content='0;/x'>", None),
            ("<noscript><meta http-equiv=refresh content='0; url=/en/'></noscript>", None),
            (
                "<noscript>x</noscript><meta http-equiv=refresh content='0; url=/en/'>",
                Some("https://a.example/en/"),
            ),
            ("<meta name=refresh content='0; url=/en/'>", None),
        ] {
            let read = read_page_feeds(html.as_bytes(), "https://a.example/");
            assert_eq!(read.leads.refresh.as_deref(), expected, "{html}");
        }
    }

    #[test]
    fn a_page_has_a_title() {
        let title = |html: &[u8]| read_page_feeds(html, "").title;
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
            prop_assert!(read_page_feeds(&html, &page).named.is_empty());
            let read = read_page_feeds(&html, "https://a.example/");
            prop_assert!(read.named.len() <= 50 && read.leads.linked.len() <= 50);
            prop_assert!(well_known(&page).is_empty() && feed_address_of(&page).is_none());
        }
    }
}
