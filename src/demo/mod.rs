//! The bundled publisher of `backissue demo`: invented feeds that together cover every kind of feed.
//!
//! This module is pure: a response depends only on the request, the start of the demo and `now`. It opens no socket;
//! [`crate::io::http_server`] does.

mod catalogue;
mod site;
mod template;

pub use site::{DemoAnswer, DemoRequest, DemoSite, DemoSubscription};

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Checks whether a list of entity tags contains a tag, using weak comparison (RFC 9110 §8.8.3.2).
pub(crate) fn names(tags: &str, tag: &str) -> bool {
    tags.split(',').map(str::trim).any(|t| t == "*" || t.strip_prefix("W/").unwrap_or(t) == tag)
}

/// Checks whether a client accepts gzip, by the value of its `Accept-Encoding`.
pub(crate) fn accepts_gzip(codings: Option<&str>) -> bool {
    codings.is_some_and(|codings| {
        codings.split(',').any(|coding| {
            let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
            let refused = quality.trim().strip_prefix("q=");
            name.trim().eq_ignore_ascii_case("gzip")
                && !refused.is_some_and(|q| q.trim_matches(['0', '.']).is_empty())
        })
    })
}

/// Compresses a body.
pub(crate) fn gzip(body: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).and_then(|()| encoder.finish()).ok()
}
