//! Reads a response: its relevant headers, and the body according to the kind of document (SPEC D.1).

use reqwest::StatusCode;
use reqwest::header::{self, HeaderMap, HeaderName};
use url::Url;

use crate::engine::politeness::bot_walls;
use crate::engine::poll::fetch::{AnswerBody, AnswerHeaders};
use backissue_core::feed::discover::candidates::{
    Candidate, feeds_in_link_header, refresh_address,
};
use backissue_core::feed::discover::page_feeds::{PageFeeds, read_page_feeds};
use backissue_core::feed::text::one_line;
use backissue_core::feed::{self, Kind, Origin};
use backissue_core::schedule::announces_limit;

/// Maximum number of headers about rate limits that are read.
const RATE_LIMITS_MAX: usize = 16;
/// Maximum length of such a header, in characters.
const RATE_LIMIT_CHARS_MAX: usize = 500;

/// The response header that names the instance manipulation, which marks a delta (RFC 3229 §10.5.2).
const IM: HeaderName = HeaderName::from_static("im");
/// The response header with the entity tag of the version that a delta is based on (RFC 3229 §10.5.1).
const DELTA_BASE: HeaderName = HeaderName::from_static("delta-base");

pub(super) fn answer_headers(status: StatusCode, headers: &HeaderMap) -> AnswerHeaders {
    let bytes = |name: HeaderName| headers.get(name).map(|value| value.as_bytes().to_vec());
    AnswerHeaders {
        etag: bytes(header::ETAG),
        last_modified: bytes(header::LAST_MODIFIED),
        content_type: joined_header(headers, &header::CONTENT_TYPE),
        cache_control: joined_header(headers, &header::CACHE_CONTROL),
        expires: joined_header(headers, &header::EXPIRES),
        date: joined_header(headers, &header::DATE),
        age: joined_header(headers, &header::AGE),
        retry_after: joined_header(headers, &header::RETRY_AFTER),
        rate_limits: rate_limits(headers),
        im: joined_header(headers, &IM),
        delta_base: joined_header(headers, &DELTA_BASE),
        vary: joined_header(headers, &header::VARY),
        www_authenticate: joined_header(headers, &header::WWW_AUTHENTICATE),
        link: joined_header(headers, &header::LINK),
        wall: bot_walls::named_by_headers(status.as_u16(), |name| {
            joined_header(headers, &HeaderName::from_static(name))
        }),
    }
}

/// Returns the headers that announce rate limits, each in a line of its own.
fn rate_limits(headers: &HeaderMap) -> Option<String> {
    let lines = headers.keys().filter(|name| announces_limit(name.as_str())).filter_map(|name| {
        let value = joined_header(headers, name)?;
        Some(format!("{name}: {}", one_line(&value, RATE_LIMIT_CHARS_MAX)))
    });
    let lines: Vec<String> = lines.take(RATE_LIMITS_MAX).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Joins all lines of a header with commas (RFC 9110 §5.3).
pub(super) fn joined_header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let lines: Vec<String> = headers
        .get_all(name)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect();
    (!lines.is_empty()).then(|| lines.join(", "))
}

/// Parses a decoded body. The content determines the kind of document, not the `Content-Type` (SPEC D.1).
pub fn read_body(bytes: &[u8], url: &str, content_type: Option<&str>) -> AnswerBody {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return AnswerBody::Empty;
    }
    let document = feed::parse(bytes, &Origin { url: Some(url), content_type });
    if document.kind == Kind::None && looks_like_html(bytes, content_type) {
        let PageFeeds { title, named: candidates, leads } = read_page_feeds(bytes, url);
        return AnswerBody::Page { title, candidates, leads };
    }
    AnswerBody::Document(Box::new(document))
}

/// The `Link` and `Refresh` headers of a response, which may lead from a web page to its feeds.
pub(super) struct PageHeaders {
    link: String,
    refresh: String,
}

impl PageHeaders {
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let read = |name| joined_header(headers, &name).unwrap_or_default();
        Self { link: read(header::LINK), refresh: read(header::REFRESH) }
    }

    /// Adds the feeds that these headers name to a body that is not a document, after the references found in the page itself.
    pub(super) fn add_to(&self, body: AnswerBody, url: &str) -> AnswerBody {
        let named = feeds_in_link_header(&self.link, url);
        let base = Url::parse(url).ok();
        let refresh = base.and_then(|base| refresh_address(&self.refresh, &base, url));
        let is_document = is_readable(&body) && body != AnswerBody::Empty;
        let (title, mut candidates, mut leads) =
            if let AnswerBody::Page { title, candidates, leads } = body {
                (title, candidates, leads)
            } else if is_document || (named.is_empty() && refresh.is_none()) {
                return body;
            } else {
                Default::default()
            };
        let (general, named): (Vec<_>, Vec<_>) = named.into_iter().partition(Candidate::is_general);
        leads.stated.extend(general.into_iter().map(|candidate| candidate.url));
        for candidate in named {
            if candidates.iter().all(|known: &Candidate| known.url != candidate.url) {
                candidates.push(candidate);
            }
        }
        leads.refresh = leads.refresh.or(refresh);
        AnswerBody::Page { title, candidates, leads }
    }
}

/// Checks whether a body was parsed successfully: as a document, or as a page with a title or a link to a feed.
pub(super) fn is_readable(body: &AnswerBody) -> bool {
    match body {
        AnswerBody::Document(document) => document.kind != Kind::None,
        AnswerBody::Page { title, candidates, .. } => title.is_some() || !candidates.is_empty(),
        AnswerBody::Article(article) => article.is_ok(),
        AnswerBody::Picture(_)
        | AnswerBody::Listing(_)
        | AnswerBody::Empty
        | AnswerBody::Unread => true,
    }
}

fn looks_like_html(bytes: &[u8], content_type: Option<&str>) -> bool {
    let head = bytes.get(..bytes.len().min(2048)).unwrap_or_default().to_ascii_lowercase();
    let marks: [&[u8]; 4] = [b"<!doctype html", b"<html", b"<head", b"<body"];
    if memchr::memmem::find(&head, b"<opml").is_some() {
        return false;
    }
    let marked = marks.iter().any(|mark| memchr::memmem::find(&head, mark).is_some());
    marked || content_type.is_some_and(|text| text.to_ascii_lowercase().contains("html"))
}
