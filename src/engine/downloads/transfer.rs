//! What the outside world is asked to receive, and what it reports.

use super::record::FileVersion;
use crate::engine::poll::fetch::FetchRequest;

/// A file to receive.
#[derive(Debug, Clone, PartialEq)]
pub struct FileTransfer {
    /// Number of the download.
    pub id: u32,
    /// Request for the file, without the range.
    pub request: FetchRequest,
    /// Path of the complete file.
    pub path: String,
    /// `true` if the path was chosen for this request, so that a file that is already there belongs to something else.
    pub is_new: bool,
    /// What the server said about the part that is there.
    pub version: FileVersion,
    /// Media type that the publisher stated.
    pub media_type: Option<String>,
    /// Maximum speed of all downloads together, in bytes per second.
    pub rate: Option<u64>,
    /// Maximum size of the file, in bytes.
    pub bytes_max: u64,
}

/// A report about a file that is being received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadNews {
    /// The body begins after this number of bytes, and belongs to this version. `true` if a redirect led from https to http.
    Began(FileVersion, u64, bool),
    /// The file has this number of bytes.
    Received(u64),
    /// The file is complete and has this number of bytes.
    Complete(u64),
    /// The attempt failed.
    Failed(TransferFailure),
}

/// Why an attempt to receive a file failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferFailure {
    /// What may help.
    pub cure: Cure,
    /// The reason as a sentence fragment.
    pub why: String,
    /// Number of bytes that are there.
    pub received: u64,
}

/// What may help after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cure {
    /// Another attempt, no earlier than after this number of seconds.
    Later(u32),
    /// Another name: a file of this name is already there.
    OtherName,
    /// More room on the disk.
    Room,
    /// Nothing that the program can do.
    Nothing,
}

/// A report of a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerNews {
    /// Position in the file, in seconds.
    pub position: u32,
    /// Length of the file, in seconds.
    pub duration: Option<u32>,
    /// `true` if the file was played to its end.
    pub at_end: bool,
}
