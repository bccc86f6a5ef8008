//! Finds feeds among the ordinary links of a page, based on the links' media types, URLs and labels. This is the last resort for
//! pages that declare no feed.

use url::Url;

use super::candidates::{
    Candidate, INTERFACES, TypeUse, absolute_address, is_of_comments, use_of_type,
};
use crate::feed::address::after_feed_scheme;
use crate::feed::content::markup::Tag;
use crate::feed::text::one_line;

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

#[cfg(test)]
mod tests {
    use crate::feed::discover::page_feeds::read_page_feeds;

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
}
