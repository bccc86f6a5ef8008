//! The poll log: one line for each of the last polls of a feed.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use backissue_core::feed::sparse::is_default;
use backissue_core::schedule::SettledBy;

/// Lines kept for each feed; older ones are overwritten.
pub const POLL_LOG_LINES: u32 = 50;

/// One poll. Its fields have short names: a line is written at every poll.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollLogEntry {
    /// When the request was sent.
    #[serde(rename = "t", with = "chrono::serde::ts_milliseconds")]
    pub at: DateTime<Utc>,
    /// Status of the answer; `None` if none came.
    #[serde(rename = "s", default, skip_serializing_if = "is_default")]
    pub status: Option<u16>,
    /// Bytes of the body as they came over the wire.
    #[serde(rename = "b", default, skip_serializing_if = "is_default")]
    pub wire_bytes: u64,
    /// Entries never seen before.
    #[serde(rename = "n", default, skip_serializing_if = "is_default")]
    pub new: u32,
    /// Entries whose content changed.
    #[serde(rename = "e", default, skip_serializing_if = "is_default")]
    pub edited: u32,
    /// Entries that the publisher withdrew.
    #[serde(rename = "r", default, skip_serializing_if = "is_default")]
    pub withdrawn: u32,
    /// Why it ran.
    #[serde(rename = "c")]
    pub cause: PollCause,
    /// What had settled its time: the setting or the floor that it waited for.
    #[serde(rename = "w", default, skip_serializing_if = "is_default")]
    pub settled_by: Option<SettledBy>,
    /// Seconds it then waited for its turn: for its site, for the network, for others.
    #[serde(rename = "q", default, skip_serializing_if = "is_default")]
    pub queued_seconds: u32,
    /// What went wrong, as a sentence fragment.
    #[serde(rename = "x", default, skip_serializing_if = "is_default")]
    pub trouble: Option<String>,
}

/// Why a poll ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PollCause {
    /// Its plan said so.
    Due,
    /// The reader asked (SPEC B.8).
    Asked,
    /// The reader asked for an unconditional request (SPEC B.8).
    Forced,
    /// The feed was just subscribed to.
    Subscribed,
}
