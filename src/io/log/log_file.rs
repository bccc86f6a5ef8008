//! The log file. When the file becomes too large, it is renamed and replaces the file that was renamed before.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};

use crate::io::private_files::{create_private_folder, create_private_subfolder};
use crate::io::regular_files::open_with;
use crate::io::small_files;

/// Maximum size of the file, bytes; enough for some weeks with a hundred feeds.
const BYTES_MAX: u64 = 1024 * 1024;
/// Maximum size of the tail that is shown, bytes.
const SHOWN_BYTES: usize = 256 * 1024;

/// Returns the log folder: in the data folder if one is given, else in the folder that the system provides for such files.
pub fn log_folder(data: Option<&Path>) -> Option<PathBuf> {
    if let Some(data) = data {
        return Some(data.join("log"));
    }
    let base = choose_base_strategy().ok()?;
    let state = base.state_dir().unwrap_or_else(|| base.data_dir());
    Some(state.join("backissue").join("log"))
}

/// The log file in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    folder: PathBuf,
    /// The folder is in a data folder, which is not created for a log.
    is_in_data: bool,
}

impl LogFile {
    /// Returns the log of a program with this data folder, if one is given.
    pub fn find(data: Option<&Path>) -> Option<Self> {
        Some(Self { folder: log_folder(data)?, is_in_data: data.is_some() })
    }

    /// Creates the folder.
    pub(super) fn create_folder(&self) -> io::Result<()> {
        if self.is_in_data {
            create_private_subfolder(&self.folder)
        } else {
            create_private_folder(&self.folder)
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the current file.
    pub fn path(&self) -> PathBuf {
        self.folder.join("backissue.log")
    }

    fn former(&self) -> PathBuf {
        self.folder.join("backissue.log.1")
    }

    /// Appends a line. Several processes may append to the same file, because each line is written in one call.
    pub(super) fn add(&self, line: &str) -> io::Result<()> {
        let path = self.path();
        if fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() >= BYTES_MAX) {
            fs::rename(&path, self.former())?;
        }
        let open = || open_with(OpenOptions::new().append(true).create(true).mode(0o600), &path);
        let mut file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.create_folder()?;
                open()?
            }
            opened => opened?,
        };
        file.write_all(format!("{line}\n").as_bytes())
    }

    /// Returns the last lines of the log, as bytes.
    pub fn tail(&self) -> Vec<u8> {
        let mut all = small_files::read(&self.former(), 2 * BYTES_MAX).unwrap_or_default();
        all.extend(small_files::read(&self.path(), 2 * BYTES_MAX).unwrap_or_default());
        let from = all.len().saturating_sub(SHOWN_BYTES);
        let tail = all.get(from..).unwrap_or_default();
        let whole = if from == 0 {
            0
        } else {
            tail.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1)
        };
        tail.get(whole..).unwrap_or_default().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_log_is_rotated_once_and_both_ends_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let log = LogFile::find(Some(folder.path())).unwrap();
        let line = "x".repeat(9_999);
        for number in 0..250 {
            log.add(&format!("{number} {line}")).unwrap();
        }
        let names = fs::read_dir(log.folder()).unwrap().flatten().map(|file| file.file_name());
        assert_eq!(names.count(), 2);
        let tail = String::from_utf8(log.tail()).unwrap();
        let numbers: Vec<u32> =
            tail.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
        assert_eq!(numbers, (224..250).collect::<Vec<_>>());
    }
}
