//! A download as it is stored, and what is known about it only while the program runs; what the outside world is asked to receive,
//! what it reports, and how long it waits before the next bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use backissue_core::feed::Enclosure;
use backissue_core::history::{EntryKey, FeedKey};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::engine::poll::fetch::FetchRequest;

/// Maximum number of downloads in the list.
pub const DOWNLOADS_MAX: usize = 500;

/// A file that is downloaded, or that was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Download {
    /// Number of the download, by which the user names it.
    pub id: u32,
    /// Entry that the file is attached to.
    pub entry: EntryKey,
    /// Address of the file.
    pub url: String,
    /// Media type that the publisher stated.
    pub media_type: Option<String>,
    /// Title of the entry.
    pub title: String,
    /// Title of the feed.
    pub feed_title: String,
    /// Date under which the entry is listed.
    pub date: DateTime<Utc>,
    /// Time at which the download was added.
    pub added: DateTime<Utc>,
    /// State of the download.
    pub state: DownloadState,
    /// Path of the complete file. The file that is not complete has the same path with [`PART`] at its end. `None` until the
    /// first request.
    #[serde(default)]
    pub path: Option<String>,
    /// What the server said about the file, to resume the download.
    #[serde(default)]
    pub version: FileVersion,
    /// Number of bytes that were received when the record was last written.
    #[serde(default)]
    pub received: u64,
    /// `true` if a redirect led from https to http, so that others could read or change the file on its way.
    #[serde(default)]
    pub is_unencrypted: bool,
    /// Number of failures in a row without progress.
    #[serde(default)]
    pub failures: u32,
    /// Time before which a failed download is not tried again.
    #[serde(default)]
    pub retry_at: Option<DateTime<Utc>>,
    /// Why the last attempt failed, as a sentence fragment.
    #[serde(default)]
    pub trouble: Option<String>,
    /// Time at which the file was complete.
    #[serde(default)]
    pub finished: Option<DateTime<Utc>>,
    /// Position in the file up to which it was played, in seconds.
    #[serde(default)]
    pub position: u32,
    /// Length of the file in seconds, as stated by the player or by the publisher.
    #[serde(default)]
    pub duration: Option<u32>,
    /// Time at which the file was played to its end.
    #[serde(default)]
    pub played: Option<DateTime<Utc>>,
}

/// End of the path of an incomplete file.
pub const PART: &str = ".part";

/// State of a download that survives the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DownloadState {
    /// It waits for its turn, or is being received.
    Waiting,
    /// The user paused it.
    Paused,
    /// It failed, and is not tried again automatically.
    Failed,
    /// The file is complete.
    Done,
}

/// The version of a file as its server described it. A download is resumed only in the same version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileVersion {
    /// `ETag`.
    pub etag: Option<String>,
    /// `Last-Modified`.
    pub last_modified: Option<String>,
    /// Size of the file in bytes.
    pub size: Option<u64>,
}

/// A download that is being received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Site that sends the file.
    pub site: String,
    /// Number of bytes that the file has so far.
    pub received: u64,
    /// Bytes per second, smoothed.
    pub speed: u64,
    /// Time of the last report.
    pub at: DateTime<Utc>,
    /// Number of bytes at the start of this attempt.
    pub from: u64,
}

/// A file that is being played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Playback {
    /// Time at which the position was last written.
    pub saved_at: DateTime<Utc>,
}

/// The downloads in the engine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Downloads {
    /// All downloads by number, oldest first.
    pub list: BTreeMap<u32, Download>,
    /// Downloads that are being received.
    pub running: BTreeMap<u32, Transfer>,
    /// Files that are being played.
    pub playing: BTreeMap<u32, Playback>,
    /// `true` if the user asked this process to run the downloads, although it does not keep running.
    pub asked_to_run: bool,
    /// Paths at which files of something else were found.
    pub taken: BTreeSet<String>,
    /// Downloads that start next, and whether the newest address of their file is known.
    pub addressed: BTreeMap<u32, bool>,
    /// Requests to read attached files from the store that are not answered yet.
    pub reading: u32,
}

impl Downloads {
    /// Returns the downloads that were loaded from the store.
    pub fn loaded(list: Vec<Download>) -> Self {
        let list = list.into_iter().map(|download| (download.id, download)).collect();
        Self { list, ..Self::default() }
    }

    /// Returns the paths of the complete files of an entry, by address.
    pub fn complete_files(&self, entry: EntryKey) -> BTreeMap<String, String> {
        let files = self.list.values();
        let done = files.filter(|it| it.entry == entry && it.state == DownloadState::Done);
        done.filter_map(|it| Some((it.url.clone(), it.path.clone()?))).collect()
    }

    /// Returns the number of bytes that a download has so far.
    pub fn received(&self, download: &Download) -> u64 {
        self.running.get(&download.id).map_or(download.received, |transfer| transfer.received)
    }

    /// Returns the download of a file of an entry, if there is one. `files` are all files of the entry.
    pub fn of_file(&self, entry: EntryKey, url: &str, files: &[Enclosure]) -> Option<&Download> {
        self.list.values().find(|download| {
            download.entry == entry
                && newest_address(&download.url, files).unwrap_or(&download.url) == url
        })
    }
}

/// Returns the address that a file of an entry has now. Returns `None` if the entry does not have the file any more.
pub fn newest_address<'f>(url: &str, files: &'f [Enclosure]) -> Option<&'f str> {
    let name = |url: &str| {
        let path = url.split(['?', '#']).next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let known = files.iter().find(|file| file.url == url);
    let resigned = || files.iter().find(|file| file.is_resigned(url));
    let named = || files.iter().find(|file| name(&file.url) == name(url));
    let only = || files.first().filter(|_| files.len() == 1);
    let found = known.or_else(resigned).or_else(named).or_else(only);
    found.map(|file| file.url.as_str())
}

impl Download {
    /// Returns how much of the file is there, in percent from 0 to 100; `None` if the size is not known.
    pub fn percent(&self, received: u64) -> Option<u8> {
        let size = self.version.size.filter(|&size| size > 0)?;
        let percent = received.min(size).saturating_mul(100).checked_div(size)?;
        u8::try_from(percent).ok()
    }
}

/// Entries whose attached files are read from the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachedWanted {
    /// Entries that the user chose, and which of their files, counted from 1; `None` for the first one.
    Chosen(Vec<EntryKey>, Option<usize>),
    /// New entries of a feed: those to which a filter applies, or all unread ones if the user wants the files ahead.
    New(FeedKey, Range<u32>),
    /// Entries whose downloads are about to start, to learn the newest addresses of their files.
    Addresses(Vec<EntryKey>),
}

impl AttachedWanted {
    /// Returns the feeds of the entries.
    pub fn feeds(&self) -> BTreeSet<FeedKey> {
        match self {
            Self::Chosen(keys, _) | Self::Addresses(keys) => {
                keys.iter().map(|key| key.feed).collect()
            }
            Self::New(feed, _) => std::iter::once(*feed).collect(),
        }
    }
}

/// A request of a user that concerns downloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadRequest {
    /// Download an attached file of each entry.
    Add {
        /// Entries whose files to download.
        keys: Vec<EntryKey>,
        /// Which of the attached files, counted from 1; `None` for the first one.
        file: Option<usize>,
    },
    /// Pause a download.
    Pause(u32),
    /// Resume a download that is paused or failed, or receive a complete file again.
    Resume(u32),
    /// Remove a download from the list.
    Remove {
        /// Number of the download.
        id: u32,
        /// `true` to delete the complete file, too.
        delete: bool,
    },
    /// Play a complete file.
    Play(u32),
    /// Set whether a file counts as played to its end.
    SetPlayed(u32, bool),
    /// Receive files in this process until none waits.
    Run,
}

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

/// Spreads received bytes over time, so that they never exceed a rate by more than the bytes that arrived together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    /// Time from which more bytes may be received, since the program started.
    free_at: Duration,
}

impl Pace {
    /// Notes bytes that arrived at `now` and returns how long to wait before more are received. `rate` is in bytes per second;
    /// `None` means no limit.
    pub fn wait_after(&mut self, now: Duration, bytes: u64, rate: Option<u64>) -> Duration {
        let Some(rate) = rate.filter(|&rate| rate > 0) else { return Duration::ZERO };
        let micros = u128::from(bytes).saturating_mul(1_000_000).div_ceil(u128::from(rate));
        let takes = Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
        self.free_at = self.free_at.max(now).saturating_add(takes);
        self.free_at.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_address_of_a_file_is_found_by_what_stays_of_it() {
        let files = |urls: &[&str]| -> Vec<Enclosure> {
            urls.iter().map(|&url| Enclosure { url: url.into(), ..Enclosure::default() }).collect()
        };
        for (url, now, expected) in [
            ("h/1.mp3?t=1", &["h/1.mp3?t=2"][..], Some("h/1.mp3?t=2")),
            ("h/1.mp3?t=1", &["h/2.mp3?t=2", "h/1.mp3?t=2"], Some("h/1.mp3?t=2")),
            ("h/play?id=2", &["h/play?id=1", "h/play?id=2"], Some("h/play?id=2")),
            ("h/a/1.mp3", &["h/x.mp3", "h/b/1.mp3"], Some("h/b/1.mp3")),
            ("h/a/1.mp3", &["h/b/other.mp3"], Some("h/b/other.mp3")),
            ("h/a/1.mp3", &["h/x.mp3", "h/y.mp3"], None),
        ] {
            assert_eq!(newest_address(url, &files(now)), expected, "{url} in {now:?}");
        }
    }

    #[test]
    fn bytes_are_spread_over_time_whoever_receives_them() {
        let mut pace = Pace::default();
        let second = Duration::from_secs(1);
        assert_eq!(pace.wait_after(second, 500, Some(1000)), second / 2);
        assert_eq!(pace.wait_after(second, 1000, Some(1000)), second * 3 / 2, "another download");
        // Time in which nothing arrived is not saved up.
        assert_eq!(pace.wait_after(second * 60, 1000, Some(1000)), second);
        assert_eq!(pace.wait_after(second, 1 << 40, None), Duration::ZERO);
        assert_eq!(pace.wait_after(second, 1, Some(0)), Duration::ZERO);
    }
}
