//! Checks of answers with only the new entries of a feed: status 226 (RFC 3229, SPEC D.7).

use crate::feed::{self, Origin};
use crate::lint::delivery::Delivered;
use crate::lint::table::{self, Findings};

/// Checks an answer with status 226. `was_requested` is `true` if the request contained `A-IM: feed`.
pub(super) fn check(delivered: &Delivered<'_>, was_requested: bool, findings: &mut Findings) {
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
