//! Checks of how a server delivers a document: address, redirects, content type, validators, cache lifetime (SPEC D).

use chrono::DateTime;
use url::Url;

use super::finding::{Findings, Level, Topic};
use super::rules::deltas;
use super::wording::about;
use crate::feed::Kind;
use crate::history::address::is_local;
use crate::schedule::{CacheState, Lifetime, TimingHeaders, counted};

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
        deltas::check(delivered, false, findings);
    }
}

/// Reports a cache lifetime that readers shorten, because it is probably a rule for static files (SPEC B.4, G.15).
fn lifetime(headers: &Headers<'_>, findings: &mut Findings) {
    let read = CacheState::of_document(&headers.times, DateTime::UNIX_EPOCH);
    let Some(stated) = read.stated_seconds().filter(|stated| *stated > counted(*stated)) else {
        return;
    };
    let message = format!(
        "a lifetime of {} delays every poll of the feed: it counts as {}",
        about(stated),
        about(counted(stated))
    );
    let text = headers.times.cache_control.unwrap_or_default();
    findings.warn(Topic::Delivery, "Cache-Control", text, message.as_str());
}

/// Reports a body that was transferred without compression although it would shrink (SPEC S1.9).
fn compression(delivered: &Delivered<'_>, findings: &mut Findings) {
    let size = u64::try_from(delivered.bytes.len()).unwrap_or(u64::MAX);
    if size < COMPRESSED_BYTES_MIN || delivered.wire_bytes < size {
        return;
    }
    let message =
        "none: each transfer is several times as large as with gzip, which readers accept";
    findings.warn(Topic::Delivery, "Content-Encoding", "", message);
}

fn security(delivered: &Delivered<'_>, findings: &mut Findings) {
    let url = Url::parse(delivered.answered).ok();
    let Some(url) = url.filter(|url| url.scheme() == "http" && !is_local(url)) else { return };
    let message = "served over http: others on the network can read and change it; use https";
    findings.warn(Topic::Delivery, "address", url.as_str(), message);
}

fn redirects(delivered: &Delivered<'_>, is_archive: bool, findings: &mut Findings) {
    let Some((first, _)) = delivered.hops.first() else { return };
    let times = if delivered.hops.len() == 1 { "" } else { ", then more redirects" };
    let (level, message) = if is_archive {
        (Level::Warning, "the link leads to a redirect: link to the target instead")
    } else if delivered.hops.iter().all(|(status, _)| matches!(status, 301 | 308)) {
        (Level::Note, "it moved permanently: readers save the new address")
    } else {
        (Level::Note, "it moved temporarily: readers request the old address every time")
    };
    let text = format!("{first}{times}");
    let message = format!("{message} ({})", delivered.answered);
    findings.add(level, Topic::Delivery, "redirect", &text, message);
}

fn content_type(header: Option<&str>, kind: Kind, findings: &mut Findings) {
    let Some((_, right)) = TYPES.iter().find(|(of, _)| *of == kind) else { return };
    let Some(header) = header else {
        let message = format!("none: readers and browsers have to guess; use {right}");
        findings.warn(Topic::Delivery, "Content-Type", "", message);
        return;
    };
    let essence = header.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_generic =
        GENERIC.contains(&essence.as_str()) && (kind == Kind::Json) == essence.ends_with("json");
    if essence == *right || is_generic {
        return;
    }
    let message = format!("not the type of this format: some readers refuse it; use {right}");
    findings.warn(Topic::Delivery, "Content-Type", header, message);
}

fn freshness(headers: &Headers<'_>, is_archive: bool, findings: &mut Findings) {
    let cache_control = headers.times.cache_control.unwrap_or_default();
    let lasts = headers.times.expires.is_some() || cache_control.contains("max-age");
    if is_archive {
        if !lasts {
            let message = "no lifetime: an archive does not change, so a long max-age would let caches keep it";
            findings.note(Topic::Delivery, "Cache-Control", message);
        }
        return;
    }
    if !headers.etag && !headers.last_modified {
        let message = "neither ETag nor Last-Modified: every poll transfers the whole document, changed or not";
        findings.warn(Topic::Delivery, "ETag", "", message);
    } else if !headers.etag {
        let message = "none: Last-Modified alone cannot distinguish two changes within one second";
        findings.note(Topic::Delivery, "ETag", message);
    }
    if let Some(expires) = headers.times.expires.filter(|text| !is_usable_expiry(text)) {
        let message = "not an HTTP date: ignored here; other readers treat it as expired";
        findings.warn(Topic::Delivery, "Expires", expires, message);
    }
    if headers.link.is_some_and(names_hub) {
        let message = "rel=\"hub\" offers push: backissue polls instead, because a program in a terminal cannot receive it";
        findings.note(Topic::Delivery, "Link", message);
    }
    if cache_control.is_empty() && headers.times.expires.is_none() {
        let message = "none: caches and readers guess how long the document stays fresh";
        findings.note(Topic::Delivery, "Cache-Control", message);
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
        let message = "the server sent everything again in response to its own validators: it should answer 304";
        findings.warn(Topic::Delivery, "validators", "", message);
    }
    if delivered.status == DELTA {
        deltas::check(delivered, requested_delta, findings);
    }
}
