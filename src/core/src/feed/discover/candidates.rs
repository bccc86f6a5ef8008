//! Candidates: links of a page that may point to feeds.

use url::Url;

use crate::feed::address::without_feed_scheme;
use crate::feed::text::one_line;

/// Maximum number of feed candidates kept per page.
const CANDIDATES_MAX: usize = 50;

/// Maximum length of a candidate's title, in characters.
const TITLE_CHARS_MAX: usize = 200;

/// Strings that identify the URLs of APIs and similar resources, which are never feeds.
pub(super) const INTERFACES: [&str; 5] = ["wp-json", "oembed", "opensearch", "sitemap", "/api/"];

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

pub(super) fn use_of_type(media_type: &str) -> TypeUse {
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

pub(super) fn absolute_address(href: &str, base: &Url) -> Option<String> {
    let mut url = base.join(&without_feed_scheme(href)).ok()?;
    url.set_fragment(None);
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then(|| url.into())
}

/// Checks whether the URL or title of a candidate indicates a feed of comments.
pub(super) fn is_of_comments(candidate: &Candidate) -> bool {
    const WORDS: [&str; 6] =
        ["comment", "kommentar", "comentario", "comentário", "reacties", "コメント"];
    let title = candidate.title.as_deref().unwrap_or_default().to_lowercase();
    let url = candidate.url.to_ascii_lowercase();
    WORDS.iter().any(|word| title.contains(word))
        || url.contains("/comments/")
        || url.ends_with("/comments")
        || url.contains("feed=comments")
}
