//! Checks of how a server delivers a document: address, redirects, content type, validators, cache lifetime (SPEC D), and answers
//! with only the new entries of a feed (RFC 3229, SPEC D.7).

use chrono::DateTime;
use url::Url;

use super::table::{self, Findings};
use crate::feed::{self, Kind, Origin};
use crate::history::address::is_local;
use crate::schedule::{CacheState, Lifetime, TimingHeaders, counted};
use crate::words::about_duration;

/// A document as the server delivered it.
#[derive(Debug, Clone)]
pub struct Delivered<'a> {
    /// Requested address.
    pub asked: &'a str,
    /// Address that answered.
    pub answered: &'a str,
    /// Whether the address in `answered` is public.
    pub public: bool,
    /// Status of the answer.
    pub status: u16,
    /// Status and target of each redirect, in order.
    pub hops: Vec<(u16, String)>,
    /// Response headers.
    pub headers: Headers<'a>,
    /// Size of the body as transferred, in bytes.
    pub wire_bytes: u64,
    /// Body of the response.
    pub bytes: &'a [u8],
}

/// The response headers that are checked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Headers<'a> {
    /// Value of `Content-Type`.
    pub content_type: Option<&'a str>,
    /// Whether the response has an `ETag` header.
    pub etag: bool,
    /// Whether the response has a `Last-Modified` header.
    pub last_modified: bool,
    /// Headers that concern caching and retry times.
    pub times: TimingHeaders<'a>,
    /// Value of `Link`.
    pub link: Option<&'a str>,
    /// Value of `IM` (RFC 3229).
    pub im: Option<&'a str>,
    /// Value of `Vary`.
    pub vary: Option<&'a str>,
}

/// Status of an answer with only the new entries (RFC 3229).
const DELTA: u16 = 226;
/// Size of a body in bytes from which compression is expected.
const COMPRESSED_BYTES_MIN: u64 = 10_240;
/// Generic media types for XML and JSON. They are accepted for every feed format.
const GENERIC: [&str; 3] = ["application/xml", "text/xml", "application/json"];
/// Specific media type of each feed format.
const TYPES: [(Kind, &str); 5] = [
    (Kind::Atom, "application/atom+xml"),
    (Kind::Rss, "application/rss+xml"),
    (Kind::Rdf, "application/rdf+xml"),
    (Kind::Json, "application/feed+json"),
    (Kind::Opml, "text/x-opml"),
];

/// Checks the delivery of a document. Fewer checks apply to an archive, because it is fetched once and never polled.
pub(super) fn check(
    delivered: &Delivered<'_>,
    kind: Kind,
    is_archive: bool,
    findings: &mut Findings,
) {
    if !is_archive {
        security(delivered, findings);
    }
    redirects(delivered, is_archive, findings);
    content_type(delivered.headers.content_type, kind, findings);
    freshness(&delivered.headers, is_archive, findings);
    if !is_archive {
        lifetime(&delivered.headers, findings);
    }
    compression(delivered, findings);
    if delivered.status == DELTA {
        check_delta(delivered, false, findings);
    }
}

/// Reports a cache lifetime that readers shorten, because it is probably a rule for static files (SPEC B.4, G.15).
fn lifetime(headers: &Headers<'_>, findings: &mut Findings) {
    let read = CacheState::of_document(&headers.times, DateTime::UNIX_EPOCH);
    let Some(stated) = read.stated_seconds().filter(|stated| *stated > counted(*stated)) else {
        return;
    };
    let text = headers.times.cache_control.unwrap_or_default();
    findings.say(
        table::LONG_LIFETIME,
        text,
        &[&about_duration(stated), &about_duration(counted(stated))],
    );
}

/// Reports a body that was transferred without compression although it would shrink (SPEC S1.9).
fn compression(delivered: &Delivered<'_>, findings: &mut Findings) {
    let size = u64::try_from(delivered.bytes.len()).unwrap_or(u64::MAX);
    if size < COMPRESSED_BYTES_MIN || delivered.wire_bytes < size {
        return;
    }
    findings.say(table::UNCOMPRESSED, "", &[]);
}

fn security(delivered: &Delivered<'_>, findings: &mut Findings) {
    let url = Url::parse(delivered.answered).ok();
    let Some(url) = url.filter(|url| url.scheme() == "http" && !is_local(url)) else { return };
    findings.say(table::PLAIN_HTTP, url.as_str(), &[]);
}

fn redirects(delivered: &Delivered<'_>, is_archive: bool, findings: &mut Findings) {
    let Some((first, _)) = delivered.hops.first() else { return };
    let times = if delivered.hops.len() == 1 { "" } else { ", then more redirects" };
    let rule = if is_archive {
        table::LINK_REDIRECTS
    } else if delivered.hops.iter().all(|(status, _)| matches!(status, 301 | 308)) {
        table::MOVED
    } else {
        table::MOVED_FOR_NOW
    };
    findings.say(rule, &format!("{first}{times}"), &[&delivered.answered]);
}

fn content_type(header: Option<&str>, kind: Kind, findings: &mut Findings) {
    let Some((_, right)) = TYPES.iter().find(|(of, _)| *of == kind) else { return };
    let Some(header) = header else {
        return findings.say(table::NO_TYPE, "", &[right]);
    };
    let essence = header.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_generic =
        GENERIC.contains(&essence.as_str()) && (kind == Kind::Json) == essence.ends_with("json");
    if essence == *right || is_generic {
        return;
    }
    findings.say(table::OTHER_TYPE, header, &[right]);
}

fn freshness(headers: &Headers<'_>, is_archive: bool, findings: &mut Findings) {
    let cache_control = headers.times.cache_control.unwrap_or_default();
    let lasts = headers.times.expires.is_some() || cache_control.contains("max-age");
    if is_archive {
        if !lasts {
            findings.say(table::NO_ARCHIVE_LIFETIME, "", &[]);
        }
        return;
    }
    if !headers.etag && !headers.last_modified {
        findings.say(table::NO_VALIDATORS, "", &[]);
    } else if !headers.etag {
        findings.say(table::NO_ETAG, "", &[]);
    }
    if let Some(expires) = headers.times.expires.filter(|text| !is_usable_expiry(text)) {
        findings.say(table::NO_EXPIRY, expires, &[]);
    }
    if headers.link.is_some_and(names_hub) {
        findings.say(table::LINKED_HUB.of("Link"), "", &[]);
    }
    if cache_control.is_empty() && headers.times.expires.is_none() {
        findings.say(table::NO_LIFETIME, "", &[]);
    }
}

/// Checks whether the value of `Expires` is a date, or one of the numbers that servers use to mean "already expired".
fn is_usable_expiry(text: &str) -> bool {
    let alone = TimingHeaders { expires: Some(text), ..TimingHeaders::default() };
    let read = CacheState::of_document(&alone, DateTime::UNIX_EPOCH);
    read.lifetime != Lifetime::None || matches!(text.trim(), "0" | "-1")
}

/// Checks whether a `Link` header contains a link to a hub.
fn names_hub(header: &str) -> bool {
    let parameters = header.split([',', ';']).filter_map(|part| part.split_once('='));
    let mut relations = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("rel"));
    relations.any(|(_, value)| {
        let mut words = value.trim().trim_matches('"').split_whitespace();
        words.any(|word| word.eq_ignore_ascii_case("hub"))
    })
}

/// Checks the response to a second request that contained the validators of the first response, and `A-IM: feed` if `requested_delta`
/// is `true`.
pub(super) fn repeated(delivered: &Delivered<'_>, requested_delta: bool, findings: &mut Findings) {
    if delivered.status == 200 {
        findings.say(table::SENT_AGAIN, "", &[]);
    }
    if delivered.status == DELTA {
        check_delta(delivered, requested_delta, findings);
    }
}

/// Checks an answer with status 226. `was_requested` is `true` if the request contained `A-IM: feed`.
pub(super) fn check_delta(delivered: &Delivered<'_>, was_requested: bool, findings: &mut Findings) {
    if !was_requested {
        return findings.say(table::UNREQUESTED_DELTA, "", &[]);
    }
    let headers = &delivered.headers;
    let im = headers.im.unwrap_or_default();
    if !has_token(im, "feed") {
        findings.say(table::UNNAMED_DELTA, im, &[]);
    } else if !im.trim().eq_ignore_ascii_case("feed") {
        findings.say(table::OTHER_DELTA, im, &[]);
    }
    let origin = Origin { url: Some(delivered.answered), content_type: headers.content_type };
    let document = feed::parse(delivered.bytes, &origin);
    if document.is_truncated() {
        findings.say(table::CUT_DELTA, "", &[]);
    } else if document.entries.is_empty() {
        findings.say(table::EMPTY_DELTA, "", &[]);
    }
    if !headers.etag {
        findings.say(table::NO_ETAG_OF_DELTA, "", &[]);
    }
    let cache_control = headers.times.cache_control.unwrap_or_default();
    let vary = headers.vary.unwrap_or_default();
    let is_apart =
        has_token(vary, "a-im") || has_token(vary, "*") || has_token(cache_control, "no-store");
    if !is_apart {
        findings.say(table::SHARED_DELTA, vary, &[]);
    }
}

/// Checks whether a header with a list of tokens contains this one, in any case and with any parameters.
fn has_token(header: &str, token: &str) -> bool {
    let mut tokens = header.split(',').map(|part| part.split(';').next().unwrap_or_default());
    tokens.any(|part| part.trim().eq_ignore_ascii_case(token))
}
