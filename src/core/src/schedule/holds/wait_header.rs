//! The headers by which a server imposes a wait (SPEC B.4.3).

use serde::{Deserialize, Serialize};

/// The header that imposed a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WaitHeader {
    /// `Retry-After`: a hard limit; a manual poll requires confirmation.
    RetryAfter,
    /// The cache lifetime of a 429 or 503 without `Retry-After`: treated like any cache lifetime.
    CacheControl,
    /// No header: the response is a 429 that states no time, so an hour is assumed (SPEC D.2).
    Nothing,
    /// `X-RateLimit-Reset` or a similar header: a hard limit like `Retry-After`.
    XRateLimitReset,
    /// `RateLimit-Reset`, likewise.
    RateLimitReset,
    /// `RateLimit` or `RateLimit-Policy`, likewise.
    RateLimit,
}

impl WaitHeader {
    /// Returns the name of the header that announces a rate limit, or `None` for other waits.
    pub const fn limit_name(self) -> Option<&'static str> {
        match self {
            Self::RetryAfter | Self::CacheControl | Self::Nothing => None,
            Self::XRateLimitReset => Some("x-ratelimit-reset"),
            Self::RateLimitReset => Some("RateLimit-Reset"),
            Self::RateLimit => Some("RateLimit"),
        }
    }

    /// Checks whether the server said for how long it takes no requests.
    pub fn is_stated(self) -> bool {
        self == Self::RetryAfter || self.limit_name().is_some()
    }
}
