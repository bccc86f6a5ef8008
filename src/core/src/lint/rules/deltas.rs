//! Checks of answers with only the new entries of a feed: status 226 (RFC 3229, SPEC D.7).

use crate::feed::{self, Origin};
use crate::lint::delivery::Delivered;
use crate::lint::finding::{Findings, Level, Topic};

/// Checks an answer with status 226. `was_requested` is `true` if the request contained `A-IM: feed`.
pub(in crate::lint) fn check(
    delivered: &Delivered<'_>,
    was_requested: bool,
    findings: &mut Findings,
) {
    let mut add = |level, element: &str, text: &str, message: &str| {
        findings.add(level, Topic::Delivery, element, text, message);
    };
    if !was_requested {
        let message = "the answer to a request without A-IM: readers take it for the whole feed and miss entries";
        add(Level::Error, "226", "", message);
        return;
    }
    let headers = &delivered.headers;
    let im = headers.im.unwrap_or_default();
    if !has_token(im, "feed") {
        let message = "an answer with status 226 must name 'feed' here: readers discard it and request the whole feed";
        add(Level::Warning, "IM", im, message);
    }
    if has_token(im, "feed") && !im.trim().eq_ignore_ascii_case("feed") {
        let message = "more than 'feed': backissue applies no other manipulation, discards the answer and requests the whole feed";
        add(Level::Warning, "IM", im, message);
    }
    let origin = Origin { url: Some(delivered.answered), content_type: headers.content_type };
    let document = feed::parse(delivered.bytes, &origin);
    if document.is_truncated() {
        let message =
            "the document is cut off: readers discard the answer and request the whole feed";
        add(Level::Error, "226", "", message);
    } else if document.entries.is_empty() {
        let message = "an answer without entries: if nothing is new, 304 says so in fewer bytes";
        add(Level::Warning, "226", "", message);
    }
    if !headers.etag {
        let message =
            "none in an answer with status 226: readers cannot request what is new after it";
        add(Level::Warning, "ETag", "", message);
    }
    let cache_control = headers.times.cache_control.unwrap_or_default();
    let vary = headers.vary.unwrap_or_default();
    let is_apart =
        has_token(vary, "a-im") || has_token(vary, "*") || has_token(cache_control, "no-store");
    if !is_apart {
        let message = "a cache may give the new entries of one reader to another: name A-IM here, or send Cache-Control: no-store, im";
        add(Level::Warning, "Vary", vary, message);
    }
}

/// Checks whether a header with a list of tokens contains this one, in any case and with any parameters.
fn has_token(header: &str, token: &str) -> bool {
    let mut tokens = header.split(',').map(|part| part.split(';').next().unwrap_or_default());
    tokens.any(|part| part.trim().eq_ignore_ascii_case(token))
}
