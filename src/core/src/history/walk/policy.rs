//! Limits of an archive walk, the cases in which the user must agree first (SPEC 0, C.10), and the times at which failed requests
//! are retried (SPEC C.8).

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// The user's choice about history, for all feeds or for one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Archives are fetched without asking the user, up to the limits of one run.
    #[default]
    Auto,
    /// The user is asked before the first walk, but not before catching up on a few archives.
    Ask,
    /// No archives are fetched, but gaps are shown.
    Off,
}

impl Mode {
    /// All modes that the user can choose in settings.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Ask, Self::Off];

    /// Returns the name used in settings.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Ask => "ask",
            Self::Off => "off",
        }
    }
}

/// The limits of an archive walk. The defaults are the values of SPEC 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkPolicy {
    /// The user's choice about history.
    pub mode: Mode,
    /// Maximum number of archives requested in one run (`ARCHIVE_RUN_DOCS`).
    pub run_documents: u32,
    /// Maximum number of entries read in one run (`ARCHIVE_RUN_ENTRIES`).
    pub run_entries: u32,
    /// Maximum number of bytes transferred in one run (`ARCHIVE_RUN_BYTES`).
    pub run_bytes: u64,
    /// Maximum number of archives requested in one day, UTC (`ARCHIVE_DAY_DOCS`).
    pub day_documents: u32,
    /// Number of consecutive archives without new entries after which a run ends.
    pub barren_documents: u32,
    /// Maximum number of archives fetched without asking the user in the mode `ask`.
    pub catch_up_documents: u32,
    /// Whether documents received over https may link to archives at http addresses (SPEC D.6).
    pub allow_insecure: bool,
}

impl Default for WalkPolicy {
    fn default() -> Self {
        Self {
            mode: Mode::Auto,
            run_documents: 20,
            run_entries: 5_000,
            run_bytes: 64 * 1024 * 1024,
            day_documents: 200,
            barren_documents: 3,
            catch_up_documents: 3,
            allow_insecure: false,
        }
    }
}

/// Maximum number of archives and aliases kept for one feed.
pub const NODES_MAX: usize = 20_000;
/// Maximum number of gaps kept for one feed. Once this number is reached, the walk requests only archives that already have
/// a gap.
pub(crate) const GAPS_MAX: usize = 200;
/// Maximum number of pending archives (frontiers) kept for one feed.
pub(crate) const FRONTIERS_MAX: usize = 64;
/// Maximum number of suspected overruns kept for one feed.
pub(crate) const OVERRUNS_MAX: usize = 20;

/// Why an archive could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchiveFailure {
    /// The server answered with a status other than success.
    Status {
        /// HTTP status, such as 404 or 304.
        status: u16,
        /// Earliest time of a retry (`Retry-After`).
        retry_after: Option<DateTime<Utc>>,
    },
    /// There is no usable response because of a timeout, a DNS, connection or TLS error. The text is a
    /// sentence fragment.
    Unanswered(String),
    /// The address is invalid or may not be requested (SPEC D.6).
    Blocked(String),
    /// The archive exceeds one of the limits of SPEC D.8.
    TooLarge(String),
    /// The response is not a feed that can be parsed completely.
    Unreadable(String),
    /// There is no network; the walk pauses (G7).
    Offline,
}

impl fmt::Display for ArchiveFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { status, .. } => write!(formatter, "it answered {status}"),
            Self::Unanswered(why)
            | Self::Blocked(why)
            | Self::TooLarge(why)
            | Self::Unreadable(why) => formatter.write_str(why),
            Self::Offline => formatter.write_str("there is no network"),
        }
    }
}

/// How often and for how long a failed archive request is retried automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryClass {
    /// The server answered 5xx, 408, 425 or 429, or did not answer.
    Transient,
    /// The server answered 404 or another status that may be a mistake.
    NotFound,
    /// The response is not a feed, or is too large.
    Unreadable,
    /// The server answered 401, 403, 410 or 451, or the address is blocked. Only the user can start a retry.
    Manual,
}

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// Seconds between retries, for each class. After the last of these retries, only the user can start another one.
const WAITS: [(RetryClass, &[i64]); 4] = [
    (RetryClass::Transient, &[HOUR, 6 * HOUR, DAY, 3 * DAY, 7 * DAY]),
    (RetryClass::NotFound, &[DAY, 7 * DAY]),
    (RetryClass::Unreadable, &[DAY, 7 * DAY]),
    (RetryClass::Manual, &[]),
];

impl ArchiveFailure {
    pub const fn class(&self) -> RetryClass {
        match self {
            Self::Status { status: ..=399 | 408 | 425 | 429 | 500.., .. }
            | Self::Unanswered(_)
            | Self::Offline => RetryClass::Transient,
            Self::Status { status: 401 | 403 | 410 | 451, .. } | Self::Blocked(_) => {
                RetryClass::Manual
            }
            Self::Status { .. } => RetryClass::NotFound,
            Self::TooLarge(_) | Self::Unreadable(_) => RetryClass::Unreadable,
        }
    }

    /// Returns the time of the next retry after `tries` consecutive failures; `None` if only the user can start a retry. The
    /// time is never earlier than the one the server requested in `Retry-After`.
    pub fn retry_at(&self, tries: u32, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let class = self.class();
        let waits = WAITS.iter().find(|(of, _)| *of == class).map_or(&[][..], |(_, waits)| waits);
        let place = usize::try_from(tries.saturating_sub(1)).unwrap_or(usize::MAX);
        let at = now.checked_add_signed(TimeDelta::seconds(*waits.get(place)?))?;
        let floor = match self {
            Self::Status { retry_after, .. } => *retry_after,
            Self::Unanswered(_)
            | Self::Blocked(_)
            | Self::TooLarge(_)
            | Self::Unreadable(_)
            | Self::Offline => None,
        };
        Some(floor.map_or(at, |floor| at.max(floor)))
    }
}

#[cfg(test)]
mod tests {
    use crate::history::walk::policy::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
    }

    /// Returns the hours between the automatic retries after repeated failures of this kind.
    fn hours(failure: &ArchiveFailure) -> Vec<i64> {
        (1..20)
            .map_while(|tries| failure.retry_at(tries, at(0)))
            .map(|next| (next - at(0)).num_hours())
            .collect()
    }

    fn status(status: u16) -> ArchiveFailure {
        ArchiveFailure::Status { status, retry_after: None }
    }

    #[test]
    fn each_failure_class_has_its_retry_delays() {
        for failure in [
            status(500),
            status(503),
            status(429),
            status(408),
            ArchiveFailure::Unanswered("no response within 20 s".into()),
        ] {
            assert_eq!(hours(&failure), [1, 6, 24, 72, 168], "{failure:?}");
        }
        for failure in [status(404), status(400), ArchiveFailure::Unreadable("no feed".into())] {
            assert_eq!(hours(&failure), [24, 168], "{failure:?}");
        }
        for failure in [status(401), status(403), status(410), status(451)] {
            assert_eq!(hours(&failure), [0_i64; 0], "{failure:?}");
        }
        assert_eq!(hours(&ArchiveFailure::Blocked("insecure".into())), [0_i64; 0]);
    }

    #[test]
    fn retry_after_is_a_floor() {
        let busy = |floor| ArchiveFailure::Status { status: 503, retry_after: Some(at(floor)) };
        assert_eq!(busy(2 * HOUR).retry_at(1, at(0)), Some(at(2 * HOUR)));
        assert_eq!(busy(60).retry_at(1, at(0)), Some(at(HOUR)));
    }
}
