//! Time-outs and size limits of a fetch (SPEC 0).

use std::time::Duration;

use super::article::PAGE_BYTES_MAX;
use super::body::BodyLimits;
use crate::engine::poll::fetch::RequestKind;
use crate::ui::reader::pictures::BYTES_MAX;

/// Time-outs and size limits of a fetch (SPEC 0); tests use smaller ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Until the connection is made, including the resolution of the name.
    pub connect: Duration,
    /// Longest wait for the next byte.
    pub idle: Duration,
    /// For the whole fetch, including redirects and the body.
    pub total: Duration,
    /// Most redirects that are followed (SPEC 0, `REDIRECT_MAX`).
    pub redirects_max: usize,
    /// Most of them that may be redirect documents (SPEC 0, `XML_REDIRECT_MAX`).
    pub redirect_documents_max: usize,
    /// Longest `Retry-After` of a redirect that is waited for (SPEC D.3).
    pub redirect_wait_max: Duration,
    pub body: BodyLimits,
}

impl Limits {
    /// Returns the limits on the body for a kind of request.
    pub(super) fn body_limits(&self, kind: RequestKind) -> BodyLimits {
        let bytes_max = match kind {
            RequestKind::Picture => BYTES_MAX,
            // What is longer would be refused when it is there.
            RequestKind::Page => PAGE_BYTES_MAX,
            RequestKind::Usual
            | RequestKind::Fresh
            | RequestKind::Delta
            | RequestKind::Listing
            | RequestKind::Anything => {
                return self.body;
            }
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
    fn pictures_and_pages_have_bounds_of_their_own() {
        let limits = Limits::default();
        let bounds = |kind| (limits.body_limits(kind).wire_max, limits.body_limits(kind).body_max);
        assert_eq!(bounds(RequestKind::Picture), (BYTES_MAX, BYTES_MAX));
        assert_eq!(bounds(RequestKind::Page), (PAGE_BYTES_MAX, PAGE_BYTES_MAX));
        assert_eq!(limits.body_limits(RequestKind::Usual), limits.body);
    }
}
