//! Errors of the store.

use std::io::ErrorKind;
use std::path::PathBuf;

use super::super::answers::LoopEnded;
use super::super::codec::CodecError;
use super::super::panics::catch_panic;
use super::super::search::IndexError;
use super::super::system::{is_out_of_files, is_out_of_room, one_line, system_words};
use crate::engine::store_work::StoreFailure;

/// Why the store cannot be used. Each prints as one sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The process that had the store open ended before it could answer.
    #[error(transparent)]
    Ended(#[from] LoopEnded),
    /// The disk has too little free space for a change. Nothing was written, and nothing is lost.
    #[error(
        "the disk is full: {} MB are free and {} MB are needed; nothing is saved until there is space, but you can keep reading",
        .free / 1_000_000,
        .needed.div_ceil(1_000_000)
    )]
    Full {
        /// Bytes that are free.
        free: u64,
        /// Bytes that are needed.
        needed: u64,
    },
    /// The system refused a write because the disk is full. The change is not kept.
    #[error("the disk is full: nothing is saved until there is space, but you can keep reading")]
    NoRoom,
    /// This process, or the whole system, has too many open files.
    #[error(
        "too many files and connections are open ('ulimit -n' allows more): nothing is saved until some are closed, but you can keep reading"
    )]
    NoFiles,
    /// The folder was moved, deleted, replaced or unmounted while the store was open.
    #[error(
        "the data folder {} is gone or was replaced: nothing is saved until it is back, but you can keep reading", .0.display()
    )]
    Gone(PathBuf),
    /// A compaction needs more room than there is.
    #[error(
        "the store was not compacted: that needs {} MB of disk space, and {} MB are free",
        .needed.div_ceil(1_000_000), .free / 1_000_000
    )]
    NoRoomToCompact {
        /// Bytes that are free.
        free: u64,
        /// Bytes that are needed.
        needed: u64,
    },
    /// Nothing can be written to the data folder.
    #[error(
        "the disk is full or the folder is not writable: the store is read-only and nothing is saved"
    )]
    ReadOnly,
    /// A record is missing. The text is a sentence.
    #[error("{0}")]
    LostRecord(String),
    #[error(
        "the store in {folder} is in use by another backissue{}; close that one, or choose another folder with --data-dir",
        .process.map(|id| format!(" (process {id})")).unwrap_or_default()
    )]
    InUse {
        folder: PathBuf,
        /// The owner's process id, if it could be read.
        process: Option<u32>,
        /// Socket on which the owner listens for commands of other processes, if it does.
        socket: Option<PathBuf>,
    },
    #[error("the data folder {folder} cannot be used: {why}; choose another one with --data-dir")]
    Folder { folder: PathBuf, why: String },
    #[error(
        "the store in {folder} was written by a newer backissue (schema {found}, this program supports {newest}); use that version, or another --data-dir"
    )]
    Newer {
        folder: PathBuf,
        found: u8,
        /// The newest schema that this program knows.
        newest: u8,
    },
    #[error(
        "the store in {} was written by an older development version of backissue, which this one cannot read: export the subscriptions with that version ('backissue export'), then choose another --data-dir and import them", .0.display()
    )]
    Older(PathBuf),
    /// The system refuses access to the files.
    #[error(
        "the store in {folder} cannot be opened ({why}); check its permissions and the disk: the store itself may be intact"
    )]
    Refused { folder: PathBuf, why: String },
    #[error(
        "the store in {folder} cannot be opened ({why}); restore a backup with 'backissue restore FILE': daily ones are in {}",
        .folder.join("backups").display()
    )]
    Unreadable { folder: PathBuf, why: String },
    #[error("{what} in the store is damaged ({why}); run 'backissue doctor'")]
    Damaged { what: String, why: CodecError },
    /// The search index cannot be read. The text is a sentence.
    #[error("{0}")]
    Search(String),
    /// A backup cannot be written or read. The text is the rest of the sentence.
    #[error("the backup cannot be used: {0}")]
    Backup(String),
    /// The pack or the files of sled are damaged.
    #[error("the store's files are damaged: {0}; run 'backissue doctor'")]
    Corrupted(String),
    #[error(
        "the store could not be read or written: {0}; check the disk, then run 'backissue doctor'"
    )]
    Failed(String),
}

impl StoreError {
    /// Returns a copy of the error for another receiver. Most kinds become [`StoreError::Failed`] with the sentence of the error.
    pub(super) fn again(&self) -> Self {
        if let Self::Gone(data) = self {
            Self::Gone(data.clone())
        } else if matches!(self, Self::NoRoom) {
            Self::NoRoom
        } else if matches!(self, Self::NoFiles) {
            Self::NoFiles
        } else {
            Self::Failed(self.to_string())
        }
    }

    /// Returns the reason for use in a sentence that already mentions the backup.
    pub fn reason_of_backup(&self) -> String {
        if let Self::Backup(why) = self { why.clone() } else { self.to_string() }
    }
}

impl From<&StoreError> for StoreFailure {
    fn from(error: &StoreError) -> Self {
        let no_room = matches!(
            error,
            StoreError::Full { .. }
                | StoreError::NoRoom
                | StoreError::NoFiles
                | StoreError::ReadOnly
                | StoreError::Gone(_)
        );
        Self { text: error.to_string(), no_room, failures: 0 }
    }
}

impl From<sled::Error> for StoreError {
    fn from(error: sled::Error) -> Self {
        match error {
            sled::Error::Corruption { .. } => {
                Self::Corrupted("a checksum in them does not match".into())
            }
            sled::Error::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
                Self::Corrupted("they are shorter than before".into())
            }
            sled::Error::Io(error) => Self::from(error),
            sled::Error::CollectionNotFound(_)
            | sled::Error::Unsupported(_)
            | sled::Error::ReportableBug(_) => Self::Failed(one_line(&error.to_string())),
        }
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        if is_out_of_room(&error) {
            Self::NoRoom
        } else if is_out_of_files(&error) {
            Self::NoFiles
        } else {
            Self::Failed(system_words(&error))
        }
    }
}

impl From<IndexError> for StoreError {
    fn from(error: IndexError) -> Self {
        Self::Search(error.to_string())
    }
}

impl From<CodecError> for StoreError {
    fn from(why: CodecError) -> Self {
        Self::Damaged { what: "a record".into(), why }
    }
}

/// Runs work that uses sled and turns a panic into an error, because sled panics on some kinds of damage in its files.
pub(in crate::io) fn catch_sled_panic<T>(
    work: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let done = catch_panic(work);
    done.unwrap_or_else(|| Err(StoreError::Corrupted("they cannot be read".into())))
}
