//! Poll log: one line for each of the last polls of a feed.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use backissue_core::feed::hints::is_default;
use backissue_core::schedule::SettledBy;

/// Number of lines kept for each feed. Older lines are overwritten.
pub const POLL_LOG_LINES: u32 = 50;

/// One poll in the log. The serialized field names are short, because every poll writes a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollLogEntry {
    /// Time of the request.
    #[serde(rename = "t", with = "chrono::serde::ts_milliseconds")]
    pub at: DateTime<Utc>,
    /// Status of the response; `None` if there was none.
    #[serde(rename = "s", default, skip_serializing_if = "is_default")]
    pub status: Option<u16>,
    /// Size of the body on the wire, in bytes.
    #[serde(rename = "b", default, skip_serializing_if = "is_default")]
    pub wire_bytes: u64,
    /// Number of new entries.
    #[serde(rename = "n", default, skip_serializing_if = "is_default")]
    pub new: u32,
    /// Number of entries with changed content.
    #[serde(rename = "e", default, skip_serializing_if = "is_default")]
    pub edited: u32,
    /// Number of entries that the publisher withdrew.
    #[serde(rename = "r", default, skip_serializing_if = "is_default")]
    pub withdrawn: u32,
    /// Cause of the poll.
    #[serde(rename = "c")]
    pub cause: PollCause,
    /// Rule that determined the time of the poll, such as a setting or a minimum interval.
    #[serde(rename = "w", default, skip_serializing_if = "is_default")]
    pub settled_by: Option<SettledBy>,
    /// Number of seconds from the queueing of the poll to its request.
    #[serde(rename = "q", default, skip_serializing_if = "is_default")]
    pub queued_seconds: u32,
    /// Error of the poll, as a sentence fragment; `None` if the poll succeeded.
    #[serde(rename = "x", default, skip_serializing_if = "is_default")]
    pub trouble: Option<String>,
}

/// Cause of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PollCause {
    /// The poll was due.
    Due,
    /// The user requested it (SPEC B.8).
    Asked,
    /// The user requested an unconditional poll (SPEC B.8).
    Forced,
    /// The feed was just subscribed.
    Subscribed,
}
