//! Timeouts and size limits of a fetch (SPEC 0).

use std::time::Duration;

use super::article::PAGE_BYTES_MAX;
use super::body::BodyLimits;
use crate::engine::entries::picture_fetches::PICTURE_BYTES_MAX;
use crate::engine::poll::fetch::RequestKind;

/// Timeouts and size limits of a fetch (SPEC 0); tests use smaller ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Timeout for the connection, including the DNS lookup.
    pub connect: Duration,
    /// Maximum wait for the next bytes of a response.
    pub idle: Duration,
    /// Timeout for the whole fetch, including redirects and the body.
    pub total: Duration,
    /// Maximum number of redirects (SPEC 0, `REDIRECT_MAX`).
    pub redirects_max: usize,
    /// Maximum number of redirect documents among the redirects (SPEC 0, `XML_REDIRECT_MAX`).
    pub redirect_documents_max: usize,
    /// Maximum value of `Retry-After` in a redirect. A fetch waits that time before it follows the redirect (SPEC D.3).
    pub redirect_wait_max: Duration,
    pub body: BodyLimits,
}

impl Limits {
    /// Returns the body limits for a kind of request.
    pub(super) fn body_limits(&self, kind: RequestKind) -> BodyLimits {
        let bytes_max = if kind == RequestKind::Picture {
            PICTURE_BYTES_MAX
        } else if kind == RequestKind::Page {
            // Larger pages need not be received, because the article extractor rejects them.
            PAGE_BYTES_MAX
        } else {
            return self.body;
        };
        let most = |max: usize| max.min(bytes_max);
        let (wire_max, body_max) = (most(self.body.wire_max), most(self.body.body_max));
        BodyLimits { wire_max, body_max, ..self.body }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(20),
            total: Duration::from_secs(90),
            redirects_max: 8,
            redirect_documents_max: 2,
            redirect_wait_max: Duration::from_secs(5),
            body: BodyLimits::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_and_pages_have_separate_limits() {
        let limits = Limits::default();
        let bounds = |kind| (limits.body_limits(kind).wire_max, limits.body_limits(kind).body_max);
        assert_eq!(bounds(RequestKind::Picture), (PICTURE_BYTES_MAX, PICTURE_BYTES_MAX));
        assert_eq!(bounds(RequestKind::Page), (PAGE_BYTES_MAX, PAGE_BYTES_MAX));
        assert_eq!(limits.body_limits(RequestKind::Usual), limits.body);
    }
}
