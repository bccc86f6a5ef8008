//! The file of a download on the disk: a part that grows, and gets its own name when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::engine::downloads::record::PART;
use crate::io::named_files::refuse_data_folder;
use crate::io::regular_files::{open_with, sync_folder};

/// A file that is being received.
#[derive(Debug)]
pub(super) struct PartFile {
    file: File,
    path: PathBuf,
    part: PathBuf,
    /// Number of bytes that are there.
    pub(super) length: u64,
}

/// What was found at the path of a download.
#[derive(Debug)]
pub(super) enum FoundPart {
    /// A part, which may be empty.
    Part(PartFile),
    /// The complete file, with its length.
    Complete(u64),
    /// A file of something else.
    Taken,
}

impl PartFile {
    /// Opens the part of a file, or creates it and its folder. A new download takes no name that is in use.
    pub(super) fn open(path: &str, is_new: bool) -> io::Result<FoundPart> {
        let part = PathBuf::from(format!("{path}{PART}"));
        let path = PathBuf::from(path);
        refuse_data_folder(&path)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let complete = fs::symlink_metadata(&path).ok();
        if is_new && (complete.is_some() || fs::symlink_metadata(&part).is_ok()) {
            return Ok(FoundPart::Taken);
        }
        if let Some(complete) = complete {
            let rest = fs::symlink_metadata(&part).ok();
            let is_same = rest
                .as_ref()
                .is_some_and(|rest| (rest.dev(), rest.ino()) == (complete.dev(), complete.ino()));
            // The program was killed between the new name and the note about it, or another program wrote a file of this name.
            let is_ours = complete.is_file() && (rest.is_none() || is_same);
            if rest.is_some() {
                fs::remove_file(&part)?;
            }
            return Ok(if is_ours {
                FoundPart::Complete(complete.len())
            } else {
                FoundPart::Taken
            });
        }
        let mut options = OpenOptions::new();
        options.write(true);
        if is_new {
            options.create_new(true);
        } else {
            options.create(true).truncate(false);
        }
        let mut file = open_with(&mut options, &part)?;
        let length = file.seek(SeekFrom::End(0))?;
        Ok(FoundPart::Part(Self { file, path, part, length }))
    }

    /// Removes what is there, because another version follows.
    pub(super) fn empty(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.length = 0;
        Ok(())
    }

    /// Adds bytes at the end. If not all of them can be written, those that were are counted.
    pub(super) fn append(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.file.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    self.length = self.length.saturating_add(u64::try_from(written).unwrap_or(0));
                    bytes = bytes.get(written..).unwrap_or_default();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Gives the complete file its name, and returns its length. If another file has the name by now, that file stays, and the part
    /// is deleted, because the download starts over with another name.
    pub(super) fn finish(self) -> io::Result<u64> {
        self.file.sync_all()?;
        // Unlike a rename, this never replaces a file that appeared meanwhile.
        match fs::hard_link(&self.part, &self.path) {
            Ok(()) => fs::remove_file(&self.part)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&self.part)?;
                return Err(error);
            }
            // Some file systems have no such links.
            Err(_) => fs::rename(&self.part, &self.path)?,
        }
        // If that is not possible, the file only has its former name after a power cut.
        self.path.parent().map(sync_folder).transpose().ok();
        Ok(self.length)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn opened(path: &str, is_new: bool) -> PartFile {
        match PartFile::open(path, is_new).unwrap() {
            FoundPart::Part(part) => part,
            other @ (FoundPart::Complete(_) | FoundPart::Taken) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_part_grows_and_gets_its_name_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Show/one.mp3").to_string_lossy().into_owned();
        opened(&path, true).append(b"abc").unwrap();
        let mut part = opened(&path, false);
        assert_eq!(part.length, 3);
        part.append(b"def").unwrap();
        assert_eq!(part.finish().unwrap(), 6);
        assert_eq!(fs::read(&path).unwrap(), b"abcdef");
        assert!(matches!(PartFile::open(&path, false).unwrap(), FoundPart::Complete(6)));
        // Killed between the new name and the removal of the old one.
        fs::hard_link(&path, format!("{path}{PART}")).unwrap();
        assert!(matches!(PartFile::open(&path, false).unwrap(), FoundPart::Complete(6)));
        assert!(!Path::new(&format!("{path}{PART}")).exists());
    }

    #[test]
    fn files_of_something_else_are_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.mp3").to_string_lossy().into_owned();
        fs::write(format!("{path}{PART}"), "other").unwrap();
        assert!(matches!(PartFile::open(&path, true).unwrap(), FoundPart::Taken));
        fs::remove_file(format!("{path}{PART}")).unwrap();
        let mut part = opened(&path, true);
        part.append(b"mine").unwrap();
        fs::write(&path, "other").unwrap();
        assert!(part.finish().is_err());
        assert_eq!(fs::read(&path).unwrap(), b"other");
        // Its length tells that it is another file.
        assert!(matches!(PartFile::open(&path, false).unwrap(), FoundPart::Complete(5)));
        std::os::unix::fs::symlink("nowhere", folder.path().join("two.mp3")).unwrap();
        let two = folder.path().join("two.mp3").to_string_lossy().into_owned();
        assert!(matches!(PartFile::open(&two, true).unwrap(), FoundPart::Taken));
    }

    #[test]
    fn another_version_starts_with_an_empty_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.mp3").to_string_lossy().into_owned();
        let mut part = opened(&path, true);
        part.append(b"a long old version").unwrap();
        part.empty().unwrap();
        part.append(b"new").unwrap();
        assert_eq!(part.finish().unwrap(), 3);
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
