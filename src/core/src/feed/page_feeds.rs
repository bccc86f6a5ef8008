//! Finds the feeds that a web page links to, and guesses feed URLs if the page links to none.

use url::Url;

use super::candidates::{
    Anchors, Candidate, StatedFeed, collect_candidates, feed_link, refresh_address,
};
use crate::feed::address::web_url;
use crate::feed::content::markup::{Piece, Tag, walk_markup};
use crate::feed::decode::{charset_parameter, html_charset, to_text};
use crate::feed::text::one_line;

/// Maximum number of bytes read from a page. Links to feeds are usually near the start.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Keys of JSON in a page whose value is the address of a feed.
const FEED_KEYS: [&str; 2] = ["feedUrl", "rssUrl"];
/// Maximum number of values of such a key that are read. The first one is of the page itself, others are often recommendations.
const FEED_KEYS_MAX: usize = 3;
/// Maximum length of such a value, in characters.
const ADDRESS_CHARS_MAX: usize = 2_000;

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
    /// Addresses that the page states and that may be feeds: `link` elements with a general type, and feeds named in its data.
    pub stated: Vec<String>,
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
    let all = collect_candidates(page.stated.into_iter(), &base);
    let (general, named): (Vec<_>, Vec<_>) = all.into_iter().partition(Candidate::is_general);
    let mut stated = page.data;
    stated.extend(general.into_iter().map(|candidate| candidate.url));
    PageFeeds { title, named, leads: PageLeads { refresh, linked, stated } }
}

/// Returns the feeds that scripts of a page name as JSON, as pages of Apple Podcasts do.
fn feeds_in_data(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let places = FEED_KEYS.iter().flat_map(|key| text.match_indices(key).take(FEED_KEYS_MAX));
    for (place, key) in places {
        let value = text.get(place + key.len()..).unwrap_or_default();
        let value: String = value.chars().take(ADDRESS_CHARS_MAX).collect();
        // Data inside a string of a script has a backslash before each quote.
        let value = if value.starts_with('\\') { value.replace("\\\"", "\"") } else { value };
        let value = value.strip_prefix('"').and_then(|rest| rest.trim_start().strip_prefix(':'));
        let Some(value) = value else { continue };
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<String>();
        let Some(Ok(url)) = values.next() else { continue };
        let url = web_url(&url).map(String::from).filter(|url| !found.contains(url));
        found.extend(url);
    }
    found
}

/// Decodes the HTML of a page. The charset declared in the page takes precedence over the charset in `content_type`. A charset that
/// contradicts the bytes is ignored.
pub fn page_text(html: &[u8], content_type: Option<&str>) -> String {
    let of_header = || charset_parameter(content_type?);
    to_text(html, html_charset(html).or_else(of_header).as_deref())
}

/// Returns addresses to try if a page at `site` links to no feed: the pages above it, which may link to one, then common addresses
/// of feeds, first at the root and then in the folder of the page. Returns nothing if `site` is not a web URL.
pub fn nearby(site: &str) -> Vec<String> {
    /// In the order of their frequency.
    const AT_ROOT: [&str; 6] = ["feed", "feed.xml", "rss.xml", "atom.xml", "index.xml", "rss"];
    const WITHIN: [&str; 4] = ["feed.xml", "rss.xml", "index.xml", "feed"];
    let Some(mut url) = web_url(site) else { return Vec::new() };
    url.set_query(None);
    url.set_fragment(None);
    let Ok(root) = url.join("/") else { return Vec::new() };
    let folder = folder(&url).filter(|folder| *folder != root);
    let within = WITHIN.iter().filter_map(|name| folder.as_ref()?.join(name).ok());
    let at_root = AT_ROOT.iter().filter_map(|name| root.join(name).ok());
    let bare = |url: &Url| url.path().trim_end_matches('/').to_owned();
    let above = folder.iter().chain([&root]).filter(|above| bare(above) != bare(&url)).cloned();
    above.chain(at_root).chain(within).map(String::from).collect()
}

/// Returns the folder in which a page is. A path of one segment without a dot is itself a folder, such as `/blog`. In a longer
/// path, the last segment is the page, because a feed in it would contain its comments.
fn folder(url: &Url) -> Option<Url> {
    let path = url.path().trim_end_matches('/');
    let (above, last) = path.rsplit_once('/')?;
    let is_folder = above.is_empty() && !last.contains('.');
    url.join(&format!("{}/", if is_folder { path } else { above })).ok()
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
    /// Feeds that the data in scripts names.
    data: Vec<String>,
    /// Whether the current position is inside `noscript`, whose content is only for browsers without scripts.
    in_noscript: bool,
}

fn read_page(html: &[u8]) -> PageHead {
    let html = html.get(..PAGE_BYTES_MAX).unwrap_or(html);
    let text = to_text(html, html_charset(html).as_deref());
    let mut page = PageHead { data: feeds_in_data(&text), ..PageHead::default() };
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
            // The page of a service that keeps programs away has no title, but a script or a frame of the service.
            "script" | "iframe" if self.shared_title.is_empty() => {
                let source = tag.attribute("src").unwrap_or_default();
                let start = source.find("_Incapsula_Resource").unwrap_or(source.len());
                let named = source.get(start..).unwrap_or_default();
                named.split('?').next().unwrap_or_default().clone_into(&mut self.shared_title);
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

    use crate::feed::known_sites::feed_address_of;
    use crate::feed::page_feeds::*;

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
            "<link rel=alternate type='application/rss&#43;xml' href=/feed>",
            "<link rel=alternate type=application/rdf+xml href=/feed><link rel=alternate type=application/rss+xml href=/feed>",
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
        let guarded = title(b"<body><iframe src='//a.example/_Incapsula_Resource?a=1'></iframe>");
        assert_eq!(guarded.as_deref(), Some("_Incapsula_Resource"));
        assert_eq!(
            title(b"<meta charset=iso-8859-1><title>\xE9</title>").as_deref(),
            Some("\u{e9}")
        );
        assert_eq!(title(b"<p>x</p>"), None);
        assert_eq!(title(&[0xFF, 0, 0x3C]), None);
    }

    #[test]
    fn pages_above_come_before_guessed_addresses() {
        let root = ["feed", "feed.xml", "rss.xml", "atom.xml", "index.xml", "rss"];
        let blog = ["blog/feed.xml", "blog/rss.xml", "blog/index.xml", "blog/feed"];
        for (site, above, within) in [
            ("https://a.example/?q#f", &[][..], &[][..]),
            ("https://a.example", &[], &[]),
            ("https://a.example/blog", &[""], &blog),
            ("https://a.example/blog/", &[""], &blog),
            ("https://a.example/blog/post.html", &["blog/", ""], &blog),
            ("https://a.example/blog/post-1/?utm=x", &["blog/", ""], &blog),
            ("https://a.example/about.html", &[""], &[]),
        ] {
            let all = above.iter().chain(&root).chain(within);
            let expected: Vec<String> = all.map(|p| format!("https://a.example/{p}")).collect();
            assert_eq!(nearby(site), expected, "{site}");
        }
        assert_eq!(nearby("https://a.example/a/b/c")[0], "https://a.example/a/b/");
        assert_eq!(nearby("ftp://a.example/"), [""; 0]);
    }

    #[test]
    fn general_types_and_data_are_stated_but_not_named() {
        for html in [
            "<link rel=alternate type=application/xml href=/x>",
            "<link rel=alternate type=text/xml href=/x>",
            "<link rel=alternate type='application/json; charset=utf-8' href=/x>",
            "<script>{\"data\": [{\"feedUrl\" : \"https:\\/\\/a.example\\/x\"}]}</script>",
            "<script>x = '{\\\"feedUrl\\\":\\\"https://a.example/x\\\"}'</script>",
            "<script>{\"feedUrl\":\"https://a.example/\\u0078\", \"feedUrl\":7, \"feedUrl\":\"x\"}</script>",
        ] {
            let read = read_page_feeds(html.as_bytes(), "https://a.example/");
            assert_eq!(
                (read.named, read.leads.stated),
                (vec![], vec!["https://a.example/x".to_owned()]),
                "{html}"
            );
        }
        for html in [
            "<link rel=alternate type=application/json href=/wp-json/wp/v2/posts>",
            "<link rel=alternate type=application/json+oembed href=/x>",
            "<link rel=search type=application/xml href=/x>",
            "<p>\"feedUrl\"",
        ] {
            let read = read_page_feeds(html.as_bytes(), "https://a.example/");
            assert_eq!((read.named, read.leads.stated), (vec![], vec![]), "{html}");
        }
    }

    proptest! {
        #[test]
        fn no_page_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), page in ".{0,30}") {
            let link = b"<base href=x><link rel=feed href=y title='";
            let html = [link.as_slice(), bytes.as_slice()].concat();
            prop_assert!(read_page_feeds(&html, &page).named.is_empty());
            let read = read_page_feeds(&html, "https://a.example/");
            prop_assert!(read.named.len() <= 50 && read.leads.linked.len() <= 50);
            prop_assert!(nearby(&page).is_empty() && feed_address_of(&page).is_none());
        }
    }
}
